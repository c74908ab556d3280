"""The threshold between two classes, by what the two kinds of mistakes cost.

| symbol | code | meaning |
| --- | --- | --- |
| p | ``second`` | probability of the second class, out of fold |
| y | ``is_second`` | whether the row is of the second class |
| a | ``costs[0]`` | cost of calling a row of the first class the second one |
| b | ``costs[1]`` | cost of calling a row of the second class the first one |
| t | ``value`` | the threshold: a row is called the second class where p >= t |

For true probabilities t = a / (a + b) costs least (Elkan 2001, The foundations of cost-sensitive
learning, equation 2). Others are calibrated first, out of fold, by the curve of Kull, Silva Filho
and Flach (2017, Beta calibration), logit q = α + β₁ log 2p − β₂ log 2(1 − p), and t is the p where
q is a / (a + b). The t of least cost on the same rows would follow every one of few rows.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from core.errors import UnusableError
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
_EXACT = np.array([0.0, 1.0, 1.0])  # α, β₁ and β₂ of probabilities that are right: q = p
# Deviations of a normal prior about these, so that few rows do not move the threshold far.
_SPREAD = np.array([1.0, 0.5, 0.5])
_STEPS, _LEAST = 10_001, 1e-9  # of logit p, where the threshold is looked for, and p at its end


def _mean_cost(is_called: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    first, missed = (is_called & ~is_second).mean(), (~is_called & is_second).mean()
    return float(costs[0] * first + costs[1] * missed)


def calibrated_threshold(
    second: np.ndarray, is_second: np.ndarray, costs: Costs, weight: float = 1.0
) -> float:
    """The probability of the second class at which the calibrated one is a / (a + b), the `costs`.

    `second` are probabilities of rows that the model has not seen, `is_second` whether they are
    of it, both (n,); a row's `weight` is less than 1 where several are one unit.
    """
    ideal = costs[0] / (costs[0] + costs[1])
    if ideal in (0.0, 1.0):
        return float(np.nextafter(ideal, 2.0)) if ideal else 0.0  # of no row, or of every row
    # An ensemble's probabilities may be 0 and 1, which is half a step from the next ones.
    inner = second[(second > 0) & (second < 1)]
    steps = (inner.min(), 1 - inner.max()) if len(inner) else (2 / (len(second) + 2),) * 2
    ends = steps[0] / 2, 1 - steps[1] / 2
    terms, sign = _curve_terms(second.clip(*ends)), np.where(is_second, 1.0, -1.0)

    def penalized_loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins, shift = sign * (terms @ w), (w - _EXACT) / _SPREAD
        slope = weight * (terms.T @ (-sign * expit(-margins))) + shift / _SPREAD
        return weight * np.logaddexp(0.0, -margins).sum() + shift @ shift / 2, slope

    bounds = [(None, None), (0.0, None), (0.0, None)]  # a larger p never means a smaller q
    w = minimize(penalized_loss, _EXACT, jac=True, method="L-BFGS-B", bounds=bounds).x
    low = ends[0] if second.min() <= 0 else _LEAST
    high = ends[1] if second.max() >= 1 else 1 - _LEAST
    grid = expit(np.linspace(logit(low), logit(high), _STEPS))
    is_called = np.append(_curve_terms(grid) @ w >= logit(ideal), True)
    # Below the grid every row is called the second class, above it none.
    return float(np.concatenate(([0.0], grid[1:], [np.nextafter(1.0, 2.0)]))[is_called.argmax()])


def _curve_terms(p: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(p)), np.log(2 * p), -np.log(2 * (1 - p))])


def choose_threshold(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None = None
) -> DecisionThreshold | None:
    """The threshold for a fitted pipeline; None where mistakes have no costs.

    The model is fitted again in every fold, at its setting or at learned penalties. Rows of one
    unit count as much as one row.
    """
    costs = costs_of(problem.plan.costs, problem.dataset, problem.model)
    if costs is None:
        return None
    second, is_second = _out_of_fold_probabilities(problem, pipeline, learned)
    units = problem.units.take_rows(problem.train_rows)
    value = calibrated_threshold(second, is_second, costs, units.count / len(units.codes))
    ideal = costs[0] / (costs[0] + costs[1])
    values = (value, ideal, HALF)
    cost, ideal_cost, half_cost = (_mean_cost(second >= t, is_second, costs) for t in values)
    return DecisionThreshold(value, ideal, cost, ideal_cost, half_cost, len(second))


def replace_value(
    threshold: DecisionThreshold | None, value: float | None
) -> DecisionThreshold | None:
    """At a value that a person chose; as it is where nobody did."""
    if value is None:
        return threshold
    # Without costs nothing is measured out of fold.
    return replace(threshold or DecisionThreshold(value, HALF, 0, 0, 0, 0), value=value)


def check_threshold(problem: Problem, value: float | None) -> None:
    """UnusableError where a person's threshold cannot be kept with the model."""
    where = "threshold"
    if value is not None and not 0 <= value <= 1:
        raise UnusableError(f"{value:g} is no probability", where=where, cure="give 0 to 1")
    model, is_binary = problem.model, problem.dataset.task.has_two_classes
    # A folder has no place for it, and models of outer folds have thresholds of their own.
    if not is_binary or model.folder or model.probabilistic is not None or problem.is_nested:
        fault = "a threshold goes with a model that gives probabilities of two classes"
        cure = "choose such a model, without nested cross-validation"
        raise UnusableError(fault, where=where, cure=cure)


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
    """On the test rows, for each way of deciding."""
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
