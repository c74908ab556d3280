"""The figures of a run of trials: the best so far, the average and its members, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from core.figures import figure as plot
from core.figures.scales import Scale, bounds_of, near_range, scale_of, score_scale
from core.space import Axis, axis_title
from core.tuning.events import EnsembleUpdated, RunStarted
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.score import (
    difference_text,
    metric_in_short,
    score_limits,
    score_text,
    score_texts,
)
from core.wording import count_text, duration_text, format_number, format_value

if TYPE_CHECKING:
    from core.tuning.runs.run_comparison import BestSoFarCurve

CROWD = 600  # trials beyond which the dots are small and without an outline
FIFTHS = 5  # groups of trials by rank
NUMBERED = 12  # scores beyond the picture, of which those that have room are told
ANYWHERE = 4096  # candidates of a draw
MARKED_DRAWS = 150  # draws up to which each has a dot
RUN_CURVES = "Best score so far"
MAX_RUNS = 8  # so many colours there are
SYMBOLS: tuple[plot.Symbol, ...] = ("circle", "diamond", "triangle", "star")
NAMED_TRIALS = 5  # of those with a prediction, the first: of them earlier datasets spoke


# Best so far -----------------------------------------------------------------------------------


def best_so_far_figure(run: RunState, is_clear: np.ndarray | None = None) -> plot.Figure:
    """Every trial's score, the best so far as a staircase, the default setting and the baseline.

    `is_clear`: which of them are drawn in full, shape (trials,); else those that count.
    """
    numbers, best = run.staircase()
    scored, default, baseline = np.isfinite(run.scores), run.default_trial, run.started.baseline
    # Trials that were ended early have estimates, which are hollow.
    clear = scored if is_clear is None else is_clear
    clear = clear & ~run.is_excluded & ~run.is_ended_early
    explores = clear & exploring_rows(run)
    is_crowded = len(run.trials) > CROWD
    full, hollow, cross = (4, 3, 5) if is_crowded else (8, 6, 8)
    is_pale, lost = scored & ~clear, run.numbers[~scored]
    outline, metric = None if is_crowded else "ink", run.started.metric
    levels = [None if default is None else default.score, baseline]
    default_text, baseline_text = (score_text(level, metric) for level in levels)
    return plot.Figure(
        "Best so far",
        _trial_axis(run, numbers),
        plot.score_axis(
            metric,
            run.started.maximize,
            *shown_scores(run),
            full_range=plot.range_of(run.scores, levels),
        ),
        (
            *(
                plot.Dots(name, run.numbers[rows], run.scores[rows], *style)
                for name, rows, *style in (
                    ("others", is_pale, None, "control", hollow),
                    ("trials", clear & ~explores, "observed", outline, full),
                    ("exploring", explores, "model", outline, full + 1, 1.0, "square"),
                )
            ),
            plot.Lines(
                "best", *steps_of(numbers, best), "ink", 2.2, False, "paper" * is_crowded, 5.0,
                label="best so far",
            ),
            plot.Dots("failed", lost, lost, None, "bad", cross, 2.0, "cross", at_floor=True),
            edge_marks(run.numbers, run.scores, shown_scores(run), score_scale(metric)),
            plot.Level("default", levels[0], "default setting", default_text),
            plot.Level("baseline", baseline, "baseline", baseline_text),
        ),
        _best_text(run),
        lambda: _best_table(run, best),
    )  # fmt: skip


def exploring_rows(run: RunState) -> np.ndarray:
    """Which trials were tried because little is known there, shape (trials,)."""
    # only where a surrogate is, which has few trials: of 100,000 the look alone would be slow
    if run.surrogate is None and run.common is None:
        return np.zeros(len(run.trials), dtype=bool)
    return np.array([trial.reason == "explore" for trial in run.trials], dtype=bool)


def shown_scores(run: RunState, scores: np.ndarray | None = None) -> tuple[float, float]:
    """The range of scores in every picture of the run; NaN before any."""
    scores = run.scores[run.scored_rows] if scores is None else scores
    error = run.best_trial.error if run.best_trial is not None else 0.0
    return near_range(scores, run.started.maximize, error, score_limits(run.started.metric))


def edge_marks(
    x: np.ndarray, scores: np.ndarray, limits: tuple[float, float], scale: Scale
) -> plot.EdgeMarks:
    """Marks for scores beyond the limits, the furthest first; these have their numbers."""
    distances = np.abs(scores - np.clip(scores, *limits))
    rows = np.flatnonzero(distances > 0)
    rows = rows[np.argsort(-distances[rows], kind="stable")]
    texts = [scale.label_at(score) for score in scores[rows[:NUMBERED]].tolist()]
    return plot.EdgeMarks("beyond", x[rows], scores[rows], texts)


def _trial_axis(run: RunState, numbers: np.ndarray) -> plot.FigureAxis:
    first, last = float(numbers[0]), float(numbers[-1])
    end = first + run.total - 1 if run.total else last
    room = 0.03 * max(end, last) + 0.5
    low, high = first - room, max(end, last) + room
    return plot.FigureAxis("trial", Scale("whole"), None, low, high, exact=bool(run.total))


def _best_text(run: RunState) -> str:
    best, done, metric = run.best_trial, len(run.trials), run.started.metric
    if best is None:
        return f"No score after {done} trials."
    total_text = f" of {run.total}" if run.total else ""
    sentence = f"Best {score_text(best.score, metric)} after {done}{total_text} trials."
    if run.default_trial is not None:
        sentence += f" The default setting has {score_text(run.default_trial.score, metric)}."
    if run.started.baseline is not None:
        sentence += f" The baseline has {score_text(run.started.baseline, metric)}."
    failed = int(np.sum(~np.isfinite(run.scores)))
    return sentence + (f" {count_text(failed, 'trial')} failed." if failed else "")


def _best_table(run: RunState, best: np.ndarray) -> plot.Table:
    order = np.argsort(run.numbers, kind="stable")
    rows: list[list[Any]] = []
    for trial, high in zip((run.trials[i] for i in order), best.tolist(), strict=True):
        scores = [score if np.isfinite(score) else None for score in (trial.score, high)]
        rows.append([trial.number, *scores, "failed" if trial.failure else ""])
    return ["trial", metric_in_short(run.started.metric), "best so far", "note"], rows


def steps_of(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the staircase that is y[i] from x[i] on."""
    is_finite = np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if not len(x):
        return x.astype(float), y
    starts = np.concatenate([[0], np.flatnonzero(np.diff(y)) + 1])
    corners_x = np.append(np.repeat(x[starts], 2)[1:], x[-1]).astype(float)
    return corners_x, np.repeat(y[starts], 2)


# Several runs ----------------------------------------------------------------------------------


def run_curves_figure(curves: Mapping[str, BestSoFarCurve], *, is_over_time: bool) -> plot.Figure:
    """The best validation score so far of each run as a staircase with its own mark.

    `curves` are by the runs' names; those without scores keep their colour.
    """
    marks, legend, named = list[plot.Mark](), [], []
    for index, (name, curve) in enumerate(curves.items()):
        if not curve.best:
            continue
        named.append((name, curve))
        x = np.array(curve.seconds if is_over_time else curve.trials, float)
        y, colour, symbol = np.array(curve.best), f"series{index}", SYMBOLS[index % len(SYMBOLS)]
        # The last point is where the run ended, which is marked where that improved the score.
        marked = slice(-1) if len(x) > 1 and y[-1] == y[-2] else slice(None)
        marks += [
            plot.Lines(name, x.repeat(2)[1:], y.repeat(2)[:-1], colour, 2.4, label=name),
            plot.Dots(
                f"{name} dots", x[marked], y[marked], colour, plot.APART, 9, 1.2, symbol, label=name
            ),
        ]
        legend.append((name, f"{name}: {score_text(float(y[-1]), curve.metric)}"))
    metric, maximize = named[0][1].metric, named[0][1].maximize
    first = 0.0 if is_over_time else 1.0
    ends = [(c.seconds if is_over_time else c.trials)[-1] for _, c in named]
    last = max(first, *ends)
    room = 0.02 * max(last - first, 1.0)
    low, high = plot.range_of(*(curve.best for _, curve in named))
    texts = [
        f"{name}: {score_text(c.best[-1], c.metric)} after {c.trials[-1]} trials, "
        f"{duration_text(c.seconds[-1])}"
        for name, c in named
    ]
    return plot.Figure(
        RUN_CURVES,
        plot.FigureAxis(
            "seconds of the run" if is_over_time else "trials",
            low=first - room, high=last + room, exact=True,
        ),
        plot.score_axis(metric, maximize, low, high, "{}, validation"),
        # every line below every dot
        tuple(sorted(marks, key=lambda mark: isinstance(mark, plot.Dots))),
        f"Best validation scores. {'; '.join(texts)}.",
        lambda: (["run", "trials", "seconds", "best score"], [
            [name, trial, format_number(seconds, 4), score]
            for name, c in named
            for trial, seconds, score in zip(c.trials, c.seconds, c.best, strict=True)
        ]),
        tuple(legend),
    )  # fmt: skip


# The average against the single best -----------------------------------------------------------


def scored_averages(run: RunState) -> list[EnsembleUpdated]:
    """The updates of an average of two or more that have both scores, in order."""
    updates = {update.finished: update for update in run.ensembles}
    return [
        update
        for _, update in sorted(updates.items())
        if len(update.weights) > 1 and update.average is not None and update.single is not None
    ]


def average_figure(run: RunState) -> plot.Figure:
    """Average, single best and default setting on rows that chose none of them."""
    updates, maximize = scored_averages(run), run.started.maximize
    x = np.array([update.finished for update in updates], dtype=float)
    average = np.array([update.average for update in updates], dtype=float)
    single = np.array([update.single for update in updates], dtype=float)
    scores = np.concatenate([average, single])
    # The first averages are of few trials, often bad ones; the last are always seen.
    low, high = plot.range_of(shown_scores(run, scores), average[-1:], single[-1:])
    marked = slice(None) if len(x) <= plot.MARKED else slice(-1, None)
    default, metric = run.unchosen_default, run.started.metric
    level = default if default is not None and low <= default <= high else None
    first, last = float(x[0]), float(x[-1])
    end = max(float(run.total), last, first + 4)
    start = first - 0.03 * (end - first)
    ends = float(average[-1]), float(single[-1])
    named = {"average": ends[0], "single best": ends[1]}
    named |= {} if level is None else {"default setting": level}
    texts = score_texts(list(named.values()), metric)
    names = [f"{name} {text}" for name, text in zip(named, texts, strict=True)]
    headers = ["trials with a score", "members", "average", "single best", "effective members"]
    return plot.Figure(
        "Average against single best",
        plot.FigureAxis("trials with a score", Scale("whole"), None, start, end, exact=True),
        plot.score_axis(run.started.metric, maximize, low, high, full_range=plot.range_of(scores)),
        (
            plot.Level("default", level, ""),
            plot.Lines("average line", x, average, plot.AVERAGE, 2.4, label="average"),
            plot.Lines("single line", x, single, "observed", dashed=True, label="single best"),
            plot.Dots("single", x[marked], single[marked], "paper", "observed", 8, 1.6, "diamond",
                 label="single best"),
            plot.Dots("average", x[marked], average[marked], plot.AVERAGE, label="average"),
            edge_marks(np.tile(x, 2), scores, (low, high), score_scale(run.started.metric)),
            plot.EndNames("names", [last] * len(named), list(named.values()), names),
        ),
        _average_text(updates[-1], ends, default, run.started),
        lambda: (
            headers,
            [[u.finished, len(u.weights), u.average, u.single, u.effective] for u in updates],
        ),
    )  # fmt: skip


def _average_text(
    last: EnsembleUpdated, ends: tuple[float, float], default: float | None, run: RunStarted
) -> str:
    metric, (average, single) = run.metric, (score_text(score, run.metric) for score in ends)
    count = sum(weight > 0 for weight in last.weights)
    sentence = f"After {last.finished} trials the average of {count} has {metric_in_short(metric)} "
    sentence += f"{average}, the single best {single}"
    sentence += "." if default is None else f", the default setting {score_text(default, metric)}."
    ahead = ends[0] - ends[1] if run.maximize else ends[1] - ends[0]
    if ahead == 0:
        return f"{sentence} Neither is ahead."
    leader = "average" if ahead > 0 else "single best"
    return f"{sentence} The {leader} is ahead by {difference_text(metric, abs(ahead))}."


# What was expected of trials -------------------------------------------------------------------


def candidates_figure(run: RunState) -> plot.Figure:
    """Among how many settings each trial was drawn, in effect."""
    drawn = sorted((t.number, float(t.candidates)) for t in run.trials if t.candidates)
    x, counts = np.array(drawn, dtype=float).T
    # Dots tell few draws apart; of many, the line is enough.
    y, marked = np.log10(counts), slice(None) if len(x) <= MARKED_DRAWS else slice(-1, None)
    end, top = max(float(run.total - 1), x[-1]), max(math.log10(ANYWHERE), float(y.max()))
    room = 0.03 * end + 0.5
    (first, before), (last, now) = drawn[0], drawn[-1]
    sentence = f"Trial {last} was drawn among {format_number(now, 2)} settings in effect."
    if len(drawn) > 1:
        sentence += f" At trial {first} it was {format_number(before, 2)}."
    return plot.Figure(
        "Effective number of candidates",
        plot.FigureAxis("trial", Scale("whole"), None, -room, end + room, exact=True),
        plot.FigureAxis("effective candidates", Scale("log"), None, -0.1, top + 0.1, exact=True),
        (plot.Lines("line", x, y, width=1.6), plot.Dots("dots", x[marked], y[marked], size=7)),
        sentence,
        lambda: (["trial", "effective number of candidates"], [list(pair) for pair in drawn]),
    )


def predicted_trials(run: RunState) -> list[tuple[Trial, float, float | None]]:
    """(trial, prediction, standard deviation) of those with a score, by their numbers."""
    scored = ((t, run.prediction(t)) for t in run.trials if not t.failure)
    limits = score_limits(run.started.metric)
    rows = [(t, float(np.clip(p[0], *limits)), p[1]) for t, p in scored if p is not None]
    return sorted(rows, key=lambda row: row[0].number)


def expectation_figure(run: RunState, is_clear: np.ndarray) -> plot.Figure:
    """Observed over predicted scores with whiskers of one deviation; the first trials are named.

    `is_clear`: which trials are drawn in full, shape (trials,).
    """
    trials, expected, deviations = zip(*predicted_trials(run), strict=True)
    x, y = np.array(expected, float), np.array([trial.score for trial in trials], float)
    sd = np.array([deviation or 0.0 for deviation in deviations], float)
    clear = (is_clear & ~run.is_excluded)[[run.row_of[trial.number] for trial in trials]]
    first = np.arange(len(trials)) < NAMED_TRIALS
    ends = np.clip([x - sd, x + sd], *score_limits(run.started.metric))
    (x_min, x_max), (low, high) = plot.range_of(*ends, y), plot.range_of(x, y)
    heights, across = plot.whiskers(y, *ends)
    room = 0.1 * (high - low) or 0.05
    corners = [min(x_min, low - room), max(x_max, high + room)]
    metric = run.started.metric
    # Of the first trials only the history could have predicted the score.
    named = [str(trial.number) for trial in trials[:NAMED_TRIALS]]
    near = int(np.sum(np.abs(y - x) <= sd))
    return plot.Figure(
        "Predicted and observed score",
        plot.score_axis(metric, run.started.maximize, x_min, x_max, "predicted {}"),
        plot.score_axis(metric, run.started.maximize, low - room, high + room, "observed {}"),
        (
            plot.Lines("diagonal", corners, corners, "control", 1.4, dashed=True),
            plot.Lines("whiskers", across, heights, "model", 1.4),
            plot.Dots("others", x[~clear], y[~clear], None, "control", 6),
            plot.Dots("dots", x[clear & ~first], y[clear & ~first], "paper", "observed", 8, 1.6),
            plot.Dots("first", x[clear & first], y[clear & first], "observed", "ink", 10, 1.4),
            plot.Labels("numbers", x[first], y[first], named, "above"),
        ),
        f"{near} of {len(trials)} trials came out within one standard deviation of the prediction. "
        f"Trial {trials[0].number}: {score_text(float(x[0]), metric)} was predicted, "
        f"{score_text(float(y[0]), metric)} observed.",
        lambda: plot.columns_table({
            "trial": [trial.number for trial in trials], "predicted": expected,
            "standard deviation": deviations, "observed": y.tolist(),
        }),
    )  # fmt: skip


# Which settings rank high ------------------------------------------------------------------------


def rank_figure(run: RunState, first: Axis, second: Axis) -> plot.Figure:
    """Every trial at two of its settings: the darker, the better its rank among all."""
    ranked = run.best_rows(len(run.trials), estimates=True)
    axes = {axis_title(axis.label, axis.name): axis for axis in (first, second)}
    values = {
        title: [run.trials[row].setting.get(axis.name) for row in ranked]
        for title, axis in axes.items()
    }
    x, y = (scale_of(axis).positions_of(values[title]) for title, axis in axes.items())
    groups = np.array_split(np.arange(len(ranked)), FIFTHS)
    # The best lie above the others, and are seen by their size as well.
    marks = [
        plot.Dots(f"fifth {rank}", x[rows], y[rows], "model", "ink", 11 - 1.5 * rank, 1.0,
             opacity=(1.0 - rank / FIFTHS) ** 1.5)
        for rank, rows in enumerate(groups)
    ]  # fmt: skip
    x_axis, y_axis = (_wide_axis(title, axis) for title, axis in axes.items())
    best_values = ", ".join(f"{title} {format_value(cells[0])}" for title, cells in values.items())
    return plot.Figure(
        "Trials by their ranks",
        x_axis,
        y_axis,
        (*reversed(marks), plot.Dots("best", x[:1], y[:1], "observed", "ink", 17, 1.4, "star")),
        f"The best of {len(ranked)} trials is trial {run.numbers[ranked[0]]}: {best_values}.",
        lambda: plot.columns_table({
            "rank": range(1, len(ranked) + 1),
            "trial": run.numbers[ranked].tolist(),
            **values,
            metric_in_short(run.started.metric): run.scores[ranked].tolist(),
        }),
        (("fifth 0", "best fifth"), (f"fifth {FIFTHS - 1}", "worst fifth"), ("best", "the best")),
    )  # fmt: skip


def _wide_axis(title: str, axis: Axis) -> plot.FigureAxis:
    low, high = bounds_of(axis)
    room = 0.04 * (high - low)
    return plot.FigureAxis(title, scale_of(axis), None, low - room, high + room, exact=True)


# When each trial ran ----------------------------------------------------------------------------

LANE = 7.0  # pixels of a trial's bar
GAP = 0.004  # of the whole time, after each
SOONEST = 0.02  # seconds before the end of another trial at which its worker is free


def timeline_figure(run: RunState) -> plot.Figure:
    """A bar for every trial from its start to its end, a row for each that ran at the same time."""
    took, ends = (
        np.array([getattr(trial, name) for trial in run.trials]) for name in ("took", "ended")
    )
    order = np.argsort(ends - took, kind="stable")
    took, ends = took[order], ends[order]
    starts = ends - took
    lanes = np.array(_lanes_of(zip(starts.tolist(), ends.tolist(), strict=True)), dtype=float)
    is_failed = np.isnan(run.scores)[order]
    is_early = run.is_ended_early[order] & ~is_failed
    end, marks, legend = float(ends.max()), [], []
    masks = {
        "whole": (~(is_failed | is_early), "model"),
        "ended early": (is_early, "control"),
        "failed": (is_failed, "bad"),
    }
    # A gap that can be seen tells one trial from the next.
    seen_ends = ends - np.minimum(GAP * end, 0.3 * took)
    for kind, (mask, colour) in masks.items():
        if not mask.any():
            continue
        gaps = np.full(mask.sum(), np.nan)
        bars = np.column_stack([starts[mask], seen_ends[mask], gaps]).ravel()
        marks.append(plot.Lines(kind, bars, np.repeat(lanes[mask], 3), colour, LANE, label=kind))
        legend.append((kind, kind))
    count = int(lanes.max()) + 1
    names = tuple(f"worker {lane + 1}" for lane in range(count))
    longest, numbers = int(took.argmax()), run.numbers[order]
    description = f"{len(took)} trials, up to {count} at a time, in {duration_text(end)}; "
    description += f"the longest, trial {numbers[longest]}, took {duration_text(took[longest])}."
    return plot.Figure(
        "When did each trial run?",
        plot.FigureAxis("seconds", low=0.0, high=end),
        plot.FigureAxis("", Scale("choice", names), low=-0.6, high=count - 0.4, exact=True),
        tuple(marks),
        description,
        lambda: plot.columns_table(
            {
                "trial": numbers.tolist(),
                "worker": (lanes + 1).astype(int).tolist(),
                "start": starts.tolist(),
                "seconds": took.tolist(),
                "end": np.select([mask for mask, _ in masks.values()], [*masks], "").tolist(),
            }
        ),
        tuple(legend),
    )


def _lanes_of(spans: Iterable[tuple[float, float]]) -> list[int]:
    busy: list[tuple[float, int]] = []  # heaps: (end, lane), and the lanes without a trial
    free: list[int] = []
    lanes = []
    for start, end in spans:
        while busy and busy[0][0] <= start + SOONEST:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else len(busy)
        heappush(busy, (end, lane))
        lanes.append(lane)
    return lanes
