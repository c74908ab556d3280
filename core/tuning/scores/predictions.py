"""What the three contestants of a comparison say about the same test rows, in the same order.

The contestants are the tuned model, the same kind of model at its default setting, and the
baseline, which knows nothing of the features (core.estimators.baseline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.tuning.scores.metric import Metric, Said
from core.tuning.scores.metrics import METRICS, say, targets_of

TUNED, DEFAULT, BASELINE = CONTESTANTS = ("tuned", "default", "baseline")


@dataclass(frozen=True)
class Predictions:
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
    tuned: Said
    default: Said
    baseline: Said
    row_groups: np.ndarray | None = None
    folds: np.ndarray | None = None
    train_share: float | None = None

    @property
    def said(self) -> dict[str, Said]:
        """What each contestant says, by its name."""
        return {TUNED: self.tuned, DEFAULT: self.default, BASELINE: self.baseline}

    def fold_scores(self, metric: Metric) -> dict[str, np.ndarray]:
        """The score of every fold, (K,), of each contestant that says what the metric needs.

        A test set is one fold.
        """
        able = {n: one for n, one in self.said.items() if getattr(one, metric.needs) is not None}
        if self.folds is None:
            return {name: np.array([metric.score(self.y, one)]) for name, one in able.items()}
        places = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        return {
            name: np.array([metric.score(self.y[rows], one.rows(rows)) for rows in places])
            for name, one in able.items()
        }

    def scores(self, task: str) -> dict[str, dict[str, float]]:
        """{contestant: {metric: score}} of every metric of a task that can be had.

        The mean over folds where there are several, as the score of cross-validation is.
        """
        found: dict[str, dict[str, float]] = {name: {} for name in CONTESTANTS}
        for metric in METRICS.values():
            if task in metric.tasks:
                for name, scores in self.fold_scores(metric).items():
                    found[name][metric.name] = _mean(scores)
        return found


def predictions_by(
    models: tuple[Any, Any, Any],
    X: Any,
    y: np.ndarray,
    task: str,
    classes: Sequence[Any],
    row_groups: np.ndarray | None = None,
) -> Predictions:
    """Ask fitted models about test rows.

    Args:
        models: the tuned model, the default and the baseline, as a pipeline each.
        X: test rows as the models take them.
        y: their targets, as in the dataset.
        task: as the dataset has it.
        classes: the sorted class labels; empty for other tasks.
        row_groups: the group of each row, where rows belong together.
    """
    tuned, default, baseline = (say(model, X, classes, task=task, y=y) for model in models)
    return Predictions(targets_of(y, task, classes), tuned, default, baseline, row_groups)


def _mean(scores: np.ndarray) -> float:
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else float("nan")
