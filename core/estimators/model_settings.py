"""What a setting is of, where several models are tuned: its model, and that model's own axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.estimators.multi_model import MODEL, SEVERAL, split_model_setting
from core.estimators.registry import MODELS
from core.space import Setting


def model_and_values(model: str, setting: Mapping[str, Any]) -> tuple[str, Setting]:
    """The model that a setting is of, and its values for that model's own axes.

    Args:
        model: of the run.
        setting: of one of its trials.
    """
    if model == SEVERAL and MODEL in setting:
        return split_model_setting(setting)
    return model, dict(setting)


def title_of(model: str) -> str:
    """A model's title; its name where it is not installed (any more)."""
    entry = MODELS.get(model)
    return entry.title if entry is not None else model


def noun_of(model: str) -> str:
    """A model inside a sentence ("a support vector machine")."""
    entry = MODELS.get(model)
    return (entry.noun or entry.title) if entry is not None else model


def labels_of(model: str, task: str) -> dict[str, str]:
    """{axis: a lay person's words for it} of a model; empty for one that is not installed."""
    entry = MODELS.get(model)
    if entry is None or task not in entry.tasks:
        return {}
    return {axis.name: axis.label for axis in entry.space_of(task, rare=True)}


@dataclass(frozen=True)
class SettingComparison:
    """One axis of a setting beside the same axis of another; None where a setting lacks it.

    Attributes:
        label: a lay person's words.
        name: of the axis; "" for the model itself.
    """

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
    """Two settings of a run axis by axis; where several models are tuned, first their models.

    Args:
        model: of the run.
        tuned, default: settings of its trials.
        labels: (name of a model) -> {axis: words}, in the order in which they are to be shown.
    """
    (tuned_model, tuned_values), (default_model, default_values) = (
        model_and_values(model, setting) for setting in (tuned, default)
    )
    same = tuned_model == default_model
    rows = [
        SettingComparison(
            words, name, tuned_values[name], default_values.get(name) if same else None
        )
        for name, words in _axis_labels(labels(tuned_model), tuned_values).items()
    ]
    if model != SEVERAL:
        return rows
    if not same:
        rows += [
            SettingComparison(words, name, None, default_values[name])
            for name, words in _axis_labels(labels(default_model), default_values).items()
        ]
    return [SettingComparison("Model", "", title_of(tuned_model), title_of(default_model)), *rows]


def _axis_labels(labels: Mapping[str, str], setting: Setting) -> dict[str, str]:
    """{axis: words} of the axes that a setting has; those without words by their names."""
    known_labels = {name: words for name, words in labels.items() if name in setting}
    return known_labels | {name: name for name in setting if name not in known_labels}
