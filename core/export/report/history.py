"""The report's sections on how it was done: course of the run, all trials, data and versions."""

from __future__ import annotations

import math
from typing import Any

from core.export.finished_run import FinishedRun, file_of
from core.export.report import figures
from core.export.report.html import code, folded, paragraphs, section, table
from core.export.report.models import model_and_setting
from core.export.report.structured import unit
from core.tuning.events import HyperGradientStep, PenaltyStep
from core.tuning.runs.competition import Trial
from core.tuning.runs.state import RunState

MOST_ROWS = 500
MOST_GROUPS = 8


def history_sections(run: FinishedRun) -> list[str]:
    """The sections that this run's events can fill, in reading order."""
    sections, state = [], run.state
    if state.finished:
        sections += [_best_so_far(state), _trials(run)]
    if state.steps:
        sections += _penalty_steps(state.steps)
    if state.gradients:
        sections += _gradient_steps(state.gradients)
    return [*sections, _data(run), _method(run)]


def _best_so_far(run: RunState) -> str:
    scored = sorted((trial.number, trial.score) for trial in _counting(run))
    failed = [trial.number for trial in run.trials if trial.failure]
    metric = run.started.metric
    drawn = (
        figures.best_so_far(
            scored,
            failed,
            run.default.score if run.default else None,
            f"{metric.replace('_', ' ')} in validation",
            run.started.maximize,
        )
        if scored
        else ""
    )
    question = "When did it find its best? Dots are trials; hollow: off the plot; ×: failed."
    return section("Best score so far", question, drawn)


def _counting(run: RunState) -> list[Trial]:
    """The trials that count, the best first."""
    return [run.trials[row] for row in run.best_rows(len(run.trials))]


def _settings(whole: FinishedRun, trials: list[Trial]) -> tuple[list[str], list[list[Any]]]:
    """Columns for settings, and the cells of each trial; of several models one for all."""
    if whole.several:
        return ["model", "setting"], [model_and_setting(whole, t.setting) for t in trials]
    names = list(trials[0].setting) if trials else []
    return names, [[t.setting.get(name) for name in names] for t in trials]


def _ended_early(whole: FinishedRun, metric: str) -> str:
    """The trials that were ended early, clearly behind the best; nothing where none was."""
    early = [trial for trial in whole.state.scored() if trial.behind]
    if not early:
        return ""
    names, settings = _settings(whole, early[:MOST_ROWS])
    rows = [[t.number, t.score, *told, t.fits] for t, told in zip(early, settings, strict=False)]
    header = ("trial", f"{metric}, estimated", *names, "folds")
    return folded(f"{len(early)} ended early, clearly behind the best", table(header, rows))


def _trials(whole: FinishedRun) -> str:
    run = whole.state
    order = _counting(run)
    names, settings = _settings(whole, order[:MOST_ROWS])
    rows: list[list[Any]] = [
        [t.number, t.score, *told, t.reason, t.took]
        for t, told in zip(order, settings, strict=False)
    ]
    metric = run.started.metric.replace("_", " ")
    body = table(("trial", metric, *names, "why this one", "seconds"), rows, best=0)
    body += _ended_early(whole, metric)
    if len(order) > MOST_ROWS:
        body += paragraphs([f"The best {MOST_ROWS} of {len(order):,}; the JSON export has all."])
    if failed := [trial for trial in run.trials if trial.failure]:
        lost = [(trial.number, trial.failure) for trial in failed[:MOST_ROWS]]
        body += folded(f"{len(failed)} failed", table(("trial", "why"), lost))
    if run.excluded:
        body += paragraphs([f"Taken out by hand: {', '.join(map(str, sorted(run.excluded)))}."])
    return section("What was tried", "The best first.", body, "long")


def _penalty_steps(steps: list[PenaltyStep]) -> list[str]:
    groups = list(steps[-1].penalties)[:MOST_GROUPS]
    rows = [
        (s.step, s.objective, s.loss, s.iterations, *(s.penalties.get(g) for g in groups))
        for s in steps
    ]
    header = ("step", "objective", "loss", "iterations", *(f"C of {group}" for group in groups))
    question = "How did every group find its penalty? A high line means that it is mostly noise."
    drawn = figures.trajectory([step.penalties for step in steps])
    as_table = folded("As a table", table(header, rows))
    sections = [section("Regularization trajectory", question, drawn + as_table, "wide")]
    objectives = [step.objective for step in steps if math.isfinite(step.objective)]
    if objectives:
        body = figures.curve(objectives, "Objective", ("step", "objective"))
        question = "Has it settled? The run stops when the line no longer moves."
        sections.append(section("Objective", question, body, "narrow"))
    return sections


def _gradient_steps(steps: list[HyperGradientStep]) -> list[str]:
    penalties = [{group: math.exp(d) for group, d in step.d.items()} for step in steps]
    question = "Where did the gradient lead every group's penalty?"
    losses = [step.holdout_loss for step in steps]
    header = ("step", "holdout loss", "length of the gradient", "fits")
    rows = [(s.step, s.holdout_loss, s.gradient_norm, s.fits) for s in steps]
    body = figures.curve(losses, "Holdout loss", ("step", "loss on the holdout part"))
    as_table = folded("As a table", table(header, rows))
    return [
        section("Path of the penalties", question, figures.trajectory(penalties), "wide"),
        section("Holdout loss", "Do validation rows agree?", body + as_table, "narrow"),
    ]


def _data(run: FinishedRun) -> str:
    takeaway = run.takeaway
    source, test = takeaway.source, takeaway.test_source
    rows = unit(takeaway.task)
    split = (
        f"{len(takeaway.train_rows):,} {rows} to tune and train on, {len(takeaway.test_rows):,} "
        "in the test set."
    )
    if run.nested:
        split = f"{takeaway.rows:,} {rows}, all to tune and train on, and each tested once."
    if test:
        split = f"{len(takeaway.train_rows):,} {rows} to train on, a second file to test on."
    described = source["described"]
    body = paragraphs([described and f"Read as: {described}.", split, *takeaway.findings])
    kinds = [(c["name"], c["role"], c["kind"], c["missing"]) for c in takeaway.columns[:MOST_ROWS]]
    body += folded("Columns", table(("column", "role", "kind", "missing"), kinds))
    body += f"<p>File: {code(file_of(source) or takeaway.dataset)}<br>"
    body += f"SHA-256: {code(source['fingerprint'])}</p>"
    if test:
        body += f"<p>Test file: {code(file_of(test))}<br>SHA-256: {code(test['fingerprint'])}</p>"
    return section("The data", "What went in?", body, "half")


def _method(run: FinishedRun) -> str:
    plan, task = run.plan, run.takeaway.task
    rows: list[tuple[str, Any]] = [
        ("started", run.started.started_at),
        ("model", plan.model),
        ("strategy", plan.strategy),
        *((f"option {name}", value) for name, value in plan.options.items()),
        ("seed", plan.seed),
        ("folds", plan.folds),
        *([("standardized columns", plan.standardize)] if unit(task) == "rows" else []),
        *((f"version of {name}", version) for name, version in run.takeaway.versions.items()),
    ]
    shown = [(name, str(value) if not isinstance(value, bool) else value) for name, value in rows]
    body = table(("", ""), shown, row_heads=True)
    return section("How it was done", "What must be equal to get the same again?", body, "half")
