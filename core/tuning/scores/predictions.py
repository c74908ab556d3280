"""The predictions of three contestants for the same test rows.

They are the tuned model, the same model at its default setting, and the baseline
(core.estimators.baseline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.datasets.units import Units, single_rows
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import METRICS, predict_all, targets_of

TUNED, DEFAULT, BASELINE = CONTESTANTS = ("tuned", "default", "baseline")


@dataclass(frozen=True)
class ComparedPredictions:
    """The contestants' predictions for n rows that they were not fitted to."""

    y: np.ndarray  # codes or numbers (`targets_of`), shape (n,)
    tuned: Predictions
    default: Predictions
    baseline: Predictions
    row_units: Units | None = None  # what is independent; None for every row
    folds: np.ndarray | None = None  # that tested each row, (n,), by nested cross-validation
    train_share: float | None = None  # of all rows that one fold was fitted to

    @property
    def units(self) -> Units:
        """What is independent among the rows."""
        return single_rows(len(self.y)) if self.row_units is None else self.row_units

    @property
    def by_model(self) -> dict[str, Predictions]:
        return {TUNED: self.tuned, DEFAULT: self.default, BASELINE: self.baseline}

    def outputs_for(self, metric: Metric) -> dict[str, Predictions]:
        """{contestant: predictions} of those that have what the metric needs."""
        pairs = self.by_model.items()
        return {name: output for name, output in pairs if getattr(output, metric.needs) is not None}

    def fold_scores(self, metric: Metric) -> dict[str, np.ndarray]:
        """The score of every fold, (K,), of each contestant that has one; a test set is a fold."""
        outputs, y = self.outputs_for(metric), self.y
        if self.folds is None:
            return {name: np.array([metric.score(y, output)]) for name, output in outputs.items()}
        folds = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        return {
            name: np.array([metric.score(y[rows], output.subset(rows)) for rows in folds])
            for name, output in outputs.items()
        }

    def all_scores(self, task: str) -> dict[str, dict[str, float]]:
        """{contestant: {metric: mean over folds}} of every metric of a task that is available."""
        scores_by_model: dict[str, dict[str, float]] = {name: {} for name in CONTESTANTS}
        for metric in METRICS.values():
            if task in metric.tasks:
                for name, scores in self.fold_scores(metric).items():
                    scores_by_model[name][metric.name] = _finite_mean(scores)
        return scores_by_model


def predictions_by(
    models: tuple[Any, Any, Any],
    X: Any,
    y: np.ndarray,
    task: str,
    classes: Sequence[Any],
    row_units: Units | None = None,
) -> ComparedPredictions:
    """The predictions of fitted pipelines (tuned, default, baseline) for test rows.

    `y` and `classes` are as in the dataset.
    """
    tuned, default, baseline = (predict_all(model, X, classes, task=task, y=y) for model in models)
    return ComparedPredictions(targets_of(y, task, classes), tuned, default, baseline, row_units)


def _finite_mean(scores: np.ndarray) -> float:
    finite_scores = scores[np.isfinite(scores)]
    return float(finite_scores.mean()) if len(finite_scores) else float("nan")
