"""The report's section on which settings mattered."""

from __future__ import annotations

from core.errors import UnusableError
from core.export.finished_run import FinishedRun
from core.export.report import explanation_figures as figures
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.space import axis_title
from core.tuning.why.answer_types import NoAnswer, SettingImportance
from core.tuning.why.answers import SETTINGS, answers_of_trials, keep_answer, kept_answer


def settings_sections(run: FinishedRun) -> list[str]:
    """The section, where enough settings were tried."""
    answer = kept_answer(run.folder, run.results, SETTINGS)
    if answer is None:
        try:
            *_, answer = answers_of_trials(run.state)
        except (UnusableError, ValueError, ArithmeticError, LookupError, MemoryError):
            return []
        if not isinstance(answer, NoAnswer):
            keep_answer(run.folder, run.results, SETTINGS, answer)
    if not isinstance(answer, SettingImportance) or not answer.settings:
        return []
    rows = [(axis_title(s.label, s.name), s.share, s.low, s.high) for s in answer.settings]
    label, title = "share of the differences in score", "Which settings mattered"
    figure = figures.interval_bars(rows, label, _percent, title)
    as_table = html_table(
        ("setting", "share", "low", "high"),
        [(name, *map(_percent, shares)) for name, *shares in rows],
        row_heads=True,
    )
    trials_text = f" {answer.trials} trials tell it." if answer.trials < answer.of else ""
    sentence = (
        f"The other {_percent(answer.together)} lies in several settings together, or in "
        f"chance.{trials_text}"
    )
    question = (
        "How much of the differences between the trials' scores each setting explains by itself. "
        "Line: 95 % interval over resampled trials."
    )
    body = figure + paragraphs([sentence]) + collapsible("As a table", as_table)
    return [section_card("Which settings mattered?", question, body)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"
