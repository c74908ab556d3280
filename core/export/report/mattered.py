"""The report's section on which settings mattered."""

from __future__ import annotations

from core.errors import UnusableError
from core.export.finished_run import FinishedRun
from core.export.report import why_figures as figures
from core.export.report.html import folded, paragraphs, section, table
from core.space import titled
from core.tuning.why.answers import SETTINGS, answers_of_trials, keep_answer, kept_answer


def mattered_sections(run: FinishedRun) -> list[str]:
    """The section, where several settings were tried often enough."""
    told = kept_answer(run.folder, run.results, SETTINGS)
    if told is None:
        try:
            *_, told = answers_of_trials(run.state)
        except (UnusableError, ValueError, ArithmeticError, LookupError, MemoryError):
            return []
        if "problem" in told:
            return []
        keep_answer(run.folder, run.results, SETTINGS, told)
    if not told.get("settings"):
        return []
    rows = [(titled(one["label"], one["name"]), one) for one in told["settings"]]
    drawn = figures.columns(
        [{"names": [name], "mean": one["share"], **_ends(one)} for name, one in rows],
        "share of the differences in score",
        _percent,
        "Which settings mattered",
    )
    as_table = table(
        ("setting", "share", "low", "high"),
        [(name, *(_percent(one[key]) for key in ("share", "low", "high"))) for name, one in rows],
        row_heads=True,
    )
    few = f" {told['trials']} trials tell it." if told["trials"] < told["of"] else ""
    said = (
        f"The other {_percent(told['together'])} lies in several settings together, or in "
        f"chance.{few}"
    )
    question = (
        "How much of the differences between the trials' scores each setting explains by itself. "
        "Line: 95 % interval over resampled trials."
    )
    body = drawn + paragraphs([said]) + folded("As a table", as_table)
    return [section("Which settings mattered?", question, body)]


def _ends(one: dict[str, float]) -> dict[str, float]:
    return {"low": one["low"], "high": one["high"]}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"
