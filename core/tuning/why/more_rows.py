"""Would more rows help: the tested setting fitted on parts of the training rows.

Not tuned again; all parts are scored on the same test rows, of outer folds the first. The interval
holds the chance of the test rows, by their units, and of the parts drawn.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.evaluation.power import nested_parts
from core.tuning.problem import Problem
from core.tuning.scores.metric import Predictions
from core.tuning.scores.unit_scores import mean_difference
from core.tuning.why.answer_types import LearningCurve, LearningGain, LearningSize
from core.tuning.why.questions import CURVE_REPEATS, CURVE_SHARES
from core.tuning.why.tested_model import TestedModel, units_of_rows

MAX_TEST_ROWS = 5000


def learning_curve(tested_model: TestedModel) -> Iterator[LearningCurve]:
    """The curve after every size."""
    fold, seed = tested_model.folds[0], tested_model.problem.plan.seed
    fold = fold.sample_rows(MAX_TEST_ROWS, np.random.default_rng(seed))
    metric, rows = tested_model.metric, fold.problem.train_rows
    units = units_of_rows(fold.problem, fold.rows)
    row_samples = [_row_samples(fold.problem, seed + repeat) for repeat in range(CURVE_REPEATS)]
    sizes: dict[float, LearningSize] = {}
    predictions_by_share: dict[float, list[Predictions]] = {}
    for index, share in enumerate(CURVE_SHARES):
        # On all rows it is the tested model, which is fitted already.
        models = [fold.pipeline]
        if share < 1:
            row_sets = (rows[sample[index]] for sample in row_samples)
            refits = [_fit_on_rows(tested_model, fold.problem, row_set) for row_set in row_sets]
            models = [model for model in refits if model is not None]
        if models:
            predictions_by_share[share] = [
                replace(fold, pipeline=m).predict(fold.X) for m in models
            ]
            ends = mean_difference(metric, fold.y, predictions_by_share[share], [], units)
            sizes[share] = LearningSize(len(row_samples[0][index]), *ends, len(models))
        curve = LearningCurve(metric.name, metric.maximize, list(sizes.values()), done=share == 1)
        if 0.5 in sizes and 1.0 in sizes:
            compared = predictions_by_share[1.0], predictions_by_share[0.5]
            ends = mean_difference(metric, fold.y, *compared, units)
            curve = _with_gain(curve, ends, sizes[0.5].rows, sizes[1.0].rows)
        elif 1.0 in sizes:
            curve = replace(curve, answer="unclear")
        yield curve


def _fit_on_rows(tested_model: TestedModel, problem: Problem, rows: np.ndarray) -> Any:
    if not _has_enough_rows(problem, rows):
        return None
    try:
        return tested_model.refit(problem.with_rows(rows, problem.test_rows))
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError):
        return None  # such as more neighbours than rows


def _with_gain(
    curve: LearningCurve, ends: tuple[float, float, float], half_rows: int, rows: int
) -> LearningCurve:
    difference, *edges = (end if curve.maximize else -end for end in ends)
    low, high = sorted(edges)
    gain = LearningGain(difference, low, high, half_rows, rows)
    answer = "yes" if low > 0 else "no" if high <= 0 else "unclear"
    return replace(curve, gain=gain, answer=answer)


def _row_samples(problem: Problem, seed: int) -> list[np.ndarray]:
    dataset, rows = problem.dataset, problem.train_rows
    labels = None
    if dataset.classes:
        labels = np.unique(dataset.target[rows], return_inverse=True)[1]
    groups = None if dataset.kept_together is None else dataset.kept_together[rows]
    return nested_parts(labels, groups, len(rows), CURVE_SHARES, seed)


def _has_enough_rows(problem: Problem, rows: np.ndarray) -> bool:
    if not problem.dataset.classes:
        return len(rows) >= 10
    class_count = len(np.unique(problem.dataset.target[problem.train_rows]))
    present_count = len(np.unique(problem.dataset.target[rows]))
    return len(rows) >= max(10, 3 * class_count) and present_count == class_count
