"""The states of the six steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.text.plan_text import model_title, strategy_title
from app.window.rail import StepState

if TYPE_CHECKING:
    from app.session.session_state import SessionState

_STATES = {
    "idle": "",
    "running": "running",
    "paused": "paused",
    "stopping": "stopping",
    "interrupted": "interrupted",
    "finished": "finished",
}


def step_states(session: SessionState) -> dict[str, StepState]:
    """{step: state}; a step is locked while what it needs is missing."""
    no_data = "" if session.summary else "Open a file first, in step 1."
    has_plan = bool(session.plan)
    no_plan = no_data or ("" if has_plan else "No model fits these data yet.")
    no_tune = "" if session.events else no_plan
    return {
        "data": StepState(_data_chosen(session), bool(session.summary)),
        "model": StepState(model_title(session.plan, session.advice), has_plan, no_data),
        "strategy": StepState(strategy_title(session.plan, session.advice), has_plan, no_plan),
        "tune": StepState(_STATES[session.state], session.state == "finished", no_tune),
        "results": StepState("", bool(session.results), _why_no_results(session)),
        "export": StepState("", False, _why_no_results(session)),
    }


def _why_no_results(session: SessionState) -> str:
    if session.results:
        return ""
    if session.events:
        return "The results come when the run has ended, in step 4."
    return "Tune a model first, in step 4."


def _data_chosen(session: SessionState) -> str:
    summary = session.summary
    if summary is None:
        return ""
    size = f"{summary.name} · {summary.task.count_text(summary.rows)}"
    return size if summary.task.has_one_column else f"{size} · {summary.features} columns"
