"""What a penalty learner is given: a loss, its groups, and what only some learners need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping, grouping

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
        holdout: pairs (ℓ_T, ℓ_H) of losses with the parameters of ``loss``, to fit and to validate.
        seed: of everything random.
    """

    loss: Loss
    groups: np.ndarray
    group_count: int | None = None
    counted: np.ndarray | None = None
    holdout: Pairs | None = None
    seed: int = 0

    @cached_property
    def grouping(self) -> Grouping:
        """The groups with all of their parameters.

        Raises:
            UnusableError: no parameter is penalized.
        """
        return grouping(self.groups, self.group_count)

    def counting(self, counts: str) -> Grouping:
        """The groups with the parameters that n_j counts: those ``seen``, or ``all``."""
        if counts == "all":
            return self.grouping
        return grouping(self.groups, self.group_count, self.counted)
