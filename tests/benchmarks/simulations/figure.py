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
        """Whether the figure lies in its bounds, but for three standard errors of a share."""
        error = 0.0
        if 0.0 <= self.value <= 1.0:
            error = 3.0 * math.sqrt(max(self.value * (1.0 - self.value), 1e-4) / self.sets)
        return self.low - error <= self.value <= self.high + error
