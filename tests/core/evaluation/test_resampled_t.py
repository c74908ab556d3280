"""The corrected resampled t interval by hand, and its coverage on cross-validation of a mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.evaluation.resampled_t import corrected_error, corrected_interval


def test_the_interval_is_that_of_the_paper():
    values = np.array([0.01, 0.03, 0.02, 0.05, -0.01])
    low, high = corrected_interval(values, train_share=0.8)
    s2 = sum((v - 0.02) ** 2 for v in values) / 4
    half = stats.t.ppf(0.975, 4) * math.sqrt((1 / 5 + 0.25) * s2)
    assert (low, high) == pytest.approx((0.02 - half, 0.02 + half))
    assert corrected_error(values, 0.8) == pytest.approx(math.sqrt(0.45 * s2))


def test_folds_without_a_value_are_left_out_and_one_alone_gives_none():
    some = np.array([1.0, math.nan, 2.0, 3.0])
    assert corrected_interval(some, 0.75) == corrected_interval(some[[0, 2, 3]], 0.75)
    assert all(math.isnan(end) for end in corrected_interval(np.array([1.0, math.nan]), 0.5))


def test_it_covers_where_the_plain_t_interval_of_folds_does_not():
    """Which of two variables predicts better by its training mean: the truth is 0.

    Differences of folds hang together through their training rows.
    """
    generator = np.random.default_rng(0)
    covered = plain = 0
    for _ in range(1000):
        a, b = generator.normal(size=(2, 40))
        tested = np.arange(40) % 5
        gains = []
        for fold in range(5):
            train, test = tested != fold, tested == fold
            errors = [np.mean((v[test] - v[train].mean()) ** 2) for v in (a, b)]
            gains.append(errors[0] - errors[1])
        low, high = corrected_interval(np.array(gains), 0.8)
        covered += low <= 0 <= high
        ordinary = stats.t.interval(0.95, 4, np.mean(gains), stats.sem(gains))
        plain += ordinary[0] <= 0 <= ordinary[1]
    assert covered / 1000 >= 0.95
    assert plain < covered
