"""The bench of thresholds and of unlike rows in its short form."""

from __future__ import annotations

import pytest

from tests.benchmarks.simulations.alarm_coverage import alarm_figures, threshold_figures

pytestmark = pytest.mark.slow


def test_a_threshold_by_costs_is_within_five_percent_of_the_best():
    for figure in threshold_figures(48):
        assert figure.value < 0.06, figure


def test_ordinary_rows_are_seldom_unlike_and_moved_ones_mostly():
    ordinary, moved, odd = alarm_figures(42, {10: 1}, (100, 300))
    assert 0.004 < ordinary.value < 0.02
    assert moved.value > 0.6
    assert odd.value > 0.55
