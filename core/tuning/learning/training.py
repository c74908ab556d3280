"""The base class of what a penalty learner minimizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from core.optimize.loss import Loss
from core.tuning.events import Event
from core.tuning.problem import Problem


@dataclass(frozen=True)
class PenaltyTraining:
    """The loss on the training rows, and the group of each of its parameters."""

    group_names: list[str]
    groups: np.ndarray  # of every parameter, shape (n,), −1 for intercepts
    loss: Loss  # −log p(training rows | w)

    @property
    def group_sizes(self) -> dict[str, int]:
        """{group: number of penalized parameters}."""
        counts = np.bincount(self.groups[self.groups >= 0], minlength=len(self.group_names))
        return {name: int(count) for name, count in zip(self.group_names, counts, strict=True)}

    @property
    def counted(self) -> np.ndarray | None:
        """Which parameters occur in the training data, boolean, shape (n,); None for all."""
        return None

    @property
    def occurrences(self) -> np.ndarray | None:
        """How often each occurs, shape (n,); None where this means nothing."""
        return None

    def loss_pair(
        self, problem: Problem, fit_rows: np.ndarray, held_rows: np.ndarray
    ) -> tuple[Loss, Loss]:
        """The losses of two parts of the training rows, with the same parameters."""
        raise NotImplementedError

    def pipeline(
        self, w: np.ndarray, penalties: dict[str, float], classes: tuple[Any, ...]
    ) -> Pipeline:
        """The fitted pipeline with parameters w; it takes raw rows."""
        raise NotImplementedError

    @property
    def group_of_output(self) -> tuple[int, ...]:
        """The group of every prepared column; empty where parameters are not columns."""
        return ()

    def noise_variance(self, w: np.ndarray) -> float | None:
        """σ² of a linear model with learned noise; None for others."""
        return None

    def without_rows(self) -> Self:
        """The same without its rows, for a model that is fitted already."""
        return self

    def display_event(self, step: int, w: np.ndarray) -> Event | None:
        """A few examples at w, for views; None for tables."""
        return None


Training = PenaltyTraining  # the name of earlier versions
