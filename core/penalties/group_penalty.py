"""The penalty of a grouping: norms, penalties a coefficient, and Foo's log-penalty with its update.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| π | ``groups`` | (n,) | the group of every parameter, −1 for an unpenalized one |
| k, n_j | ``group_count``, ``sizes`` | (k,) | groups, and how many parameters each has |
| α, β | ``alpha``, ``beta`` | | the prior C_j ~ Gamma(α, β) that is integrated out |
| a_j | ``powers`` | (k,) | n_j/2 + α |
| h_j | | (k,) | ½‖w_j‖² + β |
| | ``rare`` | (k,) | groups that are held at β_j = n_j/2 |
| C | ``C`` | (k,) | penalties, C_j = a_j / h_j |
| cap | ``penalty_caps`` | (k,) | a_j / β, which no C_j can exceed |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.errors import UnusableError
from core.optimize.loss import Loss

# A group within this share of its cap has weights near zero and says nothing finer.
NEAR_CAP = 0.1
# From this β on the cap of a group of one parameter leaves its weight what the data say.
LARGE_BETA = 0.1
# A group is rare where, in the median, its weights occur so often at most. Chosen on generated and
# on tagged sentences; for frequent features, among them those of noise, β stays as it is.
RARELY = 5


@dataclass(frozen=True)
class Grouping:
    """Which parameters share a penalty."""

    groups: np.ndarray  # π, shape (n,), −1 for an unpenalized parameter
    sizes: np.ndarray  # n_j, shape (k,): of the parameters that count, see `grouping`

    @property
    def group_count(self) -> int:
        """How many groups there are (k)."""
        return len(self.sizes)

    @property
    def is_empty(self) -> np.ndarray:
        """Groups without a parameter (their columns are constant), boolean, shape (k,)."""
        return self.sizes == 0

    def squares(self, w: np.ndarray) -> np.ndarray:
        """‖w_j‖², shape (k,)."""
        return self.group_sums(w * w)

    def group_sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over every group of values (n,), shape (k,)."""
        if self.group_count == 1:  # many times as fast as to count
            return np.array([values @ self._membership])
        return np.bincount(self.groups + 1, weights=values, minlength=self.group_count + 1)[1:]

    @cached_property
    def _membership(self) -> np.ndarray:
        """1.0 for every parameter of a group, shape (n,)."""
        return (self.groups >= 0).astype(float)

    def per_parameter(self, C: np.ndarray) -> np.ndarray:
        """c_i = C_π(i), 0 for an unpenalized parameter, shape (n,)."""
        return np.concatenate(([0.0], C))[self.groups + 1]

    def columns(self, w: np.ndarray) -> np.ndarray:
        """The vector w split into its groups, one column each, shape (n, k)."""
        inside = np.flatnonzero(self.groups >= 0)
        cut = np.zeros((len(w), self.group_count))
        cut[inside, self.groups[inside]] = w[inside]
        return cut


def grouping(
    groups: np.ndarray, group_count: int | None = None, counted: np.ndarray | None = None
) -> Grouping:
    """The Grouping of π (n,); UnusableError: no parameter is penalized.

    `group_count`: k, where the last groups may be empty; `counted`: the parameters that n_j counts,
    boolean, shape (n,), None for all; a group with parameters counts as one at least.
    """
    groups = np.asarray(groups, dtype=np.intp)
    highest = int(groups.max(initial=-1)) + 1
    if highest == 0:
        raise UnusableError(
            "there is nothing to penalize: no column varies",
            where="features",
            cure="choose columns that are not constant",
        )
    min_length = max(highest, group_count or 0) + 1
    sizes = np.bincount(groups + 1, minlength=min_length)[1:]
    if counted is not None:
        counts = np.bincount(groups + 1, weights=counted, minlength=min_length)[1:]
        sizes = np.where(sizes > 0, np.maximum(counts.astype(np.intp), 1), 0)
    return Grouping(groups, sizes)


@dataclass(frozen=True)
class LogPenalty:
    """Σ_j a_j log(½‖w_j‖² + β), the penalties integrated out (Foo 2009, eq. 3 and 5)."""

    grouping: Grouping
    powers: np.ndarray  # a_j = n_j/2 + α, shape (k,)
    beta: np.ndarray  # β_j > 0, shape (k,)
    rare: np.ndarray  # groups with a β of their own, which switches none off, boolean, shape (k,)

    @property
    def penalty_caps(self) -> np.ndarray:
        """(n_j/2 + α)/β, shape (k,)."""
        return self.powers / self.beta

    def value_at(self, w: np.ndarray) -> float:
        """The penalty at w."""
        return float(self.powers @ np.log(0.5 * self.grouping.squares(w) + self.beta))

    def penalties_at(self, w: np.ndarray) -> np.ndarray:
        """C_j = (n_j/2 + α) / (½‖w_j‖² + β), shape (k,) (Foo 2009, algorithm 2)."""
        return self.powers / (0.5 * self.grouping.squares(w) + self.beta)

    @property
    def can_prune(self) -> bool:
        """Whether a penalty can switch a group off: not with one parameter each and a large β."""
        has_single_parameters = self.grouping.group_count > 1 and self.grouping.sizes.max() <= 1
        return not has_single_parameters or float(self.beta.max()) < LARGE_BETA

    def switched_off(self, C: np.ndarray) -> np.ndarray:
        """Groups within 10 % of a cap that prunes, and empty ones, boolean, shape (k,)."""
        at_cap = (1.0 - NEAR_CAP) * self.penalty_caps <= C
        return (at_cap & self.can_prune & ~self.rare) | self.grouping.is_empty


def rare_groups(grouped: Grouping, occurrences: np.ndarray | None) -> np.ndarray:
    """The groups of weights that hardly occur, boolean, shape (k,).

    `occurrences`: how often every parameter's feature comes with its label, shape (n,), those that
    never come are passed over; None where that means nothing.
    """
    rare = np.zeros(grouped.group_count, dtype=bool)
    if occurrences is None:
        return rare
    for j in np.flatnonzero(grouped.sizes > 1):
        often = np.abs(occurrences[(grouped.groups == j) & (occurrences != 0.0)])
        rare[j] = len(often) > 0 and np.median(often) <= RARELY
    return rare


def log_penalty(
    grouped: Grouping, alpha: float, beta: float, rare: np.ndarray | None = None
) -> LogPenalty:
    """The log-penalty with prior Gamma(α, β); of rare groups β_j is n_j/2.

    Raises UnusableError: β ≤ 0, or n_j/2 + α ≤ 0 for a group that has parameters.
    """
    if not beta > 0.0:
        raise UnusableError(
            f"β = {beta:g} leaves the objective without a lower bound at zero weights",
            where="option beta",
            cure="give a number above 0, such as 1",
        )
    powers = 0.5 * grouped.sizes + alpha
    if (powers[~grouped.is_empty] <= 0.0).any():
        smallest = int(grouped.sizes[~grouped.is_empty].min())
        raise UnusableError(
            f"α = {alpha:g} makes n/2 + α negative or zero for a group of {smallest} coefficients,"
            " so that its penalty would reward large weights",
            where="option alpha",
            cure=f"give a number above {-0.5 * smallest:g}",
        )
    rare = np.zeros(grouped.group_count, dtype=bool) if rare is None else rare
    # Integrating C out counts every weight as if the data determined it; those of features that
    # hardly occur (words) are determined by the prior. With β_j = n_j/2 their own variance, about 1
    # at C = 1, stands beside w_i², and C_j = 1/(1 + mean w_i²) is at most 1.
    betas = np.where(rare, 0.5 * grouped.sizes, float(beta))
    return LogPenalty(grouped, np.where(grouped.is_empty, 1.0, powers), betas, rare)


def collapse_remark(loss: Loss, w: np.ndarray, switched_off: np.ndarray) -> tuple[str, ...]:
    """Where every group is at its cap, a remark."""
    if not switched_off.all():
        return ()
    # The weights of a linear model have the target's unit: small ones may explain everything.
    share = loss.explained_share(w)
    if share is not None and share > 0.05:
        return (
            "Every penalty is at its upper limit (n/2 + α)/β, because the weights are small numbers"
            " in the target's unit. The fit is sound; a smaller β, a larger unit of the target or"
            " the strategy evidence would tune the penalty more finely.",
        )
    return (
        "Every penalty ran to its upper limit and all weights are near zero: the method found"
        " nothing to learn from. The strategy evidence counts parameters more carefully and often"
        " helps here.",
    )


def mostly_off(penalty: LogPenalty, switched_off: np.ndarray) -> tuple[str, ...]:
    """Where most parameters, but not all of their groups, are held at zero, a remark."""
    sizes = penalty.grouping.sizes
    count = int(sizes[switched_off].sum())
    if switched_off.all() or count <= sizes.sum() / 2:
        return ()
    return (
        f"{count:,} of {int(sizes.sum()):,} weights are switched off: the method counts every"
        " weight as free, which holds large groups back too far where there are many more weights"
        " than data. The strategies evidence and gradient do not count so, and are worth a run.",
    )


def without_error(loss: Loss) -> tuple[str, ...]:
    """The remark where the noise variance of a linear model is held up by its floor."""
    return (
        "The model can explain the training rows without any error. The noise was therefore held"
        f" at {loss.floor_share:g} of the target's variance; judge it by a score on other rows.",
    )


def nothing_to_prune(penalty: LogPenalty) -> tuple[str, ...]:
    """Where each coefficient has its own group and β is too large to switch any off, a remark."""
    if penalty.can_prune:
        return ()
    return (
        f"With one coefficient in a group and β = {penalty.beta.max():g} no penalty can exceed"
        f" {penalty.penalty_caps.max():g}, so nothing is switched off. The preset sparse uses a"
        " small β for this.",
    )


def rare_group_remark(penalty: LogPenalty) -> tuple[str, ...]:
    """Where groups of weights that hardly occur have a prior of their own, a remark."""
    count, groups = int(penalty.rare.sum()), penalty.grouping.group_count
    if not count:
        return ()
    whose = "The weights are" if groups == 1 else f"The weights of {count} of {groups} groups are"
    return (
        f"{whose} mostly of features that occur a few times. Counted as free they would be held"
        " back far too much: no such penalty exceeds 1 (preset automatic; paper counts them all).",
    )
