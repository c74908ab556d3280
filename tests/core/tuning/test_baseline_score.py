"""The score of the baseline in validation, worked out from the targets alone."""

import numpy as np
import pytest

from core.tuning.baseline_score import baseline_score
from core.tuning.events import RunStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.tune import start_event


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
