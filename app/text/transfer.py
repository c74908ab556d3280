"""How strategies learn from earlier datasets, and what the history holds, in plain words."""

from __future__ import annotations

from app.text.datasets import history_in_words, standard_in_words
from core.tuning.events import CommonSurfaceFitted, HistoryRead


def history_in_use(history: HistoryRead, common: CommonSurfaceFitted | None) -> str:
    """How many earlier datasets are known and speak, and what follows where there are none."""
    said = history_in_words(history, common)
    if history.datasets:
        return said
    return f"{said} The first trial is the default setting."


def first_from_history() -> str:
    """What the first trial was based on."""
    return "The first trial was the setting that looked best on earlier datasets."


def measured_against(common: CommonSurfaceFitted, history: HistoryRead | None) -> str:
    """Against which mean and deviation this dataset's scores are measured now; "" for ranks."""
    if not common.trials or common.method != "transfer":
        return ""
    there = history is not None and bool(history.datasets)
    words = standard_in_words(common.mean, common.scale, common.settled, common.trials, there)
    return f"What counts as good here: {words}"


def why_from_history() -> str:
    """Why the first setting is tried, with a place for the setting."""
    return "Now: {setting} is tried first, because settings like it did best on earlier datasets."
