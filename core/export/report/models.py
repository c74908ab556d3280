"""The report's section on the models of a run that tuned several: how each of them stood."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.estimators.settings import title_of
from core.export.finished_run import FinishedRun
from core.export.report import figures
from core.export.report.html import cell, section, table
from core.export.report.results import score_words
from core.tuning.payloads import ModelStanding
from core.tuning.runs.standings import state_in_words
from core.tuning.scores.metrics import METRICS


def model_sections(run: FinishedRun) -> list[str]:
    """The models in their order, the best first; nothing where one model was tuned."""
    compared = run.state.compared
    if compared is None or not compared.models:
        return []
    metric = run.started.metric
    say = partial(score_words, metric)
    rows = [
        (title_of(one.model), one.best, one.best - one.error, one.best + one.error)
        for one in compared.models
        if one.best is not None and one.error is not None
    ]
    title = METRICS[metric].title
    label = f"{title[0].lower()}{title[1:]}, in validation"
    drawn = figures.scores(rows, label, say) if rows else ""
    header = ("model", title, "± standard error", "trials", "seconds", "")
    cells = [_cells(one, say) for one in compared.models]
    question = "Dot: the best score in validation. Line: one standard error to each side."
    body = drawn + table(header, cells, row_heads=True)
    return [section("Which model is best?", question, body, "wide fitted")]


def _cells(one: ModelStanding, say: Any) -> tuple[Any, ...]:
    error = "–" if one.error is None else say(one.error)
    return (title_of(one.model), say(one.best), error, one.trials, one.seconds, state_in_words(one))


def model_and_setting(run: FinishedRun, setting: Mapping[str, Any]) -> list[Any]:
    """Two cells: the model that a setting is of, and its values."""
    own = ", ".join(f"{name} = {cell(value)}" for name, value in run.own(setting).items())
    return [run.kind_of(setting), own]
