"""The report's sections on an average: its members, and whether it beats one model."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from core.export.ensemble_members import EnsembleMember, members_of
from core.export.finished_run import FinishedRun
from core.export.report import average_figures
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.export.report.models_section import model_and_setting
from core.export.report.results_section import metric_score_text
from core.tuning.events import EnsembleUpdated
from core.tuning.run_results import EnsembleResults
from core.tuning.scores.metrics import METRICS

_WEIGHTS = {
    "uniform": "All members count alike.",
    "tempered": "A member counts the more, the better its score.",
    "greedy": "Weights as the greedy selection of members gave them.",
}
MAX_SETTING_COLUMNS = 8  # columns beside number, weight and score


def average_sections(run: FinishedRun) -> list[str]:
    """The sections on the average; none where the run gave one model."""
    members = members_of(run)
    if not members:
        return []
    updates = [update for update in run.events_of_kind(EnsembleUpdated) if update.finished]
    return [_members_section(run, members), *_course_section(run, updates)]


def _members_section(run: FinishedRun, members: list[EnsembleMember]) -> str:
    ensemble = run.results.ensemble or EnsembleResults()
    bars = [(f"trial {m.number}", m.weight) for m in members]
    figure = average_figures.weight_bars(bars) if len(members) > 1 else ""
    names, member_cells = _setting_columns(run, members)
    header = ("trial", "weight", METRICS[run.started.metric].title, *names)
    pairs = zip(members, member_cells, strict=True)
    rows = [(m.number, m.weight, m.score, *cells) for m, cells in pairs]
    reasons = [omission.reason for omission in ensemble.left_out]
    body = figure + html_table(header, rows)
    body += paragraphs([_count_text(members, ensemble), *reasons])
    return section_card("Who is in the average?", _WEIGHTS.get(ensemble.kind, ""), body)


def _setting_columns(
    run: FinishedRun, members: list[EnsembleMember]
) -> tuple[list[str], list[list[Any]]]:
    if run.tunes_several_models:
        return ["model", "setting"], [model_and_setting(run, m.setting) for m in members]
    labels, names = run.labels_of(run.plan.model), _differing_settings(members)
    return [labels.get(n, n) for n in names], [[m.setting[n] for n in names] for m in members]


def _differing_settings(members: list[EnsembleMember]) -> list[str]:
    names = list(members[0].setting)
    differing = [n for n in names if any(m.setting[n] != members[0].setting[n] for m in members)]
    return (differing or names)[:MAX_SETTING_COLUMNS]


def _count_text(members: list[EnsembleMember], ensemble: EnsembleResults) -> str:
    trials_text = f" of {ensemble.finished:,} trials" if ensemble.finished else ""
    if len(members) == 1:
        return f"The single best{trials_text}: an average of two or more needs 20 trials."
    even = abs(ensemble.effective - len(members)) < 0.05
    worth = "" if even else f"; by their weights they count as {ensemble.effective:.1f}"
    return f"The {len(members)} best{trials_text}{worth}."


def _course_section(run: FinishedRun, updates: list[EnsembleUpdated]) -> list[str]:
    title = METRICS[run.results.metric].title
    scored = [u for u in updates if _is_finite(u.average) and _is_finite(u.single)]
    figure = as_table = ""
    if len(scored) > 1:
        lines = {
            "average": [(u.finished, float(u.average or 0.0)) for u in scored],
            "single best": [(u.finished, float(u.single or 0.0)) for u in scored],
        }
        figure = average_figures.score_courses(lines, f"{title[0].lower()}{title[1:]}, held out")
        rows = [(u.finished, u.average, u.single, len(u.members), u.effective) for u in scored]
        header = ("trials", "average", "single best", "members", "effective members")
        as_table = collapsible("As a table", html_table(header, rows))
    scores = _held_out_table(run)
    if not figure and not scores:
        return []
    question = "Held-out rows that had no part in choosing the members." if figure else ""
    body = figure + scores + as_table
    return [section_card("Is the average better than the single best?", question, body, "wide")]


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _held_out_table(run: FinishedRun) -> str:
    metric, ensemble = run.results.metric, run.results.ensemble or EnsembleResults()
    format_score = partial(metric_score_text, metric)
    held, single = ensemble.held_out.get(metric), ensemble.single_held_out.get(metric)
    if held is None or single is None:
        return ""
    header = (METRICS[metric].title, "average", "single best")
    row = ("held out", format_score(held), format_score(single))
    return html_table(header, [row], row_heads=True)
