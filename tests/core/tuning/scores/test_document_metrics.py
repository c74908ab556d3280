"""Held-out words of documents: metrics by hand, what models say, and results of a whole run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.errors import UnusableError
from core.estimators.averages.topics import AveragedTopics
from core.estimators.lda.fitted_topics import split_halves
from core.estimators.lda.online_lda import OnlineLda
from core.estimators.registry import MODELS
from core.records import to_plain
from core.samplers.averaging import average_log_densities
from core.space import default_setting
from core.tuning.events import RunFinished
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.scores.intervals import percentile_interval, resampled_scores
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS, default_metric, metric_scores, predict_all
from core.tuning.scores.structured_metrics import predict_documents
from core.tuning.tune import tune


def said_of(documents) -> Predictions:
    return Predictions(np.zeros(len(documents)), documents=np.asarray(documents, dtype=float))


def test_words_count_the_same_whichever_document_they_are_in():
    said, y = said_of([[-6.0, 2], [-10.0, 8], [0.0, 0]]), np.zeros(3)
    assert METRICS["completion"].score(y, said) == pytest.approx(-1.6)
    assert METRICS["perplexity"].score(y, said) == pytest.approx(math.exp(1.6))
    twice = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 3.0]])
    scores = METRICS["completion"].weighted_scores(y, said, twice)
    assert scores[0] == pytest.approx(-22 / 12)
    assert np.isnan(scores[1])
    assert default_metric("topics") == "completion"
    assert set(metric_scores(y, said, "topics")) == {"completion", "perplexity"}


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
    tuned = said_of(np.stack([-words * generator.normal(4.0, 0.3, 200), words], axis=1))
    worse = said_of(tuned.documents - np.stack([0.5 * words, 0 * words], axis=1))
    of_both = resampled_scores(METRICS["completion"], np.zeros(200), [tuned, worse], 0)
    assert percentile_interval(of_both[0] - of_both[1]) == pytest.approx((0.5, 0.5))
    low, high = percentile_interval(of_both[0])
    assert low < METRICS["completion"].score(np.zeros(200), tuned) < high


@pytest.fixture(scope="module")
def members():
    generator = np.random.default_rng(3)
    X = sparse.csr_matrix(generator.poisson(0.7, (60, 25)).astype(float))
    fitted = [OnlineLda(k, random_state=k, passes=2).fit(X[:40]) for k in (2, 5, 9)]
    return X[40:], [(f"trial {k}", model) for k, model in enumerate(fitted)]


def test_an_average_is_the_mean_density_of_every_document(members):
    X, named = members
    weights = [0.2, 0.5, 0.3]
    average = AveragedTopics(named, weights)
    found = average.completion(X)
    each = np.stack([model.completion(X)[:, 0] for _, model in named], axis=1)
    np.testing.assert_allclose(np.exp(found[:, 0]), np.exp(each) @ weights, rtol=1e-10)
    np.testing.assert_allclose(found[:, 0], average_log_densities(each, np.array(weights)))
    np.testing.assert_array_equal(found[:, 1], split_halves(X, 0)[1].sum(axis=1).A1)
    best = named[1][1]
    assert average.best_member is best
    np.testing.assert_array_equal(average.transform(X), best.transform(X))
    np.testing.assert_array_equal(average.posterior(X), best.posterior(X))
    assert average.components_ is best.components_
    assert (average.alpha_, average.eta_) == (0.2, 0.2)


def test_all_models_are_asked_about_the_same_halves(members):
    X, named = members
    once, again = (named[0][1].completion(X) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert all((model.completion(X)[:, 1] == once[:, 1]).all() for _, model in named)


def test_results_of_a_run_on_texts():
    dataset = read_dataset("sample:texts")
    plan = Plan(DataPlan("sample:texts"), "lda", "random", trials=1, folds=2)
    *_, last = tune(plan, dataset)
    assert isinstance(last, RunFinished)
    results = last.results
    problem = build_problem(plan, dataset)
    default = problem.pipeline(problem.default).fit(*problem.training_data)
    said = predict_documents(default, problem.test_data[0])
    logs, words = said.documents.sum(axis=0)
    assert results["default_test"]["completion"] == pytest.approx(logs / words)
    assert results["default_test"]["perplexity"] == pytest.approx(math.exp(-logs / words))
    assert to_plain(results["documents"]) == {"count": 120, "words": int(words), "empty": 0}
    assert results["test_interval"][0] < results["test"]["completion"] < results["test_interval"][1]
    assert not {"right", "confusion", "predictions"} & set(results)


def test_fewer_training_texts_than_a_minibatch_are_refused_and_said_on_the_card(tmp_path):
    texts = read_dataset("sample:texts").table.head(150)
    path = tmp_path / "few.csv"
    texts.to_csv(path)
    dataset = read_dataset(str(path))
    plan = Plan(DataPlan(str(path)), "lda", "random")
    with pytest.raises(UnusableError, match=r"few\.csv: a minibatch of 100 is more than there is"):
        build_problem(plan, dataset)
    build_problem(Plan(DataPlan(str(path)), "lda", "eb-hyp"), dataset)  # learns from all 105
    texts.head(130).to_csv(path)
    [card] = (m for m in advise(summarize(read_dataset(str(path))))["models"] if m["name"] == "lda")
    assert not card["fits_task"]
    assert card["reason"] == "It learns from 100 texts at a time, and here are 91 to train on."


def test_topics_are_advised_with_the_numbers_of_the_texts():
    advice = advise(summarize(read_dataset("sample:texts")))
    first, *others = advice["models"]
    assert (first["name"], first["recommended"]) == ("lda", True)
    assert first["reason"].startswith("400 texts of 45 words on average: 227 different words")
    assert {m["fits_task"] for m in others} == {False}
    assert {m["reason"] for m in others} == {"It predicts, and here nothing is to be predicted."}
    offered = advice["strategies"]["lda"]
    assert {strategy["kind"] for strategy in offered} == {"trials"}
    assert (offered[0]["name"], offered[0]["recommended"]) == ("eb-hyp", True)
    assert "400 texts" in offered[0]["reason"]
    other = advise(summarize(read_dataset("sample:iris")))["models"]
    assert [m["reason"] for m in other if m["name"] == "lda"] == ["It finds the topics of texts."]


def test_the_recipe_of_topics_builds_its_defaults():
    model = MODELS["lda"]
    setting = default_setting(model.space("topics"))
    imports, expression = model.script("topics", setting, 7)
    names: dict = {}
    exec(imports, names)
    built = model.build("topics", setting, 7)
    assert eval(expression, names).get_params() == built.get_params()
    usual = OnlineLda().get_params()
    own = {name: value for name, value in built.get_params().items() if value != usual[name]}
    assert own == {"alpha": 1 / 50, "eta": 1 / 50, "random_state": 7}
