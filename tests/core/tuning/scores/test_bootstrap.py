"""The paired bootstrap against scipy's, for metrics of labels, of scores and of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from core.tuning.scores.intervals import percentile_interval, resampled_scores
from core.tuning.scores.metrics import METRICS, Predictions


@dataclass(frozen=True)
class Spans:
    tuned: tuple[float, float]
    default: tuple[float, float]
    difference: tuple[float, float]


def intervals(metric, y, tuned, default, seed, row_groups=None):
    of_tuned, of_default = resampled_scores(metric, y, [tuned, default], seed, row_groups)
    return Spans(
        percentile_interval(of_tuned),
        percentile_interval(of_default),
        percentile_interval(of_tuned - of_default),
    )


def two_models(rows=150, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(2, size=rows)
    both = []
    for strength in (1.2, 0.6):
        chance = 1 / (1 + np.exp(-strength * (2 * y - 1) - generator.normal(size=rows)))
        probabilities = np.stack([1 - chance, chance], axis=1)
        both.append(Predictions((chance > 0.5).astype(int), probabilities, probabilities))
    return y, *both


def scipys(statistic, *samples):
    found = stats.bootstrap(
        samples,
        statistic,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=1,
    )
    return found.confidence_interval.low, found.confidence_interval.high


def share_right(y, labels):
    return np.mean(y == labels)


def mean_recall(y, labels):
    return (np.mean(labels[y == 0] == 0) + np.mean(labels[y == 1] == 1)) / 2


def area(y, score):
    """Over all pairs of a positive and a negative; there are no ties here but repeated rows."""
    above = score[y == 1][:, None] - score[y == 0][None]
    return np.mean(above > 0) + np.mean(above == 0) / 2


def explained(y, numbers):
    return 1 - np.sum((y - numbers) ** 2) / np.sum((y - y.mean()) ** 2)


def of_rows(name):
    """What a metric takes of two models on classes (or numbers): (y, both, their columns)."""
    if name == "r2":
        generator = np.random.default_rng(3)
        y, noise, more = generator.normal(size=(3, 100))
        near, far = y + 0.4 * noise, y + 0.6 * more
        return y, (Predictions(near), Predictions(far)), (near, far)
    y, *both = two_models()
    return y, both, [one.scores[:, 1] if name == "auc" else one.labels for one in both]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("accuracy", share_right),
        ("balanced_accuracy", mean_recall),
        ("auc", area),
        ("r2", explained),
    ],
)
def test_intervals_agree_with_scipy(name, function):
    y, both, (tuned, default) = of_rows(name)
    ours = intervals(METRICS[name], y, *both, 0)
    differences = scipys(lambda a, b, c: function(a, b) - function(a, c), y, tuned, default)
    near = 0.03 if name == "r2" else 0.015
    assert ours.difference == pytest.approx(differences, abs=near)
    if name == "accuracy":
        assert ours.tuned == pytest.approx(scipys(function, y, tuned), abs=near)
        assert ours.default == pytest.approx(scipys(function, y, default), abs=near)


def test_drawing_cells_is_drawing_rows():
    """The spread of an accuracy is the binomial one: √(p(1 − p)/n)."""
    rows = 4000
    y = np.zeros(rows, dtype=int)
    labels = (np.arange(rows) < 800).astype(int)
    scores = np.zeros((rows, 2))
    span = intervals(METRICS["accuracy"], y, Predictions(labels, scores), Predictions(y, scores), 0)
    width = 2 * 1.96 * np.sqrt(0.2 * 0.8 / rows)
    assert span.tuned[1] - span.tuned[0] == pytest.approx(width, rel=0.08)
    assert span.default == (1.0, 1.0)


def test_rows_of_one_group_are_drawn_together():
    """Ten copies of each row tell no more than one: the interval must not shrink."""
    y, tuned, default = two_models(rows=60)
    single = intervals(METRICS["accuracy"], y, tuned, default, 0)
    copies = np.repeat(np.arange(60), 10)
    many = (y[copies], tuned.subset(copies), default.subset(copies))
    grouped = intervals(METRICS["accuracy"], *many, 0, row_groups=copies)
    assert grouped.difference == pytest.approx(single.difference, abs=0.02)
    naive = intervals(METRICS["accuracy"], *many, 0)
    assert naive.difference[1] - naive.difference[0] < 0.5 * np.ptp(grouped.difference)


def test_the_same_seed_gives_the_same_interval_and_equal_models_none():
    y, tuned, default = two_models()
    first = intervals(METRICS["log_loss"], y, tuned, default, 7)
    assert first == intervals(METRICS["log_loss"], y, tuned, default, 7)
    assert first != intervals(METRICS["log_loss"], y, tuned, default, 8)
    assert intervals(METRICS["f1"], y, tuned, tuned, 0).difference == (0.0, 0.0)


def test_many_rows_cost_few_resamples():
    """Half a million rows of numbers stay within the memory and draws that are allowed."""
    generator = np.random.default_rng(0)
    y = generator.normal(size=500_000)
    noise = generator.normal(size=500_000)
    span = intervals(METRICS["mse"], y, Predictions(y + noise), Predictions(y + 2 * noise), 0)
    assert span.tuned[0] < 1.0 < span.tuned[1]
    assert span.difference[0] < -3.0 < span.difference[1]
