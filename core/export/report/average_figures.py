"""The report's figures of an average: its members' weights, and its score against one model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.export.report.svg import (
    CHARACTER,
    SvgDrawing,
    SvgScale,
    padded_range,
    spread_apart,
    svg_axes,
    svg_number,
)

MAX_BARS = 30


def weight_bars(bars: Sequence[tuple[str, float]]) -> str:
    """A bar for each (name, weight) of a member, best first; the weights sum to 1."""
    shown = bars[:MAX_BARS]
    drawing = SvgDrawing(
        "Weights of the members",
        "; ".join(f"{name} {weight:.3f}" for name, weight in shown),
        width=540,
        height=52 + 22 * len(shown),
    )
    plot_left = 20 + CHARACTER * max(len(name) for name, _ in shown)
    x = SvgScale(0.0, 1.05 * max(weight for _, weight in shown), plot_left, drawing.width - 60)
    floor = drawing.height - 44
    for tick in x.tick_values(4):
        drawing.add_line(x(tick), 4, x(tick), floor, "grid")
        drawing.add_text(x(tick), floor + 18, svg_number(tick), anchor="middle")
    for index, (name, weight) in enumerate(shown):
        y = 6 + 22 * index
        drawing.add_text(plot_left - 8, y + 13, name, "name", "end")
        drawing.add_bar(plot_left, y, x(weight) - plot_left, 16, "fill0")
        drawing.add_text(x(weight) + 6, y + 13, f"{weight:.3f}")
    drawing.add_line(plot_left, floor, x.end, floor, "axis")
    drawing.add_text((plot_left + x.end) / 2, drawing.height - 8, "weight", "label", "middle")
    return drawing.to_svg()


def score_courses(lines: Mapping[str, Sequence[tuple[int, float]]], metric: str) -> str:
    """Scores of {name: (finished trials, score)} with names at the ends, for one or two lines."""
    drawing = SvgDrawing(
        "Average against single best",
        "; ".join(f"{name} {svg_number(line[-1][1])} at the end" for name, line in lines.items()),
        width=680,
        height=280,
    )
    all_points = [point for points in lines.values() for point in points]
    trials, heights = zip(*all_points, strict=True)
    right = 24 + CHARACTER * max(len(name) for name in lines)
    axes = svg_axes(
        drawing,
        (min(trials), max(max(trials), min(trials) + 1)),
        padded_range(heights),
        ("trials", metric),
        whole_x=True,
        right=right,
    )
    for index, points in reversed(list(enumerate(lines.values()))):
        kind = "curve c0" if index == 0 else "curve cm"
        drawing.add_path([(axes.x(n), axes.y(score)) for n, score in points], kind)
    ends = [axes.y(points[-1][1]) for points in lines.values()]
    for name, label_y in zip(lines, spread_apart(ends, 15, 18, axes.bottom_y), strict=True):
        kind = "t0" if name == next(iter(lines)) else "tick"
        drawing.add_text(axes.x.end + 8, label_y + 4, name, kind)
    return drawing.to_svg()
