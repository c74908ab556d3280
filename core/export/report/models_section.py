"""The report's sections on models: those of a run that tuned several, and those of an average."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.estimators.model_settings import model_and_values, title_of
from core.export.finished_run import EnsembleMember, FinishedRun, members_of
from core.export.report.figure_svg import SIZES, figure_svg
from core.export.report.html import cell_text, figure_card, html_table, paragraphs, section_card
from core.figures.figure import Table
from core.figures.member_figures import member_bars_figure, member_name
from core.figures.run_figures import average_figure, scored_averages
from core.figures.score_figures import ScoreRow, intervals_figure
from core.tuning.run_results import EnsembleResults
from core.tuning.runs.model_runs import LeaderboardRow, model_leaderboard, state_text
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.score import metric_title, score_text
from core.wording import format_number


def model_sections(run: FinishedRun) -> list[str]:
    """The models, best first; nothing where one model was tuned."""
    leaderboard = model_leaderboard(run.state) if run.tunes_several_models else []
    if not leaderboard:
        return []
    metric = run.started.metric
    rows = [
        ScoreRow(title_of(r.model), r.best, r.best - r.error, r.best + r.error, r is leaderboard[0])
        for r in leaderboard
        if r.best is not None and r.error is not None
    ]
    label = f"{metric_title(metric)}, in validation"
    figure = ""
    if rows:
        maximize = run.started.maximize
        intervals = intervals_figure("Which model is best?", rows, metric, label, maximize)
        figure = figure_svg(intervals, *SIZES["half"])
    question = "Dot: the best score in validation. Line: one standard error to each side."
    body = figure + leaderboard_table(leaderboard, metric)
    return [section_card("Which model is best?", question, body, "wide fitted")]


def leaderboard_table(leaderboard: list[LeaderboardRow], metric: str) -> str:
    """Every model with its score in validation and what it took."""
    title, format_score = METRICS[metric].title, partial(score_text, metric=metric)
    header = ("model", title, "± standard error", "trials", "ended early", "seconds", "")
    cells = [_row_cells(row, format_score) for row in leaderboard]
    return html_table(header, cells, row_heads=True)


def _row_cells(row: LeaderboardRow, format_score: Any) -> tuple[Any, ...]:
    score = format_score(row.best)
    if row.best is None and row.estimate is not None:
        score = f"about {format_score(row.estimate)}, ended early"
    error = "–" if row.error is None else format_score(row.error)
    cost = (row.trials, row.early, row.seconds)
    return (title_of(row.model), score, error, *cost, state_text(row))


def model_and_setting(run: FinishedRun, setting: Mapping[str, Any]) -> list[Any]:
    """Two cells: the title of a setting's model, and its values."""
    model, values = model_and_values(run.plan.model, setting)
    values_text = ", ".join(f"{name} = {cell_text(value)}" for name, value in values.items())
    return [title_of(model), values_text]


_WEIGHTS = {
    "uniform": "All members count alike.",
    "tempered": "A member counts the more, the better its score.",
    "greedy": "Weights as the greedy selection of members gave them.",
}
MAX_BARS = 30
MAX_SETTING_COLUMNS = 8  # columns beside number, weight and score


def average_sections(run: FinishedRun) -> list[str]:
    """The sections on the average; none where the run gave one model."""
    members = members_of(run)
    if not members:
        return []
    return [_members_section(run, members), *_course_section(run)]


def _members_section(run: FinishedRun, members: list[EnsembleMember]) -> str:
    ensemble = run.results.ensemble or EnsembleResults()
    bars = [(member_name(run.state, m.number), m.weight) for m in members[:MAX_BARS]]
    figure = figure_svg(member_bars_figure(bars), *SIZES["half"]) if len(members) > 1 else ""
    names, member_cells = _member_columns(run, members)
    header = ("trial", "weight", METRICS[run.started.metric].title, *names)
    pairs = zip(members, member_cells, strict=True)
    rows = [(m.number, m.weight, m.score, *cells) for m, cells in pairs]
    reasons = [omission.reason for omission in ensemble.left_out]
    body = figure + html_table(header, rows)
    body += paragraphs([_members_text(members, ensemble), *reasons])
    return section_card("Who is in the average?", _WEIGHTS.get(ensemble.kind, ""), body)


def _member_columns(run: FinishedRun, members: list[EnsembleMember]) -> Table:
    if run.tunes_several_models:
        return ["model", "setting"], [model_and_setting(run, m.setting) for m in members]
    labels, names = run.labels_of(run.plan.model), _differing_settings(members)
    return [labels.get(n, n) for n in names], [[m.setting[n] for n in names] for m in members]


def _differing_settings(members: list[EnsembleMember]) -> list[str]:
    names = list(members[0].setting)
    # What all members share says nothing about any of them.
    differing = [n for n in names if any(m.setting[n] != members[0].setting[n] for m in members)]
    return (differing or names)[:MAX_SETTING_COLUMNS]


def _members_text(members: list[EnsembleMember], ensemble: EnsembleResults) -> str:
    trials_text = f" of {ensemble.finished:,} trials" if ensemble.finished else ""
    if len(members) == 1:
        return f"The single best{trials_text}: an average of two or more needs 20 trials."
    even = abs(ensemble.effective - len(members)) < 0.05
    count = format_number(ensemble.effective, 2)
    worth = "" if even else f"; by their weights they count as {count}"
    return f"The {len(members)} best{trials_text}{worth}."


def _course_section(run: FinishedRun) -> list[str]:
    title, scores = "Is the average better than the single best?", _held_out_table(run)
    if len(scored_averages(run.state)) > 1:
        question = "Held-out rows that had no part in choosing the members."
        return [figure_card(question, average_figure(run.state), "wide", title=title, below=scores)]
    return [section_card(title, "", scores, "wide")] if scores else []


def _held_out_table(run: FinishedRun) -> str:
    metric, ensemble = run.results.metric, run.results.ensemble or EnsembleResults()
    format_score = partial(score_text, metric=metric)
    held, single = ensemble.held_out.get(metric), ensemble.single_held_out.get(metric)
    if held is None or single is None:
        return ""
    header = (METRICS[metric].title, "average", "single best")
    row = ("held out", format_score(held), format_score(single))
    return html_table(header, [row], row_heads=True)
