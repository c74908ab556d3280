"""What models of sequences and molecules share: one L2 penalty, fits that go on from each other."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from core.optimize.descent import solve_penalized


class PenalizedEstimator(BaseEstimator):
    """Minimizes a loss(w) + ½ C ‖w‖²."""

    C: float
    tolerance: ClassVar[float]  # how near its minimum a fit must be, as a share of the loss

    def fit(self, X: Any, y: Any, memory: dict[str, Any] | None = None) -> Self:
        """Fit to the rows of a table X, with a label or a structure y for each.

        `memory` is kept between fits on the same rows: the loss, and where the last fit ended, from
        which this one starts.
        """
        memory = {} if memory is None else memory
        if "loss" not in memory:
            memory["loss"] = self._make_loss(X, y)
        loss, C = memory["loss"], float(self.C)
        # Of trials that differ in C alone, the last minimum is the nearest start.
        start = memory.get("w", loss.initial_weights())
        solved = solve_penalized(loss, np.full(loss.size, C), start, tolerance=self.tolerance)
        memory["w"] = w = solved.point.w
        return self.set_weights(loss, w, {"all": C}, np.zeros(len(w), dtype=np.intp))

    def _make_loss(self, X: Any, y: Any) -> Any:
        raise NotImplementedError

    def set_weights(
        self, loss: Any, w: np.ndarray, penalties: dict[str, float], groups: np.ndarray
    ) -> Self:
        """Become the fitted model of a loss at w, with `penalties_` and `groups_` of that fit."""
        self.w_ = np.array(w, dtype=float)
        self.penalties_, self.groups_ = dict(penalties), np.asarray(groups)
        return self
