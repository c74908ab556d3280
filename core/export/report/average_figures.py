"""The report's figures of an average: its members' weights, and its course against one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.export.report.svg import CHARACTER, Drawing, Scale, apart, frame, padded, plain

MOST_BARS = 30


def weights(bars: Sequence[tuple[str, float]]) -> str:
    """A bar a member, the best first; beyond some, the rest is in the table only.

    Args:
        bars: (name, weight), weights summing to 1.
    """
    shown = bars[:MOST_BARS]
    drawing = Drawing(
        "Weights of the members",
        "; ".join(f"{name} {weight:.3f}" for name, weight in shown),
        width=540,
        height=52 + 22 * len(shown),
    )
    left = 20 + CHARACTER * max(len(name) for name, _ in shown)
    x = Scale(0.0, 1.05 * max(weight for _, weight in shown), left, drawing.width - 60)
    floor = drawing.height - 44
    for tick in x.ticks(4):
        drawing.line(x(tick), 4, x(tick), floor, "grid")
        drawing.text(x(tick), floor + 18, plain(tick), anchor="middle")
    for at, (name, weight) in enumerate(shown):
        y = 6 + 22 * at
        drawing.text(left - 8, y + 13, name, "name", "end")
        drawing.bar(left, y, x(weight) - left, 16, "fill0")
        drawing.text(x(weight) + 6, y + 13, f"{weight:.3f}")
    drawing.line(left, floor, x.end, floor, "axis")
    drawing.text((left + x.end) / 2, drawing.height - 8, "weight", "label", "middle")
    return drawing.svg()


def against(lines: Mapping[str, Sequence[tuple[int, float]]], metric: str) -> str:
    """Courses over trials with their names at the ends; the first is stressed.

    Args:
        lines: {name: (finished trials, score)}, two at most.
        metric: name of the vertical axis.
    """
    drawing = Drawing(
        "Average against single best",
        "; ".join(f"{name} {plain(points[-1][1])} at the end" for name, points in lines.items()),
        width=680,
        height=280,
    )
    every = [point for points in lines.values() for point in points]
    trials, heights = zip(*every, strict=True)
    right = 24 + CHARACTER * max(len(name) for name in lines)
    axes = frame(
        drawing,
        (min(trials), max(max(trials), min(trials) + 1)),
        padded(heights),
        ("trials", metric),
        whole_x=True,
        right=right,
    )
    for at, points in reversed(list(enumerate(lines.values()))):
        kind = "curve c0" if at == 0 else "curve cm"
        drawing.path([(axes.x(n), axes.y(score)) for n, score in points], kind)
    ends = [axes.y(points[-1][1]) for points in lines.values()]
    for name, place in zip(lines, apart(ends, 15, 18, axes.floor), strict=True):
        drawing.text(axes.x.end + 8, place + 4, name, "t0" if name == next(iter(lines)) else "tick")
    return drawing.svg()
