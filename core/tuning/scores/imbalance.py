"""Rare classes, and which metric is recommended then.

Where one row in fifty is of a class, a model that never predicts it has an accuracy of 98 %. Log
loss judges every probability, needs no rows of both classes in every fold, and is the objective of
the penalty learners. A model without probabilities is scored by the area under the ROC curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.task import Task
from core.tuning.scores.metrics import codes_of

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
    """The metric of a run where none was chosen.

    Args:
        usual: the metric of the task where no class is rare.
        rare: the rarest class, where it is rare.
        probabilities: whether the model gives class probabilities without more fits.
        costs: whether a threshold is chosen by costs of mistakes.
        several: whether several models are tuned.
    """
    if costs and rare is None:
        why = "A threshold by what mistakes cost rests on probabilities"
        return RecommendedMetric("log_loss", f"{why}: the score is log loss, which judges them.")
    if rare is None:
        return RecommendedMetric(usual)
    why = (
        f"Only {percent_text(rare.share)} of the training rows are “{rare.label}”: a model that "
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


def percent_text(share: float) -> str:
    """A share in percent, with a decimal below ten."""
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def class_counts(dataset: Dataset, rows: np.ndarray) -> dict[str, int]:
    """{class: rows} of some rows; empty without classes."""
    if not dataset.classes:
        return {}
    codes = codes_of(dataset.target[rows], dataset.classes)
    counts = np.bincount(codes[codes >= 0], minlength=len(dataset.classes))
    return {str(label): int(n) for label, n in zip(dataset.classes, counts, strict=True)}
