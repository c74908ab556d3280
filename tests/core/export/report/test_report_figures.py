"""Scales, ticks and labels of the report's drawings, against hand-worked cases and bounds."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.export.report.report_figures import best_so_far, penalty_bars, trajectory
from core.export.report.svg import SvgScale, linear_ticks, log_ticks, spread_apart, svg_number


def test_scales_by_hand() -> None:
    assert SvgScale(0, 10, 100, 200)(5) == 150
    assert SvgScale(1, 100, 200, 0, log=True)(10) == pytest.approx(100)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.79, 0.91, [0.8, 0.85, 0.9]),
        (0, 1500, [0, 500, 1000, 1500]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert linear_ticks(low, high, 5) == pytest.approx(expected)


def test_log_ticks_are_few_and_round() -> None:
    assert log_ticks(0.1, 100) == pytest.approx([0.1, 0.3, 1, 3, 10, 30, 100])
    assert len(log_ticks(1e-12, 1e12)) <= 8


@given(st.lists(st.floats(0, 300), min_size=1, max_size=15))
def test_labels_keep_apart(places: list[float]) -> None:
    moved = spread_apart(places, 15, 0, 300)
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in moved)
    assert all(after - before >= 15 - 1e-6 for before, after in pairwise(sorted(moved)))


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0"), (0.05, "0.05"), (1500, "1,500"), (2e-7, "2e-7"), (3e9, "3e9")]
)
def test_numbers_as_people_write_them(value: float, words: str) -> None:
    assert svg_number(value) == words


def test_best_so_far_is_a_staircase() -> None:
    """Every piece of the line is level or upright."""
    drawing = best_so_far([(0, 0.5), (1, 0.8), (2, 0.7), (4, 0.9)], [3], 0.6, "accuracy", True)
    path = re.search(r'<path class="curve c0" d="M([^"]+)"', drawing)
    assert path is not None
    points = [tuple(map(float, pair.split(","))) for pair in path.group(1).split("L")]
    assert all(x0 == x1 or y0 == y1 for (x0, y0), (x1, y1) in pairwise(points))
    assert "0.9 after 4 trials" in drawing


def test_less_is_better_when_minimizing() -> None:
    drawing = best_so_far([(0, 3.0), (1, 1.0), (2, 2.0)], [], 0.0, "mse", False)
    assert "1 after 3 trials, first 3" in drawing


def test_one_trial_and_no_default() -> None:
    assert "after 1 trials" in best_so_far([(0, 0.5)], [], None, "accuracy", True)


def test_groups_at_their_cap_get_no_number() -> None:
    drawing = penalty_bars({"blood": 0.4, "noise": 126.28}, ["noise"])
    assert "switched off" in drawing
    assert "126.28" not in drawing


def test_hundreds_of_groups_stay_readable() -> None:
    steps = [{f"g{i}": 1.0 + i * t for i in range(300)} for t in range(5)]
    drawing = trajectory(steps)
    assert drawing.count('class="pale"') == 288
    assert drawing.count('class="curve') == 12
