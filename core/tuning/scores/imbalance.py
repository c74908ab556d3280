"""Rare classes, and which metric is recommended then.

Log loss judges every probability, and needs no rows of both classes in every fold. Models without
probabilities are scored by the area under the ROC curve.

The costs of the two kinds of mistakes between two classes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.model import Model
from core.tuning.scores.metrics import codes_of
from core.wording import percent

RARE_SHARE = 0.2  # of the rows
RELATIVE_SHARE = 0.6  # of what each of many classes has where all are equally frequent


@dataclass(frozen=True)
class RareClass:
    """The rarest class of some rows, with its share of them."""

    label: str
    share: float


@dataclass(frozen=True)
class RecommendedMetric:
    """A metric's name, and why it is not the task's usual one; "" where it is."""

    metric: str
    reason: str = ""


def rare_class(task: str, counts: Mapping[str, int]) -> RareClass | None:
    """The rarest class if it is rare: under 20 % of the rows, or less where there are many classes.

    `counts` is {class: rows}, of every class.
    """
    rows = sum(counts.values())
    if not Task(task).is_classification or not rows:
        return None
    label, min_count = min(counts.items(), key=lambda pair: pair[1])
    share = min_count / rows
    # Each of many classes has a small share: rare is what lies far below an equal one.
    is_rare = share < min(RARE_SHARE, RELATIVE_SHARE / len(counts))
    return RareClass(label, share) if is_rare else None


def recommended_metric(
    usual: str,
    rare: RareClass | None,
    *,
    probabilities: bool,
    costs: bool = False,
    several: bool = False,
) -> RecommendedMetric:
    """The metric of a run where none was chosen; the task's `usual` one where no class is rare.

    `probabilities`: whether the model gives them without more fits; `costs`: whether a threshold is
    chosen by costs of mistakes.
    """
    if costs and rare is None:
        why = "A threshold by what mistakes cost rests on probabilities"
        return RecommendedMetric("log_loss", f"{why}: the score is log loss, which judges them.")
    if rare is None:
        return RecommendedMetric(usual)
    why = (
        f"Only {percent(rare.share)} of the training rows are “{rare.label}”: a model that "
        "never predicts it would still look good by accuracy. "
    )
    if probabilities or costs:
        return RecommendedMetric(
            "log_loss", f"{why}The score is log loss instead, which judges every probability."
        )
    lack = "not every model" if several else "this model"
    gives = "gives" if several else "gives no"
    return RecommendedMetric(
        "auc",
        f"{why}The score is the area under the ROC curve instead, because {lack} {gives} "
        "probabilities.",
    )


def class_counts(dataset: Dataset, rows: np.ndarray) -> dict[str, int]:
    """{class: rows} of some rows; empty without classes."""
    if not dataset.classes:
        return {}
    codes = codes_of(dataset.target[rows], dataset.classes)
    counts = np.bincount(codes[codes >= 0], minlength=len(dataset.classes))
    return {str(label): int(n) for label, n in zip(dataset.classes, counts, strict=True)}


Costs = tuple[float, float]


def costs_of(costs: Mapping[str, float], dataset: Dataset, model: Model) -> Costs | None:
    """The cost of calling a row of the first, and of the second class the other one.

    `costs` is {class: cost}: a class that is missing costs 1; none has a cost where it is empty.
    """
    if not costs:
        return None
    where, labels = "costs of mistakes", [str(label) for label in dataset.classes]
    if not dataset.task.has_two_classes:
        class_text = f"{len(labels)} classes" if labels else "no classes"
        problem = f"mistakes can have costs between two classes only, and here are {class_text}"
        cure = "leave the costs out, or choose a target of two classes"
        raise UnusableError(problem, where=where, cure=cure)
    # A model that is exported without scikit-learn has no place for it.
    if model.folder:
        problem = f"{model.name} cannot carry a threshold into its exports"
        cure = "leave the costs out, or choose another model"
        raise UnusableError(problem, where=where, cure=cure)
    for label, cost in costs.items():
        if label not in labels:
            cure = f"the classes are {labels[0]} and {labels[1]}"
            raise UnusableError(f"there is no class “{label}”", where=where, cure=cure)
        if not (math.isfinite(cost) and cost >= 0):
            raise UnusableError(f"“{cost:g}” is no cost", where=where, cure="give 0 or more")
    first, second = (float(costs.get(label, 1.0)) for label in labels)
    if first == second == 0:
        cure = "give at least one of them a cost above 0"
        raise UnusableError("both kinds of mistakes cost nothing", where=where, cure=cure)
    return first, second
