"""The predictions of three contestants for the same test rows.

They are the tuned model, the same model at its default setting, and the baseline
(core.estimators.baseline).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.datasets.task import Task
from core.datasets.units import Units, single_rows
from core.evaluation.influence import fold_rows
from core.evaluation.paired_tests import FOLD_ROW_WEIGHT
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import METRICS, predict_all, targets_of

_QUICK, _REPEATED = 0.1, 0.02  # seconds of a prediction that is repeated, and of its repetitions
TUNED, DEFAULT, BASELINE = CONTESTANTS = ("tuned", "default", "baseline")
AllScores = dict[str, dict[str, float]]  # {contestant: {metric: score}}


@dataclass(frozen=True)
class ComparedPredictions:
    """The contestants' predictions for n rows that they were not fitted to."""

    y: np.ndarray  # codes or numbers (`targets_of`), shape (n,)
    tuned: Predictions
    default: Predictions
    baseline: Predictions
    row_units: Units | None = None  # what is independent; None for every row
    folds: np.ndarray | None = None  # that tested each row, (n,), by nested cross-validation
    tuned_seconds: float | None = None  # to predict a row, as of `timed_predictions`
    default_seconds: float | None = None

    @property
    def units(self) -> Units:
        return single_rows(len(self.y)) if self.row_units is None else self.row_units

    @property
    def by_model(self) -> dict[str, Predictions]:
        return {TUNED: self.tuned, DEFAULT: self.default, BASELINE: self.baseline}

    def outputs_for(self, metric: Metric) -> dict[str, Predictions]:
        """{contestant: predictions} of those that have what the metric needs."""
        pairs = self.by_model.items()
        return {name: output for name, output in pairs if getattr(output, metric.needs) is not None}

    @property
    def row_weight(self) -> float:
        """What a row counts in intervals."""
        return 1.0 if self.folds is None else FOLD_ROW_WEIGHT

    def pooled_score(self, metric: Metric, output: Predictions) -> float:
        """The score of all rows together; of a metric that compares rows the mean over folds.

        The scores of several models have no common scale to compare rows by, while F1 and R² of
        folds of few rows are biased (Forman & Scholz 2010, SIGKDD Explorations 12).
        """
        if self.folds is None or metric.needs != "scores":
            return metric.score(self.y, output)
        folds = fold_rows(self.folds, len(self.y))
        scores = np.array([metric.score(self.y[rows], output.subset(rows)) for rows in folds])
        is_finite = np.isfinite(scores)
        return float(scores[is_finite].mean()) if is_finite.any() else float("nan")

    def all_scores(self, task: str) -> AllScores:
        """The scores of every metric of a task that is available."""
        scores_by_model: AllScores = {name: {} for name in CONTESTANTS}
        for metric in METRICS.values():
            if task in metric.tasks:
                for name, output in self.outputs_for(metric).items():
                    scores_by_model[name][metric.name] = self.pooled_score(metric, output)
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
    (tuned, tuned_seconds), (default, default_seconds), (baseline, _) = (
        timed_predictions(model, X, y, task, classes) for model in models
    )
    return ComparedPredictions(
        targets_of(y, task, classes),
        tuned,
        default,
        baseline,
        row_units,
        tuned_seconds=tuned_seconds,
        default_seconds=default_seconds,
    )


def timed_predictions(
    model: Any, X: Any, y: np.ndarray, task: str, classes: Sequence[Any]
) -> tuple[Predictions, float | None]:
    """The predictions of a fitted pipeline for n rows, and its seconds a row where X is a table."""
    seconds = end = math.inf
    is_table = Task(task).is_table
    while True:
        start, processor_start = time.perf_counter(), time.process_time()
        predictions = predict_all(model, X, classes, task=task, y=y)
        now = time.perf_counter()
        # Other programs make the clock's time longer, several threads the processor's.
        seconds = min(seconds, now - start, time.process_time() - processor_start)
        if not is_table or seconds > _QUICK or now > end:
            return predictions, seconds / max(1, len(y)) if is_table else None
        # The first call of all may import and compile: it does not count.
        end = min(end, now + _REPEATED)
