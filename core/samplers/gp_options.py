"""Options of the samplers with a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.options import StrategyOptions


@dataclass(frozen=True)
class GpOptions(StrategyOptions):
    """Options of Bayesian optimization.

    `kernel`: se, matern32 or matern52. `acquisition`: ei, pi or mean. `start_trials`: how many are
    spread evenly before the surrogate decides; None (or −1) for two for each axis, but between 4
    and 8. `stop_when_certain`: end when neither an improvement nor anything unknown is left.
    `always_learn`: learn the hyperparameters at every ask. `as_published`: scores are standardized,
    the worse half not compressed; every trial is searched in the whole space, without a prior
    against the edges; and the start is one trial more than there are axes, but between 4 and 10.
    """

    kernel: str = "matern52"
    acquisition: str = "ei"
    start_trials: int | None = None
    stop_when_certain: bool = False
    always_learn: bool = False
    as_published: bool = False


@dataclass(frozen=True)
class HybridOptions(GpOptions):
    """The same, and the probability τ of improving."""

    tau: float = 0.8


@dataclass(frozen=True)
class VariableOptions(HybridOptions):
    """The same, τ a factor; and the rule: corrected (the paper's text) or printed (its listing)."""

    tau: float = 1.0
    rule: Literal["corrected", "printed"] = "corrected"


@dataclass(frozen=True)
class EbHypOptions(GpOptions):
    """Options of EB-Hyp; those of the surrogate default to the paper's (Matérn 3/2; §4)."""

    kernel: str = "matern32"
    acquisition: str = "mean"
    always_learn: bool = True
    as_published: bool = True  # the temperature is in units of the scores' standard deviation
    rule: Literal["sample", "thompson"] = "sample"  # a draw (eq. 5), or the arg max
    temperature: float = 1.0  # T > 0; thompson does not need it
