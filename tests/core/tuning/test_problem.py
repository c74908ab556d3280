"""The problem of a run: the score of its baseline, and runs on texts with labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.estimators.registry import MODELS
from core.tuning.candidate_models import candidate_models, stays_sparse
from core.tuning.events import RunFinished, RunStarted
from core.tuning.guidance.advice import advise
from core.tuning.learning.training import table_training
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem, baseline_score
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.tune import start_event, tune


def problem_of(sample, **given):
    data = DataPlan(f"sample:{sample}")
    return build_problem(Plan(data, "auto", "race", trials=3, **given), read_data(data))


def test_of_classes_it_is_the_share_of_the_most_frequent_one():
    problem = problem_of("wine")
    shares = []
    for fit_rows, score_rows in problem.splits:
        labels, counts = np.unique(problem.dataset.target[fit_rows], return_counts=True)
        most = labels[np.argmax(counts)]
        shares.append(np.mean(problem.dataset.target[score_rows] == most))
    assert baseline_score(problem) == pytest.approx(np.mean(shares))


def test_of_numbers_it_is_the_mean():
    problem = problem_of("diabetes")
    y, scores = np.asarray(problem.dataset.target, dtype=float), []
    spread = np.var(y[problem.train_rows])  # of all folds together
    for fit_rows, score_rows in problem.splits:
        off = y[score_rows] - y[fit_rows].mean()
        scores.append(1.0 - np.mean(off**2) / spread)
    assert baseline_score(problem) == pytest.approx(np.mean(scores))


@pytest.mark.parametrize("metric", ["log_loss", "auc", "balanced_accuracy"])
def test_every_metric_has_one(metric):
    score = baseline_score(problem_of("wine", metric=metric))
    usual = {"log_loss": np.log(3), "auc": 0.5, "balanced_accuracy": 1 / 3}[metric]
    assert score == pytest.approx(usual, abs=0.05)


def test_a_run_of_trials_begins_with_it():
    problem = problem_of("wine")
    event = start_event(problem, {}, None, "")
    assert isinstance(event, RunStarted)
    assert event.baseline == pytest.approx(baseline_score(problem))
    data = DataPlan("sample:wine")
    one = build_problem(Plan(data, "svm", "random", trials=3), read_data(data))
    assert start_event(one, {}, None, "").baseline == pytest.approx(baseline_score(one))


def test_a_learner_of_penalties_has_no_scores_to_compare_with():
    data = DataPlan("sample:wine")
    problem = build_problem(Plan(data, "logistic", "mm"), read_data(data))
    assert start_event(problem, {}, None, "").baseline is None


def test_what_predicts_no_column_has_none():
    data = DataPlan("sample:texts")
    problem = build_problem(Plan(data, "lda", "random", trials=3), read_data(data))
    assert baseline_score(problem) is None


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("texts") / "reviews.csv"
    SAMPLES["reviews"].table().head(120).to_csv(path, index=False)
    return str(path)


def problem(file: str, model: str, strategy: str, **more: object) -> Problem:
    return build_problem(Plan(DataPlan(file), model, strategy, **more), read_dataset(file))


def test_folds_know_the_words_of_their_own_rows_alone(file: str) -> None:
    made = problem(file, "logistic", "random", folds=3)
    texts = made.dataset.table["review"]
    for (fit_rows, score_rows), fold in zip(made.splits, made.fold_data(), strict=True):
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        expected = words.fit_transform(texts.iloc[fit_rows])
        width = expected.shape[1]
        start = fold.fit_X.shape[1] - width - _parts(texts.iloc[fit_rows])
        for X, wanted in (
            (fold.fit_X, expected),
            (fold.score_X, words.transform(texts.iloc[score_rows])),
        ):
            assert sparse.issparse(X)
            assert abs(X[:, start : start + width] - wanted).max() < 1e-12


def _parts(texts: object) -> int:
    parts = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=2)
    return int(parts.fit_transform(texts).shape[1])


def test_the_models_that_compete_take_sparse_rows(file: str) -> None:
    dataset = read_dataset(file)
    assert stays_sparse(dataset)
    names = candidate_models(dataset)
    assert "logistic" in names
    assert all(MODELS[name].takes_sparse for name in names)
    advice = advise(summarize(dataset))
    [together] = [one for one in advice["models"] if one["name"] == "auto"]
    assert together["tries"] == [one["title"] for one in advice["models"] if one["name"] in names]


@pytest.mark.parametrize("strategy", ["mm", "evidence", "loo"])
def test_a_text_column_is_one_group_of_penalties(file: str, strategy: str) -> None:
    made = problem(file, "logistic", strategy, groups="column")
    training = table_training(made, made.train_rows)
    assert set(training.group_names) == {"bought", "price", "review"}
    assert training.group_sizes["review"] > 300
    assert sum(training.group_sizes.values()) == len(training.groups) - 1


def test_a_run_of_several_models_on_texts(file: str) -> None:
    plan = Plan(DataPlan(file), "auto", "race", trials=8, folds=2)
    events = list(tune(plan, read_dataset(file)))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].results["test"]["accuracy"] > 0.6
    assert np.isfinite(events[-1].results["validation"]["accuracy"])


def test_a_model_without_sparse_rows_sees_directions(file: str) -> None:
    made = problem(file, "boosting", "random", folds=2)
    [fold, _] = made.fold_data()
    assert isinstance(fold.fit_X, np.ndarray)
    assert fold.fit_X.shape[1] <= 100 + 5
