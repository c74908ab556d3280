"""The figures of a report: each takes plain numbers and gives one SVG drawing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.export.report.svg import (
    CHARACTER,
    SERIES,
    Drawing,
    Scale,
    apart,
    frame,
    padded,
    padded_log,
    plain,
)

MOST_BARS = 40
MOST_NAMES = 12
LONG_NAME = 40  # characters beside a bar


def best_so_far(
    trials: Sequence[tuple[int, float]],
    failed: Sequence[int],
    default: float | None,
    metric: str,
    maximize: bool,
) -> str:
    """Every trial's score, the best so far as a staircase, the default setting as a dashed line."""
    better = max if maximize else min
    best = list(itertools.accumulate((score for _, score in trials), better))
    drawing = Drawing(
        "Best score so far",
        f"{plain(best[-1])} after {len(trials)} trials, first {plain(best[0])}.",
    )
    heights = [score for _, score in trials] + ([default] if default is not None else [])
    # One hopeless trial must not flatten all others: the axis follows the better four fifths.
    kept = sorted(heights, reverse=maximize)[: max(2, math.ceil(0.8 * len(heights)))]
    low, high = padded([*kept, *best, *([default] if default is not None else [])])
    last = max([number for number, _ in trials] + list(failed))
    axes = frame(
        drawing, (-0.5, last + 0.5), (low, high), ("trial", metric), whole_x=True, right=96
    )
    if default is not None:
        drawing.line(axes.x.start, axes.y(default), axes.x.end, axes.y(default), "dashed")
    stairs = [(axes.x(trials[0][0]), axes.y(best[0]))]
    for (number, _), before, now in zip(trials[1:], best, best[1:], strict=False):
        if now != before:
            stairs += [(axes.x(number), axes.y(before)), (axes.x(number), axes.y(now))]
    drawing.path([*stairs, (axes.x.end, stairs[-1][1])], "curve c0")
    for number, score in trials:
        inside = low <= score <= high
        height = axes.y(min(max(score, low), high))
        kind = "dot d-seen" if inside else "hollow"
        drawing.dot(axes.x(number), height, kind, 3, f"trial {number}: {plain(score)}")
    for number in failed:
        drawing.text(axes.x(number), axes.floor - 3, "×", "tick", "middle")
    line = None if default is None else axes.y(default)
    _staircase_labels(drawing, axes.x.end, axes.y(best[-1]), line)
    return drawing.svg()


def _staircase_labels(drawing: Drawing, x: float, best: float, default: float | None) -> None:
    wanted = [best] if default is None else [best, default]
    places = apart(wanted, 15, 14, drawing.height - 50)
    drawing.text(x + 6, places[0] + 4, "best so far", "t0")
    if default is not None:
        drawing.text(x + 6, places[1] + 4, "default", "tick")


def scores(
    rows: Sequence[tuple[str, float, float, float]],
    metric: str,
    say: Callable[[float], str] = plain,
) -> str:
    """Test scores as dots with the intervals that hold the true score with 95 % confidence."""
    drawing = Drawing(
        "Scores on rows that tuning never saw",
        "; ".join(f"{name} {say(s)}, {say(lo)} to {say(hi)}" for name, s, lo, hi in rows),
        width=540,
        height=62 + 48 * len(rows),
    )
    left = 24 + CHARACTER * max(len(name) for name, *_ in rows)
    x = Scale(*padded([v for _, *numbers in rows for v in numbers]), left, drawing.width - 24)
    floor = drawing.height - 46
    for tick in x.ticks(6):
        drawing.line(x(tick), 8, x(tick), floor, "grid")
        drawing.text(x(tick), floor + 19, say(tick), anchor="middle")
    drawing.line(left, floor, x.end, floor, "axis")
    drawing.text((left + x.end) / 2, drawing.height - 8, metric, "label", "middle")
    for index, (name, score, low, high) in enumerate(rows):
        y, series = 36 + 48 * index, "0" if index == 0 else "m"
        drawing.text(left - 12, y + 4, name, "name", "end")
        drawing.line(x(low), y, x(high), y, f"interval c{series}")
        drawing.dot(x(score), y, f"dot d{series}", 6)
        drawing.text(x(score), y - 12, say(score), "name", "middle")
    return drawing.svg()


def trajectory(steps: Sequence[Mapping[str, float]], label: str = "penalty (λ)") -> str:
    """The penalty of every group at every step, on a logarithmic axis.

    With many groups the ends of the range are named and coloured, the others drawn pale.
    """
    last = steps[-1]
    order = sorted((name for name in last if last[name] > 0), key=lambda name: -last[name])
    half = MOST_NAMES // 2
    named = order if len(order) <= MOST_NAMES else order[:half] + order[-half:]
    drawing = Drawing(
        "Regularization trajectory",
        f"{len(steps) - 1} steps; at the end "
        + ", ".join(f"{name} {plain(last[name])}" for name in named),
        width=540,
        height=320,
    )
    heights = [step[name] for step in steps for name in order if step.get(name, 0) > 0]
    right = 30 + CHARACTER * min(24, max(len(name) for name in named))
    axes = frame(
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
        drawing.path(points, f"curve c{colour[name]}" if name in colour else "pale")
        if name in colour and len(steps) <= 40:
            for x, y in points:
                drawing.dot(x, y, f"dot d{colour[name]}", 2.5)
    ends = [axes.y(last[name]) for name in named]
    for name, end, place in zip(named, ends, apart(ends, 15, 18, axes.floor), strict=True):
        drawing.line(axes.x.end + 3, end, axes.x.end + 14, place, f"leader c{colour[name]}")
        drawing.text(axes.x.end + 17, place + 4, _short(name), "tick")
    return drawing.svg()


def penalty_bars(penalties: Mapping[str, float], switched_off: Sequence[str]) -> str:
    """Learned penalties, the most trusted group first; groups at their cap say "switched off"."""
    order = sorted(penalties, key=lambda name: (name in switched_off, penalties[name]))
    shown = order if len(order) <= MOST_BARS else order[: MOST_BARS // 2] + order[-MOST_BARS // 2 :]
    said = {n: "switched off" if n in switched_off else plain(penalties[n]) for n in shown}
    drawing = Drawing(
        "Learned group penalties",
        "; ".join(f"{name} {said[name]}" for name in shown),
        height=58 + 26 * len(shown),
    )
    left = 20 + CHARACTER * min(LONG_NAME, max(len(name) for name in shown))
    positive = [penalties[name] for name in shown if penalties[name] > 0] or [1.0]
    x = Scale(*padded_log(positive, 2.0), left, drawing.width - 100, log=True)
    floor = drawing.height - 46
    for tick in x.ticks():
        drawing.line(x(tick), 6, x(tick), floor, "grid")
        drawing.text(x(tick), floor + 19, plain(tick), anchor="middle")
    for index, name in enumerate(shown):
        y = 10 + 26 * index
        kind = "hatched" if name in switched_off else "fill0"
        end = x(max(penalties[name], x.low))
        drawing.text(left - 8, y + 14, _short(name, LONG_NAME), "name", "end")
        drawing.bar(left, y, end - left, 18, kind)
        drawing.text(end + 6, y + 14, said[name])
    drawing.line(left, floor, x.end, floor, "axis")
    words = "penalty (λ), log scale (shorter: trusted more)"
    drawing.text((left + x.end) / 2, drawing.height - 8, words, "label", "middle")
    return drawing.svg()


def curve(values: Sequence[float], title: str, labels: tuple[str, str]) -> str:
    """One quantity over the steps."""
    drawing = Drawing(title, f"From {plain(values[0])} to {plain(values[-1])}.", 380, 300)
    axes = frame(drawing, (0, max(len(values) - 1, 1)), padded(values), labels, whole_x=True)
    points = [(axes.x(step), axes.y(value)) for step, value in enumerate(values)]
    drawing.path(points, "curve c0")
    if len(points) <= 60:
        for x, y in points:
            drawing.dot(x, y, "dot d0", 2.5)
    return drawing.svg()


def calibration(predicted: Sequence[float], observed: Sequence[float], label: str) -> str:
    """Predicted probabilities against the shares observed; on the dashed line 70 % means 70 %."""
    drawing = Drawing(
        "Calibration",
        "; ".join(f"{p:.2f} said, {o:.2f} seen" for p, o in zip(predicted, observed, strict=True)),
        width=380,
        height=340,
    )
    words = (f"predicted probability of {label}", "share that has it")
    axes = frame(drawing, (0, 1), (0, 1), words)
    drawing.line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    points = [(axes.x(p), axes.y(o)) for p, o in zip(predicted, observed, strict=True)]
    drawing.path(points, "curve c0")
    for x, y in points:
        drawing.dot(x, y, "dot d0")
    return drawing.svg()


def predictions(actual: Sequence[float], predicted: Sequence[float], target: str) -> str:
    """Predicted against actual values; on the dashed line a prediction is right."""
    both = [*actual, *predicted]
    drawing = Drawing(
        "Predicted against actual", f"{len(actual)} rows of the test set.", width=380, height=340
    )
    low, high = padded(both)
    axes = frame(drawing, (low, high), (low, high), (f"actual {target}", f"predicted {target}"))
    drawing.line(axes.x(low), axes.y(low), axes.x(high), axes.y(high), "dashed")
    for a, p in zip(actual, predicted, strict=True):
        drawing.dot(axes.x(a), axes.y(p), "faint d0", 3)
    return drawing.svg()


def pair_curves(curves: Mapping[str, Sequence[Sequence[Any]]], usual: float) -> str:
    """Sensitivity over specificity of called base pairs, a dot for every γ; tuned first.

    Args:
        curves: {name: [[γ, sensitivity, specificity], …]}; None or NaN where nothing was called.
        usual: the γ whose dot is named.
    """
    known = {
        name: [p for p in points if all(v is not None and math.isfinite(v) for v in p)]
        for name, points in curves.items()
    }
    drawing = Drawing(
        "Sensitivity and specificity",
        "; ".join(
            f"{name} at γ = {plain(g)}: {sen:.3f} of the true pairs found, {spe:.3f} of those "
            "called right"
            for name, points in known.items()
            for g, sen, spe in points
            if g == usual
        ),
        width=540,
        height=380,
    )
    axes = frame(drawing, (0, 1), (0, 1), ("called pairs that are right", "true pairs found"))
    for place, (name, points) in enumerate(known.items()):
        series = "0" if place == 0 else "m"
        drawing.path([(axes.x(spe), axes.y(sen)) for _, sen, spe in points], f"curve c{series}")
        for g, sen, spe in points:
            note = f"{name}, γ = {plain(g)}: {sen:.3f} found, {spe:.3f} right"
            radius = 6 if g == usual else 3
            drawing.dot(axes.x(spe), axes.y(sen), f"dot d{series}", radius, note)
    for place, (name, points) in enumerate(known.items()):
        for g, sen, spe in points:
            if g == usual:  # the better curve lies further up and right, and its name does too
                right, down, anchor = (8, -9, "start") if place == 0 else (-8, 17, "end")
                words = f"{name}, γ = {plain(usual)}"
                drawing.text(axes.x(spe) + right, axes.y(sen) + down, words, "name", anchor)
    return drawing.svg()


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
