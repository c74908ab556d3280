"""Settings in words: of which model, where several are tuned in one run, and its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.numbers import shown
from core.estimators.settings import labels_of, noun_of, own_setting, title_of
from core.tuning.events import RunStarted
from core.tuning.runs.competition import tunes_several

NAMED = 3  # values of a setting, in a sentence


def in_a_sentence(started: RunStarted, setting: Mapping[str, Any]) -> str:
    """A setting as "C = 0.27, gamma = 0.03", behind its model where there are several.

    The first few of many values; "the setting" where it has none.
    """
    model, own = own_setting(_model(started), setting)
    if tunes_several(started):
        values = _values(own, list(labels_of(model, _task(started))))
        return f"{noun_of(model)} ({values})" if values else noun_of(model)
    order = [axis["name"] for axis in started.space] or list(own)
    return _values(own, order) or "the setting"


def _values(setting: Mapping[str, Any], order: list[str]) -> str:
    named = [f"{name} = {shown(setting[name])}" for name in order if name in setting]
    rest = ["…"] if len(named) > NAMED else []
    return ", ".join(named[:NAMED] + rest)


def in_a_cell(started: RunStarted, setting: Mapping[str, Any]) -> tuple[str, str]:
    """The model of a setting and all of its values, for two cells of a table."""
    model, own = own_setting(_model(started), setting)
    return title_of(model), ", ".join(f"{name} = {shown(value)}" for name, value in own.items())


def in_lines(started: RunStarted, setting: Mapping[str, Any]) -> list[str]:
    """One value a line; of several models the title first, and what each value means."""
    model, own = own_setting(_model(started), setting)
    if not tunes_several(started):
        return [f"{name} = {shown(value)}" for name, value in own.items()]
    labels = labels_of(model, _task(started))
    values = [f"{labels.get(n, n)} ({n}) = {shown(value)}" for n, value in own.items()]
    return [title_of(model), *values]


def _model(started: RunStarted) -> str:
    return str(started.plan.get("model", ""))


def _task(started: RunStarted) -> str:
    return str(started.dataset.get("task", ""))
