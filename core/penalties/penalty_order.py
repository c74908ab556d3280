"""What can be told of groups' penalties: which group is trusted more, and how many times.

A range is that of the penalties that each fold alone would choose (`implicit_gradient`). For two
groups that matter alike, the five choices of one are all below those of the other once in 252.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.wording import format_number, list_text, quoted

MAX_TIMES = 100.0  # ratio of penalties; from here on weights near zero say nothing finer
_MAX_LEVELS, _MAX_NAMES = 4, 5  # in a sentence

Ranges = Mapping[str, Sequence[float]]  # group: [lowest, highest penalty]


def times_text(ratio: float) -> str:
    """How many times larger a penalty is than another, as far as that can be known."""
    return f"over {MAX_TIMES:.0f}" if ratio > MAX_TIMES else format_number(ratio, 2)


def trust_levels(ranges: Ranges) -> list[list[str]]:
    """Groups from the smallest penalty on; those of a level overlap, some by way of others."""
    levels: list[list[str]] = []
    reached = -1.0
    for name, (low, high) in sorted(ranges.items(), key=lambda pair: tuple(pair[1])):
        if low > reached:
            levels.append([])
        levels[-1].append(name)
        reached = max(reached, high)
    return levels


def placed_groups(ranges: Ranges) -> Ranges:
    """Where all are level, those below and above the cut at which most pairs are told apart."""
    if len(trust_levels(ranges)) != 1:
        return ranges
    lows, highs = np.array(list(ranges.values()), dtype=float).T
    below, above = highs <= highs[:, None], lows > highs[:, None]  # of every cut
    best = int(np.argmax(below.sum(axis=1) * above.sum(axis=1)))
    if not above[best].any():
        return ranges
    is_placed = below[best] | above[best]
    return {name: ranges[name] for name, is_so in zip(ranges, is_placed, strict=True) if is_so}


def order_text(ranges: Ranges) -> str:
    """The order of groups as far as it holds; "" of one group, or where no range is known."""
    if len(ranges) < 2:
        return ""
    placed = placed_groups(ranges)
    levels, unplaced = trust_levels(placed), [name for name in ranges if name not in placed]
    if len(levels) == 1:
        return "Single folds do not agree on which group matters more: all are level."
    shown = [list_text(quoted(level), _MAX_NAMES) for level in levels[:_MAX_LEVELS]]
    hidden = len(levels) - len(shown)
    words = "; then ".join([*shown, f"{hidden} more levels"] if hidden else shown)
    sentences = [f"Most important first: {words}."]
    if len(placed) > len(levels):
        sentences.append("Groups named together cannot be told apart.")
    if unplaced:
        sentences.append(f"{list_text(quoted(unplaced), _MAX_NAMES)} cannot be placed.")
    return " ".join(sentences)
