"""The report's sections on an average: who is in it, and whether it is better than one model."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from core.export.average import Member, members_of
from core.export.finished_run import FinishedRun
from core.export.report import average_figures
from core.export.report.html import folded, paragraphs, section, table
from core.export.report.models import model_and_setting
from core.export.report.results import score_words
from core.tuning.events import EnsembleUpdated
from core.tuning.scores.metrics import METRICS

_WEIGHTS = {
    "uniform": "All members count alike.",
    "tempered": "A member counts the more, the better its score.",
    "greedy": "Weights as the greedy selection of members gave them.",
}
MOST_SETTINGS = 8  # columns beside number, weight and score


def average_sections(run: FinishedRun) -> list[str]:
    """The sections on the average; none where the run gave one model."""
    members = members_of(run)
    if not members:
        return []
    updates = [update for update in run.of_kind(EnsembleUpdated) if update.finished]
    return [_members(run, members), *_course(run, updates)]


def _members(run: FinishedRun, members: list[Member]) -> str:
    ensemble = run.results["ensemble"]
    bars = [(f"trial {m.number}", m.weight) for m in members]
    drawn = average_figures.weights(bars) if len(members) > 1 else ""
    names, of_members = _settings(run, members)
    header = ("trial", "weight", METRICS[run.started.metric].title, *names)
    rows = [
        (m.number, m.weight, m.score, *told) for m, told in zip(members, of_members, strict=True)
    ]
    left_out = [str(one["reason"]) for one in ensemble.get("left_out", [])]
    body = drawn + table(header, rows) + paragraphs([*_count(members, ensemble), *left_out])
    return section("Who is in the average?", _WEIGHTS.get(ensemble.get("kind"), ""), body)


def _settings(run: FinishedRun, members: list[Member]) -> tuple[list[str], list[list[Any]]]:
    """Columns for what the members are, and their cells: settings, or of several models these."""
    if run.several:
        return ["model", "setting"], [model_and_setting(run, m.setting) for m in members]
    labels, names = run.labels_of(run.plan.model), _telling(members)
    return [labels.get(n, n) for n in names], [[m.setting[n] for n in names] for m in members]


def _telling(members: list[Member]) -> list[str]:
    """The settings in which the members differ, at most some; all of them where none differs."""
    names = list(members[0].setting)
    differing = [n for n in names if any(m.setting[n] != members[0].setting[n] for m in members)]
    return (differing or names)[:MOST_SETTINGS]


def _count(members: list[Member], ensemble: dict[str, Any]) -> list[str]:
    of = f" of {ensemble['finished']:,} trials" if ensemble.get("finished") else ""
    if len(members) == 1:
        return [f"The single best{of}: an average of two or more needs 20 trials."]
    effective = float(ensemble.get("effective") or 1 / sum(m.weight**2 for m in members))
    even = abs(effective - len(members)) < 0.05
    worth = "" if even else f"; by their weights they count as {effective:.1f}"
    return [f"The {len(members)} best{of}{worth}."]


def _course(run: FinishedRun, updates: list[EnsembleUpdated]) -> list[str]:
    """The average against the single best after every trial, and at the end."""
    title = METRICS[run.results["metric"]].title
    known = [u for u in updates if _number(u.average) and _number(u.single)]
    drawn = as_table = ""
    if len(known) > 1:
        lines = {
            "average": [(u.finished, float(u.average or 0.0)) for u in known],
            "single best": [(u.finished, float(u.single or 0.0)) for u in known],
        }
        drawn = average_figures.against(lines, f"{title[0].lower()}{title[1:]}, held out")
        rows = [(u.finished, u.average, u.single, len(u.members), u.effective) for u in known]
        header = ("trials", "average", "single best", "members", "effective members")
        as_table = folded("As a table", table(header, rows))
    scores = _held_out(run)
    if not drawn and not scores:
        return []
    question = "Held-out rows that had no part in choosing the members." if drawn else ""
    body = drawn + scores + as_table
    return [section("Is the average better than the single best?", question, body, "wide")]


def _number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _held_out(run: FinishedRun) -> str:
    metric, ensemble = run.results["metric"], run.results["ensemble"]
    say = partial(score_words, metric)
    held, single = ((ensemble.get(n) or {}).get(metric) for n in ("held_out", "single_held_out"))
    if held is None or single is None:
        return ""
    header = (METRICS[metric].title, "average", "single best")
    return table(header, [("held out", say(held), say(single))], row_heads=True)
