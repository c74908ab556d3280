"""The costs of the two kinds of mistakes between two classes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.estimators.model import Model

Costs = tuple[float, float]


def costs_of(costs: Mapping[str, float], dataset: Dataset, model: Model) -> Costs | None:
    """The cost of calling a row of the first, and of the second class the other one.

    Args:
        costs: {class: cost}; a class that is missing costs 1. Empty for no costs.
        dataset: with the classes.
        model: one that is exported without scikit-learn carries no threshold.

    Raises:
        UnusableError: there are not two classes, a class is unknown, or a cost is invalid.
    """
    if not costs:
        return None
    where, labels = "costs of mistakes", [str(label) for label in dataset.classes]
    if not dataset.task.has_two_classes:
        class_text = f"{len(labels)} classes" if labels else "no classes"
        raise UnusableError(
            f"mistakes can have costs between two classes only, and here are {class_text}",
            where=where,
            cure="leave the costs out, or choose a target of two classes",
        )
    if model.folder:
        raise UnusableError(
            f"{model.name} cannot carry a threshold into its exports",
            where=where,
            cure="leave the costs out, or choose another model",
        )
    for label, cost in costs.items():
        if label not in labels:
            raise UnusableError(
                f"there is no class “{label}”",
                where=where,
                cure=f"the classes are {labels[0]} and {labels[1]}",
            )
        if not (math.isfinite(cost) and cost >= 0):
            raise UnusableError(f"“{cost:g}” is no cost", where=where, cure="give 0 or more")
    first, second = (float(costs.get(label, 1.0)) for label in labels)
    if first == second == 0:
        raise UnusableError(
            "both kinds of mistakes cost nothing",
            where=where,
            cure="give at least one of them a cost above 0",
        )
    return first, second
