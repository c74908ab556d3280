"""Metrics of tables against scikit-learn's, of sequences, molecules and topics worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from run_events import tune_here as tune
from scipy import sparse
from sklearn import metrics as peer
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.datasets.units import single_rows
from core.errors import UnusableError
from core.estimators.averages.topics import AveragedTopics
from core.estimators.lda.fitted_topics import split_halves
from core.estimators.lda.online_lda import OnlineLda
from core.estimators.structured.rna_folder import RnaFolder
from core.evaluation.unit_intervals import spread_of
from core.losses.rna import decode
from core.records import to_plain
from core.samplers.averaging import average_log_densities
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.results.comparison import molecule_results, sequence_results
from core.tuning.run_results import PairCounts, SequenceCounts
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import (
    METRICS,
    codes_of,
    default_metric,
    predict_all,
    predict_for_metric,
)
from core.tuning.scores.predictions import ComparedPredictions
from core.tuning.scores.structured_metrics import GAMMAS, OWN, predict_documents, predict_tokens
from core.tuning.scores.unit_scores import left_out_scores


def classes_said(count, rows=120, seed=0):
    """Targets in codes and what an imaginary model says, with ties among the scores."""
    generator = np.random.default_rng(seed)
    y = generator.integers(count, size=rows)
    raw = np.round(generator.random((rows, count)) + 0.7 * np.eye(count)[y], 1) + 0.05
    probabilities = raw / raw.sum(axis=1, keepdims=True)
    return y, Predictions(probabilities.argmax(axis=1), probabilities, probabilities)


def peers(y, said, weights):
    """scikit-learn's figures for classes."""
    labels, scores, weights = said.labels, said.scores, {"sample_weight": weights}
    columns = scores[:, 1] if scores.shape[1] == 2 else scores
    return {
        "accuracy": peer.accuracy_score(y, labels, **weights),
        "balanced_accuracy": peer.balanced_accuracy_score(y, labels, **weights),
        "f1": peer.f1_score(y, labels, average="macro", **weights),
        "auc": peer.roc_auc_score(y, columns, multi_class="ovr", **weights),
        "log_loss": peer.log_loss(y, scores, **weights),
    }


@pytest.mark.parametrize("count", [2, 3, 5])
def test_class_metrics_equal_scikit_learns_under_weights(count):
    y, said = classes_said(count)
    resamples = np.random.default_rng(1).integers(0, 4, (3, len(y)))
    for weights in [np.ones(len(y)), *resamples]:
        twice = np.stack([weights, weights]).astype(float)
        for name, expected in peers(y, said, weights).items():
            ours = METRICS[name].weighted_scores(y, said, twice)
            assert ours == pytest.approx([expected] * 2, abs=1e-12), name


@pytest.mark.parametrize(
    ("name", "function"),
    [("r2", peer.r2_score), ("mse", peer.mean_squared_error), ("mae", peer.mean_absolute_error)],
)
def test_number_metrics_equal_scikit_learns_under_weights(name, function):
    generator = np.random.default_rng(2)
    y = 1e6 + generator.normal(size=80)
    said = Predictions(y + 0.3 * generator.normal(size=80))
    for weights in [np.ones(80), generator.integers(0, 4, 80)]:
        ours = METRICS[name].weighted_scores(y, said, weights[None].astype(float))[0]
        assert ours == pytest.approx(function(y, said.labels, sample_weight=weights), rel=1e-6)


def test_a_resample_with_one_class_has_no_area():
    y, said = classes_said(2)
    assert np.isnan(METRICS["auc"].weighted_scores(y, said, (y == 1)[None].astype(float))[0])


def test_every_task_has_its_usual_metric():
    assert (default_metric("regression"), default_metric("multiclass")) == ("r2", "accuracy")
    assert all(metric.name == name for name, metric in METRICS.items())


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        (np.array(["no", "yes", "no"], dtype=object), ("no", "yes"), [0, 1, 0]),
        ([3.0, -1.0], (-1.0, 3.0), [1, 0]),
        # A label that no class has is −1.
        (np.array(["b", "x", "a", "z"], dtype=object), ("a", "b"), [1, -1, 0, -1]),
        ([3, 4, 1], (1, 3), [1, -1, 0]),
    ],
)
def test_labels_of_the_file_become_codes(labels, classes, codes):
    assert codes_of(np.asarray(labels), classes).tolist() == codes


def metric_scores(y, said, task):
    """Every metric of a task that what a model says suffices for."""
    return ComparedPredictions(y, said, said, said).all_scores(task)["tuned"]


def score_all(estimator, X, y, task, classes):
    return metric_scores(codes_of(y, classes), predict_all(estimator, X, classes), task)


@pytest.mark.parametrize("count", [2, 3])
def test_scores_read_names_of_classes_and_any_kind_of_classifier(count):
    X, codes = make_classification(150, 5, n_informative=4, n_redundant=0, n_classes=count)
    names = ("blue", "green", "red")[:count]
    y = np.array(names)[codes]
    logistic = LogisticRegression().fit(X, y)
    scores = score_all(logistic, X, y, "binary", names)
    assert set(scores) == {"accuracy", "balanced_accuracy", "f1", "auc", "log_loss"}
    assert scores["accuracy"] == logistic.score(X, y)
    assert scores["log_loss"] == pytest.approx(peer.log_loss(y, logistic.predict_proba(X)))
    machine, predictions = SVC().fit(X, y), []
    predicted = machine.predict(X)
    machine.predict = lambda X: predictions.append(len(X)) or predicted
    scores = score_all(machine, X, y, "binary", names)
    assert set(scores) == {"accuracy", "balanced_accuracy", "f1", "auc"}
    assert scores["f1"] == pytest.approx(peer.f1_score(y, predicted, average="macro"))
    assert len(predictions) == count - 2  # between two classes the decisions tell the labels
    if count == 2:
        area = peer.roc_auc_score(y, machine.decision_function(X))
        assert scores["auc"] == pytest.approx(area)


def test_a_class_that_the_model_never_saw_gets_probability_zero():
    X, classes = np.arange(6.0)[:, None], ("a", "b", "c")
    seen = LogisticRegression().fit(X, ["a", "a", "a", "c", "c", "c"])
    said = predict_all(seen, X, classes)
    assert said.probabilities[:, 1].tolist() == [0.0] * 6
    assert said.labels.tolist() == codes_of(seen.predict(X), classes).tolist()


def test_regression_scores_are_those_of_the_estimator():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 3.0] + generator.normal(size=40)
    fitted = LinearRegression().fit(X, y)
    scores = score_all(fitted, X, y, "regression", ())
    assert set(scores) == {"r2", "mse", "mae"}
    assert scores["r2"] == pytest.approx(fitted.score(X, y))
    assert scores["mse"] == pytest.approx(np.mean((fitted.predict(X) - y) ** 2))


def test_a_metric_that_needs_probabilities_says_so():
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(UnusableError, match="needs probabilities"):
        predict_for_metric(METRICS["log_loss"], SVC().fit(X, y), X, y, (0, 1))
    constant = DummyClassifier(strategy="prior").fit(X, y)
    assert score_all(constant, X, y, "binary", (0, 1))["auc"] == 0.5


def with_strangers(count):
    """Targets and what a model says, every fifth row of a class that training never saw."""
    y, said = classes_said(count, rows=90)
    strange = y.copy()
    strange[::5] = -1
    return strange, said


@pytest.mark.parametrize("count", [2, 3])
def test_rows_of_an_unknown_class_are_wrong_in_every_metric(count):
    y, said = with_strangers(count)
    scores = metric_scores(y, said, "multiclass")
    # scikit-learn takes -1 for a class like any other, of which no row is found.
    areas = [peer.roc_auc_score(y == k, said.scores[:, k]) for k in range(count)]
    own = np.where(y < 0, np.finfo(float).eps, said.probabilities[np.arange(len(y)), y])
    assert scores == pytest.approx({
        "accuracy": peer.accuracy_score(y, said.labels),
        "balanced_accuracy": peer.balanced_accuracy_score(y, said.labels),
        "f1": peer.f1_score(y, said.labels, average="macro"),
        "auc": np.mean([0.0, *areas]),
        "log_loss": -np.log(own).mean(),
    })  # fmt: skip
    # A resample without such rows scores as if there were none.
    known = y >= 0
    alone = metric_scores(y[known], said.subset(known), "multiclass")
    for name, expected in alone.items():
        weighted = METRICS[name].weighted_scores(y, said, known[None].astype(float))
        assert weighted[0] == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("count", [2, 3])
def test_the_influence_of_a_row_on_the_area_is_its_derivative(count):
    """That of the score by the row's weight, up to the factors √(m/(m − 1)) of the variance."""
    (y, said), auc = with_strangers(count), METRICS["auc"]
    step = 1e-5 * np.eye(len(y))
    more, fewer = (auc.weighted_scores(y, said, 1 + sign * step) for sign in (1, -1))
    slopes = (more - fewer) / 2e-5
    phi = auc.influence(y, said.scores)
    np.testing.assert_allclose(phi, slopes, rtol=0, atol=0.03 * np.abs(slopes).max())


def test_unknown_rows_make_no_metric_optimistic():
    """Right about every known row: the score falls by what the unknown ones are worth."""
    y = np.array([0, 1] * 10 + [-1] * 10)
    shares = np.array([[0.9, 0.1], [0.1, 0.9]])[np.abs(y)]
    scores = metric_scores(y, Predictions(shares.argmax(axis=1), shares, shares), "binary")
    assert scores["accuracy"] == scores["balanced_accuracy"] == pytest.approx(2 / 3)
    assert scores["auc"] < 2 / 3
    assert scores["log_loss"] > 10


Y = np.array([0, 1, 1, 0, 2])  # sequences a: three tokens, b: two
CALLED = np.array([0, 1, 0, 0, 2])
SEQUENCES = np.array([0, 0, 0, 1, 1])

FOUR = 7  # where γ = 4 is


def tokens():
    losses, whole = np.array([0.3, 0.3, 0.3, 0.1, 0.1]), np.stack([CALLED, SEQUENCES], axis=1)
    return Predictions(CALLED, losses=losses, whole=whole)


def molecules():
    pairs = np.zeros((2, len(GAMMAS) + 1, 3), dtype=int)
    pairs[0, [FOUR, OWN]] = (6, 8, 10)
    pairs[1, [FOUR, OWN]] = (0, 2, 10)
    return Predictions(np.zeros(2), losses=np.array([4.0, 8.0]), pairs=pairs)


def test_a_sequence_is_right_when_every_token_is_and_resamples_draw_whole_ones():
    scores = metric_scores(Y, tokens(), "sequence")
    assert scores["accuracy"] == pytest.approx(4 / 5)
    assert scores["sequence_accuracy"] == pytest.approx(1 / 2)
    assert scores["joint_log_loss"] == pytest.approx(1.1 / 5)
    weights = np.array([[2.0, 2, 2, 0, 0], [0, 0, 0, 3, 3]])
    drawn = METRICS["sequence_accuracy"].weighted_scores(Y, tokens(), weights)
    assert drawn.tolist() == [0.0, 1.0]


def test_a_sequence_counts_once_whatever_its_length():
    counts = sequence_results(Y, {"tuned": tokens(), "default": tokens()})
    assert counts == SequenceCounts(tuned=1, default=1, count=2)


def test_pairs_of_all_molecules_count_together():
    scores = metric_scores(np.zeros(2), molecules(), "structure")
    expected = {"sensitivity": 6 / 20, "specificity": 6 / 10, "pair_f1": 2 * 6 / (10 + 20)}
    expected["structure_log_loss"] = 6.0
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    first_twice = np.array([[2.0, 0.0]])
    resampled = METRICS["sensitivity"].weighted_scores(np.zeros(2), molecules(), first_twice)
    assert resampled == pytest.approx([6 / 10])


def test_the_curve_holds_every_gamma_and_none_where_nothing_was_called():
    pairs, curve = molecule_results({"tuned": molecules(), "default": molecules()})
    assert pairs.tuned == PairCounts(right=6, called=10, true=20)
    assert pairs.molecules == 2
    gammas = [gamma for gamma, _, _ in curve.tuned]
    assert gammas == [2.0**k for k in range(-5, 11)]
    assert curve.tuned[FOUR] == pytest.approx([4.0, 0.3, 0.6])
    assert np.isnan(curve.tuned[0][2])


def test_the_metrics_have_the_gammas_that_structures_are_called_at():
    assert GAMMAS.tolist() == decode.GAMMAS.tolist()
    assert GAMMAS[FOUR] == RnaFolder().gamma


@pytest.mark.parametrize(("task", "metric"), [("sequence", "accuracy"), ("structure", "pair_f1")])
def test_the_usual_metric_fits_the_task(task, metric):
    assert default_metric(task) == metric
    assert task in METRICS[metric].tasks


def test_tokens_are_counted_under_their_sequence_whatever_its_name():
    class Model:
        def log_losses(self, X, y):
            return np.full(len(y), 0.25)

    X = pd.DataFrame({"sentence": ["s9", "s9", "s1"], "word": ["a", "b", "c"]})
    said = predict_tokens(Model(), X, np.array(["n", "v", "n"]), Predictions(np.array([0, 1, 1])))
    assert said.whole.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert METRICS["sequence_accuracy"].score(np.array([0, 1, 0]), said) == 0.5


def of_documents(documents) -> Predictions:
    return Predictions(np.zeros(len(documents)), documents=np.asarray(documents, dtype=float))


def test_words_count_the_same_whichever_document_they_are_in():
    predictions, y = of_documents([[-6.0, 2], [-10.0, 8], [0.0, 0]]), np.zeros(3)
    scores = metric_scores(y, predictions, "topics")
    assert scores == pytest.approx({"completion": -1.6, "perplexity": math.exp(1.6)})
    assert default_metric("topics") == "completion"
    twice = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 3.0]])
    resampled = METRICS["completion"].weighted_scores(y, predictions, twice)
    assert resampled[0] == pytest.approx(-22 / 12)
    assert np.isnan(resampled[1])


def test_a_uniform_model_is_as_perplexed_as_there_are_words():
    X = sparse.csr_matrix(np.random.default_rng(0).poisson(2.0, (30, 17)).astype(float))
    model = OnlineLda(3, random_state=0).fit(X)
    model.components_ = np.ones((3, 17))
    said = predict_all(model, X, (), task="topics")
    assert METRICS["perplexity"].score(np.zeros(30), said) == pytest.approx(17.0)
    np.testing.assert_array_equal(said.documents[:, 1], X.sum(axis=1).A1 // 2)


def test_intervals_are_of_documents():
    generator = np.random.default_rng(0)
    words = generator.integers(1, 9, 200)
    tuned = of_documents(np.stack([-words * generator.normal(4.0, 0.3, 200), words], axis=1))
    worse = of_documents(tuned.documents - np.stack([0.5 * words, 0 * words], axis=1))
    metric, y = METRICS["completion"], np.zeros(200)
    left_out, units = left_out_scores(metric, y, [tuned, worse], single_rows(200))
    spread = spread_of(left_out[0] - left_out[1], units)
    assert spread.interval_around(0.5) == pytest.approx((0.5, 0.5))
    # A ratio of sums: the residuals over all words.
    logs, words = tuned.documents.T
    residual = (logs - metric.score(y, tuned) * words) / words.sum()
    error = spread_of(left_out[0], units).error
    assert error == pytest.approx(np.sqrt((residual**2).sum()), rel=0.03)


def test_an_average_is_the_mean_density_of_every_document_of_the_same_halves():
    generator = np.random.default_rng(3)
    X = sparse.csr_matrix(generator.poisson(0.7, (60, 25)).astype(float))
    models = [OnlineLda(k, random_state=k, passes=2).fit(X[:40]) for k in (2, 5, 9)]
    X, weights = X[40:], [0.2, 0.5, 0.3]
    average = AveragedTopics([(f"trial {k}", model) for k, model in enumerate(models)], weights)
    logs, words = average.completion(X).T
    each = np.stack([model.completion(X)[:, 0] for model in models], axis=1)
    np.testing.assert_allclose(np.exp(logs), np.exp(each) @ weights, rtol=1e-10)
    np.testing.assert_allclose(logs, average_log_densities(each, np.array(weights)))
    np.testing.assert_array_equal(words, split_halves(X, 0)[1].sum(axis=1).A1)
    best = average.best_member
    assert best is models[1]
    np.testing.assert_array_equal(average.transform(X), best.transform(X))
    np.testing.assert_array_equal(average.posterior(X), best.posterior(X))
    assert average.components_ is best.components_
    assert (average.alpha_, average.eta_) == (0.2, 0.2)


def test_results_of_a_run_on_texts():
    dataset = read_dataset("sample:texts")
    plan = Plan(DataPlan("sample:texts"), "lda", "random", trials=1, folds=2)
    results = list(tune(plan, dataset))[-1].results
    problem = build_problem(plan, dataset)
    default = problem.pipeline(problem.default).fit(*problem.training_data)
    logs, words = predict_documents(default, problem.test_data[0]).documents.sum(axis=0)
    assert results["default_test"]["completion"] == pytest.approx(logs / words)
    assert results["default_test"]["perplexity"] == pytest.approx(math.exp(-logs / words))
    assert to_plain(results["documents"]) == {"count": 120, "words": int(words), "empty": 0}
    assert results["test_interval"][0] < results["test"]["completion"] < results["test_interval"][1]
    assert not {"right", "confusion", "predictions"} & set(results)


def test_fewer_training_texts_than_a_minibatch_are_refused_and_said_on_the_card(tmp_path):
    path = tmp_path / "few.csv"
    read_dataset("sample:texts").table.head(130).to_csv(path)
    dataset = read_dataset(str(path))
    with pytest.raises(UnusableError, match=r"few\.csv: a minibatch of 100 is more than there is"):
        build_problem(Plan(DataPlan(str(path)), "lda", "random"), dataset)
    [card] = (model for model in advise(summarize(dataset)).models if model.name == "lda")
    assert not card.fits_task
    assert "100 texts" in card.reason
    assert "91 to train on" in card.reason
    read_dataset("sample:texts").table.head(150).to_csv(path)
    # It learns from all 105, without folds.
    build_problem(Plan(DataPlan(str(path)), "lda", "eb-hyp"), read_dataset(str(path)))


def test_topics_are_advised_with_the_numbers_of_the_texts():
    advice = advise(summarize(read_dataset("sample:texts")))
    first, *others = advice["models"]
    assert (first["name"], first["recommended"]) == ("lda", True)
    assert first["reason"].startswith("400 texts of 45 words on average: 227 different words")
    assert not any(model["fits_task"] for model in others)
    assert all(model["reason"] for model in others)
    offered = advice["strategies"]["lda"]
    assert {strategy["kind"] for strategy in offered} == {"trials"}
    assert (offered[0]["name"], offered[0]["recommended"]) == ("eb-hyp", True)
    assert "400 texts" in offered[0]["reason"]


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("accuracy", (0.0, 1.0)),
        ("auc", (0.0, 1.0)),
        ("pair_f1", (0.0, 1.0)),
        ("r2", (-np.inf, 1.0)),
        ("log_loss", (0.0, np.inf)),
        ("mae", (0.0, np.inf)),
        ("completion", (-np.inf, np.inf)),
    ],
)
def test_what_a_score_can_be(name, limits):
    assert METRICS[name].score_limits == limits
