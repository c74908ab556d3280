"""Settings in words: of which model, where several are tuned in one run, and its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.numbers import shown
from core.estimators.facts import uncapitalized
from core.estimators.settings import labels_of, noun_of, own_setting, title_of
from core.space import titled
from core.tuning.events import RunStarted
from core.tuning.runs.competition import tunes_several

NAMED = 3  # values of a setting, in a sentence


def in_a_sentence(started: RunStarted, setting: Mapping[str, Any]) -> str:
    """A setting as "cost of a wrong row (C) = 0.27", behind its model where there are several.

    The first few of many values; "the setting" where it has none.
    """
    model, own = own_setting(_model(started), setting)
    if tunes_several(started):
        values = _values(own, labels_of(model, _task(started)))
        return f"{noun_of(model)} ({values})" if values else noun_of(model)
    labels = {axis["name"]: str(axis.get("label") or "") for axis in started.space}
    return _values(own, labels or dict.fromkeys(own, "")) or "the setting"


def _values(setting: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    named = [
        f"{uncapitalized(titled(label, name)) if label else name} = {shown(setting[name])}"
        for name, label in labels.items()
        if name in setting
    ]
    rest = ["…"] if len(named) > NAMED else []
    return ", ".join(named[:NAMED] + rest)


def in_a_cell(started: RunStarted, setting: Mapping[str, Any]) -> tuple[str, str]:
    """The model of a setting and all of its values, for two cells of a table."""
    model, own = own_setting(_model(started), setting)
    return title_of(model), ", ".join(f"{name} = {shown(value)}" for name, value in own.items())


def in_lines(started: RunStarted, setting: Mapping[str, Any]) -> list[str]:
    """One value a line, each with what it means; of several models the title first."""
    model, own = own_setting(_model(started), setting)
    if not tunes_several(started):
        labels = {axis["name"]: str(axis.get("label") or "") for axis in started.space}
        return [f"{titled(labels.get(n, ''), n)} = {shown(value)}" for n, value in own.items()]
    labels = labels_of(model, _task(started))
    values = [f"{titled(labels.get(n, ''), n)} = {shown(value)}" for n, value in own.items()]
    return [title_of(model), *values]


def named(axis: Mapping[str, Any]) -> str:
    """What a setting is called, from `core.space.Axis.as_dict`: "Cost of a wrong row (C)"."""
    return titled(str(axis.get("label") or ""), str(axis["name"]))


def _model(started: RunStarted) -> str:
    return str(started.plan.get("model", ""))


def _task(started: RunStarted) -> str:
    return str(started.dataset.get("task", ""))
