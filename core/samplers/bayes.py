"""Bayesian optimization: Gaussian process, hybrid and variable-threshold exploration (Brofos 2013).

Notation (Brofos's letters):
    θ*      the acquisition's arg max ("improve")
    θᵘ      the point of largest posterior standard deviation ("explore")
    τ       threshold; 4/5 in the paper
    ν       probability of improvement at θᵘ
    ρ       a uniform draw from (0, 1)

Trials that are running count as if they had given what the posterior expects of them (the kriging
believer of Ginsbourger et al. 2010), so that workers do not crowd at one point. Trials that failed
count as the worst score so far, so that the search leaves a region that keeps failing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.stats import qmc

from core.gp.acquisition import ACQUISITIONS, probability_of_improvement, standard_deviation
from core.gp.domain import Domain
from core.gp.fitting import Fitter
from core.gp.kernels import Array
from core.gp.proposal import SAME, Proposal, Search
from core.gp.regression import Regression
from core.gp.surrogate import Surrogate, response_to_beat, standardization
from core.samplers.history import History, HistoryReader
from core.samplers.proposing import ProposingSampler, note
from core.samplers.search_space import SearchSpace
from core.space import Axis, Setting

SMALL_IMPROVEMENT = 1e-3  # of the scores' standard deviation
SMALL_DEVIATION = 0.05
REPLACEMENTS = 32  # start points at hand where the trial's own is taken
FIT, SEARCH, COIN = 1, 2, 3  # purposes of a trial's random numbers


class GpSampler(ProposingSampler):
    """Tries the point where the acquisition function is largest (Brofos 2013, Algorithm 1).

    Args:
        space: the axes; None to learn them from the study's trials.
        seed: of everything random.
        kernel: se, matern32 or matern52.
        acquisition: ei, pi or mean.
        start_trials: how many trials are spread evenly before the surrogate decides; 0 for one
            more than there are axes, but between 4 and 10.
        stop_when_certain: whether the search ends when neither an improvement nor anything unknown
            is left.
        always_learn: learn the hyperparameters at every ask, however many trials there are.

    Attributes:
        surrogate: as of the last ask; None while there is none.
    """

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        seed: int = 0,
        kernel: str = "matern52",
        acquisition: str = "ei",
        start_trials: int | None = None,
        stop_when_certain: bool = False,
        always_learn: bool = False,
    ) -> None:
        super().__init__(space, seed=seed)
        self.kernel, self.acquisition, self.start_trials = kernel, acquisition, start_trials
        self.stop_when_certain, self.always_learn = stop_when_certain, always_learn
        self.surrogate: Surrogate | None = None
        self._known: SearchSpace | None = None

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """A start point, or the point that the surrogate and the rule choose."""
        if self._known is not space:
            self._known = space
            self._domain = Domain(space.axes)
            self._reader = HistoryReader(space)
            self._fitter = Fitter(self.kernel, self._domain.axis_of, always=self.always_learn)
        history = self._reader.read(study, trial)
        self._finish_finite(history)
        if trial.number < self._starts() or len(history.points) == 0:
            note(study, trial, "random")
            return space.setting(self._start_point(trial, history))
        regression = self._fit(trial, history)
        point, reason = self._next(study, trial, history, regression)
        self._describe(regression, history, point)
        self._note_expectation(study, trial, reason, regression, point)
        return space.setting(point)

    def _next(
        self, study: Study, trial: FrozenTrial, history: History, regression: Regression
    ) -> tuple[Array, str]:
        """The point to try by the fitted surrogate, and the reason."""
        best, where = response_to_beat(regression)
        search = Search(
            conditioned(regression, history),
            self._domain,
            best,
            history.points[where],
            history.taken,
            self.random(trial, SEARCH),
        )
        proposal, reason = self._choose(search, trial)
        return history.points[where] if proposal is None else proposal.point, reason

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """Whether this trial goes to θᵘ instead of θ*: never."""
        return False

    def _choose(self, search: Search, trial: FrozenTrial) -> tuple[Proposal | None, str]:
        """θ* or θᵘ, and the reason; (None, improve) where every setting was tried."""
        rho = float(self.random(trial, COIN).random())
        improving = search.maximize(ACQUISITIONS[self.acquisition])
        unknown = search.maximize(standard_deviation) if self._needs_unknown else None
        if improving is None or unknown is None:
            return improving, "improve"
        if self.stop_when_certain and self._certain(search, unknown):
            self.finish("no better setting is expected, and none is still unknown")
        return (
            (unknown, "explore") if self.explores(search, unknown, rho) else (improving, "improve")
        )

    @property
    def _needs_unknown(self) -> bool:
        return self.stop_when_certain or type(self).explores is not GpSampler.explores

    @staticmethod
    def _certain(search: Search, unknown: Proposal) -> bool:
        """Whether the largest expected improvement and the largest deviation are both small."""
        improving = search.maximize(ACQUISITIONS["ei"])
        assert improving is not None
        small = np.exp(improving.value) < SMALL_IMPROVEMENT
        return bool(small and unknown.sd < SMALL_DEVIATION)

    def _starts(self) -> int:
        if self.start_trials is None:
            return int(np.clip(len(self._domain.space) + 1, 4, 10))
        return self.start_trials

    def _start_point(self, trial: FrozenTrial, history: History) -> Array:
        """The trial's own point of a scrambled Sobol sequence, or the next one not tried yet."""
        sobol = qmc.Sobol(len(self._domain.space), scramble=True, rng=self.seed)
        power = (trial.number + REPLACEMENTS).bit_length()
        columns = sobol.random_base2(power)[trial.number : trial.number + REPLACEMENTS]
        points = self._domain.spread(columns)
        for point in points:
            if len(history.taken) == 0 or np.abs(history.taken - point).max(axis=1).min() > SAME:
                return point
        return points[0]

    def _fit(self, trial: FrozenTrial, history: History) -> Regression:
        mean, scale = standardization(history.scores)
        sign = 1.0 if history.maximize else -1.0
        z = sign * (history.scores - mean) / scale
        return self._fitter.fit(history.points, z, self.random(trial, FIT))

    def _finish_finite(self, history: History) -> None:
        """Says that a finite space runs out with the trial that is being asked for."""
        if np.isfinite(self._domain.size):
            tried = len(np.unique(np.round(history.taken, 9), axis=0)) if len(history.taken) else 0
            if tried + 1 >= self._domain.size:
                self.finish("every setting has been tried")

    def _describe(self, regression: Regression, history: History, point: Array) -> None:
        mean, scale = standardization(history.scores)
        hyper = regression.hyper
        best = np.argmax(history.scores if history.maximize else -history.scores)
        self.surrogate = Surrogate(
            trials=len(history.scores),
            points=history.points.tolist(),
            responses=history.scores.tolist(),
            numbers=history.numbers,
            kernel=self.kernel,
            lengths=hyper.lengths.tolist(),
            amplitude=hyper.amplitude,
            noise=hyper.noise,
            mean=mean,
            scale=scale,
            maximize=history.maximize,
            acquisition=self.acquisition,
            incumbent=history.points[best].tolist(),
            next=point.tolist(),
        )

    def _note_expectation(
        self, study: Study, trial: FrozenTrial, reason: str, regression: Regression, point: Array
    ) -> None:
        assert self.surrogate is not None
        mean, sd = regression.posterior(point[None, :])
        expected = self.surrogate.mean + self.surrogate.sign * self.surrogate.scale * float(mean[0])
        note(study, trial, reason, expected, self.surrogate.scale * float(sd[0]))


def conditioned(regression: Regression, history: History) -> Regression:
    """The posterior that also believes in running trials and holds failed ones for the worst.

    Running trials give their posterior mean: it stays, the uncertainty there goes. Failed trials
    give the smallest standardized response so far.
    """
    for points, lie in ((history.pending, None), (history.failed, float(regression.z.min()))):
        if len(points):
            believed = regression.posterior(points)[0] if lie is None else np.full(len(points), lie)
            regression = regression.extended(points, np.concatenate([regression.z, believed]))
    return regression


class HybridSampler(GpSampler):
    """With probability τ the acquisition's arg max, otherwise the most uncertain point.

    Brofos 2013, Algorithm 2; arguments of `GpSampler`, and tau.
    """

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        tau: float = 0.8,
        seed: int = 0,
        kernel: str = "matern52",
        acquisition: str = "ei",
        start_trials: int | None = None,
        stop_when_certain: bool = False,
    ) -> None:
        super().__init__(
            space,
            seed=seed,
            kernel=kernel,
            acquisition=acquisition,
            start_trials=start_trials,
            stop_when_certain=stop_when_certain,
        )
        self.tau = tau

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """Whether ρ ≥ τ."""
        return rho >= self.tau


class VariableSampler(HybridSampler):
    """Explores with a probability that depends on what the most uncertain point promises.

    Brofos 2013, Algorithm 3. ``corrected`` (the prose's rule): explore when ρ < min(1, ντ).
    ``printed`` (the algorithm's line): improve when ρ < ντ, so that a hopeless unknown is always
    explored. Arguments of `HybridSampler`, and rule.
    """

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        rule: Literal["corrected", "printed"] = "corrected",
        tau: float = 1.0,
        seed: int = 0,
        kernel: str = "matern52",
        acquisition: str = "ei",
        start_trials: int | None = None,
        stop_when_certain: bool = False,
    ) -> None:
        super().__init__(
            space,
            tau=tau,
            seed=seed,
            kernel=kernel,
            acquisition=acquisition,
            start_trials=start_trials,
            stop_when_certain=stop_when_certain,
        )
        self.rule = rule

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """The chosen rule, at ν = Φ((μ(θᵘ) − best)/sd(θᵘ))."""
        mean, sd = np.array([unknown.mean]), np.array([unknown.sd])
        nu = float(probability_of_improvement(mean, sd, search.best)[0])
        promising = rho < min(1.0, nu * self.tau)
        return promising if self.rule == "corrected" else not promising
