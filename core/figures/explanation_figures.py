"""The figures of the questions after the score: columns, settings, thresholds, residuals, rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.datasets.finding import column_title
from core.figures import figure as plot
from core.figures.explanation_text import (
    AREA,
    WHOLE,
    area_text,
    columns_text,
    learning_text,
    loss_text,
    settings_text,
)
from core.figures.scales import Scale
from core.space import axis_title
from core.tuning.scores.score import SHARES, metric_in_short, score_text
from core.tuning.why import answer_types
from core.wording import MAX_NAME, amount_text, format_number, percent, shortened_text

HISTOGRAM = 0.16  # share of the height
COLUMNS = "Which columns matter?"
SETTINGS = "Which settings mattered?"
THRESHOLD = "How well does it tell classes apart?"
RESIDUALS = "Where is it too high or too low?"
LEARNING = "Would more rows help?"
PREDICTION = "prediction"


# Columns and settings --------------------------------------------------------------------------


def columns_figure(
    importance: answer_types.ColumnImportance, losses: Sequence[answer_types.ScoreLoss]
) -> plot.Figure:
    """A bar with its interval for each column, or for columns shuffled together."""
    metric = metric_in_short(importance.metric)
    names = [shortened_text(importance.title_of(loss), MAX_NAME) for loss in losses]
    texts = [loss_text(importance.metric, loss.mean) for loss in losses]
    weights = [getattr(loss, "weight", None) for loss in losses]  # of a linear model
    words = [
        text if weight is None else f"{text}, weight {format_number(weight)}"
        for text, weight in zip(texts, weights, strict=True)
    ]
    lost = texts[0].removesuffix(f" of {metric}")
    sentence = f"{names[0]} matters most: {lost} of {metric}."
    limit = WHOLE if importance.metric == "r2" else math.inf

    def capped(number: float | None) -> float | None:
        return number and min(number, limit)

    numbers = [(min(loss.mean, limit), capped(loss.low), capped(loss.high)) for loss in losses]
    low, high = plot.range_of([0.0], *numbers)
    is_share = importance.metric in SHARES
    title = f"loss of {metric} if shuffled{', in points' if is_share else ''}"
    scale = Scale("percent", unit="") if is_share else Scale()
    return plot.Figure(
        COLUMNS,
        plot.FigureAxis(title, scale, None, low, high, exact=True, air=0.04),
        plot.FigureAxis("", Scale("choice", tuple(names))),
        _interval_bars(numbers, words),
        f"{sentence} {columns_text(importance)}".strip(),
        lambda: (
            ["column", "loss of score", "low", "high", "weight on scaled column"],
            [
                [importance.title_of(loss), loss.mean, loss.low, loss.high, weight]
                for loss, weight in zip(losses, weights, strict=True)
            ],
        ),
    )


def settings_figure(importance: answer_types.SettingImportance) -> plot.Figure:
    """What each setting explains of the differences in score, with its interval."""
    settings = importance.settings
    names = [axis_title(setting.label, setting.name) for setting in settings]
    shares = [setting.share for setting in settings]
    lows, highs = [setting.low for setting in settings], [setting.high for setting in settings]
    sentence = f"{names[0]} explains {percent(shares[0])} by itself."
    title = "share of the differences in score"
    columns: dict[str, list[Any]] = {"setting": names, "share": shares, "low": lows, "high": highs}
    return plot.Figure(
        SETTINGS,
        plot.FigureAxis(title, Scale("percent"), None, 0.0, max(0.01, *highs), True),
        plot.FigureAxis("", Scale("choice", tuple(names))),
        _interval_bars(list(zip(shares, lows, highs, strict=True)), list(map(percent, shares))),
        f"{sentence} {settings_text(importance)}",
        lambda: plot.columns_table(columns),
    )


def _interval_bars(
    bars: Sequence[tuple[float, float | None, float | None]], words: list[str]
) -> tuple[plot.Mark, ...]:
    means, lows, highs = zip(*bars, strict=True)
    rows = np.arange(len(means), dtype=float)
    y, x = plot.whiskers(rows, lows, highs)
    ends = [max(mean, high or 0.0) for mean, high in zip(means, highs, strict=True)]
    return (
        plot.Bars("bars", rows, 0.0, means, ["model"] * len(means), [False] * len(means)),
        plot.Lines("zero", [0.0, 0.0], [-1.0, len(means) + 1.0], "muted", 1.2, dashed=True),
        plot.Lines("intervals", x, y, "ink"),
        plot.Labels("losses", ends, rows, words),
    )


# What a column does ----------------------------------------------------------------------------


def dependence_figure(answer: answer_types.Dependence) -> plot.Figure:
    """The mean prediction over a column, single rows, and a histogram."""
    is_numeric = answer.numbers and not answer.words
    name, title = (shortened_text(text, MAX_NAME) for text in (answer.name, answer.title))
    x, mean = np.array(answer.grid, dtype=float), np.array(answer.mean, dtype=float)
    low, high = np.array(answer.low, dtype=float), np.array(answer.high, dtype=float)
    rows = np.array(answer.rows, dtype=float).reshape(-1, len(x))
    bottom, top = plot.range_of(rows, low, high, mean)
    span = (top - bottom) or abs(top) or 1.0
    # The histogram has a strip of its own below the curves.
    floor = bottom - (HISTOGRAM + 0.06) * span
    histogram, ends = _histogram(answer, x, floor, HISTOGRAM * span)
    if is_numeric:
        middle: tuple[plot.Mark, ...] = (
            plot.Band("interval", x, low, high),
            plot.Lines("mean", x, mean, width=3),
        )
    else:
        middle = (plot.Lines("intervals", *plot.whiskers(x, low, high), width=3),)
    dots = plot.Dots("values", x, mean, size=9, notes=answer.words)
    least, most = format_number(float(mean.min())), format_number(float(mean.max()))
    words: list[Any] = answer.words or x.tolist()
    columns = (words, mean.tolist(), low.tolist(), high.tolist())
    rows_of_table = [list(row) for row in zip(*columns, strict=True)]
    return plot.Figure(
        f"What does {name} do?",
        plot.FigureAxis(
            title,
            Scale() if is_numeric else Scale("choice", tuple(answer.words)),
            low=ends[0],
            high=ends[1],
            exact=True,
        ),
        plot.FigureAxis(answer.answer, low=floor, high=top + 0.05 * span, exact=True),
        (
            histogram,
            plot.Lines("rows", *plot.joined(rows, x), "muted", 1.0, opacity=0.35),
            *middle,
            # Two points alone make no curve.
            *(() if is_numeric and len(x) > 2 else (dots,)),
        ),
        f"{name}: the mean goes from {least} to {most} between its lowest and "
        f"highest; {answer.used} test rows.",
        lambda: ([title, "mean", "low", "high"], rows_of_table),
    )


def _histogram(
    answer: answer_types.Dependence, x: np.ndarray, floor: float, height: float
) -> tuple[plot.Band, tuple[float, float]]:
    counts, edges = np.array(answer.counts, dtype=float), np.array(answer.edges, dtype=float)
    if not len(edges):
        corners = np.ravel(x[:, None] + [-0.3, -0.3, 0.3, 0.3])
        shares = np.ravel(counts[:, None] * [0.0, 1.0, 1.0, 0.0])
        ends = (-0.5, len(x) - 0.5)
    else:
        corners, shares = np.repeat(edges, 2)[1:-1], np.repeat(counts, 2)
        air = 0.03 * ((edges[-1] - edges[0]) or 1.0)
        ends = (float(edges[0]) - air, float(edges[-1]) + air)
    tops = floor + height * shares / max(float(counts.max(initial=0.0)), 1.0)
    return plot.Band("histogram", corners, np.full(len(corners), floor), tops, "muted", 0.45), ends


# Thresholds ------------------------------------------------------------------------------------


def curve_shares(tally: answer_types.ThresholdTally) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False positive rate, recall and precision at every threshold."""
    true, false = np.array(tally.true, float), np.array(tally.false, float)
    called = np.maximum(true + false, 1.0)
    return false / max(tally.negatives, 1), true / max(tally.positives, 1), true / called


def decision_index(answer: answer_types.ClassDiagnostics, label: str) -> int | None:
    """The index of the threshold that the model decides by, or None."""
    value = answer.chosen
    if value is None:
        return None
    # The model's threshold is that of the second class: the first is called where that is not.
    if label != answer.second:
        value = 1 - value
    called = np.flatnonzero(np.array(answer.of[label].thresholds) >= value)
    return int(called[-1]) if len(called) else 0


def threshold_figures(
    answer: answer_types.ClassDiagnostics, label: str, chosen_index: int | None = None
) -> tuple[plot.Figure, plot.Figure]:
    """The ROC curve, and precision over recall, with a person's threshold."""
    tally, decision = answer.of[label], decision_index(answer, label)
    wrong, recall, right = curve_shares(tally)
    roc = _threshold_curve(
        "ROC curve",
        ("others called it (false positive rate)", "found (recall)"),
        (np.append(0.0, wrong), np.append(0.0, recall)),
        (0.0, 1.0),
        # The ROC curve begins at (0, 0), before the first threshold.
        tuple(None if index is None else index + 1 for index in (decision, chosen_index)),
        f"Area {area_text(tally.area)}, baseline {score_text(0.5, AREA)}.",
        tally,
    )
    return roc, _threshold_curve(
        "Precision and recall",
        ("found (recall)", "rightly called (precision)"),
        (recall, right),
        (tally.share, tally.share),
        (decision, chosen_index),
        f"Area {area_text(tally.precision)}, baseline {score_text(tally.share, AREA)}.",
        tally,
    )


def _threshold_curve(
    title: str,
    axis_titles: tuple[str, str],
    curve: tuple[np.ndarray, np.ndarray],
    baseline: tuple[float, float],
    indices: tuple[int | None, ...],
    description: str,
    tally: answer_types.ThresholdTally,
) -> plot.Figure:
    x, y = curve
    spots = [[] if index is None else [index] for index in indices]
    (decision_x, decision_y), (chosen_x, chosen_y) = ((x[spot], y[spot]) for spot in spots)
    return plot.Figure(
        title,
        plot.FigureAxis(axis_titles[0], Scale("percent"), None, -0.03, 1.03, exact=True),
        plot.FigureAxis(axis_titles[1], Scale("percent"), None, -0.03, 1.05, exact=True),
        (
            plot.Lines("curve", x, y, width=2.2),
            plot.Lines("baseline", [0.0, 1.0], baseline, "muted", 1.4, dashed=True),
            plot.Dots("decision", decision_x, decision_y, "paper", "ink", 13, 1.8, "diamond"),
            plot.Dots("chosen", chosen_x, chosen_y, "observed", "ink", 14, 1.2),
        ),
        description,
        lambda: threshold_table(tally),
    )


def threshold_table(tally: answer_types.ThresholdTally) -> plot.Table:
    """Every threshold with its counts."""
    wrong, recall, right = curve_shares(tally)
    true, false = tally.true, tally.false
    return plot.columns_table(
        {
            "threshold": tally.thresholds,
            "true positives": true,
            "false positives": false,
            "false negatives": [tally.positives - count for count in true],
            "true negatives": [tally.negatives - count for count in false],
            "recall": recall.tolist(),
            "precision": right.tolist(),
            "false positive rate": wrong.tolist(),
        }
    )


# Residuals -------------------------------------------------------------------------------------


def residuals_figure(
    residuals: answer_types.Residuals, column: str = "", rows: bool = True, unit: str | None = None
) -> plot.Figure:
    """A dot a test row over the prediction or a column, and means of an eighth each."""
    bins = residuals.bins.get(column, [])
    title = residuals.title_of(column) if column else PREDICTION
    values: Sequence[str | float | None] = (
        residuals.along[column] if column else residuals.predicted
    )
    residual = np.array(residuals.residual, dtype=float)
    has_words = any(isinstance(value, str) for value in values)
    words = tuple(str(entry.at) for entry in bins) if has_words else ()
    scale = Scale("choice", words) if words else Scale()
    x = scale.positions_of(values)
    centres: list[Any] = [position if words else entry.at for position, entry in enumerate(bins)]
    means = [entry.mean for entry in bins]
    ends = [entry.low for entry in bins], [entry.high for entry in bins]
    low, high = plot.range_of(x) if len(x) else (0.0, 1.0)
    bottom, top = plot.range_of(residual)
    # The rows are hidden where they could tell who is who; their extremes are rows, too.
    if not rows:
        low, high = plot.range_of([float(centre) for centre in centres])
        bottom, top = plot.range_of([0.0], *ends, means)
    if words:
        low, high = -0.5, len(words) - 0.5
    dots = plot.Dots("rows", x, residual, "observed", "ink", 6, 0.6, opacity=0.7)
    return plot.Figure(
        RESIDUALS,
        plot.FigureAxis(title, scale, None, low, high, bool(words)),
        plot.FigureAxis(column_title("predicted − actual", unit), low=bottom, high=top),
        (
            *((dots,) if rows else ()),
            plot.Lines("zero", [low, high], [0.0, 0.0], "ink", 1.4, dashed=True),
            plot.Lines("intervals", *plot.whiskers(centres, *ends), width=3),
            plot.Dots("means", centres, means, size=11, width=1.2, symbol="diamond"),
        ),
        _residuals_text(title, bins, unit or ""),
        lambda: (
            [title, "predicted − actual"],
            [list(pair) for pair in zip(values, residuals.residual, strict=True)],
        ),
    )


def _residuals_text(title: str, bins: Sequence[answer_types.ResidualBin], unit: str) -> str:
    if not bins:
        return "The column has no value in the test rows."
    worst = max(bins, key=lambda entry: abs(entry.mean))
    where = worst.at if isinstance(worst.at, str) else format_number(worst.at)
    low, high = format_number(worst.low), format_number(worst.high)
    return (
        f"Furthest off near {title} {where}: {amount_text(worst.mean, unit)} "
        f"on average (95\u00a0% confidence interval {low} to {high})."
    )


# More rows -------------------------------------------------------------------------------------


def learning_figure(curve: answer_types.LearningCurve) -> plot.Figure:
    """The mean score with its interval after fitting on fewer training rows."""
    entries = [(size.rows, size.mean, size.low, size.high) for size in curve.sizes]
    x, mean, low, high = np.array(entries, dtype=float).T
    bottom, top = plot.range_of(mean, low, high)
    columns = ("training rows", "mean score", "low", "high", "fits")
    rows = [[*entry, size.repeats] for entry, size in zip(entries, curve.sizes, strict=True)]
    return plot.Figure(
        LEARNING,
        plot.FigureAxis("training rows", low=0.0, high=float(x.max())),
        plot.score_axis(curve.metric, curve.maximize, bottom, top),
        (
            plot.Lines("curve", x, mean),
            plot.Lines("intervals", *plot.whiskers(x, low, high), width=3),
            plot.Dots("sizes", x, mean, size=10, width=1.5),
        ),
        learning_text(curve),
        lambda: (list(columns), rows),
    )
