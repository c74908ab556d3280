"""The model that a setting belongs to, and settings compared axis by axis."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.estimators.multi_model import MODEL, SEVERAL, split_model_setting
from core.estimators.registry import MODELS
from core.space import Setting


def model_and_values(model: str, setting: Mapping[str, Any]) -> tuple[str, Setting]:
    """The model that a setting of a run belongs to, and its own values."""
    if model == SEVERAL and MODEL in setting:
        return split_model_setting(setting)
    return model, dict(setting)


def title_of(model: str) -> str:
    """A model's title; its name where it is not installed."""
    entry = MODELS.get(model)
    return entry.title if entry is not None else model


def noun_of(model: str) -> str:
    """A model inside a sentence ("a support vector machine")."""
    entry = MODELS.get(model)
    return (entry.noun or entry.title) if entry is not None else model


def labels_of(model: str, task: str) -> dict[str, str]:
    """{axis: label} of a model; empty for one that is not installed."""
    entry = MODELS.get(model)
    if entry is None or task not in entry.tasks:
        return {}
    return {axis.name: axis.label for axis in entry.space_of(task, rare=True)}


@dataclass(frozen=True)
class SettingComparison:
    """An axis in two settings, None where missing; `name` is "" for the model."""

    label: str
    name: str
    tuned: Any
    default: Any


def compare_settings(
    model: str,
    tuned: Mapping[str, Any],
    default: Mapping[str, Any],
    labels: Callable[[str], Mapping[str, str]],
) -> list[SettingComparison]:
    """Two settings axis by axis, after their models; `labels`: model -> {axis: label}."""
    (tuned_model, tuned_values), (default_model, default_values) = (
        model_and_values(model, setting) for setting in (tuned, default)
    )
    # Axes of different models may share a name and mean something else.
    same = tuned_model == default_model
    rows = [
        SettingComparison(label, name, value, default_values.get(name) if same else None)
        for name, label, value in _labelled_values(labels(tuned_model), tuned_values)
    ]
    if model != SEVERAL:
        return rows
    if not same:
        rows += [
            SettingComparison(label, name, None, value)
            for name, label, value in _labelled_values(labels(default_model), default_values)
        ]
    return [SettingComparison("Model", "", title_of(tuned_model), title_of(default_model)), *rows]


def _labelled_values(labels: Mapping[str, str], setting: Setting) -> list[tuple[str, str, Any]]:
    names = [name for name in labels if name in setting]
    names += [name for name in setting if name not in labels]
    return [(name, labels.get(name, name), setting[name]) for name in names]
