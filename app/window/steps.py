"""How each of the six steps stands, told from the session: chosen, done, or locked and why."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from app.text.plan import model_title, strategy_title
from app.text.units import counted
from app.window.rail import StepState

_STATES = {
    "idle": "",
    "running": QT_TRANSLATE_NOOP("Steps", "running"),
    "paused": QT_TRANSLATE_NOOP("Steps", "paused"),
    "stopping": QT_TRANSLATE_NOOP("Steps", "stopping"),
    "interrupted": QT_TRANSLATE_NOOP("Steps", "interrupted"),
    "finished": QT_TRANSLATE_NOOP("Steps", "finished"),
}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Steps", text)


def step_states(session: Any) -> dict[str, StepState]:
    """{step: how it stands}; a step is locked only while what it needs is missing."""
    no_data = "" if session.summary else _tr("Open a file first, in step 1.")
    no_plan = no_data or ("" if session.plan else _tr("No model fits these data yet."))
    no_tune = "" if session.events else no_plan
    return {
        "data": StepState(_data_chosen(session), bool(session.summary)),
        "model": StepState(model_title(session), bool(session.plan), no_data),
        "strategy": StepState(strategy_title(session), bool(session.plan), no_plan),
        "tune": StepState(_tr(_STATES[session.state]), session.state == "finished", no_tune),
        "results": StepState("", bool(session.results), _why_no_results(session)),
        "export": StepState("", False, _why_no_results(session)),
    }


def _why_no_results(session: Any) -> str:
    if session.results:
        return ""
    if session.events:
        return _tr("The results come when the run has ended, in step 4.")
    return _tr("Tune a model first, in step 4.")


def _data_chosen(session: Any) -> str:
    if not session.summary:
        return ""
    summary = session.summary
    words = _tr("{name} · {rows} · {features} columns")
    if summary["task"] in ("structure", "topics"):  # there are but letters, or words
        words = _tr("{name} · {rows}")
    rows = counted(summary["task"], summary["rows"])
    return words.format(name=summary["name"], rows=rows, features=summary["features"])
