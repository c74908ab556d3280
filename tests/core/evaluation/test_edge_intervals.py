"""Intervals of classes' metrics by the formulas they generalize, and at their ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from core.evaluation.edge_intervals import (
    ClassEstimate,
    area_interval,
    f1_interval,
    paired_interval,
    recall_interval,
)
from core.evaluation.paired_tests import share_interval

Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize(("right", "rows"), [(45, 60), (60, 60), (0, 7), (1, 6)])
def test_the_recall_of_one_class_has_wilsons_interval(right, rows):
    ends = recall_interval(np.array([float(right)]), np.array([float(rows)]))
    assert ends == pytest.approx(share_interval(right, rows), abs=1e-9)


def test_classes_of_equal_recall_count_as_one():
    """Eighty rows that are all right, in ten classes: likely are equal recalls below 1."""
    rows = np.full(10, 8.0)
    assert recall_interval(rows, rows) == pytest.approx(share_interval(80, 80))


def test_an_end_of_recall_is_where_the_likeliest_recalls_are_just_significant():
    right, rows = np.array([5.0, 57.0]), np.array([6.0, 60.0])
    low, _ = recall_interval(right, rows)

    def minus_log(first):
        p = np.array([first, 2 * low - first])
        return -float(right @ np.log(p) + (rows - right) @ np.log(1 - p))

    first = optimize.minimize_scalar(
        minus_log, bounds=(max(0.0, 2 * low - 1) + 1e-9, 1 - 1e-9), options={"xatol": 1e-12}
    ).x
    p = np.array([first, 2 * low - first])
    error = math.sqrt(np.sum(p * (1 - p) / rows)) / 2
    assert (right / rows).mean() - low == pytest.approx(Z * error, rel=1e-4)


def test_a_perfect_area_has_newcombes_interval():
    """1 − θ = z √V(θ) with V as Hanley & McNeil's, by hand for 6 and 60 rows."""
    low, high = area_interval(1.0, 0.0, np.array([6.0]), np.array([60.0]))
    assert high == 1.0
    ranks = (1 - low) / (2 - low) + low / (1 + low)
    variance = low * (1 - low) * (1 + 32 * ranks) / 360
    assert 1.0 - low == pytest.approx(Z * math.sqrt(variance))
    assert area_interval(0.0, 0.0, np.array([6.0]), np.array([60.0])) == pytest.approx((0, 1 - low))


def test_of_many_rows_the_areas_own_variance_decides():
    many = np.array([3000.0])
    low, high = area_interval(0.8, 0.01**2, many, many)
    assert (low, high) == pytest.approx((0.8 - Z * 0.01, 0.8 + Z * 0.01), abs=2e-3)
    assert area_interval(0.5, 0.0, many, many) == (0.5, 0.5)  # of scores that are all the same


def test_f1_of_one_class_is_a_share_of_rows_of_it_or_called_so():
    low, high = f1_interval(np.array([[18.0]]))
    share = share_interval(18, 18)[0]
    assert (low, high) == pytest.approx((2 * share / (1 + share), 1.0))
    low, high = f1_interval(np.diag([60.0, 6.0]))
    assert low < 0.95
    assert high == 1.0


def test_two_perfect_models_may_still_differ():
    phi, steps = np.zeros(66), np.array([1 / 6, 1 / 60]) / 2
    perfect = ClassEstimate(1.0, (0.8, 1.0), phi, steps)
    low, high = paired_interval(perfect, perfect)
    assert low == -high == pytest.approx(-Z * math.sqrt(2 * steps @ steps))
    few = ClassEstimate(0.9, (0.8, 1.0), np.linspace(-0.02, 0.02, 66), steps)
    low, high = paired_interval(few, perfect)
    assert high - low > 2 * Z * np.sqrt(few.influence @ few.influence)
