"""The figures of the questions after the score: columns, curves, calibration, residuals, rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.export.report.svg import CHARACTER, Drawing, Frame, Scale, frame, padded, plain

_LONG = 36  # characters of a column's name


def columns(
    entries: Sequence[Mapping[str, Any]],
    label: str,
    say: Callable[[float], str],
    title: str = "Which columns matter",
) -> str:
    """A bar for each column (or setting) with its interval; the dashed line is at 0."""
    names = [" + ".join(one["names"]) for one in entries]
    drawing = Drawing(
        title,
        "; ".join(f"{n} {say(one['mean'])}" for n, one in zip(names, entries, strict=True)),
        width=760,
        height=58 + 24 * len(entries),
    )
    left = 20 + CHARACTER * min(_LONG, max(len(name) for name in names))
    ends = [v for one in entries for v in (one["mean"], *_interval(one))]
    x = Scale(*padded([0.0, *ends]), left, drawing.width - 90)
    floor = drawing.height - 46
    for tick in x.ticks():
        drawing.line(x(tick), 6, x(tick), floor, "grid")
        drawing.text(x(tick), floor + 19, plain(tick), anchor="middle")
    drawing.line(x(0.0), 6, x(0.0), floor, "dashed")
    for index, (name, one) in enumerate(zip(names, entries, strict=True)):
        y, (low, high) = 8 + 24 * index, _interval(one)
        short = name if len(name) <= _LONG else name[: _LONG - 1] + "…"
        drawing.text(left - 8, y + 13, short, "name", "end")
        a, b = sorted((x(0.0), x(one["mean"])))
        drawing.bar(a, y, b - a, 16, "fill0")
        drawing.line(x(low), y + 8, x(high), y + 8, "interval cm")
        drawing.text(x(max(high, 0.0)) + 6, y + 13, say(one["mean"]))
    drawing.text((left + x.end) / 2, drawing.height - 8, label, "label", "middle")
    return drawing.svg()


def dependence(answer: Mapping[str, Any]) -> str:
    """Partial dependence: single rows pale, the mean with its interval as bars."""
    drawing = Drawing(
        f"What {answer['name']} does",
        f"From {plain(min(answer['mean']))} to {plain(max(answer['mean']))}.",
        width=380,
        height=300,
    )
    words = answer["words"]
    grid = answer["grid"]
    every = [*answer["mean"], *(v for row in answer["rows"] for v in row)]
    x_range = (-0.5, len(grid) - 0.5) if words else padded(grid)
    axes = frame(
        drawing, x_range, padded(every), (answer["name"], answer["answer"]), whole_x=bool(words)
    )
    for row in answer["rows"]:
        drawing.path([(axes.x(g), axes.y(v)) for g, v in zip(grid, row, strict=True)], "pale")
    for g, low, high in zip(grid, answer["low"], answer["high"], strict=True):
        if low is not None and high is not None:
            drawing.line(axes.x(g), axes.y(low), axes.x(g), axes.y(high), "interval c0 faint")
    points = [(axes.x(g), axes.y(v)) for g, v in zip(grid, answer["mean"], strict=True)]
    if not words:
        drawing.path(points, "curve c0")
    for at, (px, py) in enumerate(points):
        drawing.dot(px, py, "dot d0", 2.5, words[at] if words else "")
    return drawing.svg()


def roc(of: Mapping[str, Any], at: int | None) -> str:
    """Recall over the share of others that are called the class; dashed: knowing nothing."""
    drawing = Drawing("ROC curve", f"Area {plain(of['area'][0] or 0.0)}.", width=380, height=320)
    axes = frame(drawing, (0, 1), (0, 1), ("others called it", "found (recall)"))
    drawing.line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    points = [
        (f / max(of["negatives"], 1), t / max(of["positives"], 1))
        for t, f in zip(of["true"], of["false"], strict=True)
    ]
    _curve(drawing, axes, [(0.0, 0.0), *points], None if at is None else at + 1)
    return drawing.svg()


def precision(of: Mapping[str, Any], at: int | None) -> str:
    """Precision over recall; dashed: knowing nothing."""
    said = f"Average precision {plain(of['precision'][0] or 0.0)}."
    drawing = Drawing("Precision and recall", said, width=380, height=320)
    axes = frame(drawing, (0, 1), (0, 1), ("found (recall)", "rightly called (precision)"))
    base = of["positives"] / max(of["positives"] + of["negatives"], 1)
    drawing.line(axes.x(0), axes.y(base), axes.x(1), axes.y(base), "dashed")
    points = [
        (t / max(of["positives"], 1), t / max(t + f, 1))
        for t, f in zip(of["true"], of["false"], strict=True)
    ]
    _curve(drawing, axes, points, at)
    return drawing.svg()


def _curve(
    drawing: Drawing, axes: Frame, points: list[tuple[float, float]], at: int | None
) -> None:
    drawing.path([(axes.x(a), axes.y(b)) for a, b in points], "curve c0")
    if at is not None:
        drawing.dot(axes.x(points[at][0]), axes.y(points[at][1]), "dot d1", 6)


def calibration(bins: Sequence[Mapping[str, Any]], label: str) -> str:
    """Shares seen over probabilities said, with their intervals and counts."""
    drawing = Drawing(
        "Calibration",
        "; ".join(f"{b['predicted']:.2f} said, {b['observed']:.2f} seen" for b in bins),
        width=380,
        height=320,
    )
    axes = frame(
        drawing, (0, 1), (0, 1), (f"predicted probability of {label}", "share that has it")
    )
    drawing.line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    drawing.path([(axes.x(b["predicted"]), axes.y(b["observed"])) for b in bins], "curve c0")
    for b in bins:
        x = axes.x(b["predicted"])
        drawing.line(x, axes.y(b["low"]), x, axes.y(b["high"]), "interval c0")
        drawing.dot(x, axes.y(b["observed"]), "dot d0")
        drawing.text(x + 6, axes.y(b["observed"]) + 4, str(b["rows"]))
    return drawing.svg()


def residuals(told: Mapping[str, Any], points: bool) -> str:
    """Residuals over predictions; the means with their intervals."""
    bins = told["bins"][""]
    drawing = Drawing("Residuals", f"{told['rows']} rows of the test set.", width=760, height=300)
    heights = (
        [*told["residual"]] if points else [v for b in bins for v in (b["mean"], *_interval(b))]
    )
    places = told["predicted"] if points else [b["at"] for b in bins]
    axes = frame(
        drawing, padded(places), padded([0.0, *heights]), ("predicted", "predicted − actual")
    )
    if points:
        for p, r in zip(told["predicted"], told["residual"], strict=True):
            drawing.dot(axes.x(p), axes.y(r), "faint d-seen", 2.5)
    drawing.line(axes.x.start, axes.y(0.0), axes.x.end, axes.y(0.0), "dashed")
    for b in bins:
        low, high = _interval(b)
        drawing.line(axes.x(b["at"]), axes.y(low), axes.x(b["at"]), axes.y(high), "interval c0")
        drawing.dot(axes.x(b["at"]), axes.y(b["mean"]), "dot d0", 5)
    return drawing.svg()


def learning(sizes: Sequence[Mapping[str, Any]], label: str) -> str:
    """The score over the number of training rows, with intervals."""
    drawing = Drawing(
        "Learning curve",
        "; ".join(f"{one['rows']} rows {plain(one['mean'])}" for one in sizes),
        width=760,
        height=300,
    )
    heights = [v for one in sizes for v in (one["mean"], *_interval(one))]
    widths = padded([0.0, *(float(one["rows"]) for one in sizes)])
    axes = frame(drawing, widths, padded(heights), ("training rows", label))
    drawing.path([(axes.x(one["rows"]), axes.y(one["mean"])) for one in sizes], "curve c0")
    for one in sizes:
        x, (low, high) = axes.x(one["rows"]), _interval(one)
        drawing.line(x, axes.y(low), x, axes.y(high), "interval c0")
        drawing.dot(x, axes.y(one["mean"]), "dot d0", 5)
    return drawing.svg()


def _interval(one: Mapping[str, Any]) -> tuple[float, float]:
    if one["low"] is None or one["high"] is None:
        return one["mean"], one["mean"]
    return one["low"], one["high"]
