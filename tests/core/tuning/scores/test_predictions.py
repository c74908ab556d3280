"""What contestants say: scores of folds and their means, and the comparison made of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from core.datasets.task import Task
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.results.test_evaluation import _test_groups
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import ComparedPredictions

ROWS = 100
FOLDS = np.arange(ROWS) % 5


def of_numbers(**more):
    """Three models that predict less and less of the same target."""
    generator = np.random.default_rng(4)
    y, noise = generator.normal(size=(2, ROWS))
    said = [Predictions(y + scale * noise) for scale in (0.3, 0.5)]
    return ComparedPredictions(y, *said, Predictions(np.zeros(ROWS)), **more)


def r2(y, numbers):
    return 1 - np.sum((y - numbers) ** 2) / np.sum((y - y.mean()) ** 2)


def test_scores_of_cross_validation_are_means_over_folds():
    answers = of_numbers(folds=FOLDS, train_share=0.8)
    folds = [fold == FOLDS for fold in range(5)]
    expected = np.mean([r2(answers.y[rows], answers.tuned.labels[rows]) for rows in folds])
    assert answers.all_scores("regression")["tuned"]["r2"] == pytest.approx(expected)
    whole = of_numbers().all_scores("regression")["tuned"]["r2"]
    assert whole == pytest.approx(r2(answers.y, answers.tuned.labels))
    assert whole != pytest.approx(expected)


def test_a_fold_that_cannot_be_scored_is_left_out():
    y = np.array([0, 1, 0, 1, 1, 1])
    said = Predictions(y, np.stack([1 - y, y], axis=1))
    answers = ComparedPredictions(
        y, said, said, said, folds=np.array([0, 0, 1, 1, 2, 2]), train_share=2 / 3
    )
    assert answers.all_scores("binary")["tuned"]["auc"] == 1.0


def test_the_interval_over_folds_is_the_corrected_resampled_t():
    answers = of_numbers(folds=FOLDS, train_share=0.8)
    settings = {"alpha": 1.0}, {"alpha": 9.0}
    results = results_of(answers, ComparisonContext("regression", (), METRICS["mse"], *settings))
    gains = []
    for fold in range(5):
        rows = fold == FOLDS
        errors = [
            np.mean((answers.y[rows] - s.labels[rows]) ** 2)
            for s in (answers.tuned, answers.default)
        ]
        gains.append(errors[1] - errors[0])
    half = stats.t.ppf(0.975, 4) * np.sqrt((0.2 + 0.25) * np.var(gains, ddof=1))
    gain = results["gain"]
    assert gain["difference"] == pytest.approx(np.mean(gains))
    assert (gain["low"], gain["high"]) == pytest.approx(
        (np.mean(gains) - half, np.mean(gains) + half)
    )
    assert results["folds"] == 5
    assert results["rows"] == ROWS


@pytest.mark.parametrize("folds", [None, FOLDS])
def test_a_gain_is_real_only_if_the_baseline_is_beaten_too(folds):
    """Better than a bad default, but no better than the mean."""
    generator = np.random.default_rng(0)
    y, noise = generator.normal(size=(2, ROWS))
    answers = ComparedPredictions(
        y,
        Predictions(0.01 * noise),
        Predictions(2 * noise),
        Predictions(np.zeros(ROWS)),
        None,
        folds,
        0.8,
    )
    settings = {"alpha": 1.0}, {"alpha": 9.0}
    results = results_of(answers, ComparisonContext("regression", (), METRICS["mse"], *settings))
    assert results["gain"]["low"] > 0
    assert not results["gain_over_baseline"]["real"]
    assert not results["gain"]["real"]
    assert any("baseline" in remark for remark in results["remarks"])
    answers = of_numbers(folds=folds, train_share=0.8)
    results = results_of(answers, ComparisonContext("regression", (), METRICS["mse"], *settings))
    assert results["gain"]["real"]
    assert results["baseline_test"]["mse"] == pytest.approx(np.mean(answers.y**2), rel=0.01)


@pytest.mark.parametrize(
    ("task", "expected"), [("structure", [7, 7, 8]), ("topics", [7, 7, 8]), ("binary", None)]
)
def test_relatives_are_drawn_together_and_equal_rows_of_tables_are_not(task, expected):
    dataset = SimpleNamespace(
        task=Task(task), test=None, row_groups=None, kept_together=np.array([5, 7, 7, 8])
    )
    found = _test_groups(SimpleNamespace(dataset=dataset, test_rows=np.array([1, 2, 3])))
    assert (None if found is None else found.tolist()) == expected
