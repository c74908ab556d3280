"""The threshold between two classes, by what the two kinds of mistakes cost.

| symbol | code | meaning |
| --- | --- | --- |
| p | ``second`` | probability of the second class, out of fold |
| y | ``is_second`` | whether the row is of the second class |
| a | ``costs[0]`` | cost of calling a row of the first class the second one |
| b | ``costs[1]`` | cost of calling a row of the second class the first one |
| t | ``value`` | the threshold: a row is called the second class where p >= t |

The cost of t is Σ a [y = 0, p >= t] + b [y = 1, p < t]. For true probabilities a / (a + b) is best
(Elkan 2001, The foundations of cost-sensitive learning, equation 2). The t of least cost on
out-of-fold predictions of the training rows also serves probabilities that are off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from core.estimators.fitting import fit_with_remarks
from core.optimize.descent import solve_penalized
from core.tuning.learning.training import PenaltyFit, table_training
from core.tuning.problem import Problem, take_rows
from core.tuning.run_results import CostResults, DecisionThreshold, MistakeCounts
from core.tuning.scores.imbalance import Costs, costs_of
from core.tuning.scores.metrics import codes_of, predict_all
from core.tuning.scores.predictions import ComparedPredictions

HALF = 0.5
_ENOUGH = 1e-8  # how near its minimum a fold's model must be


def cost_at(value: float, second: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    """A row's mean cost at a threshold."""
    return _mean_cost(second >= value, is_second, costs)


def _mean_cost(is_called: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    first, missed = (is_called & ~is_second).mean(), (~is_called & is_second).mean()
    return float(costs[0] * first + costs[1] * missed)


def cheapest_threshold(second: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    """The threshold of least cost, among equals the one nearest a / (a + b), in O(n log n).

    Thresholds between two neighbouring probabilities cost the same, so one per gap is tried.

    Args:
        second: probabilities of the second class, (n,).
        is_second: whether the rows are of it, (n,).
        costs: a and b.
    """
    probabilities, index = np.unique(second, return_inverse=True)
    rows = np.bincount(index, minlength=len(probabilities))
    positive = np.bincount(index, is_second, minlength=len(probabilities))
    # Gap k lies below the k-th probability: those from there on are called the second class.
    called_first = np.concatenate(([0.0], np.cumsum(positive)))
    called_second = np.concatenate((np.cumsum((rows - positive)[::-1])[::-1], [0.0]))
    total = costs[0] * called_second + costs[1] * called_first
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    # The last edge lies above every probability: from there no row is called the second class.
    edges = np.concatenate(([0.0], probabilities, [max(1.0, np.nextafter(probabilities[-1], 2.0))]))
    ideal = costs[0] / (costs[0] + costs[1])
    # The gap above the k-th probability excludes it and includes the next one.
    gaps = best[(edges[best] < ideal) & (ideal <= edges[best + 1])]
    # An ideal of 0 is the lower end of the first gap, which excludes it.
    if len(gaps) or (ideal == 0 and 0 in best):
        return ideal
    low, high = edges[best], edges[best + 1]
    middles = (low + high) / 2
    middles = np.where(middles > low, middles, high)  # between neighbouring floats lies none
    return float(middles[np.abs(middles - ideal).argmin()])


def choose_threshold(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None = None
) -> DecisionThreshold | None:
    """The threshold for a fitted pipeline; None where mistakes have no costs.

    The model is fitted again in every fold, at its setting or at learned penalties.
    """
    costs = costs_of(problem.plan.costs, problem.dataset, problem.model)
    if costs is None:
        return None
    second, is_second = _out_of_fold_probabilities(problem, pipeline, learned)
    value = cheapest_threshold(second, is_second, costs)
    ideal = costs[0] / (costs[0] + costs[1])
    values = (value, ideal, HALF)
    cost, ideal_cost, half_cost = (cost_at(t, second, is_second, costs) for t in values)
    return DecisionThreshold(value, ideal, cost, ideal_cost, half_cost, len(second))


def _out_of_fold_probabilities(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None
) -> tuple[np.ndarray, np.ndarray]:
    dataset, fold_probabilities, fold_targets = problem.dataset, [], []
    X, y = dataset.features, dataset.target
    for fit_rows, held_rows in problem.splits:
        if learned is None:
            model = clone(pipeline)
            fit_with_remarks(model, take_rows(X, fit_rows), y[fit_rows])
        else:
            model = _fit_at_penalties(problem, learned, fit_rows)
        held_X = take_rows(X, held_rows)
        predictions = predict_all(model, held_X, dataset.classes, task=dataset.task)
        assert predictions.probabilities is not None  # the problem's model is one that gives them
        fold_probabilities.append(predictions.probabilities[:, 1])
        fold_targets.append(codes_of(y[held_rows], dataset.classes) == 1)
    return np.concatenate(fold_probabilities), np.concatenate(fold_targets)


def _fit_at_penalties(problem: Problem, learned: PenaltyFit, rows: np.ndarray) -> Pipeline:
    training = table_training(problem, rows)
    by_group = {name: learned.penalties[name] for name in training.group_names}
    penalties = np.concatenate(([0.0], list(by_group.values())))[training.groups + 1]
    start = training.loss.initial_weights()
    w = solve_penalized(training.loss, penalties, start, tolerance=_ENOUGH, max_steps=100).point.w
    return training.pipeline(w, by_group, learned.classes)


def with_threshold(
    pipeline: Pipeline, threshold: DecisionThreshold, classes: tuple[Any, ...]
) -> Pipeline:
    """The fitted pipeline with scikit-learn's `FixedThresholdClassifier` around its last step.

    The preparation stays the pipeline's first step, and a refit keeps the threshold.
    """
    name, model = pipeline.steps[-1]
    fixed = FixedThresholdClassifier(
        model,
        threshold=threshold.value,
        pos_label=np.asarray(classes)[1].item(),
        response_method="predict_proba",
    )
    fixed.estimator_ = model
    fixed.n_features_in_ = model.n_features_in_
    return Pipeline([*pipeline.steps[:-1], (name, fixed)])


def cost_results(
    problem: Problem, threshold: DecisionThreshold, predictions: ComparedPredictions
) -> CostResults:
    """Mistakes and a row's mean cost on the test rows, for each way of deciding."""
    costs = costs_of(problem.plan.costs, problem.dataset, problem.model)
    assert costs is not None  # a threshold was chosen by them
    first, second = (str(label) for label in problem.dataset.classes)
    is_known = predictions.y >= 0
    tuned, base = predictions.tuned.probabilities, predictions.baseline.probabilities
    assert tuned is not None  # the problem's model is one that gives them
    assert base is not None
    is_second, frequency = predictions.y[is_known] == 1, base[is_known, 1]

    def mistake_counts(is_called: np.ndarray, says: str | None = None) -> MistakeCounts:
        false, missed = int((is_called & ~is_second).sum()), int((~is_called & is_second).sum())
        cost = _mean_cost(is_called, is_second, costs)
        return MistakeCounts({first: false, second: missed}, cost, says)

    is_second_cheaper = costs[0] * (1 - frequency) < costs[1] * frequency
    baseline_label = second if is_second_cheaper.any() else first
    return CostResults(
        costs={first: costs[0], second: costs[1]},
        of=second,
        threshold=threshold.value,
        theoretical=threshold.theoretical,
        out_of_fold=threshold,
        rows=int(is_known.sum()),
        tuned=mistake_counts(predictions.tuned.labels[is_known] == 1),
        half=mistake_counts(tuned[is_known, 1] > HALF),
        baseline=mistake_counts(is_second_cheaper, says=baseline_label),
    )
