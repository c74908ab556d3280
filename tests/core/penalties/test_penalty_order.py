"""What is told of the order of penalties and of their ratios."""

from __future__ import annotations

import pytest

from core.penalties.penalty_order import order_text, times_text, trust_levels


def test_no_ratio_above_a_hundred_is_told() -> None:
    assert [times_text(x) for x in (3.0, 99.0, 101.0, 286601.0)] == [
        "3", "99", "over 100", "over 100"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ranges", "levels"),
    [
        ({"a": [3, 4], "b": [1, 2]}, [["b"], ["a"]]),
        ({"a": [1, 4], "b": [2, 5]}, [["a", "b"]]),
        # c overlaps a and b, which lie apart.
        ({"a": [1, 2], "b": [3, 4], "c": [1.5, 3.5], "d": [9, 10]}, [["a", "c", "b"], ["d"]]),
        ({"a": [0, 0], "b": [1, 1]}, [["a"], ["b"]]),
    ],
)
def test_groups_whose_ranges_overlap_are_level(ranges, levels) -> None:
    assert trust_levels(ranges) == levels


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ({}, ""),
        ({"a": [1, 2]}, ""),
        ({"a": [3, 4], "b": [1, 2]}, "Most important first: “b”; then “a”."),
        ({"a": [1, 4], "b": [2, 5]},
         "Single folds do not agree on which group matters more: all are level."),
        ({"a": [1, 2], "b": [1, 3], "c": [9, 10]},
         "Most important first: “a” and “b”; then “c”. Groups named together cannot be told "
         "apart."),
        ({"wide": [1, 10], "a": [1, 2], "b": [5, 6]},
         "Most important first: “a”; then “b”. “wide” cannot be placed."),
        ({"blood": [0.02, 4], "sport": [0.01, 25], "noise": [0.1, 8000], "gene": [15, 30000]},
         "Most important first: “blood”; then “gene”. “sport” and “noise” cannot be placed."),
        ({str(n): [n, n] for n in range(1, 8)},
         "Most important first: “1”; then “2”; then “3”; then “4”; then 3 more levels."),
    ],
)  # fmt: skip
def test_the_order_is_told_as_far_as_it_holds(ranges, told) -> None:
    assert order_text(ranges) == told
