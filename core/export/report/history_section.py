"""The report's sections on the run: its progress, all trials, data and versions."""

import math
from collections.abc import Sequence
from typing import Any

from core.export.finished_run import FinishedRun, file_name_of
from core.export.report.figure_svg import SIZES, figure_svg
from core.export.report.html import (
    collapsible,
    figure_card,
    html_table,
    inline_code,
    paragraphs,
    section_card,
)
from core.export.report.models_section import model_and_setting
from core.figures.belief_figure import QUESTION, belief_figure, modelled_axes
from core.figures.penalty_figures import descent_figure, penalty_path_figure
from core.figures.run_figures import best_so_far_figure
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial

# More rows make the page slow to open; the JSON export has all.
MAX_ROWS = 500


def history_sections(run: FinishedRun) -> list[str]:
    """The sections for which the run has events, in reading order."""
    sections, state = [], run.state
    if state.finished:
        has_scores = bool(state.best_rows(1).size)
        figure = figure_svg(best_so_far_figure(state), *SIZES["full"]) if has_scores else ""
        question = "When did it find its best? Dots are trials; triangles: off the plot; ×: failed."
        sections.append(section_card("Best score so far", question, figure))
        if modelled_axes(state)[1]:
            sections.append(figure_card(QUESTION, belief_figure(state), "full"))
        sections.append(_trials_section(run))
    if state.steps or state.gradients:
        sections += _step_sections(state)
    return [*sections, _data_section(run), _method_section(run)]


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
    order = [state.trials[row] for row in state.best_rows(len(state.trials))]
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


def _step_sections(run: RunState) -> list[str]:
    path, descent = penalty_path_figure(run), descent_figure(run)
    questions = (
        "How did every group find its penalty? A high line means that it is mostly noise.",
        "Has it settled? The run stops when the line no longer moves.",
    )
    if run.gradients:
        questions = (
            "Where did the gradient lead every group's penalty?",
            "Do validation rows agree?",
        )
    sections = [figure_card(questions[0], path, "wide")]
    if math.isfinite(descent.y.high):
        sections.append(figure_card(questions[1], descent, "narrow"))
    return sections


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
