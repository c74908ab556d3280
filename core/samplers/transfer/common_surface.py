"""What samplers share that tune with a response surface common to all datasets.

Yogatama & Mann 2014, Algorithm 2, and Bardenet et al. 2013: a Gaussian process over the trials of
the present dataset and of earlier ones, whose scores are made comparable. How they are is what
the samplers differ in.

The first trial goes to the largest posterior mean, given the past alone: expected improvement wants
a best response of this dataset, and there is none yet; what has been good elsewhere is also the
safest beginning. Every later trial goes to the largest expected improvement over the best response
of this dataset.

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
from core.gp.transfer.fitting import EXACT, CommonFitter
from core.gp.transfer.past import NEIGHBOURS, PastTrials, Told, past_trials
from core.gp.transfer.points import Coordinates, usable
from core.gp.transfer.posterior import CommonRegression
from core.samplers.history import History, HistoryReader, conditioned
from core.samplers.proposing import ProposingSampler, note, uniform_setting
from core.samplers.responses import Scale
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.past import Memory
from core.space import Axis, Setting

FIT, SEARCH, REPLACE, DRAW = 1, 2, 3, 4  # purposes of a trial's random numbers
REDRAWS = 20  # of replaced elements that gave a setting tried already
DIGITS = 6  # of the numbers in an event


@dataclass(frozen=True)
class TransferState:
    """What a view needs to evaluate the common response surface; the event's fields.

    Points and responses are rounded to six digits. Under the kernel sqe with more than 300 past
    trials only those of the twenty nearest datasets are told: a picture from them is an exact
    posterior of part of the past, where the sampler uses an approximate one of all of it.

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
        past: of the past trials in the kernel, in its order, shape (n,).
        present: of this dataset's finished trials, shape (T,).
        scale: between this dataset's scores and responses.
    """

    past: Array
    present: Array
    scale: Scale


class CommonSearch(Search):
    """A search whose candidates include the past's settings.

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


class CommonSurfaceSampler(ProposingSampler):
    """Proposes by a response surface over the trials of all datasets.

    Args:
        space: the axes; None to learn them from the study's trials.
        seed: of everything random.
        memory: the history of earlier datasets.
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
        memory: Memory | None = None,
        kernel: str = "mkl",
        replacement: float = 0.25,
    ) -> None:
        super().__init__(space, seed=seed)
        self.memory = memory if memory is not None else Memory()
        self.kernel, self.replacement = kernel, replacement
        self.state: TransferState | None = None
        self._known: SearchSpace | None = None

    def respond(self, history: History) -> Responses:
        """The responses of the past and the present trials."""
        raise NotImplementedError

    def recall(self, space: SearchSpace) -> PastTrials:
        """The past trials that the kernel stands on."""
        most = None if self.kernel == "sqe" else NEIGHBOURS
        return recalled(self.memory, space, most)

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """The setting to try, and why."""
        if self._known is not space:
            self._begin(space)
        history = self._reader.read(study, trial)
        self.finish_where_last(self._domain, history)
        if len(history.points) + len(self.past.points) == 0:
            note(study, trial, "random")
            return self._drawn(trial, space, history)
        told = self.respond(history)
        z = np.concatenate([told.past, told.present])
        regression = self._fitter.fit(history.points, z, self.random(trial, FIT))
        chosen = self._chosen(trial, history, told, regression)
        setting, changed = self._replaced(trial, space, history, space.setting(chosen))
        point = space.unit(setting)
        mean, sd = (float(found[0]) for found in regression.posterior(point[None, :]))
        self._describe(history, told, point, mean, sd)
        reason = "explore" if changed else "improve"
        self._note(study, trial, reason if len(history.points) else "past", told.scale, mean, sd)
        return setting

    def _begin(self, space: SearchSpace) -> None:
        self._known = space
        self._domain = Domain(space.axes)
        self._reader = HistoryReader(space)
        self.past = self.recall(space)
        self.coordinates = Coordinates(space.axes, self.memory.simplex)
        self._fitter = CommonFitter(self.kernel, self.coordinates, self.past)
        shown = self.past if len(self.past.points) <= EXACT else self.past.nearest(NEIGHBOURS)
        self._shown = shown
        self._candidates = self._domain.snap(shown.points)

    def _chosen(
        self, trial: FrozenTrial, history: History, told: Responses, regression: CommonRegression
    ) -> Array:
        """The point that the surface proposes, shape (width,)."""
        best, incumbent = self._to_beat(history, told, regression)
        worst = float(told.present.min()) if len(told.present) else None
        search = CommonSearch(
            self._candidates,
            conditioned(regression, history, worst),
            self._domain,
            best,
            incumbent,
            history.taken,
            self.random(trial, SEARCH),
        )
        first = len(history.points) + len(history.pending) == 0
        proposal = search.maximize(ACQUISITIONS["mean" if first else "ei"])
        return incumbent if proposal is None else proposal.point

    def _to_beat(
        self, history: History, told: Responses, regression: CommonRegression
    ) -> tuple[float, Array]:
        """The best response of this dataset and its point; while it has none, what is expected.

        Workers that ask before the first score is there find the largest posterior mean at the past
        and running trials the response to beat.
        """
        if len(history.points):
            best = int(np.argmax(told.present))
            return float(told.present[best]), history.points[best]
        known = np.vstack([self._candidates, history.pending])
        mean = regression.posterior(known)[0]
        best = int(np.argmax(mean))
        return float(mean[best]), known[best]

    def _replaced(
        self, trial: FrozenTrial, space: SearchSpace, history: History, chosen: Setting
    ) -> tuple[Setting, bool]:
        """The setting with some elements drawn uniformly, and whether any is another now (§4.5).

        Nothing is replaced before this dataset has a score.
        """
        if len(history.points) == 0 or self.replacement <= 0.0:
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
            if not tried(space.unit(setting), history):
                return setting, True
        return chosen, False

    def _drawn(self, trial: FrozenTrial, space: SearchSpace, history: History) -> Setting:
        """A uniform setting that was not tried yet, where one is found."""
        random = self.random(trial, DRAW)
        for _ in range(REDRAWS):
            setting = uniform_setting(space, random)
            if not tried(space.unit(setting), history):
                break
        return setting

    def _describe(
        self, history: History, told: Responses, point: Array, mean: float, sd: float
    ) -> None:
        past, scale = self._shown, told.scale
        ends = np.cumsum([len(kept) for kept in past.kept])[:-1]
        of_datasets = np.split(told.past[: len(past.points)], ends) if past.kept else []
        best = np.argsort(-scale.sign * history.scores, kind="stable")[:1]
        self.state = TransferState(
            trials=len(told.present),
            method=self.method,
            kernel=self.kernel,
            neighbours=list(past.datasets),
            past_responses=[rounded(z) for z in of_datasets],
            points=[rounded(row) for row in history.points],
            responses=rounded(told.present),
            numbers=history.numbers,
            lengths=self._fitter.lengths.tolist(),
            noise=self._fitter.noise,
            constant=self._fitter.constant,
            mean=scale.mean,
            scale=scale.deviation,
            settled=scale.settled,
            maximize=history.maximize,
            incumbent=[x for row in history.points[best] for x in rounded(row)],
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


def recalled(memory: Memory, space: SearchSpace, most: int | None = None) -> PastTrials:
    """The memory's trials that a space can use, nearest dataset first, of `most` datasets."""
    raw = [_axis_of_values(axis, space) for axis in space.axes]

    def to_point(setting: Mapping[str, Any]) -> Array | None:
        found = usable(raw, setting)
        return None if found is None else space.unit(found)

    told = [Told(one.statistics, one.settings, one.scores) for one in memory.past]
    width = sum(axis.width for axis in space.axes)
    return past_trials(told, memory.statistics, to_point, width, most=most)


def _axis_of_values(axis: Axis, space: SearchSpace) -> Axis:
    """The axis over an Optuna distribution's own values, where a stepped one counts its steps."""
    kind = space.described[axis.name]
    if isinstance(kind, CategoricalDistribution):
        return axis
    assert isinstance(kind, FloatDistribution | IntDistribution)
    return Axis(axis.name, axis.label, "float", kind.low, kind.high)


def tried(point: Array, history: History) -> bool:
    """Whether a point is that of an earlier or a running trial."""
    taken = history.taken
    return len(taken) > 0 and bool(np.abs(taken - point).max(axis=1).min() <= SAME)


def rounded(numbers: Array) -> list[float]:
    """Plain numbers of six digits."""
    return [float(f"{number:.{DIGITS}g}") for number in numbers]
