"""A curve: what is measured at which sizes, how steep it is, and how steep theory has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DECADES = 2.0  # from the end of a line, over which its slope is taken
MINUTE = 60.0


@dataclass(frozen=True)
class Line:
    """One way of doing it.

    Attributes:
        name: in the picture.
        make: (size) -> the call that is timed; whatever it builds before is not.
        theory: the exponent with which its time should grow for large sizes; None for a peer.
        max_size: beyond which it is not tried, where that is known.
        warms_up: whether a small call before compiles and imports what the timed one needs.
    """

    name: str
    make: Callable[[int], Callable[[], object]]
    theory: float | None = None
    max_size: float = math.inf
    warms_up: bool = True


@dataclass(frozen=True)
class Curve:
    """Lines over the same axis.

    Attributes:
        name: on the command line and of the picture's file.
        title: over the picture.
        axis: what grows.
        sizes: at which it is measured.
        lines: what is measured.
        remark: what to bear in mind.
    """

    name: str
    title: str
    axis: str
    sizes: tuple[int, ...]
    lines: tuple[Line, ...]
    remark: str = ""


@dataclass(frozen=True)
class Point:
    """What one call took: processor seconds, and megabytes beyond what lay there before."""

    size: int
    seconds: float
    megabytes: float


def slope(points: Sequence[Point]) -> float | None:
    """The exponent of time over the last two decades, by least squares; None of fewer than two."""
    if len(points) < 2:
        return None
    last = math.log10(points[-1].size)
    x, y = zip(
        *(
            (math.log10(point.size), math.log10(max(point.seconds, 1e-7)))
            for point in points
            if math.log10(point.size) >= last - DECADES - 1e-9
        ),
        strict=True,
    )
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - x_mean) ** 2 for a in x)
    if spread == 0.0:
        return None
    return sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread


def minute_size(points: Sequence[Point]) -> float | None:
    """The size whose call takes a minute, as the line rose last; None where it does not rise."""
    power = slope(points)
    if power is None or power < 0.05:
        return None
    size = points[-1].size * (MINUTE / max(points[-1].seconds, 1e-7)) ** (1 / power)
    return size if size < 1e12 else None
