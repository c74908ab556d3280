"""A figure that simulated tables measure, and the bounds in which the program promises it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure of some simulated sets."""

    name: str
    value: float
    low: float  # the bounds that it must lie in; infinite where there is none
    high: float
    sets: int
    note: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether the figure lies in its bounds, but for three standard errors of a share there."""
        return (
            self.low - self._error_at(self.low)
            <= self.value
            <= self.high + self._error_at(self.high)
        )

    def _error_at(self, bound: float) -> float:
        is_share = 0.0 <= self.value <= 1.0 and 0.0 <= bound <= 1.0
        return 3.0 * math.sqrt(max(bound * (1.0 - bound), 1e-4) / self.sets) if is_share else 0.0
