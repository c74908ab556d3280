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
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar, cast

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.stats import qmc

from core.gp.acquisition import ACQUISITIONS, probability_of_improvement, standard_deviation
from core.gp.domain import SearchDomain
from core.gp.gp_fitting import GpFitter
from core.gp.kernels import Array
from core.gp.proposal import AcquisitionSearch, Proposal
from core.gp.regression import GpPosterior
from core.gp.surrogate import Surrogate, response_to_beat
from core.gp.warping import ScoreWarp, warp_of
from core.samplers.gp_options import GpOptions, HybridOptions, VariableOptions
from core.samplers.observations import ObservationReader, Observations, condition_on_pending
from core.samplers.proposing_sampler import ProposingSampler, note_reason
from core.samplers.responses import scale_of
from core.samplers.search_space import SearchSpace
from core.space import Axis, Setting

SMALL_IMPROVEMENT = 1e-3  # of the scores' standard deviation
SMALL_DEVIATION = 0.05
NEAR_EVERY = 2  # of so many trials one is searched near the best
MIN_SHOWN_TRIALS = 2  # trials from which on the surrogate is shown, before it decides
REPLACEMENTS = 32  # start points at hand where the trial's own is taken
FIT, SEARCH, COIN = 1, 2, 3  # purposes of a trial's random numbers
OptionsT = TypeVar("OptionsT", bound=GpOptions)


class GpSampler(ProposingSampler, Generic[OptionsT]):
    """Tries the point where the acquisition function is largest (Brofos 2013, Algorithm 1).

    `space`: the axes, None to learn them from the study's trials; `options`: of the class
    ``Options``; `seed`: of everything random; `surrogate`: as of the last ask, None while there is
    none.
    """

    Options: ClassVar[type[GpOptions]] = GpOptions

    def __init__(
        self, space: Sequence[Axis] | None = None, options: OptionsT | None = None, *, seed: int = 0
    ) -> None:
        super().__init__(space, seed=seed)
        self.options = cast(OptionsT, self.Options()) if options is None else options
        self.surrogate: Surrogate | None = None
        self._prepared_space: SearchSpace | None = None

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """A start point, or the point that the surrogate and the rule choose."""
        if self._prepared_space is not space:
            self._prepared_space = space
            self._domain = SearchDomain(space.axes)
            self._reader = ObservationReader(space)
            kernel, always = self.options.kernel, self.options.always_learn
            self._fitter = GpFitter(kernel, self._domain.axis_of, always_learn=always)
        observed = self._reader.read(study, trial)
        self.finish_where_last(self._domain, observed)
        if trial.number < self._start_count() or len(observed.points) == 0:
            note_reason(study, trial, "random")
            start = self._start_point(trial, observed)
            self._show_early(trial, observed, start)
            return space.setting(start)
        regression = self._fit_posterior(trial, observed)
        point, reason = self._next_point(study, trial, observed, regression)
        self._describe(regression, observed, point)
        self._note_expectation(study, trial, reason, regression, point)
        return space.setting(point)

    def _next_point(
        self, study: Study, trial: FrozenTrial, observed: Observations, regression: GpPosterior
    ) -> tuple[Array, str]:
        """The point to try by the fitted surrogate, and the reason."""
        best, where = response_to_beat(regression)
        surface, incumbent = condition_on_pending(regression, observed), observed.points[where]
        # Where every setting was tried, one is tried again: noise may be left to see through.
        for points in (observed.tried_points, observed.tried_points[:0]):
            random = self.random_generator(trial, SEARCH)
            search = AcquisitionSearch(surface, self._domain, best, incumbent, points, random)
            proposal, reason = self._choose_proposal(search, trial)
            if proposal is not None:
                return proposal.point, reason
        return incumbent, reason

    def explores(self, search: AcquisitionSearch, unknown: Proposal, rho: float) -> bool:
        """Whether this trial goes to θᵘ instead of θ*: never."""
        return False

    def _choose_proposal(
        self, search: AcquisitionSearch, trial: FrozenTrial
    ) -> tuple[Proposal | None, str]:
        """θ* or θᵘ, and the reason; (None, improve) where every setting was tried."""
        improvement = self._improvement(search, trial)
        if improvement is None:
            return None, "improve"
        if self.options.stop_when_certain and self._is_certain(search):
            reason = "no better setting is expected, and none is still unknown"
            self.mark_exhausted(reason, ends_study=True)
        if type(self).explores is GpSampler.explores:
            return improvement, "improve"
        area = search if self.options.as_published else search.interior_search()
        unknown = area.maximize(standard_deviation)
        assert unknown is not None  # there was a point to improve by
        rho = float(self.random_generator(trial, COIN).random())
        explores = self.explores(search, unknown, rho)
        return (unknown, "explore") if explores else (improvement, "improve")

    def _improvement(self, search: AcquisitionSearch, trial: FrozenTrial) -> Proposal | None:
        """θ*: of the whole space; not as published, near the best or with a prior inwards."""
        acquisition = ACQUISITIONS[self.options.acquisition]
        if self.options.as_published:
            return search.maximize(acquisition)
        if trial.number % NEAR_EVERY == 1:
            local_proposal = search.local_search().maximize(acquisition)
            if local_proposal is not None:
                return local_proposal
        logarithmic = self.options.acquisition != "mean"
        return (search.interior_search() if logarithmic else search).maximize(acquisition)

    @staticmethod
    def _is_certain(search: AcquisitionSearch) -> bool:
        """Whether the largest expected improvement and the largest deviation are both small."""
        improvement = search.maximize(ACQUISITIONS["ei"])
        unknown = search.maximize(standard_deviation)
        assert improvement is not None
        assert unknown is not None
        small = np.exp(improvement.value) < SMALL_IMPROVEMENT
        return bool(small and unknown.sd < SMALL_DEVIATION)

    def _start_count(self) -> int:
        start_trials = self.options.start_trials
        if start_trials is not None and start_trials >= 0:
            return start_trials
        axes = len(self._domain.space)
        published_count, default_count = np.clip(axes + 1, 4, 10), np.clip(3 * axes, 4, 12)
        return int(published_count if self.options.as_published else default_count)

    def _show_early(self, trial: FrozenTrial, observed: Observations, point: Array) -> None:
        """Shows the surrogate of the first trials, which decides nothing yet."""
        if len(observed.points) < MIN_SHOWN_TRIALS:
            return
        # A fitter of its own: what is shown must not change what is proposed later.
        fitter = GpFitter(self.options.kernel, self._domain.axis_of, always_learn=False)
        z = self._score_warp(observed).to_responses(observed.scores)
        regression = fitter.fit(observed.points, z, self.random_generator(trial, FIT))
        self._describe(regression, observed, point)
        assert self.surrogate is not None
        self.surrogate = replace(self.surrogate, proposes=False)

    def _start_point(self, trial: FrozenTrial, observed: Observations) -> Array:
        """The trial's own point of a scrambled Sobol sequence, or the next one not tried yet."""
        sobol = qmc.Sobol(len(self._domain.space), scramble=True, rng=self.seed)
        power = (trial.number + REPLACEMENTS).bit_length()
        columns = sobol.random_base2(power)[trial.number : trial.number + REPLACEMENTS]
        points = self._domain.points_from_uniforms(columns)
        for point in points:
            if not observed.has_tried(point):
                return point
        return points[0]

    def _fit_posterior(self, trial: FrozenTrial, observed: Observations) -> GpPosterior:
        z = self._score_warp(observed).to_responses(observed.scores)
        return self._fitter.fit(observed.points, z, self.random_generator(trial, FIT))

    def _score_warp(self, observed: Observations) -> ScoreWarp:
        if not self.options.as_published:
            return warp_of(observed.scores, observed.maximize)
        scale = scale_of(observed.scores, observed.maximize)
        return ScoreWarp(scale.mean, scale.deviation, observed.maximize)

    def _describe(self, regression: GpPosterior, observed: Observations, point: Array) -> None:
        warp, hyper = self._score_warp(observed), regression.kernel.hyper
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
        self, study: Study, trial: FrozenTrial, reason: str, regression: GpPosterior, point: Array
    ) -> None:
        assert self.surrogate is not None
        mean, sd = regression.posterior(point[None, :])
        warp = self.surrogate.score_warp
        expected, uncertainty = warp.to_scores(mean), warp.deviation(mean, sd)
        note_reason(study, trial, reason, float(expected[0]), float(uncertainty[0]))


class HybridSampler(GpSampler[HybridOptions]):
    """Brofos 2013, Algorithm 2: with probability τ θ*, otherwise θᵘ; arguments of `GpSampler`."""

    Options = HybridOptions

    def explores(self, search: AcquisitionSearch, unknown: Proposal, rho: float) -> bool:
        """Whether ρ ≥ τ."""
        return rho >= self.options.tau


class VariableSampler(GpSampler[VariableOptions]):
    """Explores with a probability that depends on θᵘ (Brofos 2013, Algorithm 3).

    ``corrected`` (the prose's rule): explore when ρ < min(1, ντ). ``printed`` (the algorithm's
    line): improve when ρ < ντ. Arguments of `GpSampler`.
    """

    Options = VariableOptions

    def explores(self, search: AcquisitionSearch, unknown: Proposal, rho: float) -> bool:
        """The chosen rule, at ν = Φ((μ(θᵘ) − best)/sd(θᵘ))."""
        mean, sd = np.array([unknown.mean]), np.array([unknown.sd])
        nu = float(probability_of_improvement(mean, sd, search.best)[0])
        promising = rho < min(1.0, nu * self.options.tau)
        return promising if self.options.rule == "corrected" else not promising
