"""The figures of the questions after the score: columns, curves, calibration, residuals, rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.evaluation.calibration_bin import CalibrationBin
from core.export.report.svg import (
    CHARACTER,
    SvgAxes,
    SvgDrawing,
    SvgScale,
    padded_range,
    svg_axes,
    svg_number,
)
from core.tuning.why.answer_types import (
    ColumnImportance,
    Dependence,
    LearningSize,
    ResidualBin,
    Residuals,
    ScoreLoss,
    ThresholdTally,
)

_LONG = 36  # characters of a column's name


def column_bars(
    importance: ColumnImportance,
    losses: Sequence[ScoreLoss],
    label: str,
    format_value: Callable[[float], str],
) -> str:
    """A bar for each column with its interval."""
    bars = [(importance.title_of(loss), loss.mean, *_interval_ends(loss)) for loss in losses]
    return interval_bars(bars, label, format_value, "Which columns matter")


def interval_bars(
    bars: Sequence[tuple[str, float, float, float]],
    label: str,
    format_value: Callable[[float], str],
    title: str,
) -> str:
    """A bar for each (name, value, low, high)."""
    drawing = SvgDrawing(
        title,
        "; ".join(f"{name} {format_value(mean)}" for name, mean, _, _ in bars),
        width=760,
        height=58 + 24 * len(bars),
    )
    plot_left = 20 + CHARACTER * min(_LONG, max(len(name) for name, *_ in bars))
    ends = [end for _, *values in bars for end in values]
    x = SvgScale(*padded_range([0.0, *ends]), plot_left, drawing.width - 90)
    floor = drawing.height - 46
    for tick in x.tick_values():
        drawing.add_line(x(tick), 6, x(tick), floor, "grid")
        drawing.add_text(x(tick), floor + 19, svg_number(tick), anchor="middle")
    drawing.add_line(x(0.0), 6, x(0.0), floor, "dashed")
    for index, (name, mean, low, high) in enumerate(bars):
        y = 8 + 24 * index
        short = name if len(name) <= _LONG else name[: _LONG - 1] + "…"
        drawing.add_text(plot_left - 8, y + 13, short, "name", "end")
        a, b = sorted((x(0.0), x(mean)))
        drawing.add_bar(a, y, b - a, 16, "fill0")
        drawing.add_line(x(low), y + 8, x(high), y + 8, "interval cm")
        drawing.add_text(x(max(high, 0.0)) + 6, y + 13, format_value(mean))
    drawing.add_text((plot_left + x.end) / 2, drawing.height - 8, label, "label", "middle")
    return drawing.to_svg()


def dependence(answer: Dependence) -> str:
    """Partial dependence: single rows pale, the mean with its interval as bars."""
    drawing = SvgDrawing(
        f"What {answer.name} does",
        f"From {svg_number(min(answer.mean))} to {svg_number(max(answer.mean))}.",
        width=380,
        height=300,
    )
    words, grid = answer.words, answer.grid
    all_values = [*answer.mean, *(v for row in answer.rows for v in row)]
    x_range = (-0.5, len(grid) - 0.5) if words else padded_range(grid)
    labels, y_range = (answer.title, answer.answer), padded_range(all_values)
    axes = svg_axes(drawing, x_range, y_range, labels, whole_x=bool(words))
    for row in answer.rows:
        drawing.add_path([(axes.x(g), axes.y(v)) for g, v in zip(grid, row, strict=True)], "pale")
    for g, low, high in zip(grid, answer.low, answer.high, strict=True):
        if low is not None and high is not None:
            drawing.add_line(axes.x(g), axes.y(low), axes.x(g), axes.y(high), "interval c0 faint")
    points = [(axes.x(g), axes.y(v)) for g, v in zip(grid, answer.mean, strict=True)]
    if not words:
        drawing.add_path(points, "curve c0")
    for index, (px, py) in enumerate(points):
        drawing.add_dot(px, py, "dot d0", 2.5, words[index] if words else "")
    return drawing.to_svg()


def roc_curve(tally: ThresholdTally, marked_index: int | None) -> str:
    """Recall over the false positive rate, with the baseline."""
    area = svg_number(tally.area[0] or 0.0)
    drawing = SvgDrawing("ROC curve", f"Area {area}.", width=380, height=320)
    labels = ("others called it (false positive rate)", "found (recall)")
    axes = svg_axes(drawing, (0, 1), (0, 1), labels)
    drawing.add_line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    points = [
        (f / max(tally.negatives, 1), t / max(tally.positives, 1))
        for t, f in zip(tally.true, tally.false, strict=True)
    ]
    marked = None if marked_index is None else marked_index + 1
    _draw_curve(drawing, axes, [(0.0, 0.0), *points], marked)
    return drawing.to_svg()


def precision_recall_curve(tally: ThresholdTally, marked_index: int | None) -> str:
    """Precision over recall, with the baseline."""
    description = f"Average precision {svg_number(tally.precision[0] or 0.0)}."
    drawing = SvgDrawing("Precision and recall", description, width=380, height=320)
    axes = svg_axes(drawing, (0, 1), (0, 1), ("found (recall)", "rightly called (precision)"))
    drawing.add_line(axes.x(0), axes.y(tally.share), axes.x(1), axes.y(tally.share), "dashed")
    points = [
        (t / max(tally.positives, 1), t / max(t + f, 1))
        for t, f in zip(tally.true, tally.false, strict=True)
    ]
    _draw_curve(drawing, axes, points, marked_index)
    return drawing.to_svg()


def _draw_curve(
    drawing: SvgDrawing, axes: SvgAxes, points: list[tuple[float, float]], marked_index: int | None
) -> None:
    path = [(axes.x(a), axes.y(b)) for a, b in points]
    drawing.add_path(path, "curve c0")
    if marked_index is not None:
        drawing.add_dot(*path[marked_index], "dot d1", 6)


def calibration(bins: Sequence[CalibrationBin], label: str) -> str:
    """Observed shares over predicted probabilities, with intervals and counts."""
    drawing = SvgDrawing(
        "Calibration",
        "; ".join(f"{b.predicted:.2f} said, {b.observed:.2f} seen" for b in bins),
        width=380,
        height=320,
    )
    labels = (f"predicted probability of {label}", "share that has it")
    axes = svg_axes(drawing, (0, 1), (0, 1), labels)
    drawing.add_line(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "dashed")
    drawing.add_path([(axes.x(b.predicted), axes.y(b.observed)) for b in bins], "curve c0")
    for b in bins:
        x = axes.x(b.predicted)
        if b.low is not None and b.high is not None:
            drawing.add_line(x, axes.y(b.low), x, axes.y(b.high), "interval c0")
        drawing.add_dot(x, axes.y(b.observed), "dot d0")
        drawing.add_text(x + 6, axes.y(b.observed) + 4, str(b.rows))
    return drawing.to_svg()


def residuals(answer: Residuals, points: bool) -> str:
    """Residuals over predictions; the means with their intervals."""
    bins = answer.bins[""]
    drawing = SvgDrawing("Residuals", f"{answer.rows} rows of the test set.", width=760, height=300)
    heights = answer.residual if points else [v for b in bins for v in (b.mean, *_interval_ends(b))]
    x_values = answer.predicted if points else [float(b.at) for b in bins]
    labels, y_range = ("predicted", "predicted − actual"), padded_range([0.0, *heights])
    axes = svg_axes(drawing, padded_range(x_values), y_range, labels)
    if points:
        for p, r in zip(answer.predicted, answer.residual, strict=True):
            drawing.add_dot(axes.x(p), axes.y(r), "faint d-seen", 2.5)
    drawing.add_line(axes.x.start, axes.y(0.0), axes.x.end, axes.y(0.0), "dashed")
    for b in bins:
        x, (low, high) = axes.x(float(b.at)), _interval_ends(b)
        drawing.add_line(x, axes.y(low), x, axes.y(high), "interval c0")
        drawing.add_dot(x, axes.y(b.mean), "dot d0", 5)
    return drawing.to_svg()


def learning_curve(sizes: Sequence[LearningSize], label: str) -> str:
    """The score over the number of training rows, with intervals."""
    drawing = SvgDrawing(
        "Learning curve",
        "; ".join(f"{size.rows} rows {svg_number(size.mean)}" for size in sizes),
        width=760,
        height=300,
    )
    heights = [v for size in sizes for v in (size.mean, *_interval_ends(size))]
    widths = padded_range([0.0, *(float(size.rows) for size in sizes)])
    axes = svg_axes(drawing, widths, padded_range(heights), ("training rows", label))
    drawing.add_path([(axes.x(size.rows), axes.y(size.mean)) for size in sizes], "curve c0")
    for size in sizes:
        x, (low, high) = axes.x(size.rows), _interval_ends(size)
        drawing.add_line(x, axes.y(low), x, axes.y(high), "interval c0")
        drawing.add_dot(x, axes.y(size.mean), "dot d0", 5)
    return drawing.to_svg()


def _interval_ends(entry: ScoreLoss | ResidualBin | LearningSize) -> tuple[float, float]:
    if entry.low is None or entry.high is None:
        return entry.mean, entry.mean
    return entry.low, entry.high
