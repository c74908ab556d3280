"""Averages over the best models of a run instead of the one best (McInerney 2017, §3.2, eq. 4).

Notation:
    S       finished trials: those that gave a score
    T       how many models are averaged, max(1, ⌊S/10⌋)
    f       score of a trial
    w       weight of a member, shape (T,), not negative, sum 1
    log p   log predictive density of every row under every member, shape (rows, T); a row is what
            is predicted at once: a document, an image, a line of a table

The average is one of densities, row by row: log Σ_t w_t p_t(row), and then summed over the rows.
An average over the whole test set would pick its single best model.

`TopModels` keeps as many models as the planned number of trials needs, and one spare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from core.gp.kernels import Array, Indices
from core.gp.warping import scale_of

SHARE = 10  # one model in ten
BAG = 5  # models that greedy selection begins with
ROUNDS = 100
BAGS, BAG_SHARE, BAG_ROUNDS = 16, 0.5, 25  # selections whose mean is taken; members each may take
LEAST_WEIGHT = 0.02  # of that mean; smaller ones are left out
CLEAR_ERRORS = 2.0  # standard errors, by which a selection is clearly worse than the best one


def member_count(finished: int) -> int:
    """T = max(1, ⌊S/10⌋); 0 while no trial is finished."""
    return max(1, finished // SHARE) if finished > 0 else 0


def best_tenth(
    scores: Mapping[int, float], *, maximize: bool, excluded: Collection[int] = ()
) -> list[int]:
    """The numbers of the T best trials, the best first; of equal scores the earlier trial first.

    `scores`: {trial: f}, not finite ones count as failed; `excluded`: trials that a person left
    out, they count in S but are no members.
    """
    ranked = rank_trials(scores, maximize=maximize)
    members = [number for number in ranked if number not in excluded]
    return members[: member_count(len(ranked))]


def rank_trials(scores: Mapping[int, float], *, maximize: bool) -> list[int]:
    """All trials with a finite score, the best first, of equal scores the earlier trial first."""
    sign = -1.0 if maximize else 1.0
    finite = [number for number, score in scores.items() if math.isfinite(score)]
    return sorted(finite, key=lambda number: (sign * scores[number], number))


def tempered_weights(
    scores: Mapping[int, float], chosen: Sequence[int], *, maximize: bool
) -> Array:
    """Weights ∝ exp z of the members `chosen`, z the standardized score {trial: f}, shape (T,)."""
    # Standardized over all trials with a score: over the members alone one standard deviation
    # would shrink as they become alike.
    finite = np.array([score for score in scores.values() if math.isfinite(score)])
    z = np.array([scores[number] for number in chosen]) / scale_of(finite, maximize).scale
    z = z if maximize else -z
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def greedy_weights(members: Array, y: Array | None = None, *, rounds: int = ROUNDS) -> Array:
    """Weights by greedy selection with replacement (Caruana et al. 2004), shape (T,).

    Begins with a bag of the best members (§2.2, "sorted ensemble initialization"), then adds,
    `rounds` times, the member with which the bag's average predicts the rows best; the weights are
    the counts in the best bag on the way. `members`: log p of validation rows that they were not
    fitted to, shape (rows, T), finite or −∞; or, of the true numbers y (rows,), predictions, whose
    mean has a squared error.
    """
    if y is None:
        # Densities are relative to the largest of their row: no overflow, and one logarithm a sum.
        largest = members.max(axis=1, keepdims=True)
        table = np.exp(members - np.where(np.isfinite(largest), largest, 0.0))
        scores = members.sum(axis=0)
    else:
        table = members - y[:, None]
        scores = -np.sum(table**2, axis=0)

    def bag_score(mean: Array) -> float:
        return float(np.log(mean).sum() if y is None else -np.mean(mean**2))

    def scores_with_each(total: Array) -> Array:
        if y is None:
            return np.asarray(np.log(table + total[:, None]).sum(axis=0))
        # −Σ(t + e)² for every member at once; the sum of t² is the same for all.
        return np.asarray(scores - 2.0 * (total @ table))

    # A bag of the best one alone is tried as well: no weights are then worse than it.
    T, order = members.shape[1], np.argsort(-scores, kind="stable")
    best, best_score = np.eye(T)[order[0]], -np.inf
    with np.errstate(divide="ignore"):
        for start in sorted({1, min(BAG, T)}):
            counts = np.bincount(order[:start], minlength=T).astype(float)
            for _ in range(rounds + 1):
                total = table @ counts
                if (score := bag_score(total / counts.sum())) > best_score:
                    best, best_score = counts.copy(), score
                counts[int(np.argmax(scores_with_each(total)))] += 1.0
    return best / best.sum()


def bagged_weights(
    choose: Callable[[Indices], Array], losses: Callable[[Array], Array], count: int
) -> Array:
    """Mean weights of greedy selections among random halves of the members, shape (count,).

    Members that one selection passes over for their equals share the weight (Caruana et al. 2004,
    §2.3).

    Args:
        choose: the weights of some members, in `BAG_ROUNDS` rounds.
        losses: of the average with weights (count,), for every row, finite.
    """
    random, size = np.random.default_rng(0), math.ceil(BAG_SHARE * count)
    bags = np.zeros((BAGS, count))
    for weights in bags:
        members = np.sort(random.permutation(count)[:size])
        weights[members] = choose(members)
    rows = np.stack([losses(weights) for weights in bags])
    # A half without what all depends on is clearly worse than the best half, and left out.
    gaps = rows - rows[rows.mean(axis=1).argmin()]
    errors = gaps.std(axis=1) / math.sqrt(rows.shape[1])
    mean = bags[gaps.mean(axis=1) <= CLEAR_ERRORS * errors].mean(axis=0)
    # Each of more than fifty members may have less than the least weight: the largest stays.
    mean[mean < min(LEAST_WEIGHT, mean.max())] = 0.0
    return mean / mean.sum()


def average_log_densities(log_densities: Array, weights: Array) -> Array:
    """The average's log Σ_t w_t p_t for every row, shape (rows,) (McInerney 2017, eq. 4)."""
    has_weight = weights > 0.0
    return _log_sum_exp(log_densities[:, has_weight] + np.log(weights[has_weight]))


def average_probabilities(probabilities: Array | Sequence[Array], weights: Array) -> Array:
    """Σ_t w_t p_t(class): members' probabilities (T, rows, classes) -> (rows, classes)."""
    average = weights[0] * probabilities[0]
    for weight, member in zip(weights[1:], probabilities[1:], strict=True):
        average += weight * member
    return average


def effective_members(weights: Array) -> float:
    """1/Σw²: T for equal weights, 1 where one member has all the weight."""
    return float(1.0 / np.sum(np.square(weights)))


def disagreement(probabilities: Array, weights: Array) -> Array:
    """Σ_t w_t KL(p_t ‖ average) by row of probabilities (T, rows, classes), nats, shape (rows,).

    The Jensen–Shannon divergence of the members: 0 where they agree, at most the entropy of w.
    """
    average = average_probabilities(probabilities, weights)
    of_members = average_probabilities(_entropy(probabilities), weights)
    return np.maximum(_entropy(average) - of_members, 0.0)


def density_gap(log_densities: Array, weights: Array) -> Array:
    """By row log Σ_t w_t p_t − Σ_t w_t log p_t, in nats, shape (rows,); never negative.

    The spread of members that give a density of what was seen only; it must be finite.
    """
    has_weight = weights > 0.0
    mean = log_densities[:, has_weight] @ weights[has_weight]
    return np.maximum(average_log_densities(log_densities, weights) - mean, 0.0)


def _entropy(probabilities: Array) -> Array:
    """−Σ p log p over the last entries, with 0 log 0 = 0."""
    logs = np.log(np.where(probabilities > 0.0, probabilities, 1.0))
    return -(probabilities * logs).sum(axis=-1)


def _log_sum_exp(values: Array) -> Array:
    """The logarithm of Σ exp over the last entries; −∞ where all are."""
    largest = values.max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - safe).sum(axis=-1)) + safe[..., 0]


Model = TypeVar("Model")


class TopModels(Generic[Model]):
    """Holds the models of the best trials and drops a model the moment it leaves the top.

    Held are T and one spare: T = max(1, ⌊S/10⌋), S being the trials with a finite score so far,
    {trial: f} in `scores`, or those `planned` where these are more (0: open). `excluded`: trials
    that a person left out of the average; they count in S.
    """

    def __init__(self, *, maximize: bool, planned: int) -> None:
        self.maximize, self.planned = maximize, planned
        self.scores: dict[int, float] = {}
        self.excluded: set[int] = set()
        self._models: dict[int, Model] = {}

    @property
    def capacity(self) -> int:
        return member_count(max(len(self.scores), self.planned, 1)) + 1

    @property
    def members(self) -> list[int]:
        """The trials whose models are averaged, the best first."""
        return best_tenth(self.scores, maximize=self.maximize, excluded=self.excluded)

    @property
    def trials_with_models(self) -> list[int]:
        return [number for number in self._ranked_trials() if number in self._models]

    def member_models(self) -> dict[int, Model]:
        """{member: model}, the best first, without those that are missing."""
        return {n: self._models[n] for n in self.members if n in self._models}

    def add_model(self, number: int, score: float, model: Model) -> None:
        """A finished trial; one whose score is not finite counts as failed and is not held."""
        if math.isfinite(score):
            self.scores[number] = score
            self._models[number] = model
            self._evict()

    def exclude(self, number: int) -> None:
        """Leaves a trial out of the average; the next best moves up."""
        self.excluded.add(number)
        self._evict()

    def include(self, number: int) -> None:
        """Takes a trial back in; where it is among the best again, its model is missing."""
        self.excluded.discard(number)
        self._evict()

    def _ranked_trials(self) -> list[int]:
        ranked = rank_trials(self.scores, maximize=self.maximize)
        return [n for n in ranked if n not in self.excluded]

    def _evict(self) -> None:
        numbers = set(self._ranked_trials()[: self.capacity])
        self._models = {n: model for n, model in self._models.items() if n in numbers}
