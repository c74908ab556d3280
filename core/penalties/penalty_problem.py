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
    """One problem for any learner; each takes from it what it needs."""

    loss: Loss  # −log p(data | w) of all training rows
    groups: np.ndarray  # π, the group of every parameter, shape (n,), −1 for an unpenalized one
    group_count: int | None = None  # k, the last groups may be empty; None: as many as occur
    counted: np.ndarray | None = None  # the parameters that n_j counts, boolean, (n,); None for all
    occurrences: np.ndarray | None = None  # of every feature with its label, (n,); None: no meaning
    holdout: Pairs | None = None  # (ℓ_T, ℓ_H) with the parameters of `loss`, to fit and to validate
    seed: int = 0  # of everything random

    @cached_property
    def grouping(self) -> Grouping:
        """The groups with all their parameters; UnusableError: no parameter is penalized."""
        return grouping(self.groups, self.group_count)

    def log_penalty(self, prior: GammaPrior) -> LogPenalty:
        """The penalties integrated out, with the parameters that the prior counts.

        Raises UnusableError: no parameter is penalized; β ≤ 0, or n_j/2 + α ≤ 0.
        """
        counted = None if prior.counts == "all" else self.counted
        grouped = grouping(self.groups, self.group_count, counted)
        seeks = prior.preset == "automatic"
        rare = rare_groups(grouped, self.occurrences if seeks else None)
        return log_penalty(grouped, *prior.parameters, rare)
