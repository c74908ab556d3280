"""Paired tests by hand and by enumeration, the resampled t interval by hand and its coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from core.evaluation.paired_tests import (
    corrected_error,
    corrected_interval,
    difference_interval,
    discordant,
    mcnemar,
    share_interval,
)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (6, 0), (5, 0), (12, 2), (2, 12), (40, 25)])
def test_p_is_that_of_the_binomial_test(won, lost):
    expected = stats.binomtest(won, won + lost, 0.5).pvalue if won + lost else 1.0
    assert mcnemar(won, lost) == pytest.approx(expected)


def test_the_interval_leaves_zero_out_exactly_when_the_exact_test_rejects():
    for won in range(41):
        for lost in range(41):
            low, high = difference_interval(won, lost, 100)
            assert (low > 0 or high < 0) == (mcnemar(won, lost) < 0.05), (won, lost)
            assert low <= (won - lost) / 100 <= high


def score_statistic(gain, won, lost, rows):
    """(b − c − nΔ)/sd, q found by maximizing the likelihood numerically."""

    def minus_log(q):
        parts = ((won, q + gain), (lost, q), (rows - won - lost, 1 - 2 * q - gain))
        return -sum(count * np.log(max(p, 1e-300)) for count, p in parts if count)

    bounds = (max(0.0, -gain), (1 - gain) / 2)
    q = optimize.minimize_scalar(minus_log, bounds=bounds, options={"xatol": 1e-12}).x
    return (won - lost - rows * gain) / np.sqrt(rows * (2 * q + gain * (1 - gain)))


@pytest.mark.parametrize(("won", "lost", "rows"), [(12, 2, 50), (30, 12, 300), (3, 21, 60)])
def test_the_ends_are_where_the_score_statistic_is_just_significant(won, lost, rows):
    low, high = difference_interval(won, lost, rows)
    assert score_statistic(low, won, lost, rows) == pytest.approx(1.959964, abs=1e-3)
    assert score_statistic(high, won, lost, rows) == pytest.approx(-1.959964, abs=1e-3)


def test_extremes_stay_within_the_range():
    assert difference_interval(60, 0, 60)[1] == 1.0
    assert difference_interval(0, 60, 60)[0] == -1.0
    low, high = difference_interval(0, 0, 60)
    assert low == -high < -0.05


@pytest.mark.parametrize(("p_won", "p_lost"), [(0.1, 0.05), (0.15, 0.02), (0.05, 0.05), (0.2, 0.0)])
def test_coverage_summed_over_all_outcomes_of_60_rows(p_won, p_lost):
    covered = 0.0
    for won in range(61):
        of_won = stats.binom.pmf(won, 60, p_won)
        for lost in range(61 - won):
            weight = of_won * stats.binom.pmf(lost, 60 - won, p_lost / (1 - p_won))
            if weight > 1e-9:
                low, high = difference_interval(won, lost, 60)
                covered += weight * (low <= p_won - p_lost <= high)
    assert covered >= 0.94


def test_a_share_has_wilsons_interval():
    theirs = stats.binomtest(45, 60).proportion_ci(method="wilson")
    assert share_interval(45, 60) == pytest.approx((theirs.low, theirs.high))
    assert share_interval(60, 60)[1] == 1.0
    assert share_interval(0, 60)[0] == 0.0


def test_discordant_rows_are_those_that_one_has_right():
    a, b = np.array([1, 1, 0, 0, 1], bool), np.array([1, 0, 1, 0, 0], bool)
    assert discordant(a, b) == (2, 1)


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
