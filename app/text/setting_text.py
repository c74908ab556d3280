"""Settings as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.number_format import format_value
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import labels_of, model_and_values, noun_of, title_of
from core.space import Axis, axis_title
from core.tuning.events import RunStarted
from core.tuning.runs.trial_table import tunes_several

MAX_VALUES = 3  # values of a setting, in a sentence


def setting_text(started: RunStarted, setting: Mapping[str, Any]) -> str:
    """Such as "cost of a wrong row (C) = 0.27", after its model where several are tuned."""
    model, model_values = model_and_values(_model_name(started), setting)
    if tunes_several(started):
        values = _values_text(model_values, labels_of(model, started.dataset.task))
        return f"{noun_of(model)} ({values})" if values else noun_of(model)
    labels = {axis.name: axis.label for axis in started.space}
    return _values_text(model_values, labels or dict.fromkeys(model_values, "")) or "the setting"


def _values_text(setting: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    titles = {
        name: uncapitalized(axis_title(label, name)) if label else name
        for name, label in labels.items()
        if name in setting
    }
    value_texts = [f"{title} = {format_value(setting[name])}" for name, title in titles.items()]
    ellipsis = ["…"] if len(value_texts) > MAX_VALUES else []
    return ", ".join(value_texts[:MAX_VALUES] + ellipsis)


def setting_cells(started: RunStarted, setting: Mapping[str, Any]) -> tuple[str, str]:
    """The model of a setting and its values."""
    model, model_values = model_and_values(_model_name(started), setting)
    values = ", ".join(f"{name} = {format_value(value)}" for name, value in model_values.items())
    return title_of(model), values


def setting_lines(started: RunStarted, setting: Mapping[str, Any]) -> list[str]:
    """One value a line, with its label; of several models the title first."""
    model, model_values = model_and_values(_model_name(started), setting)
    labels: Mapping[str, str] = {axis.name: axis.label for axis in started.space}
    several = tunes_several(started)
    if several:
        labels = labels_of(model, started.dataset.task)
    lines = [title_of(model)] if several else []
    for name, value in model_values.items():
        lines.append(f"{axis_title(labels.get(name, ''), name)} = {format_value(value)}")
    return lines


def setting_title(axis: Axis) -> str:
    """Such as "Cost of a wrong row (C)"."""
    return axis_title(axis.label, axis.name)


def _model_name(started: RunStarted) -> str:
    return started.run_plan.model
