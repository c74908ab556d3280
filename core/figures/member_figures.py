"""The figures of an average's members: their weights, and the rows on which they disagree."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.estimators.model_settings import title_of
from core.estimators.multi_model import MODEL
from core.figures import figure as plot
from core.figures.scales import Scale
from core.tuning.events import DisputedRow, EnsembleUpdated, MembersDisagree
from core.tuning.runs.state import RunState
from core.tuning.scores.score import metric_in_short, score_text, score_texts
from core.wording import format_decimals, format_number, percent

MEMBERS = "Weights of the members"
NAMED_MEMBERS = 6  # in a sentence
DISAGREEMENT = "Where the members disagree"
ALL_CLASSES = 8  # classes up to which the table has a column for each


# Weights ---------------------------------------------------------------------------------------


def member_bars_figure(members: Sequence[tuple[str, float]]) -> plot.Figure:
    """A bar for each (name, weight) of a member, best first; the weights sum to 1."""
    names, weights = [name for name, _ in members], [weight for _, weight in members]
    words = [f"{weight:.3f}" for weight in weights]
    return plot.Figure(
        MEMBERS,
        plot.FigureAxis("weight", low=0.0, high=max(weights)),
        plot.FigureAxis("", Scale("choice", tuple(names))),
        _member_bars(weights, words),
        "; ".join(f"{name} {word}" for name, word in zip(names, words, strict=True)),
        lambda: plot.columns_table({"member": names, "weight": weights}),
    )


def _member_bars(weights: list[float], words: list[str]) -> tuple[plot.Mark, ...]:
    rows, count = np.arange(len(weights), dtype=float), len(weights)
    bars = plot.Bars("bars", rows, 0.0, weights, [plot.AVERAGE] * count, [False] * count)
    return bars, plot.Labels("weights", weights, rows, words)


def ranked_trials(run: RunState, best_k: int | None = None) -> list[int]:
    """The competing trials and all members, the best first."""
    numbers = run.numbers[run.best_rows(best_k or len(run.trials))].tolist()
    return list(dict.fromkeys((*numbers, *run.weights)))


def omission_reasons(run: RunState) -> dict[int, str]:
    """Why good trials are not in the average."""
    left_out = run.ensemble.left_out if run.ensemble is not None else []
    return {trial.number: trial.reason for trial in left_out}


def shown_members(run: RunState, ranked: Sequence[int]) -> list[int]:
    """Of ranked trials the members with a weight, and those left out for a reason."""
    return [n for n in ranked if run.weights.get(n) or n in omission_reasons(run)]


def member_name(run: RunState, number: int) -> str:
    """The model and the number of its trial."""
    trial, plan = run.find_trial(number), run.started.plan
    model = trial.setting.get(MODEL) if trial is not None else None
    model = model or plan.get("model", "")
    return f"{title_of(model)}, trial {number}" if model else f"trial {number}"


def live_members_figure(run: RunState, best_k: int | None = None) -> plot.Figure:
    """The members of the average as it is now."""
    ranked, ensemble = ranked_trials(run, best_k), run.ensemble or EnsembleUpdated()
    shown = shown_members(run, ranked)
    texts = score_texts(ensemble.scores, run.started.metric)
    scores = dict(zip(ensemble.members, texts, strict=True))
    weights = [100 * run.weights.get(number, 0.0) for number in shown]
    words = [
        f"{percent(run.weights[n])} · {scores[n]}" if run.weights.get(n) else "left out"
        for n in shown
    ]
    return plot.Figure(
        MEMBERS,
        # not held: at first one model has the whole weight, in the end each of many a little
        plot.FigureAxis("weight in %", low=0.0, high=max(weights), exact=True),
        plot.FigureAxis("", Scale("choice", tuple(member_name(run, n) for n in shown))),
        _member_bars(weights, words),
        _members_text(run, ensemble),
        lambda: _members_table(run, ensemble, ranked),
    )


def _members_text(run: RunState, ensemble: EnsembleUpdated) -> str:
    metric = run.started.metric
    measured = metric_in_short(metric)
    triples = zip(ensemble.members, ensemble.weights, ensemble.scores, strict=True)
    members = [member for member in triples if member[1] > 0]
    if len(members) == 1:
        (number, _, score), *_ = members
        only = f"{member_name(run, number)} with {measured} {score_text(score, metric)}"
        return f"After {ensemble.finished} trials the average has one member: {only}."
    texts = [
        f"{member_name(run, number)} counts {percent(weight)} and has {measured} "
        f"{score_text(score, metric)}"
        for number, weight, score in members[:NAMED_MEMBERS]
    ]
    texts += ["…"] if len(members) > NAMED_MEMBERS else []
    sentence = f"{len(members)} of {ensemble.finished} models are averaged: {'; '.join(texts)}."
    return " ".join([sentence, *omission_reasons(run).values()])


def _members_table(run: RunState, ensemble: EnsembleUpdated, ranked: list[int]) -> plot.Table:
    scores = dict(zip(ensemble.members, ensemble.scores, strict=True))
    reasons, rows = omission_reasons(run), []
    for rank, number in enumerate(ranked, start=1):
        trial = run.find_trial(number)
        score = scores.get(number, trial.score if trial is not None else None)
        note = "in the average" if number in run.weights else reasons.get(number, "")
        rows.append([rank, number, 100 * run.weights.get(number, 0.0), score, note])
    return ["place", "trial", "weight in %", metric_in_short(run.started.metric), "note"], rows


# Where they disagree ---------------------------------------------------------------------------


def disagreement_figure(event: MembersDisagree, selected: int | None) -> plot.Figure:
    """A row of dots, one a member, a diamond for the truth, rings for a selected trial's."""
    values = np.array([member_values(event, row) for row in event.rows])  # (rows, members)
    rows = np.arange(len(values), dtype=float)
    x, y = values.ravel(), np.repeat(rows, values.shape[1])
    is_selected = np.tile(np.array(event.members) == selected, len(rows))
    true = np.array([_true_value(event, row) for row in event.rows])
    low, high = (-4.0, 104.0) if event.classes else plot.range_of(x, true)
    y_spans, x_spans = plot.whiskers(rows, values.min(axis=1), values.max(axis=1))
    legend = [("members", "prediction of one member")]
    if np.isfinite(true).any():
        legend.append(("truth", "truth"))
    names = tuple(_row_label(event, row) for row in event.rows)
    return plot.Figure(
        DISAGREEMENT,
        plot.FigureAxis(
            _prediction_title(event, true), low=low, high=high, exact=bool(event.classes)
        ),
        # the first columns of a row say most of it
        plot.FigureAxis("", Scale("choice", names), is_cut_at_end=True),
        (
            plot.Lines("spans", x_spans, y_spans, "control", 1.4),
            plot.Dots("members", x, y, plot.AVERAGE, "ink", 9, opacity=0.75),
            plot.Dots("truth", true, rows, None, "observed", 12, 2.2, "diamond"),
            plot.Dots("selected", x[is_selected], y[is_selected], None, "focus", 16, 2.4),
        ),
        _disagreement_text(event, values[0]),
        lambda: _disagreement_table(event),
        tuple(legend),
    )


def member_values(event: MembersDisagree, row: DisputedRow) -> np.ndarray:
    """Each member's probability in percent, or number, shape (members,)."""
    if event.classes:
        code = _shown_class(event, row)
        return np.array([100 * prediction[code] for prediction in row.said], dtype=float)
    return np.array([_parse_number(prediction) for prediction in row.said], dtype=float)


def _shown_class(event: MembersDisagree, row: DisputedRow) -> int:
    if len(event.classes) == 2:
        return 1
    if row.truth in event.classes:
        return event.classes.index(row.truth)
    best = max(row.said, key=max)
    return int(best.index(max(best)))


def _true_value(event: MembersDisagree, row: DisputedRow) -> float:
    if not event.classes:
        return _parse_number(row.truth)
    is_known = row.truth in event.classes
    is_shown = event.classes[_shown_class(event, row)] == row.truth
    return 100.0 * is_shown if is_known else math.nan


def _row_label(event: MembersDisagree, row: DisputedRow) -> str:
    name = f"row {row.row + 1}{f': {row.about}' if row.about else ''}"
    has_many = len(event.classes) > 2
    return f"{event.classes[_shown_class(event, row)]} · {name}" if has_many else name


def _prediction_title(event: MembersDisagree, true: np.ndarray) -> str:
    if event.classes:
        shown = f"“{event.classes[1]}”" if len(event.classes) == 2 else "the true class"
        return f"probability of {shown} in %"
    return "predicted value" if np.isfinite(true).any() else "log density given to it"


def _disagreement_text(event: MembersDisagree, values: np.ndarray) -> str:
    row, label = event.rows[0], ""
    low, high = (format_number(float(end)) for end in (values.min(), values.max()))
    if event.classes:
        low, high = (f"{format_decimals(float(end), 0)} %" for end in (values.min(), values.max()))
        label = f" for “{event.classes[_shown_class(event, row)]}”"
    sentence = f"They differ most about row {row.row + 1}: between {low} and {high}{label}."
    return f"{sentence} In truth: {row.truth}." if row.truth else sentence


def _disagreement_table(event: MembersDisagree) -> plot.Table:
    headers = ["row", "about", "truth", "spread"]
    has_all = len(event.classes) <= ALL_CLASSES
    for number in event.members:
        trial = f"trial {number}"
        if not event.classes:
            headers.append(trial)
        elif has_all:
            headers += [f"{trial}: {label}" for label in event.classes]
        else:
            headers.append(f"{trial}: probability of the true class")
    rows: list[list[Any]] = []
    for row in event.rows:
        cells = list(row.said)
        if event.classes:
            codes = range(len(event.classes)) if has_all else [_shown_class(event, row)]
            cells = [prediction[code] for prediction in row.said for code in codes]
        rows.append([row.row + 1, row.about, row.truth, row.spread, *cells])
    return headers, rows


def _parse_number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan
