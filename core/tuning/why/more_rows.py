"""Would more rows help: the tested setting fitted on parts of the training rows.

The setting (or the penalties) is not tuned again, and every part is scored on the same test rows,
of outer folds the first. The interval is a bootstrap of the test rows and, with replacement, of the
parts drawn; all rows are one part only, so their interval is of the test rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.evaluation.power import SHARES, mean_of_parts, mean_with_interval, nested_parts
from core.tuning.problem import Problem
from core.tuning.scores.intervals import percentile_interval, resampled_scores
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import predict_all
from core.tuning.why.answer_types import LearningCurve, LearningGain, LearningSize
from core.tuning.why.tested_model import TestedFold, TestedModel, units_of_rows

REPEATS = 3
MAX_TEST_ROWS = 5000


def curve_fit_count() -> float:
    """The curve's cost in fits on all rows."""
    return REPEATS * sum(share for share in SHARES if share < 1)


def learning_curve(tested_model: TestedModel) -> Iterator[LearningCurve]:
    """The curve after every size."""
    fold, seed = tested_model.folds[0], tested_model.problem.plan.seed
    fold = fold.sample_rows(MAX_TEST_ROWS, np.random.default_rng(seed))
    metric, rows = tested_model.metric, fold.problem.train_rows
    row_samples = [_row_samples(fold.problem, seed + repeat) for repeat in range(REPEATS)]
    sizes: dict[float, LearningSize] = {}
    scores_by_share: dict[float, np.ndarray] = {}
    for index, share in enumerate(SHARES):
        # On all rows it is the tested model, which is fitted already.
        models = [fold.pipeline]
        if share < 1:
            row_sets = (rows[sample[index]] for sample in row_samples)
            refits = [_fit_on_rows(tested_model, fold.problem, row_set) for row_set in row_sets]
            models = [model for model in refits if model is not None]
        if models:
            all_predictions = [_predict_fold(fold, model) for model in models]
            scores = [metric.score(fold.y, predictions) for predictions in all_predictions]
            scores_by_share[share] = _resample_scores(metric, fold, all_predictions, seed)
            low, high = mean_with_interval(scores_by_share[share], seed)
            size, mean = len(row_samples[0][index]), float(np.mean(scores))
            sizes[share] = LearningSize(size, mean, low, high, len(models))
        curve = LearningCurve(metric.name, metric.maximize, list(sizes.values()), done=share == 1)
        yield _with_gain(curve, sizes, scores_by_share) if 1.0 in sizes else curve


def _fit_on_rows(tested_model: TestedModel, problem: Problem, rows: np.ndarray) -> Any:
    if not _has_enough_rows(problem, rows):
        return None
    try:
        return tested_model.refit(problem.with_rows(rows, problem.test_rows))
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError):
        return None  # such as more neighbours than rows


def _with_gain(
    curve: LearningCurve, sizes: dict[float, LearningSize], scores_by_share: dict[float, np.ndarray]
) -> LearningCurve:
    if 0.5 not in sizes:
        return replace(curve, answer="unclear")
    sign, half, full = 1.0 if curve.maximize else -1.0, sizes[0.5], sizes[1.0]
    # Half of the rows and all are scored on the same resamples of test rows.
    half_scores = mean_of_parts(scores_by_share[0.5], 1)
    low, high = percentile_interval(sign * (scores_by_share[1.0][0] - half_scores))
    gain = LearningGain(sign * (full.mean - half.mean), low, high, half.rows, full.rows)
    answer = "yes" if low > 0 else "no" if high <= 0 else "unclear"
    return replace(curve, gain=gain, answer=answer)


def _row_samples(problem: Problem, seed: int) -> list[np.ndarray]:
    dataset, rows = problem.dataset, problem.train_rows
    labels = None
    if dataset.classes:
        labels = np.unique(dataset.target[rows], return_inverse=True)[1]
    groups = None if dataset.kept_together is None else dataset.kept_together[rows]
    return nested_parts(labels, groups, len(rows), SHARES, seed)


def _has_enough_rows(problem: Problem, rows: np.ndarray) -> bool:
    """Whether a model can be fitted: all classes, and a few rows each."""
    if not problem.dataset.classes:
        return len(rows) >= 10
    class_count = len(np.unique(problem.dataset.target[problem.train_rows]))
    present_count = len(np.unique(problem.dataset.target[rows]))
    return len(rows) >= max(10, 3 * class_count) and present_count == class_count


def _predict_fold(fold: TestedFold, model: Any) -> Predictions:
    dataset = fold.problem.dataset
    return predict_all(model, fold.X, dataset.classes, task=dataset.task)


def _resample_scores(
    metric: Metric, fold: TestedFold, all_predictions: list[Predictions], seed: int
) -> np.ndarray:
    # Units as groups also where they are single rows: rows alike in all labels would be drawn
    # together, which differs from size to size, and sizes are compared on the same rows.
    units = units_of_rows(fold.problem, fold.rows)
    return resampled_scores(metric, fold.y, all_predictions, seed, units.index)
