"""How each of the six steps stands, told from the session: chosen, done, or locked and why."""

from __future__ import annotations

from typing import Any

from app.text.plan import model_title, strategy_title
from app.text.units import counted
from app.window.rail import StepState

_STATES = {
    "idle": "",
    "running": "running",
    "paused": "paused",
    "stopping": "stopping",
    "interrupted": "interrupted",
    "finished": "finished",
}


def step_states(session: Any) -> dict[str, StepState]:
    """{step: how it stands}; a step is locked only while what it needs is missing."""
    no_data = "" if session.summary else "Open a file first, in step 1."
    no_plan = no_data or ("" if session.plan else "No model fits these data yet.")
    no_tune = "" if session.events else no_plan
    return {
        "data": StepState(_data_chosen(session), bool(session.summary)),
        "model": StepState(model_title(session), bool(session.plan), no_data),
        "strategy": StepState(strategy_title(session), bool(session.plan), no_plan),
        "tune": StepState(_STATES[session.state], session.state == "finished", no_tune),
        "results": StepState("", bool(session.results), _why_no_results(session)),
        "export": StepState("", False, _why_no_results(session)),
    }


def _why_no_results(session: Any) -> str:
    if session.results:
        return ""
    if session.events:
        return "The results come when the run has ended, in step 4."
    return "Tune a model first, in step 4."


def _data_chosen(session: Any) -> str:
    if not session.summary:
        return ""
    summary = session.summary
    words = "{name} · {rows} · {features} columns"
    if summary["task"] in ("structure", "topics"):  # there are but letters, or words
        words = "{name} · {rows}"
    rows = counted(summary["task"], summary["rows"])
    return words.format(name=summary["name"], rows=rows, features=summary["features"])
