"""Paired tests and score intervals of shares, by hand and by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from core.evaluation.paired_tests import difference_interval, discordant, mcnemar, share_interval


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


def test_a_row_may_count_less_than_one():
    """Broken counts leave z √c in place of z, and the binomial tail between whole numbers."""
    low, high = share_interval(0.5 * 45, 0.5 * 60)
    z = math.sqrt(2) * stats.norm.ppf(0.975)
    for end in (low, high):
        assert abs(0.75 - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 60))
    whole, broken = difference_interval(12, 2, 50), difference_interval(6, 1, 25)
    assert broken[0] < whole[0] < whole[1] < broken[1]
    assert mcnemar(13, 3) < mcnemar(12.5, 3) < mcnemar(12, 3)
