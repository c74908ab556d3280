"""The options of each learner; "automatic" is resolved by the caller, which knows the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.options import StrategyOptions


@dataclass(frozen=True)
class GammaPrior(StrategyOptions):
    """Options of the prior C_j ~ Gamma(α, β).

    `preset`: paper; authors (α = ½) or sparse (β = 10⁻⁴), which stand in for the one of them that
    is at its default; automatic, as the paper but for rare groups. `counts`: which parameters n_j
    counts: those seen in the data, or all, as in the paper. `target_spread`: the standard deviation
    to which a numeric target is brought beforehand.
    """

    alpha: float = 0.0
    beta: float = 1.0
    preset: str = "paper"
    counts: str = "seen"
    target_spread: float = StrategyOptions.target_spread

    @property
    def parameters(self) -> tuple[float, float]:
        """α and β with the preset."""
        alpha = 0.5 if self.preset == "authors" and self.alpha == 0.0 else self.alpha
        beta = 1e-4 if self.preset == "sparse" and self.beta == 1.0 else self.beta
        return float(alpha), float(beta)


@dataclass(frozen=True)
class MmOptions(GammaPrior):
    """Options of MM: the prior's, the most steps, and the change of log C that ends it."""

    max_steps: int = 100
    tolerance: float = 1e-3


@dataclass(frozen=True)
class DirectOptions(GammaPrior):
    """Options of direct minimization: the prior's, and the most steps."""

    max_steps: int = 500


@dataclass(frozen=True)
class EvidenceOptions(StrategyOptions):
    """Options of the evidence: the most steps, and the change of log C that ends it."""

    max_steps: int = 100
    tolerance: float = 1e-3


@dataclass(frozen=True)
class LooOptions(StrategyOptions):
    """The one option of leave-one-out: the most steps."""

    max_steps: int = 130


@dataclass(frozen=True)
class GradientOptions(StrategyOptions):
    """Options of the implicit gradient's outer problem, and of its holdout data."""

    validation: str = "automatic"  # holdout (one part) or folds (in turns); automatic, by the rows
    folds: int = 5  # parts that take turns
    start: float = 0.0  # every d_j at the start
    prior: str = "none"  # weak for the prior on d; anything else is none
    prior_sd: float = 1.0  # s; at 1 two thirds of the penalties are between 1/3 and 3
    steps: int = 30  # line searches at most
    low: float = -10.0  # with high: the bounds of d
    high: float = 12.0

    @property
    def deviation(self) -> float:
        """The standard deviation s of the prior, infinite without one."""
        return self.prior_sd if self.prior == "weak" else math.inf
