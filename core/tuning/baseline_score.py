"""The score of the baseline, on the rows that settings are scored on."""

from __future__ import annotations

import math

import numpy as np

from core.estimators.baseline import baseline_pipeline
from core.tuning.problem import Problem
from core.tuning.scores.metrics import predict_for_metric, targets_of


def baseline_score(problem: Problem) -> float | None:
    """The baseline's mean score over the folds; None where it is undefined or there is no table."""
    if not problem.dataset.task.is_table:
        return None
    task, classes, metric = problem.dataset.task, problem.dataset.classes, problem.fold_metric
    target, scores = problem.dataset.target, []
    for fit_rows, score_rows in problem.splits:
        blank_fit_X, blank_score_X = (np.zeros((len(rows), 1)) for rows in (fit_rows, score_rows))
        baseline = baseline_pipeline(task, "passthrough").fit(blank_fit_X, target[fit_rows])
        y = target[score_rows]
        predictions = predict_for_metric(metric, baseline, blank_score_X, y, classes, task)
        scores.append(metric.score(targets_of(y, task, classes), predictions))
    score = float(np.mean(scores))
    return score if math.isfinite(score) else None
