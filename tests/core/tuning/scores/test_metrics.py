"""Every metric equals scikit-learn's, plain and with weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as peer
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from core.errors import UnusableError
from core.tuning.scores.metrics import (
    METRICS,
    Predictions,
    codes_of,
    default_metric,
    metric_scores,
    predict_all,
    score_estimator,
)


def classes_said(count, rows=120, seed=0):
    """Targets in codes and what an imaginary model says, with ties among the scores."""
    generator = np.random.default_rng(seed)
    y = generator.integers(count, size=rows)
    raw = np.round(generator.random((rows, count)) + 0.7 * np.eye(count)[y], 1) + 0.05
    probabilities = raw / raw.sum(axis=1, keepdims=True)
    return y, Predictions(probabilities.argmax(axis=1), probabilities, probabilities)


def peers(y, said, weights):
    """scikit-learn's figures for classes."""
    labels, scores = said.labels, said.scores
    two = scores.shape[1] == 2
    return {
        "accuracy": peer.accuracy_score(y, labels, sample_weight=weights),
        "balanced_accuracy": peer.balanced_accuracy_score(y, labels, sample_weight=weights),
        "f1": peer.f1_score(y, labels, average="macro", sample_weight=weights),
        "auc": peer.roc_auc_score(
            y, scores[:, 1] if two else scores, multi_class="ovr", sample_weight=weights
        ),
        "log_loss": peer.log_loss(y, scores, sample_weight=weights),
    }


@pytest.mark.parametrize("count", [2, 3, 5])
def test_class_metrics_equal_scikit_learns_under_weights(count):
    y, said = classes_said(count)
    resamples = np.random.default_rng(1).integers(0, 4, (3, len(y)))
    for weights in [np.ones(len(y)), *resamples]:
        for name, expected in peers(y, said, weights).items():
            ours = METRICS[name].weighted_scores(
                y, said, np.stack([weights, weights]).astype(float)
            )
            assert ours == pytest.approx([expected] * 2, abs=1e-12), name


def test_number_metrics_equal_scikit_learns_under_weights():
    generator = np.random.default_rng(2)
    y = 1e6 + generator.normal(size=80)
    said = Predictions(y + 0.3 * generator.normal(size=80))
    expected = {
        "r2": peer.r2_score,
        "mse": peer.mean_squared_error,
        "mae": peer.mean_absolute_error,
    }
    for weights in [np.ones(80), generator.integers(0, 4, 80)]:
        for name, function in expected.items():
            ours = METRICS[name].weighted_scores(y, said, weights[None].astype(float))[0]
            theirs = function(y, said.labels, sample_weight=weights)
            assert ours == pytest.approx(theirs, rel=1e-6), name


def test_a_resample_with_one_class_has_no_area():
    y, said = classes_said(2)
    assert np.isnan(METRICS["auc"].weighted_scores(y, said, (y == 1)[None].astype(float))[0])


def test_every_task_has_its_usual_metric():
    assert (default_metric("regression"), default_metric("multiclass")) == ("r2", "accuracy")
    assert all(metric.name == name for name, metric in METRICS.items())


def test_labels_of_the_file_become_codes():
    assert codes_of(np.array(["no", "yes", "no"], dtype=object), ("no", "yes")).tolist() == [
        0,
        1,
        0,
    ]
    assert codes_of(np.array([3.0, -1.0]), (-1.0, 3.0)).tolist() == [1, 0]


def score_all(estimator, X, y, task, classes):
    return metric_scores(codes_of(y, classes), predict_all(estimator, X, classes), task)


def test_a_label_that_no_class_has_is_minus_one():
    labels = np.array(["b", "x", "a", "z"], dtype=object)
    assert codes_of(labels, ("a", "b")).tolist() == [1, -1, 0, -1]
    assert codes_of(np.array([3, 4, 1]), (1, 3)).tolist() == [1, -1, 0]


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
    machine = SVC().fit(X, y)
    scores = score_all(machine, X, y, "binary", names)
    assert set(scores) == {"accuracy", "balanced_accuracy", "f1", "auc"}
    assert scores["f1"] == pytest.approx(peer.f1_score(y, machine.predict(X), average="macro"))
    if count == 2:
        area = peer.roc_auc_score(y, machine.decision_function(X))
        assert scores["auc"] == pytest.approx(area)


def test_a_class_that_the_model_never_saw_gets_probability_zero():
    X = np.arange(6.0)[:, None]
    seen = LogisticRegression().fit(X, ["a", "a", "a", "c", "c", "c"])
    said = predict_all(seen, X, ("a", "b", "c"))
    assert said.probabilities[:, 1].tolist() == [0.0] * 6
    assert said.labels.tolist() == codes_of(seen.predict(X), ("a", "b", "c")).tolist()


def test_regression_scores_are_those_of_the_estimator():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 3.0] + generator.normal(size=40)
    fitted = LinearRegression().fit(X, y)
    scores = score_all(fitted, X, y, "regression", ())
    assert set(scores) == {"r2", "mse", "mae"}
    assert scores["r2"] == pytest.approx(fitted.score(X, y))
    assert score_estimator(METRICS["mse"], fitted, X, y, ()) == pytest.approx(scores["mse"])


def test_a_metric_that_needs_probabilities_says_so():
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(UnusableError, match="needs probabilities"):
        score_estimator(METRICS["log_loss"], SVC().fit(X, y), X, y, (0, 1))
    constant = DummyClassifier(strategy="prior").fit(X, y)
    assert score_estimator(METRICS["auc"], constant, X, y, (0, 1)) == 0.5


def with_strangers(count, rows=90, every=5):
    """Targets and what a model says, every fifth row of a class that training never saw."""
    y, said = classes_said(count, rows)
    strange = y.copy()
    strange[::every] = -1
    return strange, said


@pytest.mark.parametrize("count", [2, 3])
def test_rows_of_an_unknown_class_are_wrong_in_every_metric(count):
    y, said = with_strangers(count)
    scores = metric_scores(y, said, "multiclass")
    # scikit-learn takes -1 for a class like any other, of which no row is found.
    assert scores["accuracy"] == pytest.approx(peer.accuracy_score(y, said.labels))
    assert scores["balanced_accuracy"] == pytest.approx(
        peer.balanced_accuracy_score(y, said.labels)
    )
    assert scores["f1"] == pytest.approx(peer.f1_score(y, said.labels, average="macro"))
    areas = [peer.roc_auc_score(y == k, said.scores[:, k]) for k in range(count)]
    assert scores["auc"] == pytest.approx(np.mean([0.0, *areas]))
    own = np.where(y < 0, np.finfo(float).eps, said.probabilities[np.arange(len(y)), y])
    assert scores["log_loss"] == pytest.approx(-np.log(own).mean())


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "auc", "log_loss"])
@pytest.mark.parametrize("count", [2, 3])
def test_a_resample_without_unknown_rows_scores_as_if_there_were_none(name, count):
    y, said = with_strangers(count)
    known = y >= 0
    alone = METRICS[name].score(y[known], said.subset(known))
    weighted = METRICS[name].weighted_scores(y, said, known[None].astype(float))
    assert weighted[0] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("count", [2, 3])
def test_the_influence_of_a_row_on_the_area_is_its_derivative(count):
    """That of the score by the row's weight, up to the factors √(m/(m − 1)) of the variance."""
    y, said = with_strangers(count)
    auc = METRICS["auc"]
    phi = auc.influence(y, said.scores)
    step = 1e-5 * np.eye(len(y))
    slopes = (
        auc.weighted_scores(y, said, 1 + step) - auc.weighted_scores(y, said, 1 - step)
    ) / 2e-5
    np.testing.assert_allclose(phi, slopes, rtol=0, atol=0.03 * np.abs(slopes).max())


def test_unknown_rows_make_no_metric_optimistic():
    """Right about every known row: the score falls by what the unknown ones are worth."""
    y = np.array([0, 1] * 10 + [-1] * 10)
    shares = np.array([[0.9, 0.1], [0.1, 0.9]])[np.abs(y)]
    scores = metric_scores(y, Predictions(shares.argmax(axis=1), shares, shares), "binary")
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["balanced_accuracy"] == pytest.approx(2 / 3)
    assert scores["auc"] < 2 / 3
    assert scores["log_loss"] > 10
