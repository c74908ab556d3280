"""Tuning with a joint response surface of all datasets: its base, and deviations from each mean.

Yogatama & Mann 2014, Algorithm 2, and Bardenet et al. 2013: a Gaussian process over the trials of
the present dataset and of earlier ones, whose scores are made comparable: each sampler in its way.

The first trial goes to the largest posterior mean given the earlier datasets alone, every later one
to the largest expected improvement over the best response of this dataset.

`TransferSampler` computes μ and σ of the present dataset anew at every trial, and with them its
responses, O(T³) (core.gp.transfer.dataset_scale; as published the trials' own, O(T)); those of the
earlier trials stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from core.gp.acquisition import ACQUISITIONS
from core.gp.kernels import Array
from core.gp.proposal import AcquisitionSearch
from core.gp.transfer.dataset_scale import deviation_prior, fitted_scale
from core.gp.transfer.earlier_trials import (
    NEIGHBOURS,
    Coordinates,
    DatasetTrials,
    EarlierTrials,
    earlier_trials,
)
from core.gp.transfer.joint_fitting import EXACT, JointFitter, JointPosterior, JointSurface
from core.gp.warping import ScoreWarp, predicted_scores, scale_of
from core.samplers.proposing_sampler import (
    ObservationReader,
    Observations,
    ProposingSampler,
    condition_on_pending,
    note_reason,
    uniform_setting,
)
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.history import TuningHistory
from core.space import Axis, Setting

FIT, SEARCH, REPLACE, DRAW = 1, 2, 3, 4  # purposes of a trial's random numbers
REDRAWS = 20  # of replaced elements that gave a setting tried already
DIGITS = 6  # of the numbers in an event


@dataclass(frozen=True)
class Responses:
    """All responses at one ask."""

    earlier: Array  # of the earlier trials in the kernel, in its order, shape (n,)
    present: Array  # of this dataset's finished trials, shape (T,)
    scale: ScoreWarp  # between this dataset's scores and responses
    freedom: float = 0.0  # degrees of freedom of the scale's deviation
    residual: float = 0.0  # variance of scores about their responses


class JointSearch(AcquisitionSearch):
    """A search whose candidates include the earlier trials' settings."""

    def __init__(self, earlier_points: Array, *arguments: Any) -> None:
        self._earlier_points = earlier_points
        super().__init__(*arguments)

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        # The neighbours’ kernel has a cusp at every trial, where its posterior mean is often
        # largest: an ascent ends there only where it begins there.
        candidates = super()._candidates(incumbent, random)
        if np.isfinite(self.domain.size) and len(candidates) >= self.domain.size:
            return candidates
        return np.vstack([candidates, self._earlier_points])


class JointSurrogateSampler(ProposingSampler):
    """Proposes by a response surface over the trials of all datasets.

    `space`: the axes, None to learn them from the study's trials; `kernel`: mkl (neighbours), sqe
    (everything, by statistics) or printed; `replacement`: the probability that an element of a
    proposal is drawn anew (paper: 0.25); `as_published`: this dataset's scores are standardized by
    their own mean and deviation; `state`: as of the last ask.
    """

    method = ""

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        seed: int = 0,
        history: TuningHistory | None = None,
        kernel: str = "mkl",
        replacement: float = 0.25,
        as_published: bool = False,
    ) -> None:
        super().__init__(space, seed=seed)
        self.history = history if history is not None else TuningHistory()
        self.kernel, self.replacement = kernel, replacement
        self.as_published = as_published
        self.state: JointSurface | None = None

    def respond(self, observed: Observations) -> Responses:
        """The responses of the earlier and the present trials."""
        raise NotImplementedError

    def trials_of(self, space: SearchSpace) -> EarlierTrials:
        max_datasets = None if self.kernel == "sqe" else NEIGHBOURS
        return usable_trials(self.history, space, max_datasets)

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        observed = self._reader.read(study, trial)
        self.finish_where_last(self._domain, observed)
        if len(observed.points) + len(self.earlier.points) == 0:
            note_reason(study, trial, "random")
            return self._draw(trial, space, observed)
        responses = self.respond(observed)
        z = np.concatenate([responses.earlier, responses.present])
        regression = self._fitter.fit(observed.points, z, self.random_generator(trial, FIT))
        proposed_point = self._choose_point(trial, observed, responses, regression)
        setting, changed = self._replaced(trial, space, observed, space.setting(proposed_point))
        point = space.to_unit_vector(setting)
        mean, sd = regression.posterior(point[None, :])
        self.state = self._described(observed, responses, point)
        sd = self.state.observed_deviation(sd)
        self.state = replace(self.state, expected=float(mean[0]), deviation=float(sd[0]))
        reason = "past" if len(observed.points) == 0 else "explore" if changed else "improve"
        # Before a second score nobody knows in which unit an expectation would be.
        predicted = predicted_scores(responses.scale, mean, sd, self.limits)
        note_reason(study, trial, reason, predicted if responses.scale.settled else None)
        return setting

    def prepare_space(self, space: SearchSpace) -> None:
        self._domain = space.domain
        self._reader = ObservationReader(space)
        self.earlier = self.trials_of(space)
        self.coordinates = Coordinates(space.axes, self.history.simplex)
        self._fitter = JointFitter(self.kernel, self.coordinates, self.earlier)
        # All trials of many datasets are too many for a picture, and for candidates.
        has_few = len(self.earlier.points) <= EXACT
        self._shown = self.earlier if has_few else self.earlier.nearest(NEIGHBOURS)
        self._candidates = self._domain.snap_points(self.earlier.points[self._fitter.support])

    def _choose_point(
        self,
        trial: FrozenTrial,
        observed: Observations,
        responses: Responses,
        regression: JointPosterior,
    ) -> Array:
        best, incumbent = self._to_beat(observed, responses, regression)
        # A failed trial counts as the worst response of this dataset; of all, while it has none.
        worst = float(responses.present.min()) if len(responses.present) else None
        surface, domain = condition_on_pending(regression, observed, worst), self._domain
        # There is nothing to improve on yet: the first trial goes to the largest mean.
        is_first = len(observed.points) + len(observed.pending) == 0
        # Where every setting was tried, one is tried again.
        for points in (observed.tried_points, observed.tried_points[:0]):
            random = self.random_generator(trial, SEARCH)
            search = JointSearch(self._candidates, surface, domain, best, incumbent, points, random)
            proposal = search.maximize(ACQUISITIONS["mean" if is_first else "ei"])
            if proposal is not None:
                return proposal.point
        return incumbent

    def _to_beat(
        self, observed: Observations, responses: Responses, regression: JointPosterior
    ) -> tuple[float, Array]:
        """The best response of this dataset and its point; the expected one while it has none."""
        if len(observed.points):
            best = int(np.argmax(responses.present))
            return float(responses.present[best]), observed.points[best]
        # Workers that ask before the first score have the largest posterior mean at the earlier and
        # running trials to beat.
        points = np.vstack([self._candidates, observed.pending])
        mean = regression.posterior(points)[0]
        best = int(np.argmax(mean))
        return float(mean[best]), points[best]

    def _replaced(
        self, trial: FrozenTrial, space: SearchSpace, observed: Observations, proposal: Setting
    ) -> tuple[Setting, bool]:
        """The setting with some elements drawn uniformly, and whether any is another now (§4.5)."""
        if len(observed.points) == 0 or self.replacement <= 0.0:
            return proposal, False
        random = self.random_generator(trial, REPLACE)
        for _ in range(REDRAWS):
            is_replaced = random.random(len(space.axes)) < self.replacement
            draw = uniform_setting(space, random)
            setting = {
                axis.name: (draw if new else proposal)[axis.name]
                for axis, new in zip(space.axes, is_replaced, strict=True)
            }
            # No element was drawn: that has a probability of its own, and is no failure to redraw.
            if setting == proposal:
                return proposal, False
            if not observed.has_tried(space.to_unit_vector(setting)):
                return setting, True
        return proposal, False

    def _draw(self, trial: FrozenTrial, space: SearchSpace, observed: Observations) -> Setting:
        random = self.random_generator(trial, DRAW)
        for _ in range(REDRAWS):
            setting = uniform_setting(space, random)
            if not observed.has_tried(space.to_unit_vector(setting)):
                break
        return setting

    def _described(
        self, observed: Observations, responses: Responses, point: Array
    ) -> JointSurface:
        earlier, scale = self._shown, responses.scale
        ends = np.cumsum([len(trials) for trials in earlier.used_trials])[:-1]
        rows = responses.earlier[: len(earlier.points)]
        of_datasets = np.split(rows, ends) if earlier.used_trials else []
        best = np.argsort(-scale.sign * observed.scores, kind="stable")[:1]
        return JointSurface(
            trials=len(responses.present),
            method=self.method,
            kernel=self.kernel,
            neighbours=list(earlier.datasets),
            past_responses=[rounded(z) for z in of_datasets],
            points=[rounded(row) for row in observed.points],
            responses=rounded(responses.present),
            numbers=observed.numbers,
            lengths=self._fitter.lengths.tolist(),
            noise=self._fitter.noise,
            constant=self._fitter.constant,
            mean=scale.mean,
            scale=scale.scale,
            settled=scale.settled,
            maximize=observed.maximize,
            incumbent=[x for row in observed.points[best] for x in rounded(row)],
            next=rounded(point),
            freedom=responses.freedom,
            residual=responses.residual,
        )


def usable_trials(
    history: TuningHistory, space: SearchSpace, max_datasets: int | None = None
) -> EarlierTrials:
    """The trials of `max_datasets` datasets that a space can use, nearest dataset first."""
    datasets = [DatasetTrials(d.statistics, d.settings, d.scores) for d in history.datasets]
    return earlier_trials(
        datasets, history.statistics, space.axes, counted=space.counted, max_datasets=max_datasets
    )


def rounded(numbers: Array) -> list[float]:
    """Plain numbers of six digits."""
    return [float(f"{number:.{DIGITS}g}") for number in numbers]


class TransferSampler(JointSurrogateSampler):
    """Maximizes expected improvement on the responses of this dataset and of its neighbours.

    Kernels: mkl, the paper's over twenty nearest datasets, made positive definite; printed, as
    printed; sqe, a squared exponential over settings and statistics of all datasets, or of the
    nearest where these have very many trials.
    """

    method = "transfer"

    def respond(self, observed: Observations) -> Responses:
        scores, earlier = observed.scores, self._earlier_responses
        usual = 1.0 if self._prior is None else math.exp(self._prior.location)
        scale, T = scale_of(scores, observed.maximize, usual), len(scores)
        if self._prior is None or self.as_published or not scale.settled:
            # σ has T − 1 degrees of freedom, and μ, a mean of T scores, an error of its own.
            errors = (T - 1.0, 1.0 / T) if scale.settled else ()
            return Responses(earlier, scale.to_responses(scores), scale, *errors)
        random = np.random.default_rng([self.seed, 0, FIT])
        expected = self._fitter.expected_responses(observed.points, earlier, random)
        scale, freedom = fitted_scale(scale, scores, *expected, self._prior)
        return Responses(earlier, scale.to_responses(scores), scale, freedom)

    def prepare_space(self, space: SearchSpace) -> None:
        super().prepare_space(space)
        responses, deviations = [np.zeros(0)], list[float]()
        for index, trials in zip(self.earlier.datasets, self.earlier.used_trials, strict=True):
            dataset = self.history.datasets[index]
            scale = scale_of([s for s in dataset.scores if math.isfinite(s)], dataset.maximize)
            responses.append(scale.to_responses([dataset.scores[k] for k in trials]))
            deviations += [scale.scale] if scale.settled else []
        self._earlier_responses = np.concatenate(responses)
        self._prior = deviation_prior(deviations) if deviations else None
