"""What is planned, in words: the titles of the chosen model and strategy."""

from __future__ import annotations

from typing import Any


def model_title(session: Any) -> str:
    """The chosen model's title, "" if none is."""
    if session.plan is None or session.advice is None:
        return ""
    models = {entry["name"]: entry["title"] for entry in session.advice["models"]}
    return models.get(session.plan.model, session.plan.model)


def strategy_title(session: Any) -> str:
    """The chosen strategy's title, "" if none is."""
    if session.plan is None or session.advice is None:
        return ""
    offered = session.advice["strategies"].get(session.plan.model, [])
    titles = {entry["name"]: entry["title"] for entry in offered}
    return titles.get(session.plan.strategy, session.plan.strategy)
