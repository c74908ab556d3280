"""The figures of results: scores, predictions, calibration, predicted base pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.evaluation.calibration_bin import CalibrationBin
from core.figures.figure import (
    Band,
    Dots,
    Figure,
    FigureAxis,
    Labels,
    Lines,
    Table,
    columns_table,
    range_of,
    whiskers,
)
from core.figures.result_picture import ResultPicture
from core.figures.scales import Scale, score_scale
from core.tuning.results.result_facts import member_count
from core.tuning.run_results import USUAL_GAMMA, GammaValues, PairCurves, PredictionPairs, Results
from core.tuning.scores.score import metric_in_short, score_text, score_texts
from core.wording import format_decimals, format_number

ROOM = 0.06  # of what is shown, on both sides: half the width of a score's words
FLOOR, TALL, BAR = -0.2, 0.14, 0.02  # of the bars of counts: where, how high, half their width


# Scores with their intervals ------------------------------------------------------------------


def score_entries(results: Results) -> list[tuple[str, float, float, float]]:
    """(who, score, low, high) from top to bottom, NaN without interval."""
    members = member_count(results)
    entries = []
    for who, scores, interval in (
        ("tuned" if members < 2 else f"average of {members}", results.test, results.test_interval),
        ("default setting", results.default_test, results.default_interval),
        ("baseline", results.baseline_test, results.baseline_interval),
    ):
        score = scores.get(results.metric)
        low, high = (math.nan if end is None else float(end) for end in interval or (None, None))
        if score is not None:
            entries.append((who, float(score), low, high))
    return entries


def score_figure(results: Results) -> Figure:
    """Tuned, default and baseline model on test rows."""
    measured = f"{metric_in_short(results.metric)} on test {results.task.units}"
    entries = score_entries(results)
    return intervals_figure(SCORES.title, entries, results.metric, measured, results.maximize)


def intervals_figure(
    title: str,
    entries: Sequence[tuple[str, float, float, float]],
    metric: str,
    measured: str,
    maximize: bool,
) -> Figure:
    """A row for each (who, score, low, high), the first one apart from the others."""
    rows = np.arange(len(entries), dtype=float)
    names, *columns = zip(*entries, strict=True)
    scores, lows, highs = (np.array(column, dtype=float) for column in columns)
    low, high = range_of(scores, lows, highs)
    room = ROOM * (high - low)
    other_y, other_x = whiskers(rows[1:], lows[1:], highs[1:])
    sentences = []
    for who, *numbers in entries:
        score, start, end = (score_text(number, metric) for number in numbers)
        between = f" (between {start} and {end})" if math.isfinite(numbers[1]) else ""
        sentences.append(f"{who} {score}{between}")
    return Figure(
        title,
        FigureAxis(measured, score_scale(metric), maximize, low - room, high + room),
        # More room above than below, for the words over the first dot.
        FigureAxis("", Scale("choice", names), low=-0.8, high=len(entries) - 0.4, exact=True),
        (
            Lines("other intervals", other_x, other_y, "muted", 3.0),
            Lines("interval", [lows[0], highs[0]], [0.0, 0.0], "model", 3.0),
            Dots("others", scores[1:], rows[1:], "muted", size=13, width=1.5, symbol="diamond"),
            Dots("tuned", scores[:1], rows[:1], size=13, width=1.5),
            Labels("scores", scores, rows, score_texts(scores.tolist(), metric), "above"),
        ),
        "; ".join(sentences) + ".",
        lambda: (["setting", "score", "low", "high"], [list(entry) for entry in entries]),
    )


SCORES = ResultPicture(
    name="scores",
    title="Was tuning worth it?",
    question="Dot: score on the test set. Line: its 95\u00a0% confidence interval.",
    waiting="Scores on test rows appear here when a run has ended.",
    is_suitable=lambda results: results.metric in results.test,
    figure=score_figure,
    width="wide",
)


# Right and wrong answers -----------------------------------------------------------------------


def confusion_rows(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> list[list[Any]]:
    """A confusion matrix with recalls behind and precisions below."""
    recall = (_share_text(row[code], sum(row)) for code, row in enumerate(counts))
    columns = enumerate(zip(*counts, strict=True))
    precision = [_share_text(column[code], sum(column)) for code, column in columns]
    rows = zip(labels, counts, recall, strict=True)
    return [*([label, *row, share] for label, row, share in rows), ["precision", *precision, ""]]


def _share_text(right: int, total: int) -> str:
    return score_text(right / total if total else None, "accuracy")


# Predicted values ------------------------------------------------------------------------------


def predicted_figure(results: Results) -> Figure:
    """Predicted against actual values of test rows."""
    pairs = results.predictions or PredictionPairs()
    actual, tuned = np.array(pairs.actual, float), np.array(pairs.tuned, float)
    low, high = range_of(actual, tuned)
    off_by = score_text(float(np.nanmedian(np.abs(actual - tuned))), "")
    return Figure(
        PREDICTED.title,
        FigureAxis("actual", low=low, high=high),
        FigureAxis("predicted", low=low, high=high),
        (
            Dots("rows", actual, tuned, "observed", "ink", 7, 0.8),
            Lines("diagonal", [low, high], [low, high], "ink", 1.6, dashed=True),
        ),
        f"{len(actual)} rows; half of the predictions are off by less than {off_by}.",
        lambda: columns_table({"actual": actual.tolist(), "predicted": tuned.tolist()}),
    )


PREDICTED = ResultPicture(
    name="predicted",
    title="How near are its predictions?",
    question="On the dashed line, a prediction is exact.",
    waiting="Predictions for test rows appear here when a run has ended.",
    is_suitable=lambda results: (
        results.predictions is not None and bool(results.predictions.actual)
    ),
    figure=predicted_figure,
    width="narrow",
)


# Calibration -----------------------------------------------------------------------------------


def result_bins(results: Results) -> list[CalibrationBin]:
    """The bins of the results, without intervals."""
    curve = results.calibration
    if curve is None:
        return []
    counts: Sequence[int | None] = curve.counts or [None] * len(curve.predicted)
    triples = zip(curve.predicted, curve.observed, counts, strict=True)
    return [CalibrationBin(p, o, n, None, None) for p, o, n in triples]


def calibration_figure(bins: Sequence[CalibrationBin], label: str = "") -> Figure:
    """A dot a bin with Wilson's interval, where known, and its count of rows."""
    said, seen = [entry.predicted for entry in bins], [entry.observed for entry in bins]
    rows = np.array([entry.rows or 0 for entry in bins], dtype=float)
    heights = TALL * rows / max(float(rows.max(initial=0.0)), 1.0)
    corners = np.ravel(np.array(said, dtype=float)[:, None] + [-BAR, -BAR, BAR, BAR])
    tops = FLOOR + np.ravel(heights[:, None] * [0.0, 1.0, 1.0, 0.0])
    ends = whiskers(said, [entry.low for entry in bins], [entry.high for entry in bins])
    worst = max(bins, key=lambda entry: abs(entry.predicted - entry.observed))
    shares = [score_text(share, "accuracy") for share in (worst.predicted, worst.observed)]
    return Figure(
        CALIBRATION.title,
        FigureAxis("predicted probability", Scale("percent"), None, -0.03, 1.03, exact=True),
        FigureAxis(
            f"share that is “{label}”" if label else "share that has it",
            Scale("percent", min_tick=0.0),
            low=FLOOR,
            high=1.03,
            exact=True,
        ),
        (
            Band("counts", corners, np.full(len(corners), FLOOR), tops, "muted", 0.45),
            Lines("diagonal", [0.0, 1.0], [0.0, 1.0], "muted", 1.4, dashed=True),
            Lines("intervals", *ends, "model", 2.4),
            Lines("curve", said, seen, "model", 1.4),
            Dots("bins", said, seen),
        ),
        "Furthest off where it says {}: there {} have it.".format(*shares),
        lambda: _calibration_table(bins),
    )


def _calibration_table(bins: Sequence[CalibrationBin]) -> Table:
    headers = ["predicted", "observed", "rows", "low", "high"]
    rows = [[b.predicted, b.observed, b.rows, b.low, b.high] for b in bins]
    if all(b.low is None for b in bins):
        return headers[:3], [row[:3] for row in rows]
    return headers, rows


CALIBRATION = ResultPicture(
    name="calibration",
    title="Can its probabilities be trusted?",
    question="Calibration: on the dashed line, 70\u00a0% means 70\u00a0%.",
    waiting="A curve appears here when the test rows have been predicted.",
    is_suitable=lambda results: bool(result_bins(results)),
    figure=lambda results: calibration_figure(result_bins(results)),
    width="narrow",
)


# Base pairs ------------------------------------------------------------------------------------


def _pair_points(results: Results, who: str) -> np.ndarray:
    """γ, % found, % right; shape (count, 3), NaN where no pair is called."""
    curves = results.curve or PairCurves()
    curve = curves.tuned if who == "tuned" else curves.default
    rows = [[math.nan if value is None else value for value in row] for row in curve]
    return np.array(rows, dtype=float).reshape(-1, 3) * [1.0, 100.0, 100.0]


def _scored_point(results: Results, who: str, points: np.ndarray) -> np.ndarray:
    """The point at the γ that the scores are of, shape (1, 3) or (0, 3)."""
    gammas = results.gamma or GammaValues(USUAL_GAMMA, USUAL_GAMMA)
    pairs, gamma = results.pairs, gammas.tuned if who == "tuned" else gammas.default
    is_scored = points[:, 0] == gamma
    # A γ that was chosen need not be one of the curve: its point is made of the counts.
    if is_scored.any() or pairs is None:
        return points[is_scored]
    counts = pairs.tuned if who == "tuned" else pairs.default
    totals = (counts.true, counts.called)
    shares = [100 * counts.right / total if total else math.nan for total in totals]
    return np.array([[gamma, *shares]])


def pairs_figure(results: Results) -> Figure:
    """Sensitivity over precision while γ goes from cautious to generous."""
    styles = (
        ("default", "default setting", "muted", "diamond", 13),
        ("tuned", "tuned", "model", "star", 17),
    )
    curves = {who: _pair_points(results, who) for who, *_ in styles}
    lines, dots, scored, sentences = [], [], [], []
    for who, words, colour, symbol, size in styles:
        points = curves[who]
        point = _scored_point(results, who, points)
        # The scored γ has a mark of its own.
        small = points[~np.isin(points[:, 0], point[:, 0])]
        notes = [f"{words}, γ = {format_number(g)}" for g in small[:, 0]]
        lines.append(Lines(who, points[:, 2], points[:, 1], colour, dashed=who == "default"))
        dots.append(Dots(f"{who} γ", small[:, 2], small[:, 1], colour, colour, 5, 1.2, notes=notes))
        mark = (f"{who} scored", point[:, 2], point[:, 1], colour, "ink", size, 1.2)
        scored.append(Dots(*mark, "star" if symbol == "star" else "diamond"))
        for gamma, *percentages in point:
            found, right = (f"{format_decimals(share, 1)} %" for share in percentages)
            sentences.append(
                f"{words}: {found} of the true pairs found, {right} of the called pairs right "
                f"(γ = {format_number(gamma, 4)})"
            )
    (low, high), (bottom, top) = (
        range_of(*(curve[:, column] for curve in curves.values())) for column in (2, 1)
    )
    return Figure(
        PAIRS.title,
        FigureAxis("called pairs that are right, %", low=low, high=high),
        FigureAxis("true pairs found, %", low=bottom, high=top),
        (*lines, *dots, *scored),
        "; ".join(reversed(sentences)) + ".",
        lambda: _pairs_table(curves),
        (
            ("tuned", "tuned"),
            ("default", "default setting"),
            ("tuned scored", "where the scores are taken"),
        ),
    )


def _pairs_table(curves: dict[str, np.ndarray]) -> Table:
    headers = ["setting", "gamma", "true pairs found, %", "called pairs right, %"]
    return headers, [
        [who, format_number(gamma, 4), found, right]
        for who in ("tuned", "default")
        for gamma, found, right in curves[who].tolist()
    ]


PAIRS = ResultPicture(
    name="curve",
    title="Does it find the pairs, and only them?",
    question="Higher: it finds more of the true pairs. Further right: fewer wrong ones.",
    waiting="A curve appears here for molecules.",
    is_suitable=lambda results: results.curve is not None and bool(results.curve.tuned),
    figure=pairs_figure,
    width="wide",
    has_legend=True,
)
