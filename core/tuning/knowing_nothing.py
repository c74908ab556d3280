"""The score of knowing nothing of the columns, on the rows by which settings are judged."""

from __future__ import annotations

import math

import numpy as np

from core.estimators.baseline import baseline_pipeline
from core.tuning.problem import Problem
from core.tuning.scores.metrics import said_by, targets_of

OF_TABLES = ("regression", "binary", "multiclass")


def baseline_score(problem: Problem) -> float | None:
    """The mean over the folds of the baseline's score; None where it has none.

    The baseline is fitted to the targets alone, so that no column is looked at.

    Args:
        problem: of a table; other data have no baseline.
    """
    if problem.dataset.task not in OF_TABLES:
        return None
    task, classes, metric = problem.dataset.task, problem.dataset.classes, problem.metric
    target, scores = problem.dataset.target, []
    for fit_rows, score_rows in problem.splits:
        blank, other = (np.zeros((len(rows), 1)) for rows in (fit_rows, score_rows))
        baseline = baseline_pipeline(task, "passthrough").fit(blank, target[fit_rows])
        said = said_by(metric, baseline, other, target[score_rows], classes, task)
        scores.append(metric.score(targets_of(target[score_rows], task, classes), said))
    score = float(np.mean(scores))
    return score if math.isfinite(score) else None
