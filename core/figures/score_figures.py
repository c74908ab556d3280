"""The figures of results: scores, predictions, calibration, predicted base pairs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.datasets.finding import column_title
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import title_of
from core.estimators.multi_model import MODEL
from core.evaluation.calibration_bin import CalibrationBin
from core.figures import figure as plot
from core.figures.scales import Scale, near_range, score_scale
from core.tuning import run_results
from core.tuning.results.result_facts import member_count
from core.tuning.scores.score import metric_in_short, score_text, score_texts
from core.wording import amount_text, format_decimals, format_number, quoted

WITHOUT = "without a model"
FAR = 1.5  # times the range of all models, beyond which the line without a model is not drawn
ROOM = 0.06  # of what is shown, on both sides: half the width of a score's words
FLOOR, TALL, BAR = -0.2, 0.14, 0.02  # of the bars of counts: where, how high, half their width


@dataclass(frozen=True)
class ResultPicture:
    """A figure with the question that it answers."""

    name: str
    title: str
    question: str
    waiting: str  # what will appear in its place, and when
    is_suitable: Callable[[run_results.Results], bool]
    figure: Callable[[run_results.Results], plot.Figure]
    width: Literal["wide", "half", "narrow"] = "half"  # of its card in the report
    has_legend: bool = False


# Scores with their intervals ------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreRow:
    """A model with its score on test rows; NaN where it has none, or no interval."""

    name: str
    score: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_taken: bool = False  # told apart from the others


def score_rows(results: run_results.Results) -> list[ScoreRow]:
    """The candidates, or the tuned model and the default one, from top to bottom."""
    if candidates := run_results.completed_candidates(results):
        return [
            _score_row(_candidate_name(c, results), results, c.test, c.test_interval, c.taken)
            for c in candidates
        ]
    members = member_count(results)
    name = "tuned" if members < 2 else f"average of {members}"
    models = (
        (name, results.test, results.test_interval, True),
        ("default setting", results.default_test, results.default_interval, False),
    )
    rows = [_score_row(who, results, test, ends, is_taken) for who, test, ends, is_taken in models]
    return [row for row in rows if math.isfinite(row.score)]


def _score_row(
    name: str,
    results: run_results.Results,
    test: run_results.Scores | None,
    interval: run_results.Interval | None,
    is_taken: bool,
) -> ScoreRow:
    low, high = interval or (None, None)
    score = (test or {}).get(results.metric)
    score, low, high = (math.nan if n is None else float(n) for n in (score, low, high))
    return ScoreRow(name, score, low, high, is_taken)


def _candidate_name(candidate: run_results.CandidateResults, results: run_results.Results) -> str:
    count = candidate.members or member_count(results)
    names = {
        "best": "The best",
        "simplest": "Simplest as good",
        "average": f"Average of {count} models" if count else "Average",
        "default": "Default setting",
        "trial": "Your trial",
    }
    name = names.get(candidate.kind, candidate.kind)
    if MODEL in candidate.setting:
        return f"{name}: {uncapitalized(title_of(candidate.setting[MODEL]))}"
    # A run of one model has no best one: it has a tuned setting.
    return "Tuned setting" if candidate.kind == "best" else name


def score_figure(results: run_results.Results) -> plot.Figure:
    """The models that may be taken on test rows, and what is reached without one."""
    metric = results.metric
    measured = f"{metric_in_short(metric)} on test {results.task.units}"
    baseline = results.baseline_scores.get(metric)
    return intervals_figure(
        SCORES.title, score_rows(results), metric, measured, results.maximize, baseline
    )


def intervals_figure(
    title: str,
    entries: Sequence[ScoreRow],
    metric: str,
    measured: str,
    maximize: bool,
    baseline: float | None = None,
) -> plot.Figure:
    """A row for each model, the taken one apart from the others; dashed: without a model."""
    rows = np.arange(len(entries), dtype=float)
    scores, lows, highs, is_taken = (
        np.array([getattr(entry, name) for entry in entries])
        for name in ("score", "low", "high", "is_taken")
    )
    # A hopeless one stands at the edge; of the others the intervals are seen whole.
    low, high = near_range(scores, maximize)
    is_seen = (scores >= low) & (scores <= high)
    low, high = plot.range_of([low, high], lows[is_seen], highs[is_seen])
    shown = rows[np.isfinite(scores)].astype(int)
    sentences = []
    for entry in entries:
        score, start, end = (score_text(n, metric) for n in (entry.score, entry.low, entry.high))
        between = f" (between {start} and {end})" if math.isfinite(entry.low) else ""
        sentences.append(f"{entry.name} {score}{between}")
    texts = score_texts(scores[shown].tolist(), metric)
    span, words, beyond = (high - low) or abs(high) or 1.0, "", list[str]()
    is_near = baseline is not None and low - FAR * span <= baseline <= high + FAR * span
    if baseline is not None:
        words = f"{WITHOUT} {score_text(baseline, metric)}"
        sentences.append(words)
        low, high = plot.range_of([low, high], [baseline if is_near else low])
        # Else it would press all models together.
        beyond = [] if is_near else [f"← {words.replace(WITHOUT, 'no model')}"]
    room = ROOM * (high - low)
    whisker_y, whisker_x = plot.whiskers(rows, lows, highs)
    is_own = np.repeat(is_taken, 3)
    foot = len(entries) - 0.35  # the words of the dashed line
    return plot.Figure(
        title,
        plot.FigureAxis(
            measured,
            score_scale(metric),
            maximize,
            low - room,
            high + room,
            full_range=plot.range_of([low - room, high + room], scores, lows, highs),
        ),
        # More room above than below, for the words over the first dot.
        plot.FigureAxis(
            "", Scale("choice", tuple(e.name for e in entries)), low=-0.8, high=foot, exact=True
        ),
        (
            plot.Border("without", *((baseline, words) if is_near else (None, ""))),
            plot.Lines("other intervals", whisker_x[~is_own], whisker_y[~is_own], "muted", 3.0),
            plot.Lines("interval", whisker_x[is_own], whisker_y[is_own], "model", 3.0),
            plot.Dots(
                "others", scores[~is_taken], rows[~is_taken], "muted", "paper", 13, 1.5, "diamond"
            ),
            plot.Dots("tuned", scores[is_taken], rows[is_taken], size=13, width=1.5),
            plot.EdgeMarks("at the edge", scores, rows, colour="muted"),
            plot.Labels("scores", scores[shown], rows[shown], texts, "above"),
            plot.Labels("beyond", [low] * len(beyond), [foot] * len(beyond), beyond, "above"),
        ),
        "; ".join(sentences) + ".",
        lambda: (
            ["setting", "score", "low", "high"],
            [[e.name, e.score, e.low, e.high] for e in entries]
            + [[WITHOUT, baseline, None, None]] * bool(words),
        ),
    )


SCORES = ResultPicture(
    name="scores",
    title="Was tuning worth it?",
    question="Test score, 95\u00a0% confidence.",
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


def predicted_figure(results: run_results.Results) -> plot.Figure:
    """Predicted against actual values of test rows."""
    pairs = results.predictions or run_results.PredictionPairs()
    actual, tuned = np.array(pairs.actual, float), np.array(pairs.tuned, float)
    low, high = plot.range_of(actual, tuned)
    unit = results.target_unit or ""
    off_by = amount_text(float(np.nanmedian(np.abs(actual - tuned))), unit)
    return plot.Figure(
        PREDICTED.title,
        plot.FigureAxis(column_title("actual", unit), low=low, high=high),
        plot.FigureAxis(column_title("predicted", unit), low=low, high=high),
        (
            plot.Dots("rows", actual, tuned, "observed", "ink", 7, 0.8),
            plot.Lines("diagonal", [low, high], [low, high], "ink", 1.6, dashed=True),
        ),
        f"{len(actual)} rows; half of the predictions are off by less than {off_by}.",
        lambda: plot.columns_table({"actual": actual.tolist(), "predicted": tuned.tolist()}),
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


def result_bins(results: run_results.Results) -> list[CalibrationBin]:
    """The bins of the results, without intervals."""
    curve = results.calibration
    if curve is None:
        return []
    counts: Sequence[int | None] = curve.counts or [None] * len(curve.predicted)
    triples = zip(curve.predicted, curve.observed, counts, strict=True)
    return [CalibrationBin(p, o, n, None, None) for p, o, n in triples]


def calibration_figure(bins: Sequence[CalibrationBin], label: str = "") -> plot.Figure:
    """A dot a bin with Wilson's interval, where known, and its count of rows."""
    predicted, seen = [entry.predicted for entry in bins], [entry.observed for entry in bins]
    rows = np.array([entry.rows or 0 for entry in bins], dtype=float)
    heights = TALL * rows / max(float(rows.max(initial=0.0)), 1.0)
    corners = np.ravel(np.array(predicted, dtype=float)[:, None] + [-BAR, -BAR, BAR, BAR])
    tops = FLOOR + np.ravel(heights[:, None] * [0.0, 1.0, 1.0, 0.0])
    ends = plot.whiskers(predicted, [entry.low for entry in bins], [entry.high for entry in bins])
    worst = max(bins, key=lambda entry: abs(entry.predicted - entry.observed))
    shares = [score_text(share, "accuracy") for share in (worst.predicted, worst.observed)]
    return plot.Figure(
        CALIBRATION.title,
        plot.FigureAxis("predicted probability", Scale("percent"), None, -0.03, 1.03, exact=True),
        plot.FigureAxis(
            f"share that is {quoted([label])[0]}" if label else "share that has it",
            Scale("percent", min_tick=0.0),
            low=FLOOR,
            high=1.03,
            exact=True,
        ),
        (
            plot.Band("counts", corners, np.full(len(corners), FLOOR), tops, "muted", 0.45),
            plot.Lines("diagonal", [0.0, 1.0], [0.0, 1.0], "muted", 1.4, dashed=True),
            plot.Lines("intervals", *ends, "model", 2.4),
            plot.Lines("curve", predicted, seen, "model", 1.4),
            plot.Dots("bins", predicted, seen),
        ),
        "Furthest off where it says {}: there {} have it.".format(*shares),
        lambda: _calibration_table(bins),
    )


def _calibration_table(bins: Sequence[CalibrationBin]) -> plot.Table:
    names = ["predicted", "observed", "rows"]
    names += [] if all(entry.low is None for entry in bins) else ["low", "high"]
    return names, [[getattr(entry, name) for name in names] for entry in bins]


CALIBRATION = ResultPicture(
    name="calibration",
    title="Can its probabilities be trusted?",
    question="Dashed: 70\u00a0% means 70\u00a0%.",
    waiting="A curve appears here when the test rows have been predicted.",
    is_suitable=lambda results: bool(result_bins(results)),
    figure=lambda results: calibration_figure(result_bins(results)),
    width="narrow",
)


# Base pairs ------------------------------------------------------------------------------------


def _pair_points(results: run_results.Results, who: str) -> np.ndarray:
    """γ, % found, % right; shape (count, 3), NaN where no pair is called."""
    curve = getattr(results.curve or run_results.PairCurves(), who)
    rows = [[math.nan if value is None else value for value in row] for row in curve]
    return np.array(rows, dtype=float).reshape(-1, 3) * [1.0, 100.0, 100.0]


def _scored_point(results: run_results.Results, who: str, points: np.ndarray) -> np.ndarray:
    gammas = results.gamma or run_results.GammaValues(
        run_results.USUAL_GAMMA, run_results.USUAL_GAMMA
    )
    pairs, gamma = results.pairs, getattr(gammas, who)
    is_scored = points[:, 0] == gamma
    # A γ that was chosen need not be one of the curve: its point is made of the counts.
    if is_scored.any() or pairs is None:
        return points[is_scored]
    counts = getattr(pairs, who)
    totals = (counts.true, counts.called)
    shares = [100 * counts.right / total if total else math.nan for total in totals]
    return np.array([[gamma, *shares]])


def pairs_figure(results: run_results.Results) -> plot.Figure:
    """Sensitivity over precision while γ goes from cautious to generous."""
    styles: tuple[tuple[str, str, str, plot.Symbol, int], ...] = (
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
        lines.append(plot.Lines(who, points[:, 2], points[:, 1], colour, dashed=who == "default"))
        dots.append(
            plot.Dots(f"{who} γ", small[:, 2], small[:, 1], colour, colour, 5, 1.2, notes=notes)
        )
        mark = (f"{who} scored", point[:, 2], point[:, 1], colour, "ink", size, 1.2, symbol)
        scored.append(plot.Dots(*mark))
        for gamma, *percentages in point:
            sensitivity, right = (f"{format_decimals(share, 1)} %" for share in percentages)
            sentences.append(
                f"{words}: {sensitivity} of the true pairs found, {right} of the called pairs "
                f"right (γ = {format_number(gamma, 4)})"
            )
    (low, high), (bottom, top) = (
        plot.range_of(*(curve[:, column] for curve in curves.values())) for column in (2, 1)
    )
    return plot.Figure(
        PAIRS.title,
        plot.FigureAxis("called pairs that are right, %", low=low, high=high),
        plot.FigureAxis("true pairs found, %", low=bottom, high=top),
        (*lines, *dots, *scored),
        "; ".join(reversed(sentences)) + ".",
        lambda: _pairs_table(curves),
        (
            ("tuned", "tuned"),
            ("default", "default setting"),
            ("tuned scored", "where the scores are taken"),
        ),
    )


def _pairs_table(curves: dict[str, np.ndarray]) -> plot.Table:
    return ["setting", "gamma", "true pairs found, %", "called pairs right, %"], [
        [who, format_number(gamma, 4), sensitivity, right]
        for who in ("tuned", "default")
        for gamma, sensitivity, right in curves[who].tolist()
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
