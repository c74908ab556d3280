"""Bayesian optimization with a Gaussian process (Brofos 2013), and EB-Hyp (McInerney 2017).

Notation (Brofos's letters, then McInerney's; T is ours):
    θ*      the acquisition's arg max ("improve")
    θᵘ      the point of largest posterior standard deviation ("explore")
    τ       threshold; 4/5 in the paper
    ν       probability of improvement at θᵘ
    ρ       a uniform draw from (0, 1)
    η       a setting
    f       its score: a log likelihood, a log marginal likelihood or what stands for it
    p̃(X|η)  a function drawn from the performance model; log p̃ is a draw from a Gaussian process,
            standardized as every surrogate here
    p(η)    the hyperprior: uniform in the box, logarithmic ranges by their logarithm
    T       temperature: p̃(η|X) ∝ p̃(X|η)^(1/T) p(η), on the standardized scale
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar, cast

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.spatial import cKDTree
from scipy.stats import qmc

from core.gp.acquisition import ACQUISITIONS, probability_of_improvement, standard_deviation
from core.gp.domain import SearchDomain
from core.gp.gp_fitting import GpFitter
from core.gp.kernels import Array
from core.gp.pathwise import PosteriorDraws
from core.gp.proposal import (
    ENUMERATED,
    AcquisitionSearch,
    Constraint,
    Proposal,
    are_untried,
    log_feasibility,
    scattered_around,
)
from core.gp.regression import GpPosterior, Surrogate
from core.gp.shared_search import SharedCandidates, SharedSearch
from core.gp.warping import ScoreWarp, predicted_scores, scale_of, warp_of
from core.samplers.gp_options import EbHypOptions, GpOptions, HybridOptions, VariableOptions
from core.samplers.proposing_sampler import (
    ObservationReader,
    Observations,
    ProposingSampler,
    condition_on_pending,
    note_more,
    note_reason,
)
from core.samplers.search_space import SearchSpace
from core.space import Axis, Setting

SMALL_IMPROVEMENT = 1e-3  # of the scores' standard deviation
SMALL_DEVIATION = 0.05
BEYOND_WORST = 10.0  # below the worst response every point improves, and feasibility decides
NEAR_EVERY = 2  # of so many trials one is searched near the best
MIN_SHOWN_TRIALS = 2  # trials from which on the surrogate is shown, before it decides
REPLACEMENTS = 32  # start points at hand where the trial's own is taken
FIT, SEARCH, COIN = 1, 2, 3  # purposes of a trial's random numbers
CROWD = 200  # running trials from which on asks share a search
Search = AcquisitionSearch | SharedSearch
OptionsT = TypeVar("OptionsT", bound=GpOptions)


class GpSampler(ProposingSampler, Generic[OptionsT]):
    """Tries the point where the acquisition function is largest (Brofos 2013, Algorithm 1).

    `space`: the axes, None to learn them from the study's trials; `options`: of the class
    ``Options``; `seed`: of everything random; `surrogate`: as of the last ask, None while there is
    none; `function_deviation`: of the last prediction, without noise and the error of its scale.
    """

    Options: ClassVar[type[GpOptions]] = GpOptions
    takes_conditions = True
    function_deviation: float | None = None

    def __init__(
        self, space: Sequence[Axis] | None = None, options: OptionsT | None = None, *, seed: int = 0
    ) -> None:
        super().__init__(space, seed=seed)
        self.options = cast(OptionsT, self.Options()) if options is None else options
        self.surrogate: Surrogate | None = None

    def prepare_space(self, space: SearchSpace) -> None:
        self._domain = space.domain
        self._reader = ObservationReader(space, models_constraints=True)
        self._fitter = self._new_fitter(always_learn=self.options.always_learn)
        self._constraint_fitters = dict[str, GpFitter]()
        self._shared: SharedCandidates | None = None

    def _new_fitter(self, *, always_learn: bool) -> GpFitter:
        return GpFitter(self.options.kernel, self._domain.axis_of, always_learn=always_learn)

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        observed = self._reader.read(study, trial)
        self.finish_where_last(self._domain, observed)
        if trial.number < self._start_count() or len(observed.points) == 0:
            note_reason(study, trial, "random")
            start = self._start_point(trial, observed)
            self._show_early(trial, observed, start)
            return space.setting(start)
        regression = self._fit_posterior(self._fitter, trial, observed)
        point, reason = self._next_point(study, trial, observed, regression)
        self._describe(regression, observed, point)
        self._note_expectation(study, trial, reason, regression, point)
        return space.setting(point)

    def _next_point(
        self, study: Study, trial: FrozenTrial, observed: Observations, regression: GpPosterior
    ) -> tuple[Array, str]:
        k, constraints = observed.best, self._constraints(trial, observed)
        best, incumbent = float(regression.z[k]), observed.points[k]
        if observed.violations[k] > 0.0:  # no trial is feasible
            best = float(regression.z.min()) - BEYOND_WORST
        if len(observed.pending) >= CROWD and not constraints:
            shared_search = self._shared_search(trial, observed, regression, best, incumbent)
            proposal, reason = self._choose_proposal(shared_search, trial)
            if proposal is not None:
                return proposal.point, reason
        # Workers must not crowd at one point, and the search leaves a region that keeps failing.
        surface, domain = condition_on_pending(regression, observed), self._domain
        # Where every setting was tried, one is tried again: noise may be left to see through.
        for points in (observed.tried_points, observed.tried_points[:0]):
            random = self.random_generator(trial, SEARCH)
            search = AcquisitionSearch(
                surface, domain, best, incumbent, points, random, constraints
            )
            proposal, reason = self._choose_proposal(search, trial)
            if proposal is not None:
                return proposal.point, reason
        return incumbent, reason

    def _constraints(self, trial: FrozenTrial, observed: Observations) -> list[Constraint]:
        constraints = list[Constraint]()
        for name in sorted(set().union(*observed.constraints)):
            rows = [k for k, values in enumerate(observed.constraints) if name in values]
            values = np.clip([observed.constraints[k][name] for k in rows], -1e100, 1e100)
            # However large some are, what is near 0 decides (as in Eriksson & Poloczek 2021).
            shrunk = np.arcsinh(values / (float(np.median(np.abs(values))) or 1.0))
            scale, random = scale_of(shrunk, maximize=False), self.random_generator(trial, FIT)
            fitter = self._constraint_fitters.setdefault(name, self._new_fitter(always_learn=False))
            surface = fitter.fit(observed.points[rows], scale.to_responses(shrunk), random)
            constraints.append((surface, float(scale.to_responses([0.0])[0])))
        return constraints

    def _shared_search(
        self,
        trial: FrozenTrial,
        observed: Observations,
        regression: GpPosterior,
        best: float,
        incumbent: Array,
    ) -> SharedSearch:
        points, kernel = observed.tried_points, regression.kernel
        if self._shared is None or not self._shared.follow(kernel, incumbent, points):
            surface = condition_on_pending(regression, observed)
            random = self.random_generator(trial, SEARCH)
            search = AcquisitionSearch(surface, self._domain, best, incumbent, points, random)
            acquisition = ACQUISITIONS[self.options.acquisition]
            self._shared = SharedCandidates(search, surface, acquisition)
        scored = replace(observed, pending=observed.pending[:0])
        return self._shared.search(condition_on_pending(regression, scored), best)

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        """Whether this trial goes to θᵘ instead of θ*: ρ is a uniform draw."""
        return False

    def _choose_proposal(self, search: Search, trial: FrozenTrial) -> tuple[Proposal | None, str]:
        """θ* or θᵘ, and the reason; (None, improve) where every setting was tried."""
        improvement = self._improvement(search, trial)
        if improvement is None:
            return None, "improve"
        if self.options.stop_when_certain and self._is_certain(search):
            reason = "no better setting is expected, and none is still unknown"
            self.mark_exhausted(reason, ends_study=True)
        # Without a rule the search for θᵘ, as dear as that for θ*, is spared.
        if type(self).explores is GpSampler.explores:
            return improvement, "improve"
        area = search if self.options.as_published else search.interior_search()
        unknown = area.maximize(standard_deviation)
        assert unknown is not None  # there was a point to improve by
        rho = float(self.random_generator(trial, COIN).random())
        explores = self.explores(search, unknown, rho)
        return (unknown, "explore") if explores else (improvement, "improve")

    def _improvement(self, search: Search, trial: FrozenTrial) -> Proposal | None:
        """θ*: of the whole space; not as published, near the best or with a prior inwards."""
        # A surrogate of few trials expects most at the edges, where least is known: alternate
        # trials stay near the best, the others shun the edges.
        acquisition = ACQUISITIONS[self.options.acquisition]
        if self.options.as_published:
            return search.maximize(acquisition)
        if trial.number % NEAR_EVERY == 1:
            local_proposal = search.local_search().maximize(acquisition)
            if local_proposal is not None:
                return local_proposal
        # The prior is a factor of what is maximized: it is added to a logarithm, as all but the
        # mean are.
        logarithmic = self.options.acquisition != "mean"
        return (search.interior_search() if logarithmic else search).maximize(acquisition)

    @staticmethod
    def _is_certain(search: Search) -> bool:
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
        published_count, default_count = np.clip(axes + 1, 4, 10), np.clip(2 * axes, 4, 8)
        return int(published_count if self.options.as_published else default_count)

    def _show_early(self, trial: FrozenTrial, observed: Observations, point: Array) -> None:
        if len(observed.points) < MIN_SHOWN_TRIALS:
            return
        # A fitter of its own: what is shown must not change what is proposed later.
        regression = self._fit_posterior(self._new_fitter(always_learn=False), trial, observed)
        self._describe(regression, observed, point)
        assert self.surrogate is not None
        self.surrogate = replace(self.surrogate, proposes=False)

    def _start_point(self, trial: FrozenTrial, observed: Observations) -> Array:
        sobol = qmc.Sobol(len(self._domain.space), scramble=True, rng=self.seed)
        power = (trial.number + REPLACEMENTS).bit_length()
        columns = sobol.random_base2(power)[trial.number : trial.number + REPLACEMENTS]
        points = self._domain.points_from_uniforms(columns)
        for point in points:
            if not observed.has_tried(point):
                return point
        return points[0]

    def _fit_posterior(
        self, fitter: GpFitter, trial: FrozenTrial, observed: Observations
    ) -> GpPosterior:
        z = self._score_warp(observed).to_responses(observed.scores)
        random = self.random_generator(trial, FIT)
        return fitter.fit(observed.points, z, random, len(observed.pending))

    def _score_warp(self, observed: Observations) -> ScoreWarp:
        if not self.options.as_published:
            return warp_of(observed.scores, observed.maximize)
        return scale_of(observed.scores, observed.maximize)

    def _describe(self, regression: GpPosterior, observed: Observations, point: Array) -> None:
        warp, hyper = self._score_warp(observed), regression.kernel.hyper
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
            incumbent=observed.points[observed.best].tolist(),
            next=point.tolist(),
        )

    def _note_expectation(
        self, study: Study, trial: FrozenTrial, reason: str, regression: GpPosterior, point: Array
    ) -> None:
        assert self.surrogate is not None
        mean, sd = regression.posterior(point[None, :])
        note_reason(study, trial, reason, self.surrogate.score_predictions(mean, sd, self.limits))
        latent = predicted_scores(self.surrogate.score_warp, mean, sd, self.limits)
        self.function_deviation = float(latent.deviation[0])


class HybridSampler(GpSampler[HybridOptions]):
    """Brofos 2013, Algorithm 2: with probability τ θ*, otherwise θᵘ; arguments of `GpSampler`."""

    Options = HybridOptions

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        return rho >= self.options.tau


class VariableSampler(GpSampler[VariableOptions]):
    """Explores with a probability that depends on θᵘ (Brofos 2013, Algorithm 3).

    ``corrected`` (the prose's rule): explore when ρ < min(1, ντ). ``printed`` (the algorithm's
    line): improve when ρ < ντ. Arguments of `GpSampler`.
    """

    Options = VariableOptions

    def explores(self, search: Search, unknown: Proposal, rho: float) -> bool:
        # ν = Φ((μ(θᵘ) − best)/sd(θᵘ)).
        mean, sd = np.array([unknown.mean]), np.array([unknown.sd])
        nu = float(probability_of_improvement(mean, sd, search.best)[0])
        promising = rho < min(1.0, nu * self.options.tau)
        return promising if self.options.rule == "corrected" else not promising


CANDIDATES = 4096
INCUMBENTS = 3  # best trials around which the arg max is searched more closely
DRAW, PICK = 4, 5  # purposes of a trial's random numbers, beside those of core.samplers.bayes
EFFECTIVE = "effective_candidates"  # the note on a trial


class EbHypSampler(GpSampler[EbHypOptions]):
    """Tries a draw from p̃(η|X), or its arg max (McInerney 2017, eq. 5; Algorithm 1, lines 5-7).

    Arguments of `GpSampler`. `effective`, also noted on the trial: among how many candidates the
    last setting was drawn in effect, 1/Σp̃²; None while there is none.
    """

    Options = EbHypOptions
    effective: float | None = None

    def _next_point(
        self, study: Study, trial: FrozenTrial, observed: Observations, regression: GpPosterior
    ) -> tuple[Array, str]:
        # Running trials are left out: draws differ, so that workers do not crowd.
        without_pending = replace(observed, pending=observed.pending[:0])
        candidates, prior = self._candidates(trial, observed)
        conditioned = condition_on_pending(regression, without_pending)
        draw = PosteriorDraws(conditioned, self.random_generator(trial, DRAW))
        log_likelihood = draw(candidates)[0]
        log_likelihood += log_feasibility(self._constraints(trial, observed), candidates)
        probabilities = posterior(log_likelihood, prior, self.options.temperature)
        self.effective = float(1.0 / np.sum(probabilities**2))
        note_more(study, trial, EFFECTIVE, self.effective)
        if self.options.rule == "thompson":
            index = int(np.argmax(log_likelihood))
        else:
            random = self.random_generator(trial, PICK)
            index = int(random.choice(len(candidates), p=probabilities))
        return candidates[index], "sample"

    def _candidates(self, trial: FrozenTrial, observed: Observations) -> tuple[Array, Array]:
        """Allowed points that were not tried, shape (m, width), and their p(η), shape (m,).

        Every point of a small finite space, otherwise a uniform scrambled Sobol set.
        """
        domain = self._domain
        if domain.size <= ENUMERATED:
            points, prior = domain.all_points(), prior_shares(domain)
        else:
            random = self.random_generator(trial, SEARCH)
            sobol = qmc.Sobol(len(domain.space), scramble=True, rng=random)
            points = domain.points_from_uniforms(sobol.random_base2(CANDIDATES.bit_length() - 1))
            # Only the arg max looks closer around the best trials: as candidates of a sample these
            # would count a region twice.
            if self.options.rule == "thompson":
                best = np.argsort(observed.scores * (-1 if observed.maximize else 1), kind="stable")
                incumbents = observed.points[best[:INCUMBENTS]]
                around = [scattered_around(domain, point, random) for point in incumbents]
                points = np.vstack([points, *around])
            prior = np.ones(len(points))
        tried = observed.tried_points
        is_untried = are_untried(points, cKDTree(tried) if len(tried) else None)
        return (points[is_untried], prior[is_untried]) if is_untried.any() else (points, prior)


def posterior(log_likelihood: Array, prior: Array, temperature: float) -> Array:
    """p̃(η|X) = Z⁻¹ exp(log p̃(X|η)/T) p(η) over candidates, shape (m,) (McInerney 2017, eq. 5).

    `log_likelihood`: the standardized draw (m,); `prior`: p(η) > 0 up to a factor (m,).
    """
    # On the scale of log likelihoods, thousands of nats, a sample is the arg max (Algorithm 1 as
    # printed, T → 0); in units of the scores' deviation T = 1 spreads the samples.
    with np.errstate(over="ignore"):  # T → 0: everything but the largest is −∞
        weighted = np.exp((log_likelihood - log_likelihood.max()) / temperature) * prior
    return weighted / weighted.sum()


def prior_shares(domain: SearchDomain) -> Array:
    """The share of the box that rounds to each point of `SearchDomain.all_points`; sum 1."""
    shares = [_axis_shares(axis) for axis in domain.space]
    return functools.reduce(lambda a, b: np.multiply.outer(a, b).ravel(), shares)


def _axis_shares(axis: Axis) -> Array:
    if axis.kind == "choice":
        return np.full(len(axis.choices), 1.0 / len(axis.choices))
    if SearchDomain.value_count(axis) == 1:
        return np.ones(1)
    edges = np.arange(round(axis.low) - 0.5, round(axis.high) + 1.0)
    inside = [max(edge, axis.low / 2) if axis.log else edge for edge in edges]
    return np.diff([axis.to_unit(edge)[0] for edge in inside])
