"""What the three contestants of a comparison say about the same test rows, in the same order.

The contestants are the tuned model, the same kind of model at its default setting, and the
baseline, which knows nothing of the features (core.estimators.baseline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import METRICS, predict_all, targets_of

TUNED, DEFAULT, BASELINE = CONTESTANTS = ("tuned", "default", "baseline")


@dataclass(frozen=True)
class ComparedPredictions:
    """What the contestants say about n rows that they were not fitted to.

    Attributes:
        y: the targets, codes or numbers (`targets_of`), shape (n,).
        tuned, default, baseline: what each says.
        row_groups: the group of each row, where rows belong together, shape (n,).
        folds: the fold that tested each row, where every row was tested once by nested
            cross-validation, shape (n,); None for one test set.
        train_share: with folds, the share of all rows that one fold was fitted to.
    """

    y: np.ndarray
    tuned: Predictions
    default: Predictions
    baseline: Predictions
    row_groups: np.ndarray | None = None
    folds: np.ndarray | None = None
    train_share: float | None = None

    @property
    def by_model(self) -> dict[str, Predictions]:
        """What each contestant says, by its name."""
        return {TUNED: self.tuned, DEFAULT: self.default, BASELINE: self.baseline}

    def fold_scores(self, metric: Metric) -> dict[str, np.ndarray]:
        """The score of every fold, (K,), of each contestant that says what the metric needs.

        A test set is one fold.
        """
        outputs = {
            n: output
            for n, output in self.by_model.items()
            if getattr(output, metric.needs) is not None
        }
        if self.folds is None:
            return {
                name: np.array([metric.score(self.y, output)]) for name, output in outputs.items()
            }
        rows_by_fold = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        return {
            name: np.array(
                [metric.score(self.y[rows], output.subset(rows)) for rows in rows_by_fold]
            )
            for name, output in outputs.items()
        }

    def all_scores(self, task: str) -> dict[str, dict[str, float]]:
        """{contestant: {metric: score}} of every metric of a task that can be had.

        The mean over folds where there are several, as the score of cross-validation is.
        """
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
    row_groups: np.ndarray | None = None,
) -> ComparedPredictions:
    """Ask fitted models about test rows.

    Args:
        models: the tuned model, the default and the baseline, as a pipeline each.
        X: test rows as the models take them.
        y: their targets, as in the dataset.
        task: as the dataset has it.
        classes: the sorted class labels; empty for other tasks.
        row_groups: the group of each row, where rows belong together.
    """
    tuned, default, baseline = (predict_all(model, X, classes, task=task, y=y) for model in models)
    return ComparedPredictions(targets_of(y, task, classes), tuned, default, baseline, row_groups)


def _finite_mean(scores: np.ndarray) -> float:
    finite_scores = scores[np.isfinite(scores)]
    return float(finite_scores.mean()) if len(finite_scores) else float("nan")
