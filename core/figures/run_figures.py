"""The figures of a run of trials: the best so far, the average and its members, predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.figures.figure import (
    AVERAGE,
    MARKED,
    Bars,
    Border,
    Dots,
    EndNames,
    Figure,
    FigureAxis,
    Labels,
    Level,
    Lines,
    Mark,
    Table,
    columns_table,
    range_of,
    whiskers,
)
from core.figures.scales import Scale
from core.tuning.events import EnsembleUpdated
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.score import difference_text, metric_in_short, score_text, score_texts
from core.wording import format_number, percent

MIN_TRIAL_SHARE = 0.2  # of the picture that the trials take, the baseline beside them or not
CROWD = 600  # trials beyond which the dots are small and without an outline
REACH = 4.0  # times the middle distance from the best, beyond which scores are not shown
MIN_VALUES_TO_CUT = 4  # values that are all shown
MEMBERS = "Weights of the members"
NAMED_MEMBERS = 6  # in a sentence
ANYWHERE = 4096  # candidates of a draw
MARKED_DRAWS = 150  # draws up to which each has a dot
NAMED_TRIALS = 5  # of those with a prediction, the first: of them earlier datasets spoke


# Best so far -----------------------------------------------------------------------------------


def best_so_far_figure(
    run: RunState, is_clear: np.ndarray | None = None, crops: bool = False
) -> Figure:
    """Every trial's score, the best so far as a staircase, the default setting and the baseline.

    Args:
        run: with at least one trial.
        is_clear: which trials are drawn in full, shape (trials,); else those that count.
        crops: whether the range follows the better four fifths, lest a hopeless trial flattens
            all others in a picture that nobody can enlarge.
    """
    numbers, best = run.staircase()
    x, y = steps_of(numbers, best)
    scored = np.isfinite(run.scores)
    # Trials that were ended early have estimates, which are hollow.
    clear = scored if is_clear is None else is_clear
    clear = clear & ~run.is_excluded & ~run.is_ended_early
    scores, default, baseline = run.scores[scored], _default_score(run), _shown_baseline(run)
    low, high = _score_range(scores, [default, baseline], run.started.maximize, crops)
    heights = np.clip(run.scores, low, high) if crops else run.scores
    is_crowded = len(run.trials) > CROWD
    full, hollow, cross = (4, 3, 5) if is_crowded else (8, 6, 8)
    halo = "paper" if is_crowded else ""
    clear = clear & (heights == run.scores)
    others, lost = scored & ~clear, run.numbers[~scored]
    outline = None if is_crowded else "ink"
    return Figure(
        "Best so far",
        _trial_axis(run, numbers),
        FigureAxis(metric_in_short(run.started.metric), Scale(), run.started.maximize, low, high),
        (
            Dots("others", run.numbers[others], heights[others], None, "control", hollow),
            Dots("trials", run.numbers[clear], heights[clear], "observed", outline, full),
            Lines(
                "best", x, np.clip(y, low, high) if crops else y, "ink", 2.2, False, halo, 5.0,
                label="best so far",
            ),
            Dots("failed", lost, lost, None, "bad", cross, 2.0, "cross", at_floor=True),
            Level("default", default, "default setting"),
            Level("baseline", baseline, "baseline"),
        ),
        _best_text(run),
        lambda: _best_table(run, best),
    )  # fmt: skip


def _trial_axis(run: RunState, numbers: np.ndarray) -> FigureAxis:
    first, last = float(numbers[0]), float(numbers[-1])
    end = first + run.total - 1 if run.total else last
    room = 0.03 * max(end, last) + 0.5
    low, high = first - room, max(end, last) + room
    return FigureAxis("trial", Scale("whole"), None, low, high, exact=bool(run.total))


def _default_score(run: RunState) -> float | None:
    return None if run.default_trial is None else run.default_trial.score


def _shown_baseline(run: RunState) -> float | None:
    value, scores = run.started.baseline, run.scores[np.isfinite(run.scores)]
    if value is None or not len(scores):
        return None
    low, high = float(scores.min()), float(scores.max())
    span = max(high, value) - min(low, value)
    # A baseline far off would press the trials into a line.
    return value if high == low or high - low >= MIN_TRIAL_SHARE * span else None


def far_baseline(run: RunState) -> float | None:
    """The baseline where it is too far off to be drawn."""
    return run.started.baseline if _shown_baseline(run) is None else None


def _score_range(
    scores: np.ndarray, levels: Sequence[float | None], maximize: bool, crops: bool
) -> tuple[float, float]:
    if crops and len(scores) > 1:
        order = np.sort(scores)[::-1] if maximize else np.sort(scores)
        scores = order[: max(2, math.ceil(0.8 * len(order)))]
    low, high = range_of(scores, levels)
    # Failed trials and the words at the default line need a little room of their own.
    return low - 0.06 * (high - low), high + 0.04 * (high - low)


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
    return sentence + (f" {failed} trials failed." if failed else "")


def _best_table(run: RunState, best: np.ndarray) -> Table:
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


# The average against the single best -----------------------------------------------------------


@dataclass(frozen=True)
class ScoredAverage:
    """The average after a trial."""

    finished: int
    weights: list[float]
    average: float
    single: float


def scored_averages(run: RunState) -> list[ScoredAverage]:
    """The updates of the average that have both scores, in order."""
    updates = {update.finished: update for update in run.ensembles}
    return [
        ScoredAverage(count, update.weights, update.average, update.single)
        for count, update in sorted(updates.items())
        if update.average is not None and update.single is not None
    ]


def average_figure(run: RunState) -> Figure:
    """The score of the average and that of the single best on rows that chose neither."""
    updates, maximize = scored_averages(run), run.started.maximize
    x = np.array([update.finished for update in updates], dtype=float)
    average = np.array([update.average for update in updates], dtype=float)
    single = np.array([update.single for update in updates], dtype=float)
    low, high = near_the_best(np.concatenate([average, single]), maximize)
    low, high = range_of([low, high, average[-1], single[-1]])
    marked = slice(None) if len(x) <= MARKED else slice(-1, None)
    border = next((u.finished for u in updates if len(u.weights) > 1), None)
    first, last = float(x[0]), float(x[-1])
    end = max(float(run.total), last, first + 4)
    start = first - 0.03 * (end - first)
    measured = metric_in_short(run.started.metric)
    legend = [("border", "two members or more from here on")] if border is not None else []
    headers = ["trials with a score", "members", "average", "single best"]
    return Figure(
        "Average against single best",
        FigureAxis("trials with a score", Scale("whole"), None, start, end, exact=True),
        FigureAxis(measured, Scale(), maximize, low, high),
        (
            Border("border", border),
            Lines("average line", x, average, AVERAGE, 2.4, label="average"),
            Lines("single line", x, single, "observed", dashed=True, label="single best"),
            Dots("single", x[marked], single[marked], "paper", "observed", 8, 1.6, "diamond",
                 label="single best"),
            Dots("average", x[marked], average[marked], AVERAGE, label="average"),
            _end_names(updates[-1], run.started.metric),
        ),
        _average_text(updates[-1], run.started.metric, maximize),
        lambda: (headers, [[u.finished, len(u.weights), u.average, u.single] for u in updates]),
        (*legend, *_hidden_scores(x, np.stack([average, single]), (low, high), maximize)),
    )  # fmt: skip


def _end_names(last: ScoredAverage, metric: str) -> EndNames:
    x = float(last.finished)
    if len(last.weights) == 1:
        words = f"one model so far {score_text(last.average, metric)}"
        return EndNames("names", [x], [last.average], [words])
    average, single = score_texts([last.average, last.single], metric)
    names = [f"average {average}", f"single best {single}"]
    return EndNames("names", [x, x], [last.average, last.single], names)


def _hidden_scores(
    x: np.ndarray, lines: np.ndarray, limits: tuple[float, float], maximize: bool
) -> list[tuple[str, str]]:
    low, high = limits
    air = 0.08 * ((high - low) or max(abs(high) * 0.1, 1e-3))  # that a plot adds to a range
    outside = ((lines < low - air) | (lines > high + air)).any(axis=0)
    if not outside.any():
        return []
    last, worst = int(x[outside].max()), format_number(lines.min() if maximize else lines.max())
    return [("", f"not shown: worse scores until trial {last}, up to {worst}")]


def near_the_best(values: np.ndarray, maximize: bool, reach: float = REACH) -> tuple[float, float]:
    """The range without values over `reach` times the median distance from the best."""
    finite = np.sort(values[np.isfinite(values)])
    if len(finite) < MIN_VALUES_TO_CUT:
        return range_of(finite)
    ordered = finite[::-1] if maximize else finite
    far = np.abs(ordered - ordered[0])
    if far[len(far) // 2] > 0:
        ordered = ordered[far <= reach * far[len(far) // 2]]
    return float(ordered.min()), float(ordered.max())


def _average_text(last: ScoredAverage, metric: str, maximize: bool) -> str:
    measured = metric_in_short(metric)
    average, single = (score_text(score, metric) for score in (last.average, last.single))
    if len(last.weights) == 1:
        words = "After {} trials there is one member, with {} {} on held-out rows."
        return words.format(last.finished, measured, average)
    count = sum(weight > 0 for weight in last.weights)
    sentence = f"After {last.finished} trials the average of {count} has {measured} "
    sentence += f"{average}, the single best {single}."
    ahead = last.average - last.single if maximize else last.single - last.average
    if ahead == 0:
        return f"{sentence} Neither is ahead."
    leader = "average" if ahead > 0 else "single best"
    return f"{sentence} The {leader} is ahead by {difference_text(metric, abs(ahead))}."


# The members of the average --------------------------------------------------------------------


def member_bars_figure(members: Sequence[tuple[str, float]]) -> Figure:
    """A bar for each (name, weight) of a member, best first; the weights sum to 1."""
    names, weights = [name for name, _ in members], [weight for _, weight in members]
    words = [f"{weight:.3f}" for weight in weights]
    return Figure(
        MEMBERS,
        FigureAxis("weight", low=0.0, high=max(weights)),
        FigureAxis("", Scale("choice", tuple(names))),
        _member_bars(weights, words),
        "; ".join(f"{name} {word}" for name, word in zip(names, words, strict=True)),
        lambda: columns_table({"member": names, "weight": weights}),
    )


def _member_bars(weights: list[float], words: list[str]) -> tuple[Mark, ...]:
    rows, count = np.arange(len(weights), dtype=float), len(weights)
    bars = Bars("bars", rows, 0.0, weights, [AVERAGE] * count, [False] * count)
    return bars, Labels("weights", weights, rows, words)


def ranked_trials(run: RunState, best_k: int | None = None) -> list[int]:
    """The competing trials and all members, the best first."""
    numbers = run.numbers[run.best_rows(best_k or len(run.trials))].tolist()
    known = set(numbers)
    return [*numbers, *(number for number in run.weights if number not in known)]


def omission_reasons(run: RunState) -> dict[int, str]:
    """Why good trials are not in the average."""
    left_out = run.ensemble.left_out if run.ensemble is not None else []
    return {trial.number: trial.reason for trial in left_out}


def shown_members(run: RunState, ranked: Sequence[int]) -> list[int]:
    """Of ranked trials the members, and those that are left out of the average for a reason."""
    return [n for n in ranked if n in run.weights or n in omission_reasons(run)]


def live_members_figure(run: RunState, best_k: int | None = None) -> Figure:
    """The members of the average as it is now, each with its weight and score."""
    ranked, ensemble = ranked_trials(run, best_k), run.ensemble or EnsembleUpdated()
    shown = shown_members(run, ranked)
    texts = score_texts(ensemble.scores, run.started.metric)
    scores = dict(zip(ensemble.members, texts, strict=True))
    weights = [100 * run.weights.get(number, 0.0) for number in shown]
    words = [
        f"{percent(run.weights[number])} · {scores[number]}"
        if number in run.weights
        else "left out"
        for number in shown
    ]
    return Figure(
        MEMBERS,
        # not held: at first one model has the whole weight, in the end each of many a little
        FigureAxis("weight in %", low=0.0, high=max(weights), exact=True),
        FigureAxis("", Scale("choice", tuple(f"trial {number}" for number in shown))),
        _member_bars(weights, words),
        _members_text(run, ensemble),
        lambda: _members_table(run, ensemble, ranked),
    )


def _members_text(run: RunState, ensemble: EnsembleUpdated) -> str:
    metric = run.started.metric
    measured = metric_in_short(metric)
    members = list(zip(ensemble.members, ensemble.weights, ensemble.scores, strict=True))
    if len(members) == 1:
        only = f"trial {members[0][0]} with {measured} {score_text(members[0][2], metric)}"
        return f"After {ensemble.finished} trials the average has one member: {only}."
    texts = [
        f"trial {number} counts {percent(weight)} and has {measured} {score_text(score, metric)}"
        for number, weight, score in members[:NAMED_MEMBERS]
    ]
    texts += ["…"] if len(members) > NAMED_MEMBERS else []
    count = sum(weight > 0 for _, weight, _ in members)
    sentence = f"{count} of {ensemble.finished} models are averaged: {'; '.join(texts)}."
    return " ".join([sentence, *omission_reasons(run).values()])


def _members_table(run: RunState, ensemble: EnsembleUpdated, ranked: list[int]) -> Table:
    scores = dict(zip(ensemble.members, ensemble.scores, strict=True))
    reasons, rows = omission_reasons(run), []
    for rank, number in enumerate(ranked, start=1):
        trial = run.find_trial(number)
        score = scores.get(number, trial.score if trial is not None else None)
        note = "in the average" if number in run.weights else reasons.get(number, "")
        rows.append([rank, number, 100 * run.weights.get(number, 0.0), score, note])
    headers = ["place", "trial", "weight in %", metric_in_short(run.started.metric), "note"]
    return headers, rows


# What was expected of trials -------------------------------------------------------------------


def candidates_figure(run: RunState) -> Figure:
    """Among how many settings each trial was drawn, in effect."""
    drawn = sorted((t.number, float(t.candidates)) for t in run.trials if t.candidates)
    x, counts = np.array(drawn, dtype=float).T
    y, marked = np.log10(counts), slice(None) if len(x) <= MARKED_DRAWS else slice(-1, None)
    end, top = max(float(run.total - 1), x[-1]), max(math.log10(ANYWHERE), float(y.max()))
    room = 0.03 * end + 0.5
    (first, before), (last, now) = drawn[0], drawn[-1]
    sentence = f"Trial {last} was drawn among {format_number(now, 2)} settings in effect."
    if len(drawn) > 1:
        sentence += f" At trial {first} it was {format_number(before, 2)}."
    return Figure(
        "Effective number of candidates",
        FigureAxis("trial", Scale("whole"), None, -room, end + room, exact=True),
        FigureAxis("effective candidates", Scale("log"), None, -0.1, top + 0.1, exact=True),
        (Lines("line", x, y, width=1.6), Dots("dots", x[marked], y[marked], size=7)),
        sentence,
        lambda: (["trial", "effective number of candidates"], [list(pair) for pair in drawn]),
    )


def predicted_trials(run: RunState) -> list[tuple[Trial, float, float | None]]:
    """(trial, prediction, standard deviation) of those with a score, by their numbers."""
    scored = ((t, run.prediction(t)) for t in run.trials if not t.failure)
    rows = [(t, *prediction) for t, prediction in scored if prediction is not None]
    return sorted(rows, key=lambda row: row[0].number)


def expectation_figure(run: RunState, is_clear: np.ndarray) -> Figure:
    """Observed over predicted scores with whiskers of one deviation; the first trials are named.

    Args:
        run: with at least one prediction.
        is_clear: which trials are drawn in full, shape (trials,).
    """
    trials, expected, deviations = zip(*predicted_trials(run), strict=True)
    x, y = np.array(expected, float), np.array([trial.score for trial in trials], float)
    sd = np.array([deviation or 0.0 for deviation in deviations], float)
    clear = (is_clear & ~run.is_excluded)[[run.row_of[trial.number] for trial in trials]]
    first = np.arange(len(trials)) < NAMED_TRIALS
    (x_min, x_max), (low, high) = range_of(x - sd, x + sd, y), range_of(x, y)
    heights, across = whiskers(y, x - sd, x + sd)
    room = 0.1 * (high - low) or 0.05
    ends = [min(x_min, low - room), max(x_max, high + room)]
    metric, maximize = metric_in_short(run.started.metric), run.started.maximize
    named = [str(trial.number) for trial in trials[:NAMED_TRIALS]]
    near = int(np.sum(np.abs(y - x) <= sd))
    return Figure(
        "Predicted and observed score",
        FigureAxis(f"predicted {metric}", Scale(), maximize, x_min, x_max),
        FigureAxis(f"observed {metric}", Scale(), maximize, low - room, high + room),
        (
            Lines("diagonal", ends, ends, "control", 1.4, dashed=True),
            Lines("whiskers", across, heights, "model", 1.4),
            Dots("others", x[~clear], y[~clear], None, "control", 6),
            Dots("dots", x[clear & ~first], y[clear & ~first], "paper", "observed", 8, 1.6),
            Dots("first", x[clear & first], y[clear & first], "observed", "ink", 10, 1.4),
            Labels("numbers", x[first], y[first], named, "above"),
        ),
        f"{near} of {len(trials)} trials came out within one standard deviation of the prediction. "
        f"Trial {trials[0].number}: {format_number(x[0])} was predicted, "
        f"{format_number(y[0])} observed.",
        lambda: columns_table({
            "trial": [trial.number for trial in trials], "predicted": expected,
            "standard deviation": deviations, "observed": y.tolist(),
        }),
    )  # fmt: skip
