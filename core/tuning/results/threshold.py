"""The threshold between two classes, by what the two kinds of mistakes cost.

| symbol | code | meaning |
| --- | --- | --- |
| p | ``second`` | probability of the second class that a row gets, from a model that never saw it |
| y | ``is_second`` | whether the row is of the second class |
| a | ``costs[0]`` | what it costs to call a row of the first class the second one |
| b | ``costs[1]`` | what it costs to call a row of the second class the first one |
| t | ``value`` | the threshold: a row is called the second class where p >= t |

The cost of t is Σ a [y = 0, p >= t] + b [y = 1, p < t]. Were the probabilities true, a / (a + b)
would be the best t (Elkan 2001, The foundations of cost-sensitive learning, equation 2). The one
that costs least on out-of-fold predictions of the training rows is taken: it also serves
probabilities that are off. Test rows have no part in it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from core.estimators.fitting import fit
from core.optimize.descent import solve
from core.tuning.learning.run import Learned
from core.tuning.learning.table_training import table_training
from core.tuning.problem import Problem, take
from core.tuning.scores.costs import Costs, costs_of
from core.tuning.scores.metrics import codes_of, say
from core.tuning.scores.predictions import Predictions

HALF = 0.5
_ENOUGH = 1e-8  # how near its minimum a fold's model must be


@dataclass(frozen=True)
class Threshold:
    """A chosen threshold, and what each way of deciding costs a row out of fold.

    Attributes:
        value: a row is called the second class from this probability on.
        theoretical: the threshold that would be best were the probabilities true.
        cost, theoretical_cost, half_cost: a row's mean cost at `value`, there, and at one half.
        rows: how many rows they rest on.
    """

    value: float
    theoretical: float
    cost: float
    theoretical_cost: float
    half_cost: float
    rows: int


def cost_at(value: float, second: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    """A row's mean cost at a threshold."""
    return _mean_cost(second >= value, is_second, costs)


def _mean_cost(called: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    first, missed = (called & ~is_second).mean(), (~called & is_second).mean()
    return float(costs[0] * first + costs[1] * missed)


def least_cost(second: np.ndarray, is_second: np.ndarray, costs: Costs) -> float:
    """The threshold of the least cost: of all that cost the same, the one nearest a / (a + b).

    Every threshold between two neighbouring probabilities costs the same, so that one of each gap
    is enough: O(n log n).

    Args:
        second: probabilities of the second class, (n,).
        is_second: whether the rows are of it, (n,).
        costs: a and b.
    """
    found, place = np.unique(second, return_inverse=True)
    rows = np.bincount(place, minlength=len(found))
    positive = np.bincount(place, is_second, minlength=len(found))
    # Gap k lies below the k-th probability: those from there on are called the second class.
    called_first = np.concatenate(([0.0], np.cumsum(positive)))
    called_second = np.concatenate((np.cumsum((rows - positive)[::-1])[::-1], [0.0]))
    total = costs[0] * called_second + costs[1] * called_first
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    edges = np.concatenate(([0.0], found, [max(1.0, np.nextafter(found[-1], 2.0))]))
    ideal = costs[0] / (costs[0] + costs[1])
    # The gap above the k-th probability excludes it and includes the next one.
    inside = best[(edges[best] < ideal) & (ideal <= edges[best + 1])]
    if len(inside) or (ideal == 0 and 0 in best):
        return ideal
    low, high = edges[best], edges[best + 1]
    middles = (low + high) / 2
    middles = np.where(middles > low, middles, high)  # between neighbouring floats lies none
    return float(middles[np.abs(middles - ideal).argmin()])


def choose_threshold(
    problem: Problem, pipeline: Pipeline, learned: Learned | None = None
) -> Threshold | None:
    """The threshold for a fitted model of a problem; None where mistakes have no costs.

    The model is fitted again on the rows of every fold: at its setting, or at the penalties that
    were learned.

    Args:
        problem: the run's problem.
        pipeline: the tuned model, fitted on the training rows.
        learned: what a penalty learner left, where one made the model.
    """
    costs = costs_of(problem.plan.costs, problem.dataset, problem.model)
    if costs is None:
        return None
    second, is_second = _out_of_fold(problem, pipeline, learned)
    value = least_cost(second, is_second, costs)
    ideal = costs[0] / (costs[0] + costs[1])
    at, there, half = (cost_at(t, second, is_second, costs) for t in (value, ideal, HALF))
    return Threshold(value, ideal, at, there, half, len(second))


def _out_of_fold(
    problem: Problem, pipeline: Pipeline, learned: Learned | None
) -> tuple[np.ndarray, np.ndarray]:

    dataset, parts, truths = problem.dataset, [], []
    for fit_rows, held_rows in problem.splits:
        if learned is None:
            model = clone(pipeline)
            fit(model, take(dataset.features, fit_rows), dataset.target[fit_rows])
        else:
            model = _at_penalties(problem, learned, fit_rows)
        said = say(model, take(dataset.features, held_rows), dataset.classes, task=dataset.task)
        assert said.probabilities is not None  # the problem's model is one that gives them
        parts.append(said.probabilities[:, 1])
        truths.append(codes_of(dataset.target[held_rows], dataset.classes) == 1)
    return np.concatenate(parts), np.concatenate(truths)


def _at_penalties(problem: Problem, learned: Learned, rows: np.ndarray) -> Pipeline:
    """The model at the learned penalties, fitted on some rows."""
    training = table_training(problem, rows)
    by_group = {name: learned.penalties[name] for name in training.group_names}
    penalties = np.concatenate(([0.0], list(by_group.values())))[training.groups + 1]
    start = training.loss.start()
    w = solve(training.loss, penalties, start, tolerance=_ENOUGH, most=100).point.w
    return training.pipeline(w, by_group, learned.classes)


def with_threshold(pipeline: Pipeline, threshold: Threshold, classes: tuple[Any, ...]) -> Pipeline:
    """The fitted pipeline with scikit-learn's `FixedThresholdClassifier` around its last step.

    Around that step and not around the whole, so that the preparation stays where programs look
    for it; the predictions are the same. Fitted again, it keeps its threshold.
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


def of_costs(problem: Problem, threshold: Threshold, predictions: Predictions) -> dict[str, Any]:
    """`results["costs"]`: mistakes and the cost of a row in the test, of each way of deciding.

    Args:
        problem: the run's problem.
        threshold: as it was chosen.
        predictions: what the contestants say about the test rows.

    Returns:
        ``costs`` {class: cost}; ``of``, the second class; ``threshold``, ``theoretical``;
        ``out_of_fold``, the costs that chose it; ``rows`` of the test; and of ``tuned`` (at the
        threshold), ``half`` (the same model at one half) and ``baseline`` (always the class that
        costs less on the training rows) the ``mistakes`` {class: rows called the other} and the
        ``cost`` of a row.
    """
    costs = costs_of(problem.plan.costs, problem.dataset, problem.model)
    assert costs is not None  # a threshold was chosen by them
    first, second = (str(label) for label in problem.dataset.classes)
    known = predictions.y >= 0
    shares, base = predictions.tuned.probabilities, predictions.baseline.probabilities
    assert shares is not None  # the problem's model is one that gives them
    assert base is not None
    is_second, share, frequency = predictions.y[known] == 1, shares[known, 1], base[known, 1]

    def counted(called: np.ndarray) -> dict[str, Any]:
        mistakes = (int((called & ~is_second).sum()), int((~called & is_second).sum()))
        cost = _mean_cost(called, is_second, costs)
        return {"mistakes": dict(zip((first, second), mistakes, strict=True)), "cost": cost}

    always = costs[0] * (1 - frequency) < costs[1] * frequency
    return {
        "costs": {first: costs[0], second: costs[1]},
        "of": second,
        "threshold": threshold.value,
        "theoretical": threshold.theoretical,
        "out_of_fold": asdict(threshold),
        "rows": int(known.sum()),
        "tuned": counted(predictions.tuned.labels[known] == 1),
        "half": counted(share > HALF),
        "baseline": counted(always) | {"says": second if always.any() else first},
    }
