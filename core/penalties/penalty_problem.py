"""The problem of a penalty learner, its options ("automatic" is resolved before), and its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from typing import ParamSpec, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from core.optimize.loss import Loss
from core.options import StrategyOptions
from core.penalties.group_penalty import Grouping, LogPenalty, grouping, log_penalty, rare_groups


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
    units: np.ndarray | None = None  # of every row, from 0 without gaps, (m,); None: each is one

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


@dataclass(frozen=True)
class LearnerStep:
    """The state after a step; arrays are the learner's own copies and never change later."""

    number: int  # 0 for the start at C = 1
    w: np.ndarray  # parameters, shape (n,)
    C: np.ndarray  # shape (k,), on the scale of ½ Σ_j C_j ‖w_j‖² beside the loss
    objective: float  # minimized: f of Foo 2009, −log evidence or the holdout loss
    loss: float  # −log p(data | w) alone
    norms: np.ndarray  # ‖w_j‖, shape (k,)
    switched_off: np.ndarray  # groups at their cap, boolean, shape (k,)
    iterations: int = 0  # inner solver iterations of this step
    fits: int = 0  # penalized problems (or Newton steps on them) solved so far
    gradient_norm: float = float("nan")  # of the outer problem, for gradient learners
    at_bound: np.ndarray | None = None  # groups on a bound of d, (k,); gradient learners only
    parameters: np.ndarray | None = None  # γ_j, (k,), where known
    ranges: np.ndarray | None = None  # lowest and highest C of single folds, (k, 2), at the end
    remarks: tuple[str, ...] = field(default_factory=tuple)  # sentences the result must carry


Step = LearnerStep  # the name of earlier versions


P = ParamSpec("P")
T = TypeVar("T")


# With two threads beside other work the same small solve was seen 75 times slower.
@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds, setting their threads microseconds.
    return ThreadpoolController()


def one_blas_thread(generator: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """The same generator function, each of its steps computed on one BLAS thread."""

    @wraps(generator)
    def limited_steps(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        steps = generator(*args, **kwargs)
        try:
            while True:
                with _controller().limit(limits=1, user_api="blas"):
                    try:
                        step = next(steps)
                    except StopIteration:
                        return
                yield step
        finally:
            steps.close()  # type: ignore[attr-defined]

    return limited_steps
