"""Spreads by units against formulas by hand, and what their intervals hold on simulated tables."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.datasets.units import Units, single_rows
from core.evaluation.paired_tests import share_interval
from core.evaluation.unit_intervals import (
    bounded_interval,
    distance_interval,
    mean_left_out,
    spread_of,
    sum_interval,
)
from tests.benchmarks.simulations.unit_coverage import group_figures, tail_figures, time_figures


def test_the_spread_of_equal_groups_is_that_of_their_means():
    generator = np.random.default_rng(0)
    values = generator.normal(size=60)
    units = Units(np.arange(60) % 12)
    spread = spread_of(mean_left_out(values, units), units)
    means = units.unit_sums(values) / 5
    assert spread.error == pytest.approx(stats.sem(means))
    assert 1.0 <= spread.degrees <= 11.0 + 1e-9
    assert spread.count == 12
    # Never narrower than Student's t, and hardly wider where nothing is skewed.
    low, high = spread.interval_around(values.mean())
    t = stats.t.ppf(0.975, spread.degrees) * spread.error
    assert high - values.mean() >= t - 1e-12
    assert values.mean() - low >= t - 1e-12
    both = np.concatenate([values, -values])
    mirrored = spread_of(mean_left_out(both, single_rows(120)), single_rows(120))
    assert mirrored.interval_around(0.0)[1] == pytest.approx(
        stats.t.ppf(0.975, mirrored.degrees) * mirrored.error
    )


def test_unequal_groups_have_the_jackknife_of_groups_and_fewer_degrees():
    values = np.random.default_rng(1).normal(size=100)
    codes = np.repeat([0, 1, 2, 3, 4], [60, 10, 10, 10, 10])
    left_out = mean_left_out(values, Units(codes))
    expected = np.array([values[codes != unit].mean() for unit in range(5)])
    np.testing.assert_allclose(left_out, expected)
    spread = spread_of(left_out, Units(codes))
    jackknife = 0.8 * ((expected - expected.mean()) ** 2).sum()
    assert spread.error == pytest.approx(math.sqrt(jackknife))
    assert spread.degrees < 3


def test_hall_takes_skewness_to_where_the_large_values_are():
    """The long tail of an exponential mean is above: its interval reaches farther up."""
    values = np.random.default_rng(2).exponential(size=40)
    spread = spread_of(mean_left_out(values, single_rows(40)), single_rows(40))
    low, high = spread.interval_around(1.0)
    assert spread.skewness > 0
    assert high - 1.0 > 1.0 - low
    t, g = (high - 1.0) / spread.error, spread.skewness
    # At the upper end the transformed statistic is −t: t + γt²/3 + γ²t³/27 + γ/6 for a negative t.
    transformed = -t + g * t**2 / 3 - g**2 * t**3 / 27 + g / 6
    assert transformed == pytest.approx(-stats.t.ppf(0.975, spread.degrees))


def test_blocks_that_are_alike_count_as_fewer():
    shocks = np.random.default_rng(3).normal(size=20)
    series = np.cumsum(shocks)
    left_out, rows = mean_left_out(series, single_rows(20)), single_rows(20)
    alone, blocks = (
        spread_of(left_out, replace(rows, is_time=is_time)) for is_time in (False, True)
    )
    change = series - series.mean()
    r = float(change[1:] @ change[:-1] / (change @ change))
    r += (1 + 3 * r) / 20
    assert blocks.count == pytest.approx(20 * (1 - r) / (1 + r))
    assert blocks.error > 1.5 * alone.error


def test_a_share_of_single_rows_has_nearly_wilsons_interval_and_a_perfect_one_that_of_its_units():
    right = np.arange(200) < 150
    left_out = mean_left_out(right.astype(float), single_rows(200))
    found = bounded_interval(0.75, left_out, single_rows(200))
    assert found == pytest.approx(share_interval(150, 200), abs=0.003)
    groups = Units(np.arange(200) // 10)
    found = bounded_interval(1.0, mean_left_out(np.ones(200), groups), groups)
    assert found == pytest.approx(share_interval(20, 20))
    alone = Units(np.zeros(8, int))
    found = bounded_interval(0.5, mean_left_out(np.ones(8), alone) + np.nan, alone)
    assert found == pytest.approx(share_interval(0.5, 1))


def test_losses_stay_above_the_best_one():
    losses = np.random.default_rng(4).exponential(size=15) ** 3
    rows = single_rows(15)
    left_out = mean_left_out(losses, rows)
    low, high = distance_interval(float(losses.mean()), left_out, rows, 0.0)
    assert 0 < low < losses.mean() < high
    r2 = distance_interval(1 - float(losses.mean()), 1 - left_out, rows, 1.0)
    assert r2 == pytest.approx((1 - high, 1 - low))
    assert distance_interval(0.0, np.zeros(15), rows, 0.0) == (0.0, 0.0)
    assert all(math.isnan(end) for end in distance_interval(0.5, np.full(15, np.nan), rows, 0.0))


@pytest.mark.parametrize("count", [1, 7, 40])
def test_a_sum_of_equal_numbers_has_the_exact_interval_of_a_poisson_count(count):
    low, high = sum_interval(np.r_[np.full(count, 0.5), np.zeros(60)])
    assert 2 * low == pytest.approx(stats.chi2.ppf(0.025, 2 * count) / 2)  # Garwood 1936
    assert 2 * high == pytest.approx(stats.chi2.ppf(0.975, 2 * count + 2) / 2)
    assert sum_interval(-np.full(count, 0.5)) == pytest.approx((-high, -low))
    # Rows that count half as much know as much as half of them.
    half = sum_interval(np.full(2 * count, 0.25), row_weight=0.5)
    assert half == pytest.approx((low, high))
    assert sum_interval(np.zeros(5)) == (0.0, 0.0)
    assert sum_interval(np.r_[1e-200, np.zeros(5)]) == pytest.approx(
        (2.53e-202, 5.57e-200), rel=1e-2
    )
    assert sum_interval(np.full(5, np.nan)) == (-math.inf, math.inf)


def test_a_single_large_error_does_not_make_the_interval_endless():
    """Of 70 rows the largest has more than half of all squared errors."""
    squares = np.r_[np.full(69, 0.04), 4.0]
    left_out = mean_left_out(squares, single_rows(70))
    low, high = distance_interval(float(squares.mean()), left_out, single_rows(70), 0.0)
    gamma = stats.gamma((squares.sum() + 12.0) ** 2 / (squares @ squares + 144.0))
    scale = (squares @ squares + 144.0) / (squares.sum() + 12.0) / 70
    assert high == pytest.approx(scale * gamma.ppf(0.975))
    assert 0 < low < squares.mean() < high < 1.0


@pytest.mark.slow
def test_simulated_tables_hold_what_is_promised():
    """Rows for independent ones would be called different in some 20 to 60 of 100 cases."""
    lines = [*group_figures(160, (5, 12)), *time_figures(90, (0.8,)), *tail_figures(100, (100,))]
    missed = [line for line in lines if not line.is_reached]
    assert not missed
    assert len(lines) == 3 * 12 + 9
