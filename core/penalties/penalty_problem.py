"""The problem of a penalty learner: a loss, its groups, and what only some learners need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping, LogPenalty, grouping, log_penalty, rare_groups
from core.penalties.learner_options import GammaPrior

Pairs = Sequence[tuple[Loss, Loss]]


@dataclass(frozen=True)
class PenaltyProblem:
    """One problem for any learner; each takes from it what it needs.

    Attributes:
        loss: −log p(data | w) of all training rows.
        groups: π, the group of every parameter, shape (n,), −1 for an unpenalized one.
        group_count: k, where the last groups may be empty; None for as many as occur.
        counted: the parameters that n_j counts, boolean, shape (n,); None for all. What never
            occurs in the data (a word with a label that it never has) is penalized, not counted.
        occurrences: how often every parameter's feature comes with its label, shape (n,); None
            where that means nothing.
        holdout: pairs (ℓ_T, ℓ_H) of losses with the parameters of ``loss``, to fit and to validate.
        seed: of everything random.
    """

    loss: Loss
    groups: np.ndarray
    group_count: int | None = None
    counted: np.ndarray | None = None
    occurrences: np.ndarray | None = None
    holdout: Pairs | None = None
    seed: int = 0

    @cached_property
    def grouping(self) -> Grouping:
        """The groups with all of their parameters.

        Raises:
            UnusableError: no parameter is penalized.
        """
        return grouping(self.groups, self.group_count)

    def log_penalty(self, prior: GammaPrior) -> LogPenalty:
        """The penalties integrated out, with the parameters that the prior counts.

        Raises:
            UnusableError: no parameter is penalized; β ≤ 0, or n_j/2 + α ≤ 0.
        """
        counted = None if prior.counts == "all" else self.counted
        grouped = grouping(self.groups, self.group_count, counted)
        seeks = prior.preset == "automatic"
        rare = rare_groups(grouped, self.occurrences if seeks else None)
        return log_penalty(grouped, *prior.parameters, rare)
