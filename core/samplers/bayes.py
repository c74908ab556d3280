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
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, TypeVar, cast

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.stats import qmc

from core.gp.acquisition import ACQUISITIONS, probability_of_improvement, standard_deviation
from core.gp.domain import Domain
from core.gp.fitting import Fitter
from core.gp.kernels import Array, Stationary
from core.gp.proposal import SAME, Proposal, Search
from core.gp.regression import Regression
from core.gp.surrogate import Surrogate, response_to_beat
from core.gp.warping import Warp, warp_of
from core.samplers.observations import ObservationReader, Observations, conditioned
from core.samplers.proposing import ProposingSampler, note
from core.samplers.responses import scale_of
from core.samplers.search_space import SearchSpace
from core.space import Axis, Setting

SMALL_IMPROVEMENT = 1e-3  # of the scores' standard deviation
SMALL_DEVIATION = 0.05
NEAR_EVERY = 2  # of so many trials one is looked for near the best
FEWEST = 2  # trials from which on the surrogate is shown, before it decides
REPLACEMENTS = 32  # start points at hand where the trial's own is taken
FIT, SEARCH, COIN = 1, 2, 3  # purposes of a trial's random numbers
Given = TypeVar("Given", bound="GpOptions")


@dataclass(frozen=True)
class GpOptions:
    """Options of Bayesian optimization.

    Attributes:
        kernel: se, matern32 or matern52.
        acquisition: ei, pi or mean.
        start_trials: how many trials are spread evenly before the surrogate decides; None for
            three for each axis, but between 4 and 12.
        stop_when_certain: whether the search ends when neither an improvement nor anything unknown
            is left.
        always_learn: learn the hyperparameters at every ask, however many trials there are.
        as_published: search as the papers do. Scores are standardized, the worse half not
            compressed (core.gp.warping); every trial is looked for in the whole space, not every
            second one near the best (core.gp.proposal.NearSearch) and the others with a prior
            against the edges (InwardSearch); and the start is one trial more than there are axes,
            but between 4 and 10.
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


class GpSampler(ProposingSampler, Generic[Given]):
    """Tries the point where the acquisition function is largest (Brofos 2013, Algorithm 1).

    Args:
        space: the axes; None to learn them from the study's trials.
        options: of the class ``Options``.
        seed: of everything random.

    Attributes:
        surrogate: as of the last ask; None while there is none.
    """

    Options: ClassVar[type[GpOptions]] = GpOptions

    def __init__(
        self, space: Sequence[Axis] | None = None, options: Given | None = None, *, seed: int = 0
    ) -> None:
        super().__init__(space, seed=seed)
        self.options = cast(Given, self.Options()) if options is None else options
        self.surrogate: Surrogate | None = None
        self._known: SearchSpace | None = None

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """A start point, or the point that the surrogate and the rule choose."""
        if self._known is not space:
            self._known = space
            self._domain = Domain(space.axes)
            self._reader = ObservationReader(space)
            self._fitter = Fitter(
                self.options.kernel, self._domain.axis_of, always=self.options.always_learn
            )
        observed = self._reader.read(study, trial)
        self.finish_where_last(self._domain, observed)
        if trial.number < self._starts() or len(observed.points) == 0:
            note(study, trial, "random")
            start = self._start_point(trial, observed)
            self._show_early(trial, observed, start)
            return space.setting(start)
        regression = self._fit(trial, observed)
        point, reason = self._next(study, trial, observed, regression)
        self._describe(regression, observed, point)
        self._note_expectation(study, trial, reason, regression, point)
        return space.setting(point)

    def _next(
        self,
        study: Study,
        trial: FrozenTrial,
        observed: Observations,
        regression: Regression[Stationary],
    ) -> tuple[Array, str]:
        """The point to try by the fitted surrogate, and the reason."""
        best, where = response_to_beat(regression)
        about = conditioned(regression, observed), self._domain, best, observed.points[where]
        # Where every setting was tried, one is tried again: noise may be left to see through.
        for taken in (observed.taken, observed.taken[:0]):
            search = Search(*about, taken, self.random(trial, SEARCH))
            proposal, reason = self._choose(search, trial)
            if proposal is not None:
                return proposal.point, reason
        return observed.points[where], reason

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """Whether this trial goes to θᵘ instead of θ*: never."""
        return False

    def _choose(self, search: Search, trial: FrozenTrial) -> tuple[Proposal | None, str]:
        """θ* or θᵘ, and the reason; (None, improve) where every setting was tried."""
        improving = self._improving(search, trial)
        if improving is None:
            return None, "improve"
        if self.options.stop_when_certain and self._certain(search):
            self.finish("no better setting is expected, and none is still unknown", ends_study=True)
        if type(self).explores is GpSampler.explores:
            return improving, "improve"
        looked_for = search if self.options.as_published else search.inward()
        unknown = looked_for.maximize(standard_deviation)
        assert unknown is not None  # as long as anything is left to improve by
        rho = float(self.random(trial, COIN).random())
        explores = self.explores(search, unknown, rho)
        return (unknown, "explore") if explores else (improving, "improve")

    def _improving(self, search: Search, trial: FrozenTrial) -> Proposal | None:
        """θ*: of the whole space; not as published, near the best or with a prior inwards."""
        acquisition = ACQUISITIONS[self.options.acquisition]
        if self.options.as_published:
            return search.maximize(acquisition)
        if trial.number % NEAR_EVERY == 1:
            found = search.near().maximize(acquisition)
            if found is not None:
                return found
        logarithmic = self.options.acquisition != "mean"
        return (search.inward() if logarithmic else search).maximize(acquisition)

    @staticmethod
    def _certain(search: Search) -> bool:
        """Whether the largest expected improvement and the largest deviation are both small."""
        improving = search.maximize(ACQUISITIONS["ei"])
        unknown = search.maximize(standard_deviation)
        assert improving is not None
        assert unknown is not None
        small = np.exp(improving.value) < SMALL_IMPROVEMENT
        return bool(small and unknown.sd < SMALL_DEVIATION)

    def _starts(self) -> int:
        if self.options.start_trials is not None:
            return self.options.start_trials
        axes = len(self._domain.space)
        few, many = np.clip(axes + 1, 4, 10), np.clip(3 * axes, 4, 12)
        return int(few if self.options.as_published else many)

    def _show_early(self, trial: FrozenTrial, observed: Observations, point: Array) -> None:
        """What the first trials say, for those who watch: it decides nothing yet."""
        if len(observed.points) < FEWEST:
            return
        # A fitter of its own: what is shown must not change what is proposed later.
        fitter = Fitter(self.options.kernel, self._domain.axis_of, always=False)
        z = self._warp(observed).responses(observed.scores)
        regression = fitter.fit(observed.points, z, self.random(trial, FIT))
        self._describe(regression, observed, point)
        assert self.surrogate is not None
        self.surrogate = replace(self.surrogate, proposes=False)

    def _start_point(self, trial: FrozenTrial, observed: Observations) -> Array:
        """The trial's own point of a scrambled Sobol sequence, or the next one not tried yet."""
        sobol = qmc.Sobol(len(self._domain.space), scramble=True, rng=self.seed)
        power = (trial.number + REPLACEMENTS).bit_length()
        columns = sobol.random_base2(power)[trial.number : trial.number + REPLACEMENTS]
        points = self._domain.spread(columns)
        for point in points:
            if len(observed.taken) == 0 or np.abs(observed.taken - point).max(axis=1).min() > SAME:
                return point
        return points[0]

    def _fit(self, trial: FrozenTrial, observed: Observations) -> Regression[Stationary]:
        z = self._warp(observed).responses(observed.scores)
        return self._fitter.fit(observed.points, z, self.random(trial, FIT))

    def _warp(self, observed: Observations) -> Warp:
        if not self.options.as_published:
            return warp_of(observed.scores, observed.maximize)
        scale = scale_of(observed.scores, observed.maximize)
        return Warp(scale.mean, scale.deviation, observed.maximize)

    def _describe(
        self, regression: Regression[Stationary], observed: Observations, point: Array
    ) -> None:
        warp, hyper = self._warp(observed), regression.kernel.hyper
        best = np.argmax(observed.scores if observed.maximize else -observed.scores)
        self.surrogate = Surrogate(
            trials=len(observed.scores),
            points=observed.points.tolist(),
            responses=observed.scores.tolist(),
            numbers=observed.numbers,
            kernel=self.options.kernel,
            lengths=hyper.lengths.tolist(),
            amplitude=hyper.amplitude,
            noise=hyper.noise,
            mean=warp.mean,
            scale=warp.scale,
            median=warp.median,
            spread=warp.spread,
            maximize=observed.maximize,
            acquisition=self.options.acquisition,
            incumbent=observed.points[best].tolist(),
            next=point.tolist(),
        )

    def _note_expectation(
        self,
        study: Study,
        trial: FrozenTrial,
        reason: str,
        regression: Regression[Stationary],
        point: Array,
    ) -> None:
        assert self.surrogate is not None
        mean, sd = regression.posterior(point[None, :])
        warp = self.surrogate.warp
        expected, uncertainty = warp.scores(mean), warp.deviation(mean, sd)
        note(study, trial, reason, float(expected[0]), float(uncertainty[0]))


class HybridSampler(GpSampler[HybridOptions]):
    """With probability τ the acquisition's arg max, otherwise the most uncertain point.

    Brofos 2013, Algorithm 2; arguments of `GpSampler`.
    """

    Options = HybridOptions

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """Whether ρ ≥ τ."""
        return rho >= self.options.tau


class VariableSampler(GpSampler[VariableOptions]):
    """Explores with a probability that depends on what the most uncertain point promises.

    Brofos 2013, Algorithm 3. ``corrected`` (the prose's rule): explore when ρ < min(1, ντ).
    ``printed`` (the algorithm's line): improve when ρ < ντ, so that a hopeless unknown is always
    explored. Arguments of `GpSampler`.
    """

    Options = VariableOptions

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """The chosen rule, at ν = Φ((μ(θᵘ) − best)/sd(θᵘ))."""
        mean, sd = np.array([unknown.mean]), np.array([unknown.sd])
        nu = float(probability_of_improvement(mean, sd, search.best)[0])
        promising = rho < min(1.0, nu * self.options.tau)
        return promising if self.options.rule == "corrected" else not promising
