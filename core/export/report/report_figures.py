"""The figures of a report: each takes plain numbers and gives one SVG drawing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.export.report.svg import (
    CHARACTER,
    SERIES,
    SvgDrawing,
    SvgScale,
    padded_log,
    padded_range,
    spread_apart,
    svg_axes,
    svg_number,
)

MAX_BARS = 40
MAX_NAMED_GROUPS = 12
LONG_NAME = 40  # characters beside a bar


def best_so_far(
    trials: Sequence[tuple[int, float]],
    failed: Sequence[int],
    default: float | None,
    metric: str,
    maximize: bool,
) -> str:
    """Every trial's score, the best so far as a staircase, and the default setting's score."""
    better = max if maximize else min
    best = list(itertools.accumulate((score for _, score in trials), better))
    drawing = SvgDrawing(
        "Best score so far",
        f"{svg_number(best[-1])} after {len(trials)} trials, first {svg_number(best[0])}.",
    )
    heights = [score for _, score in trials] + ([default] if default is not None else [])
    # One hopeless trial must not flatten all others: the axis follows the better four fifths.
    better_heights = sorted(heights, reverse=maximize)[: max(2, math.ceil(0.8 * len(heights)))]
    low, high = padded_range([*better_heights, *best, *([default] if default is not None else [])])
    last = max([number for number, _ in trials] + list(failed))
    labels, x_range = ("trial", metric), (-0.5, last + 0.5)
    axes = svg_axes(drawing, x_range, (low, high), labels, whole_x=True, right=96)
    if default is not None:
        drawing.add_line(axes.x.start, axes.y(default), axes.x.end, axes.y(default), "dashed")
    stairs = [(axes.x(trials[0][0]), axes.y(best[0]))]
    for (number, _), before, now in zip(trials[1:], best, best[1:], strict=False):
        if now != before:
            stairs += [(axes.x(number), axes.y(before)), (axes.x(number), axes.y(now))]
    drawing.add_path([*stairs, (axes.x.end, stairs[-1][1])], "curve c0")
    for number, score in trials:
        inside = low <= score <= high
        height = axes.y(min(max(score, low), high))
        kind = "dot d-seen" if inside else "hollow"
        drawing.add_dot(axes.x(number), height, kind, 3, f"trial {number}: {svg_number(score)}")
    for number in failed:
        drawing.add_text(axes.x(number), axes.bottom_y - 3, "×", "tick", "middle")
    line = None if default is None else axes.y(default)
    _staircase_labels(drawing, axes.x.end, axes.y(best[-1]), line)
    return drawing.to_svg()


def _staircase_labels(drawing: SvgDrawing, x: float, best: float, default: float | None) -> None:
    heights = [best] if default is None else [best, default]
    label_heights = spread_apart(heights, 15, 14, drawing.height - 50)
    drawing.add_text(x + 6, label_heights[0] + 4, "best so far", "t0")
    if default is not None:
        drawing.add_text(x + 6, label_heights[1] + 4, "default", "tick")


def score_intervals(
    rows: Sequence[tuple[str, float, float, float]],
    metric: str,
    format_value: Callable[[float], str] = svg_number,
) -> str:
    """Test scores as dots with their 95 % confidence intervals."""
    drawing = SvgDrawing(
        "Scores on rows that tuning never saw",
        "; ".join(
            f"{name} {format_value(s)}, {format_value(lo)} to {format_value(hi)}"
            for name, s, lo, hi in rows
        ),
        width=540,
        height=62 + 48 * len(rows),
    )
    plot_left = 24 + CHARACTER * max(len(name) for name, *_ in rows)
    ends = padded_range([v for _, *numbers in rows for v in numbers])
    x = SvgScale(*ends, plot_left, drawing.width - 24)
    floor = drawing.height - 46
    for tick in x.tick_values(6):
        drawing.add_line(x(tick), 8, x(tick), floor, "grid")
        drawing.add_text(x(tick), floor + 19, format_value(tick), anchor="middle")
    drawing.add_line(plot_left, floor, x.end, floor, "axis")
    drawing.add_text((plot_left + x.end) / 2, drawing.height - 8, metric, "label", "middle")
    for index, (name, score, low, high) in enumerate(rows):
        y, series = 36 + 48 * index, "0" if index == 0 else "m"
        drawing.add_text(plot_left - 12, y + 4, name, "name", "end")
        drawing.add_line(x(low), y, x(high), y, f"interval c{series}")
        drawing.add_dot(x(score), y, f"dot d{series}", 6)
        drawing.add_text(x(score), y - 12, format_value(score), "name", "middle")
    return drawing.to_svg()


def trajectory(steps: Sequence[Mapping[str, float]], label: str = "penalty (λ)") -> str:
    """The penalty of every group at every step, on a logarithmic axis."""
    last = steps[-1]
    order = sorted((name for name in last if last[name] > 0), key=lambda name: -last[name])
    end_count = MAX_NAMED_GROUPS // 2
    # Of many groups only the ends of the range are named and coloured.
    named = order if len(order) <= MAX_NAMED_GROUPS else order[:end_count] + order[-end_count:]
    drawing = SvgDrawing(
        "Regularization trajectory",
        f"{len(steps) - 1} steps; at the end "
        + ", ".join(f"{name} {svg_number(last[name])}" for name in named),
        width=540,
        height=320,
    )
    heights = [step[name] for step in steps for name in order if step.get(name, 0) > 0]
    right = 30 + CHARACTER * min(24, max(len(name) for name in named))
    axes = svg_axes(
        drawing,
        (0, max(len(steps) - 1, 1)),
        padded_log(heights),
        ("step", f"{label} (log scale)"),
        log=(False, True),
        whole_x=True,
        right=right,
    )
    colour = {name: f"{i % SERIES}" for i, name in enumerate(named)}
    for name in sorted(order, key=lambda name: name in colour):
        points = [(axes.x(t), axes.y(s[name])) for t, s in enumerate(steps) if s.get(name, 0) > 0]
        drawing.add_path(points, f"curve c{colour[name]}" if name in colour else "pale")
        if name in colour and len(steps) <= 40:
            for x, y in points:
                drawing.add_dot(x, y, f"dot d{colour[name]}", 2.5)
    ends = [axes.y(last[name]) for name in named]
    label_heights = spread_apart(ends, 15, 18, axes.bottom_y)
    for name, end, label_y in zip(named, ends, label_heights, strict=True):
        drawing.add_line(axes.x.end + 3, end, axes.x.end + 14, label_y, f"leader c{colour[name]}")
        drawing.add_text(axes.x.end + 17, label_y + 4, _shortened(name), "tick")
    return drawing.to_svg()


def penalty_bars(penalties: Mapping[str, float], switched_off: Sequence[str]) -> str:
    """Learned penalties, the most trusted group first."""
    order = sorted(penalties, key=lambda name: (name in switched_off, penalties[name]))
    shown = order if len(order) <= MAX_BARS else order[: MAX_BARS // 2] + order[-MAX_BARS // 2 :]
    labels = {n: "switched off" if n in switched_off else svg_number(penalties[n]) for n in shown}
    drawing = SvgDrawing(
        "Learned group penalties",
        "; ".join(f"{name} {labels[name]}" for name in shown),
        height=58 + 26 * len(shown),
    )
    plot_left = 20 + CHARACTER * min(LONG_NAME, max(len(name) for name in shown))
    positive = [penalties[name] for name in shown if penalties[name] > 0] or [1.0]
    x = SvgScale(*padded_log(positive, 2.0), plot_left, drawing.width - 100, log=True)
    floor = drawing.height - 46
    for tick in x.tick_values():
        drawing.add_line(x(tick), 6, x(tick), floor, "grid")
        drawing.add_text(x(tick), floor + 19, svg_number(tick), anchor="middle")
    for index, name in enumerate(shown):
        y = 10 + 26 * index
        kind = "hatched" if name in switched_off else "fill0"
        end = x(max(penalties[name], x.low))
        drawing.add_text(plot_left - 8, y + 14, _shortened(name, LONG_NAME), "name", "end")
        drawing.add_bar(plot_left, y, end - plot_left, 18, kind)
        drawing.add_text(end + 6, y + 14, labels[name])
    drawing.add_line(plot_left, floor, x.end, floor, "axis")
    words = "penalty (λ), log scale (shorter: trusted more)"
    drawing.add_text((plot_left + x.end) / 2, drawing.height - 8, words, "label", "middle")
    return drawing.to_svg()


def step_curve(values: Sequence[float], title: str, labels: tuple[str, str]) -> str:
    """One quantity over the steps."""
    ends = f"From {svg_number(values[0])} to {svg_number(values[-1])}."
    drawing, x_range = SvgDrawing(title, ends, 380, 300), (0, max(len(values) - 1, 1))
    axes = svg_axes(drawing, x_range, padded_range(values), labels, whole_x=True)
    points = [(axes.x(step), axes.y(value)) for step, value in enumerate(values)]
    drawing.add_path(points, "curve c0")
    if len(points) <= 60:
        for x, y in points:
            drawing.add_dot(x, y, "dot d0", 2.5)
    return drawing.to_svg()


def calibration(predicted: Sequence[float], observed: Sequence[float], label: str) -> str:
    """Predicted probabilities against the observed shares."""
    drawing = SvgDrawing(
        "Calibration",
        "; ".join(f"{p:.2f} said, {o:.2f} seen" for p, o in zip(predicted, observed, strict=True)),
        width=380,
        height=340,
    )
    words = (f"predicted probability of {label}", "share that has it")
    axes = svg_axes(drawing, (0, 1), (0, 1), words)
    drawing.add_line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    points = [(axes.x(p), axes.y(o)) for p, o in zip(predicted, observed, strict=True)]
    drawing.add_path(points, "curve c0")
    for x, y in points:
        drawing.add_dot(x, y, "dot d0")
    return drawing.to_svg()


def predicted_vs_actual(actual: Sequence[float], predicted: Sequence[float], target: str) -> str:
    """Predicted against actual values."""
    rows = f"{len(actual)} rows of the test set."
    drawing = SvgDrawing("Predicted against actual", rows, width=380, height=340)
    low, high = padded_range([*actual, *predicted])
    axes = svg_axes(drawing, (low, high), (low, high), (f"actual {target}", f"predicted {target}"))
    drawing.add_line(axes.x(low), axes.y(low), axes.x(high), axes.y(high), "dashed")
    for a, p in zip(actual, predicted, strict=True):
        drawing.add_dot(axes.x(a), axes.y(p), "faint d0", 3)
    return drawing.to_svg()


def pair_curves(curves: Mapping[str, Sequence[Sequence[Any]]], usual: float) -> str:
    """Sensitivity over specificity of base pairs, a dot for every γ, `usual` named; tuned first."""
    # curves: {name: [[γ, sensitivity, specificity], …]}; None or NaN where no pair is predicted
    finite_curves = {
        name: [p for p in points if all(v is not None and math.isfinite(v) for v in p)]
        for name, points in curves.items()
    }
    drawing = SvgDrawing(
        "Sensitivity and specificity",
        "; ".join(
            f"{name} at γ = {svg_number(g)}: {sen:.3f} of the true pairs found, {spe:.3f} of those "
            "called right"
            for name, points in finite_curves.items()
            for g, sen, spe in points
            if g == usual
        ),
        width=540,
        height=380,
    )
    axes = svg_axes(drawing, (0, 1), (0, 1), ("called pairs that are right", "true pairs found"))
    for index, (name, points) in enumerate(finite_curves.items()):
        series = "0" if index == 0 else "m"
        drawing.add_path([(axes.x(spe), axes.y(sen)) for _, sen, spe in points], f"curve c{series}")
        for g, sen, spe in points:
            note = f"{name}, γ = {svg_number(g)}: {sen:.3f} found, {spe:.3f} right"
            radius = 6 if g == usual else 3
            drawing.add_dot(axes.x(spe), axes.y(sen), f"dot d{series}", radius, note)
    for index, (name, points) in enumerate(finite_curves.items()):
        for g, sen, spe in points:
            if g == usual:  # the better curve lies further up and right, and its name does too
                right, down, anchor = (8, -9, "start") if index == 0 else (-8, 17, "end")
                words = f"{name}, γ = {svg_number(usual)}"
                drawing.add_text(axes.x(spe) + right, axes.y(sen) + down, words, "name", anchor)
    return drawing.to_svg()


def _shortened(name: str, max_length: int = 24) -> str:
    return name if len(name) <= max_length else name[: max_length - 1] + "…"
