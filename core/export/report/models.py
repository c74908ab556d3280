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
from core.tuning.runs.standings import Standing, standings, state_in_words
from core.tuning.scores.metrics import METRICS


def model_sections(run: FinishedRun) -> list[str]:
    """The models in their order, the best first; nothing where one model was tuned."""
    found = standings(run.state) if run.several else []
    if not found:
        return []
    metric = run.started.metric
    say = partial(score_words, metric)
    rows = [
        (title_of(one.model), one.best, one.best - one.error, one.best + one.error)
        for one in found
        if one.best is not None and one.error is not None
    ]
    title = METRICS[metric].title
    label = f"{title[0].lower()}{title[1:]}, in validation"
    drawn = figures.scores(rows, label, say) if rows else ""
    header = ("model", title, "± standard error", "trials", "ended early", "seconds", "")
    cells = [_cells(one, say) for one in found]
    question = "Dot: the best score in validation. Line: one standard error to each side."
    body = drawn + table(header, cells, row_heads=True)
    return [section("Which model is best?", question, body, "wide fitted")]


def _cells(one: Standing, say: Any) -> tuple[Any, ...]:
    score = say(one.best)
    if one.best is None and one.estimate is not None:
        score = f"about {say(one.estimate)}, ended early"
    error = "–" if one.error is None else say(one.error)
    cost = (one.trials, one.early, one.seconds)
    return (title_of(one.model), score, error, *cost, state_in_words(one))


def model_and_setting(run: FinishedRun, setting: Mapping[str, Any]) -> list[Any]:
    """Two cells: the model that a setting is of, and its values."""
    own = ", ".join(f"{name} = {cell(value)}" for name, value in run.own(setting).items())
    return [run.kind_of(setting), own]
