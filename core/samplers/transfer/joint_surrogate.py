"""What samplers share that tune with a response surface common to all datasets.

Yogatama & Mann 2014, Algorithm 2, and Bardenet et al. 2013: a Gaussian process over the trials of
the present dataset and of earlier ones, whose scores are made comparable. How they are is what
the samplers differ in.

The first trial goes to the largest posterior mean, given the earlier datasets alone: expected
improvement wants a best response of this dataset, and there is none yet; what has been good
elsewhere is also the safest beginning. Every later trial goes to the largest expected improvement
over the best response of this dataset.

Trials that are running count as if they had given what the posterior expects of them, trials that
failed as the worst response of this dataset so far (of all, while it has none).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from core.gp.acquisition import ACQUISITIONS
from core.gp.domain import Domain
from core.gp.kernels import Array
from core.gp.proposal import SAME, Search
from core.gp.transfer.earlier_trials import NEIGHBOURS, DatasetTrials, EarlierTrials, earlier_trials
from core.gp.transfer.fitting import EXACT, CommonFitter
from core.gp.transfer.points import Coordinates, usable
from core.gp.transfer.posterior import CommonRegression
from core.samplers.observations import ObservationReader, Observations, conditioned
from core.samplers.proposing import ProposingSampler, note, uniform_setting
from core.samplers.responses import Scale
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.history import TuningHistory
from core.space import Axis, Setting

FIT, SEARCH, REPLACE, DRAW = 1, 2, 3, 4  # purposes of a trial's random numbers
REDRAWS = 20  # of replaced elements that gave a setting tried already
DIGITS = 6  # of the numbers in an event


@dataclass(frozen=True)
class TransferState:
    """What a view needs to evaluate the common response surface; the event's fields.

    Points and responses are rounded to six digits. Under the kernel sqe with more than 300 earlier
    trials only those of the twenty nearest datasets are in it: a picture from them is an exact
    posterior of part of the trials, where the sampler uses an approximate one of all of them.

    Attributes: as of `core.tuning.events.CommonSurfaceFitted`.
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
class Responses:
    """All responses at one ask.

    Attributes:
        earlier: of the earlier trials in the kernel, in its order, shape (n,).
        present: of this dataset's finished trials, shape (T,).
        scale: between this dataset's scores and responses.
    """

    earlier: Array
    present: Array
    scale: Scale


class CommonSearch(Search):
    """A search whose candidates include the earlier trials' settings.

    The neighbours' kernel has a cusp at every trial, and its posterior mean is often largest there.
    Climbing ends earlier than on one dataset's surface: this one is known more roughly.
    """

    climbing: ClassVar[dict[str, Any]] = {"rounds": 25, "tolerance": 1e-4}

    def __init__(self, known: Array, *about: Any) -> None:
        self._known = known
        super().__init__(*about)

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        found = super()._candidates(incumbent, random)
        if np.isfinite(self.domain.size) and len(found) >= self.domain.size:
            return found
        return np.vstack([found, self._known])


class JointSurrogateSampler(ProposingSampler):
    """Proposes by a response surface over the trials of all datasets.

    Args:
        space: the axes; None to learn them from the study's trials.
        seed: of everything random.
        history: the history of earlier datasets.
        kernel: mkl (neighbours), sqe (everything, by statistics) or printed.
        replacement: with which probability each element of a proposal is drawn anew, so that mean
            and deviation are not those of good settings alone (the paper's is 0.25).

    Attributes:
        state: as of the last ask; None while there is none.
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
    ) -> None:
        super().__init__(space, seed=seed)
        self.history = history if history is not None else TuningHistory()
        self.kernel, self.replacement = kernel, replacement
        self.state: TransferState | None = None
        self._known: SearchSpace | None = None

    def respond(self, observed: Observations) -> Responses:
        """The responses of the earlier and the present trials."""
        raise NotImplementedError

    def trials_of(self, space: SearchSpace) -> EarlierTrials:
        """The earlier trials that the kernel stands on."""
        most = None if self.kernel == "sqe" else NEIGHBOURS
        return usable_trials(self.history, space, most)

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """The setting to try, and why."""
        if self._known is not space:
            self._begin(space)
        observed = self._reader.read(study, trial)
        self.finish_where_last(self._domain, observed)
        if len(observed.points) + len(self.earlier.points) == 0:
            note(study, trial, "random")
            return self._drawn(trial, space, observed)
        responses = self.respond(observed)
        z = np.concatenate([responses.earlier, responses.present])
        regression = self._fitter.fit(observed.points, z, self.random(trial, FIT))
        chosen = self._chosen(trial, observed, responses, regression)
        setting, changed = self._replaced(trial, space, observed, space.setting(chosen))
        point = space.unit(setting)
        mean, sd = (float(found[0]) for found in regression.posterior(point[None, :]))
        self._describe(observed, responses, point, mean, sd)
        reason = "explore" if changed else "improve"
        self._note(
            study, trial, reason if len(observed.points) else "past", responses.scale, mean, sd
        )
        return setting

    def _begin(self, space: SearchSpace) -> None:
        self._known = space
        self._domain = Domain(space.axes)
        self._reader = ObservationReader(space)
        self.earlier = self.trials_of(space)
        self.coordinates = Coordinates(space.axes, self.history.simplex)
        self._fitter = CommonFitter(self.kernel, self.coordinates, self.earlier)
        shown = (
            self.earlier if len(self.earlier.points) <= EXACT else self.earlier.nearest(NEIGHBOURS)
        )
        self._shown = shown
        self._candidates = self._domain.snap(shown.points)

    def _chosen(
        self,
        trial: FrozenTrial,
        observed: Observations,
        responses: Responses,
        regression: CommonRegression,
    ) -> Array:
        """The point that the surface proposes, shape (width,)."""
        best, incumbent = self._to_beat(observed, responses, regression)
        worst = float(responses.present.min()) if len(responses.present) else None
        about = conditioned(regression, observed, worst), self._domain, best, incumbent
        first = len(observed.points) + len(observed.pending) == 0
        # Where every setting was tried, one is tried again.
        for taken in (observed.taken, observed.taken[:0]):
            search = CommonSearch(self._candidates, *about, taken, self.random(trial, SEARCH))
            proposal = search.maximize(ACQUISITIONS["mean" if first else "ei"])
            if proposal is not None:
                return proposal.point
        return incumbent

    def _to_beat(
        self, observed: Observations, responses: Responses, regression: CommonRegression
    ) -> tuple[float, Array]:
        """The best response of this dataset and its point; while it has none, what is expected.

        Workers that ask before the first score is there find the largest posterior mean at the
        earlier and running trials the response to beat.
        """
        if len(observed.points):
            best = int(np.argmax(responses.present))
            return float(responses.present[best]), observed.points[best]
        known = np.vstack([self._candidates, observed.pending])
        mean = regression.posterior(known)[0]
        best = int(np.argmax(mean))
        return float(mean[best]), known[best]

    def _replaced(
        self, trial: FrozenTrial, space: SearchSpace, observed: Observations, chosen: Setting
    ) -> tuple[Setting, bool]:
        """The setting with some elements drawn uniformly, and whether any is another now (§4.5).

        Nothing is replaced before this dataset has a score.
        """
        if len(observed.points) == 0 or self.replacement <= 0.0:
            return chosen, False
        random = self.random(trial, REPLACE)
        for _ in range(REDRAWS):
            anew = random.random(len(space.axes)) < self.replacement
            drawn = uniform_setting(space, random)
            setting = {
                axis.name: (drawn if new else chosen)[axis.name]
                for axis, new in zip(space.axes, anew, strict=True)
            }
            if setting == chosen:
                return chosen, False
            if not tried(space.unit(setting), observed):
                return setting, True
        return chosen, False

    def _drawn(self, trial: FrozenTrial, space: SearchSpace, observed: Observations) -> Setting:
        """A uniform setting that was not tried yet, where one is found."""
        random = self.random(trial, DRAW)
        for _ in range(REDRAWS):
            setting = uniform_setting(space, random)
            if not tried(space.unit(setting), observed):
                break
        return setting

    def _describe(
        self, observed: Observations, responses: Responses, point: Array, mean: float, sd: float
    ) -> None:
        earlier, scale = self._shown, responses.scale
        ends = np.cumsum([len(kept) for kept in earlier.kept])[:-1]
        of_datasets = (
            np.split(responses.earlier[: len(earlier.points)], ends) if earlier.kept else []
        )
        best = np.argsort(-scale.sign * observed.scores, kind="stable")[:1]
        self.state = TransferState(
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
            scale=scale.deviation,
            settled=scale.settled,
            maximize=observed.maximize,
            incumbent=[x for row in observed.points[best] for x in rounded(row)],
            next=rounded(point),
            expected=mean,
            deviation=sd,
        )

    @staticmethod
    def _note(
        study: Study, trial: FrozenTrial, reason: str, scale: Scale, mean: float, sd: float
    ) -> None:
        """Why, and, once scores and responses translate, which score is expected."""
        if scale.settled:
            note(study, trial, reason, scale.score(mean), scale.deviation * sd)
        else:
            note(study, trial, reason)


def usable_trials(
    history: TuningHistory, space: SearchSpace, most: int | None = None
) -> EarlierTrials:
    """The history's trials that a space can use, nearest dataset first, of `most` datasets."""
    raw = [_axis_of_values(axis, space) for axis in space.axes]

    def to_point(setting: Mapping[str, Any]) -> Array | None:
        found = usable(raw, setting)
        return None if found is None else space.unit(found)

    given = [DatasetTrials(one.statistics, one.settings, one.scores) for one in history.datasets]
    width = sum(axis.width for axis in space.axes)
    return earlier_trials(given, history.statistics, to_point, width, most=most)


def _axis_of_values(axis: Axis, space: SearchSpace) -> Axis:
    """The axis over an Optuna distribution's own values, where a stepped one counts its steps."""
    kind = space.described[axis.name]
    if isinstance(kind, CategoricalDistribution):
        return axis
    assert isinstance(kind, FloatDistribution | IntDistribution)
    return Axis(axis.name, axis.label, "float", kind.low, kind.high)


def tried(point: Array, observed: Observations) -> bool:
    """Whether a point is that of an earlier or a running trial."""
    taken = observed.taken
    return len(taken) > 0 and bool(np.abs(taken - point).max(axis=1).min() <= SAME)


def rounded(numbers: Array) -> list[float]:
    """Plain numbers of six digits."""
    return [float(f"{number:.{DIGITS}g}") for number in numbers]
