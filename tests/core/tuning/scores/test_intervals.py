"""Which interval a metric gets, against independent ways to the same ends, and its time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.tuning.scores.intervals import percentile_interval, resampled_scores, score_intervals
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import ComparedPredictions


def of_classes(rows, seed=0, classes=2, **more):
    """Two models that know the class more and less well, and the shares."""
    generator = np.random.default_rng(seed)
    y = generator.integers(classes, size=rows)
    both = []
    for strength in (1.2, 0.8):
        odds = generator.normal(size=(rows, classes)) + strength * np.eye(classes)[y]
        chance = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        both.append(Predictions(np.argmax(chance, axis=1), chance, chance))
    flat = np.full((rows, classes), 1 / classes)
    return ComparedPredictions(y, *both, Predictions(np.zeros(rows, dtype=int), flat, flat), **more)


def spans(name, answers, task="binary", **more):
    return score_intervals(METRICS[name], answers, answers.all_scores(task), 0, **more)


def test_accuracy_is_judged_by_the_exact_mcnemar_test():
    answers = of_classes(80)
    right, other = (answers.tuned.labels == answers.y, answers.default.labels == answers.y)
    span = spans("accuracy", answers).differences["default"]
    won, lost = int((right & ~other).sum()), int((other & ~right).sum())
    assert span.method == "exact McNemar"
    assert span.p == pytest.approx(stats.binomtest(won, won + lost).pvalue)
    assert (span.low > 0) == (span.p < 0.05)


def test_models_that_agree_on_every_row_may_still_differ_unless_they_are_the_same():
    answers = of_classes(80)
    answers = ComparedPredictions(answers.y, answers.tuned, answers.tuned, answers.baseline)
    span = spans("accuracy", answers).differences["default"]
    assert span.low == -span.high < 0
    span = spans("accuracy", answers, is_default=True).differences["default"]
    assert (span.low, span.high) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "classes", "method"),
    [("auc", 2, "DeLong"), ("auc", 4, "DeLong"), ("log_loss", 3, "normal")],
)
def test_many_rows_have_the_interval_that_the_bootstrap_finds(name, classes, method):
    answers = of_classes(1500, classes=classes)
    found = spans(name, answers)
    assert found.differences["default"].method == method
    drawn = resampled_scores(METRICS[name], answers.y, list(answers.by_model.values()), 1)
    for other, place in (("default", 1), ("baseline", 2)):
        expected = percentile_interval(drawn[0] - drawn[place])
        width = expected[1] - expected[0]
        span = found.differences[other]
        assert (span.low, span.high) == pytest.approx(expected, abs=0.12 * width)
    expected = percentile_interval(drawn[0])
    assert found.scores["tuned"] == pytest.approx(expected, abs=0.12 * (expected[1] - expected[0]))


@pytest.mark.parametrize("name", ["r2", "mse", "mae"])
def test_numbers_have_the_interval_that_the_bootstrap_finds(name):
    generator = np.random.default_rng(0)
    y, noise = generator.normal(size=(2, 1200))
    answers = ComparedPredictions(
        y,
        Predictions(y + 0.6 * noise),
        Predictions(y + 0.7 * np.roll(noise, 1)),
        Predictions(np.zeros(1200)),
    )
    span = spans(name, answers, "regression").differences["default"]
    drawn = resampled_scores(METRICS[name], y, [answers.tuned, answers.default], 1)
    expected = percentile_interval(drawn[0] - drawn[1])
    assert (span.low, span.high) == pytest.approx(expected, abs=0.12 * np.ptp(expected))


def test_few_rows_are_resampled():
    assert spans("log_loss", of_classes(60)).differences["default"].method == "bootstrap"


def test_rows_of_groups_count_as_groups():
    """Ten copies of each row tell no more than one."""
    answers = of_classes(150)
    copies = np.repeat(np.arange(150), 10)
    parts = [one.subset(copies) for one in answers.by_model.values()]
    grouped = ComparedPredictions(answers.y[copies], *parts, row_groups=copies)
    for name in ("log_loss", "auc"):
        single, many = (spans(name, one).differences["default"] for one in (answers, grouped))
        assert (many.low, many.high) == pytest.approx((single.low, single.high), abs=0.02)
    assert spans("accuracy", grouped).differences["default"].method == "normal"
    few = ComparedPredictions(answers.y, *answers.by_model.values(), row_groups=np.arange(150) // 3)
    assert spans("accuracy", few).differences["default"].method == "bootstrap"


def test_a_model_without_probabilities_has_no_interval_of_their_loss():
    answers = of_classes(200)
    mute = Predictions(answers.default.labels, answers.default.scores)
    found = spans("log_loss", ComparedPredictions(answers.y, answers.tuned, mute, answers.baseline))
    assert math.isnan(found.differences["default"].low)
    assert math.isfinite(found.differences["baseline"].low)
