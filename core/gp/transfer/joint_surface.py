"""The fitted surface over several datasets, as the plain data that redraws it anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.gp.transfer.earlier_trials import DatasetTrials


@dataclass(frozen=True)
class JointSurface:
    """The data that redraws the joint response surface, rounded to six digits.

    The fields of `core.tuning.events.JointSurfaceFitted`.
    """

    trials: int = 0
    method: str = "transfer"
    kernel: str = "mkl"
    neighbours: list[int] = field(default_factory=list)
    past_responses: list[list[float]] = field(default_factory=list)
    points: list[list[float]] = field(default_factory=list)
    responses: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    noise: float = 0.0
    constant: float = 1.0
    mean: float = 0.0
    scale: float = 1.0
    settled: bool = False
    maximize: bool = True
    incumbent: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    expected: float = 0.0
    deviation: float = 0.0


@dataclass(frozen=True)
class JointHistory:
    """The history that a joint surface was fitted to."""

    datasets: Sequence[DatasetTrials]  # earlier ones, in the order they came in
    statistics: Sequence[float]  # of the present dataset
    simplex: Sequence[str] = ()  # axes whose values count only as shares of their sum
