"""What a setting is of, where several models are tuned: its model, and that model's own axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.estimators.registry import MODELS
from core.estimators.several import MODEL, SEVERAL, divided
from core.space import Setting


def own_setting(model: str, setting: Mapping[str, Any]) -> tuple[str, Setting]:
    """The model that a setting is of, and its values for that model's own axes.

    Args:
        model: of the run.
        setting: of one of its trials.
    """
    if model == SEVERAL and MODEL in setting:
        return divided(setting)
    return model, dict(setting)


def title_of(model: str) -> str:
    """A model's title; its name where it is not installed (any more)."""
    there = MODELS.get(model)
    return there.title if there is not None else model


def noun_of(model: str) -> str:
    """A model inside a sentence ("a support vector machine")."""
    there = MODELS.get(model)
    return (there.noun or there.title) if there is not None else model


def labels_of(model: str, task: str) -> dict[str, str]:
    """{axis: a lay person's words for it} of a model; empty for one that is not installed."""
    there = MODELS.get(model)
    if there is None or task not in there.tasks:
        return {}
    return {axis.name: axis.label for axis in there.space_of(task, rare=True)}


@dataclass(frozen=True)
class Compared:
    """One axis of a setting beside the same axis of another; None where a setting lacks it.

    Attributes:
        label: a lay person's words.
        name: of the axis; "" for the model itself.
    """

    label: str
    name: str
    tuned: Any
    default: Any


def side_by_side(
    model: str,
    tuned: Mapping[str, Any],
    default: Mapping[str, Any],
    labels: Callable[[str], Mapping[str, str]],
) -> list[Compared]:
    """Two settings of a run axis by axis; where several models are tuned, first their models.

    Args:
        model: of the run.
        tuned, default: settings of its trials.
        labels: (name of a model) -> {axis: words}, in the order in which they are to be shown.
    """
    (of_tuned, own), (of_default, other) = (own_setting(model, one) for one in (tuned, default))
    same = of_tuned == of_default
    rows = [
        Compared(words, name, own[name], other.get(name) if same else None)
        for name, words in _named(labels(of_tuned), own).items()
    ]
    if model != SEVERAL:
        return rows
    if not same:
        rows += [
            Compared(words, name, None, other[name])
            for name, words in _named(labels(of_default), other).items()
        ]
    return [Compared("Model", "", title_of(of_tuned), title_of(of_default)), *rows]


def _named(labels: Mapping[str, str], setting: Setting) -> dict[str, str]:
    """{axis: words} of the axes that a setting has; those without words by their names."""
    known = {name: words for name, words in labels.items() if name in setting}
    return known | {name: name for name in setting if name not in known}
