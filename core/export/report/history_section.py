"""The report's sections on the run: its progress, all trials, data and versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.export.finished_run import FinishedRun, file_name_of
from core.export.report.figure_svg import SIZES, figure_svg
from core.export.report.html import collapsible, html_table, inline_code, paragraphs, section_card
from core.export.report.models_section import model_and_setting
from core.figures.penalty_figures import descent_figure, penalty_path_figure, penalty_steps
from core.figures.run_figures import best_so_far_figure
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial

# More rows make the page slow to open; the JSON export has all.
MAX_ROWS = 500
MAX_GROUPS = 8


def history_sections(run: FinishedRun) -> list[str]:
    """The sections for which the run has events, in reading order."""
    sections, state = [], run.state
    if state.finished:
        sections += [_best_so_far_section(state), _trials_section(run)]
    if state.steps:
        sections += _penalty_steps(state)
    if state.gradients:
        sections += _gradient_steps(state)
    return [*sections, _data_section(run), _method_section(run)]


def _best_so_far_section(run: RunState) -> str:
    has_scores = bool(run.best_rows(1).size)
    figure = figure_svg(best_so_far_figure(run), *SIZES["full"]) if has_scores else ""
    question = "When did it find its best? Dots are trials; triangles: off the plot; ×: failed."
    return section_card("Best score so far", question, figure)


def _ranked_trials(run: RunState) -> list[Trial]:
    return [run.trials[row] for row in run.best_rows(len(run.trials))]


def _setting_columns(run: FinishedRun, trials: list[Trial]) -> tuple[list[str], list[list[Any]]]:
    if run.tunes_several_models:
        return ["model", "setting"], [model_and_setting(run, t.setting) for t in trials]
    names = list(trials[0].setting) if trials else []
    return names, [[t.setting.get(name) for name in names] for t in trials]


def _ended_early_table(run: FinishedRun, metric: str) -> str:
    early = [trial for trial in run.state.scored_trials() if trial.behind]
    if not early:
        return ""
    names, settings = _setting_columns(run, early[:MAX_ROWS])
    rows = [[t.number, t.score, *cells, t.fits] for t, cells in zip(early, settings, strict=False)]
    header = ("trial", f"{metric}, estimated", *names, "folds")
    title = f"{len(early)} ended early, clearly behind the best"
    return collapsible(title, html_table(header, rows))


def _trials_section(run: FinishedRun) -> str:
    state = run.state
    order = _ranked_trials(state)
    names, settings = _setting_columns(run, order[:MAX_ROWS])
    rows: list[list[Any]] = [
        [t.number, t.score, *cells, t.reason, t.took]
        for t, cells in zip(order, settings, strict=False)
    ]
    metric = state.started.metric.replace("_", " ")
    body = html_table(("trial", metric, *names, "reason", "seconds"), rows, best=0)
    body += _ended_early_table(run, metric)
    if len(order) > MAX_ROWS:
        body += paragraphs([f"The best {MAX_ROWS} of {len(order):,}; the JSON export has all."])
    if failed := [trial for trial in state.trials if trial.failure]:
        lost = [(trial.number, trial.failure) for trial in failed[:MAX_ROWS]]
        body += collapsible(f"{len(failed)} failed", html_table(("trial", "why"), lost))
    if state.excluded:
        body += paragraphs([f"Excluded by hand: {', '.join(map(str, sorted(state.excluded)))}."])
    return section_card("What was tried", "The best first.", body, "long")


def _penalty_steps(run: RunState) -> list[str]:
    steps, path = run.steps, penalty_path_figure(penalty_steps(run))
    groups = list(steps[-1].penalties)[:MAX_GROUPS]
    facts = ((s.step, s.objective, s.loss, s.iterations) for s in steps)
    rows = [(*f, *(s.penalties.get(g) for g in groups)) for f, s in zip(facts, steps, strict=True)]
    header = ("step", "objective", "loss", "iterations", *(f"C of {group}" for group in groups))
    question = "How did every group find its penalty? A high line means that it is mostly noise."
    body = figure_svg(path, *SIZES["wide"]) + collapsible("As a table", html_table(header, rows))
    sections = [section_card(path.title, question, body, "wide")]
    if any(math.isfinite(step.objective) for step in steps):
        objective = descent_figure(run)
        question = "Has it settled? The run stops when the line no longer moves."
        body = figure_svg(objective, *SIZES["narrow"])
        sections.append(section_card(objective.title, question, body, "narrow"))
    return sections


def _gradient_steps(run: RunState) -> list[str]:
    path, loss = penalty_path_figure(penalty_steps(run)), descent_figure(run)
    question = "Where did the gradient lead every group's penalty?"
    as_table = collapsible("As a table", html_table(*loss.table()))
    body = figure_svg(loss, *SIZES["narrow"]) + as_table
    return [
        section_card(path.title, question, figure_svg(path, *SIZES["wide"]), "wide"),
        section_card(loss.title, "Do validation rows agree?", body, "narrow"),
    ]


def _data_section(run: FinishedRun) -> str:
    takeaway = run.takeaway
    source, test = takeaway.source, takeaway.test_source
    rows = takeaway.task.units
    split = (
        f"{len(takeaway.train_rows):,} {rows} to tune and train on, {len(takeaway.test_rows):,} "
        "in the test set."
    )
    if run.is_nested:
        split = f"{takeaway.rows:,} {rows}, all to tune and train on, and each tested once."
    if test:
        split = f"{len(takeaway.train_rows):,} {rows} to train on, a second file to test on."
    described = source.described
    body = paragraphs([described and f"Read as: {described}.", split, *takeaway.findings])
    body += _sentences("How it was read", takeaway.readings)
    body += _sentences("What the model was given", takeaway.encodings)
    kinds = [(c.name, c.role, c.kind_text, c.missing) for c in takeaway.columns[:MAX_ROWS]]
    body += collapsible("Columns", html_table(("column", "role", "kind", "missing"), kinds))
    body += f"<p>File: {inline_code(file_name_of(source) or takeaway.dataset)}<br>"
    body += f"SHA-256: {inline_code(source.fingerprint)}</p>"
    if test:
        body += f"<p>Test file: {inline_code(file_name_of(test))}<br>"
        body += f"SHA-256: {inline_code(test.fingerprint)}</p>"
    return section_card("The data", "What went in?", body, "half")


def _sentences(title: str, sentences: Sequence[str]) -> str:
    return collapsible(title, paragraphs([*sentences[:MAX_ROWS]])) if sentences else ""


def _method_section(run: FinishedRun) -> str:
    plan, task = run.plan, run.takeaway.task
    rows: list[tuple[str, Any]] = [
        ("started", run.started.started_at),
        ("model", plan.model),
        ("strategy", plan.strategy),
        *((f"option {name}", value) for name, value in plan.options.items()),
        ("seed", plan.seed),
        ("folds", plan.folds),
        *([("standardized columns", plan.standardize)] if task.is_table else []),
        *((f"version of {name}", version) for name, version in run.takeaway.versions.items()),
    ]
    shown = [(name, str(value) if not isinstance(value, bool) else value) for name, value in rows]
    body = html_table(("", ""), shown, row_heads=True)
    question = "What must be equal to get the same again?"
    return section_card("How it was done", question, body, "half")
