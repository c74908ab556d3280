"""The report's section on the models of a run that tuned several."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.estimators.model_settings import title_of
from core.export.finished_run import FinishedRun
from core.export.report import report_figures
from core.export.report.html import cell_text, html_table, section_card
from core.export.report.results_section import metric_score_text
from core.tuning.runs.model_leaderboard import LeaderboardRow, model_leaderboard, state_text
from core.tuning.scores.metrics import METRICS


def model_sections(run: FinishedRun) -> list[str]:
    """The models, best first; nothing where one model was tuned."""
    leaderboard = model_leaderboard(run.state) if run.tunes_several_models else []
    if not leaderboard:
        return []
    metric = run.started.metric
    format_score = partial(metric_score_text, metric)
    rows = [
        (title_of(row.model), row.best, row.best - row.error, row.best + row.error)
        for row in leaderboard
        if row.best is not None and row.error is not None
    ]
    title = METRICS[metric].title
    label = f"{title[0].lower()}{title[1:]}, in validation"
    figure = report_figures.score_intervals(rows, label, format_score) if rows else ""
    header = ("model", title, "± standard error", "trials", "ended early", "seconds", "")
    cells = [_row_cells(row, format_score) for row in leaderboard]
    question = "Dot: the best score in validation. Line: one standard error to each side."
    body = figure + html_table(header, cells, row_heads=True)
    return [section_card("Which model is best?", question, body, "wide fitted")]


def _row_cells(row: LeaderboardRow, format_score: Any) -> tuple[Any, ...]:
    score = format_score(row.best)
    if row.best is None and row.estimate is not None:
        score = f"about {format_score(row.estimate)}, ended early"
    error = "–" if row.error is None else format_score(row.error)
    cost = (row.trials, row.early, row.seconds)
    return (title_of(row.model), score, error, *cost, state_text(row))


def model_and_setting(run: FinishedRun, setting: Mapping[str, Any]) -> list[Any]:
    """Two cells: the title of a setting's model, and its values."""
    pairs = run.model_setting(setting).items()
    values_text = ", ".join(f"{name} = {cell_text(value)}" for name, value in pairs)
    return [run.model_title_of(setting), values_text]
