"""The state of a run: what its events so far add up to, whoever asks.

`RunState` is the one place where events are folded. The run itself, the window, the command line
and the exports read it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.estimators.several import MODEL
from core.tuning.events import (
    CommonSurfaceFitted,
    EnsembleUpdated,
    EvaluationShortened,
    Event,
    FoldTested,
    HistoryRead,
    HyperGradientStep,
    ImagesDrawn,
    MembersDisagree,
    ModelLooked,
    ModelPicked,
    ModelsCompared,
    MoleculesFolded,
    Noticed,
    PenaltyStep,
    Progress,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SequencesLabelled,
    SettingWanted,
    SurrogateFitted,
    TopicsFound,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.runs.competition import Competition, Trial, fold_error, tunes_several

Step = PenaltyStep | HyperGradientStep


@dataclass(frozen=True)
class Standard:
    """By what scores are standardized after some trials, and whether it is the dataset's own."""

    trials: int
    mean: float
    scale: float
    settled: bool


class RunState(Competition):
    """What the events so far add up to; the same for a live, resumed or replayed run.

    Attributes:
        started: the first event; one without a plan before it.
        total: how many trials or steps there will be at most; 0 where only time bounds them.
        seconds: of work so far.
        pending: trials that were started and have not ended, by number.
        steps, gradients: a penalty learner's steps.
        surrogate, past, common, labelled, folded, topics, images, disagreement, seconds_left: what
            was told last of these.
        looks: {model: the first look at it that gave the best score}, where several are tuned.
        histories: {model: what the history told of it}, likewise.
        surrogates: {model: what its scores were modelled by last}, likewise.
        compared: how several models stood last.
        picked: which of its candidates a person took away; None for the run's own choice.
        standards: by what scores were standardized; a later one after as many trials replaces an
            earlier one.
        ensembles: every average so far, likewise.
        notices: sentences for the person, each once.
        begun: the trial that was started last, unless one has ended since.
        latest: the trial that ended last since the run began or was resumed.
        resumed: how the run went on, until it does something.
        exclusion: the last one since the run began, was resumed or ended.
        extended_at: how many trials had ended when more were asked for last; 0 where never.
        tuning_ended: why no more is tried; None while trials or steps may come.
        shortened: whether a person asked for the results without tuning in every fold.
        fold: how many outer folds are tested; None before the first.
        ended: how the run ended; None while it goes on.
        results: what its end found (core.tuning.results.comparison); None while it goes on.
    """

    def __init__(self) -> None:
        self._begin(RunStarted())

    def _begin(self, started: RunStarted) -> None:
        super().__init__(started.maximize)
        self.started, self.total, self.seconds = started, started.total, started.seconds
        self.pending: dict[int, TrialStarted] = {}
        self.steps: list[PenaltyStep] = []
        self.gradients: list[HyperGradientStep] = []
        self.surrogate: SurrogateFitted | None = None
        self.history: HistoryRead | None = None
        self.common: CommonSurfaceFitted | None = None
        self.standards: list[Standard] = []
        self.labelled: SequencesLabelled | None = None
        self.folded: MoleculesFolded | None = None
        self.topics: TopicsFound | None = None
        self.images: ImagesDrawn | None = None
        self.ensembles: list[EnsembleUpdated] = []
        self.disagreement: MembersDisagree | None = None
        self.looks: dict[str, ModelLooked] = {}
        self.histories: dict[str, HistoryRead] = {}
        self.surrogates: dict[str, SurrogateFitted] = {}
        self.compared: ModelsCompared | None = None
        self.picked: ModelPicked | None = None
        self.notices: tuple[str, ...] = ()
        self.seconds_left: float | None = None
        self.begun: TrialStarted | None = None
        self.latest: Trial | None = None
        self.resumed: RunResumed | None = None
        self.exclusion: TrialExcluded | None = None
        self.extended_at = 0
        self.tuning_ended: TuningEnded | None = None
        self.shortened = False
        self.fold: FoldTested | None = None
        self.ended: RunFinished | RunStopped | RunFailed | None = None
        self.results: dict[str, Any] | None = None
        self._default = -1  # number of the default setting's trial
        self._responses: dict[int, tuple[float, float]] = {}  # of pending trials

    # What the events add up to ------------------------------------------------------------------

    @property
    def learns_penalties(self) -> bool:
        """Whether the run has steps instead of trials."""
        return self.started.kind == "penalties"

    @property
    def several(self) -> bool:
        """Whether several models are tuned in one run."""
        return tunes_several(self.started)

    @property
    def default(self) -> Trial | None:
        """The default setting's trial, once it has a score."""
        trial = self.trial(self._default)
        return None if trial is None or trial.failure else trial

    @property
    def step(self) -> Step | None:
        """The penalty learner's last step."""
        if self.gradients:
            return self.gradients[-1]
        return self.steps[-1] if self.steps else None

    @property
    def done(self) -> int:
        """How many trials or steps have ended."""
        return len(self.trials) + len(self.steps) + len(self.gradients)

    @property
    def without_better(self) -> int:
        """Trials in a row without a better one, since the run was last asked for more of them."""
        return min(self.without_improvement, len(self.trials) - self.extended_at)

    @property
    def fits(self) -> int:
        """Models fitted so far."""
        return self.trial_fits + (self.step.fits if self.step is not None else 0)

    @property
    def ensemble(self) -> EnsembleUpdated | None:
        """The members of the average and their weights; None where nothing is averaged."""
        return self.ensembles[-1] if self.ensembles else None

    @property
    def weights(self) -> dict[int, float]:
        """{trial: its weight} of the members of the average."""
        if self.ensemble is None:
            return {}
        return dict(zip(self.ensemble.members, self.ensemble.weights, strict=True))

    def prediction(self, trial: Trial) -> tuple[float, float | None] | None:
        """The score that was predicted of a trial and its standard deviation, if there is one.

        What was predicted before this dataset had a mean and a deviation of its own becomes a score
        as soon as it has them.
        """
        if trial.response is None:
            return None if trial.expected is None else (trial.expected, trial.uncertainty)
        if self.common is None or not self.common.settled:
            return None
        scale, (response, deviation) = self.common.scale, trial.response
        sign = 1.0 if self.common.maximize else -1.0
        return self.common.mean + sign * scale * response, scale * deviation

    def progress(self, seconds_left: float | None) -> Progress:
        """The Progress event of this moment."""
        return Progress(
            done=self.done,
            total=self.total,
            seconds_left=seconds_left,
            best=self.best.score if self.best else None,
            default=self.default.score if self.default else None,
            without_improvement=self.without_improvement,
            fits=self.fits,
        )

    # Taking events in ---------------------------------------------------------------------------

    def consume(self, event: Event) -> None:
        """Take one more event into account; RunStarted begins anew."""
        if event.seconds > self.seconds:
            self.seconds = event.seconds
        match event:  # the frequent ones first
            case TrialStarted():
                self._take_start(event)
            case TrialFinished():
                finite = math.isfinite(event.score)
                why = "" if finite else "its score is not a number"
                self._take_end(event, event.score, event.fits, why)
            case TrialFailed():
                self._take_end(event, math.nan, 0, event.reason or "no reason was given")
            case TrialExcluded():
                self.exclude(event.number, event.excluded)
                self.exclusion = event
            case Progress():
                self.seconds_left = event.seconds_left
            case PenaltyStep():
                self.steps.append(event)
                self.resumed = None
            case HyperGradientStep():
                self.gradients.append(event)
                self.resumed = None
            case EnsembleUpdated():
                self.ensembles.append(event)
            case Noticed():
                if event.sentence not in self.notices:
                    self.notices = (*self.notices, event.sentence)
            case RunStarted():
                self._begin(event)
            case TuningEnded():
                self.tuning_ended = event
            case EvaluationShortened():
                self.shortened = True
            case SettingWanted():
                self.total += 1 if self.total else 0
            case RunResumed() | FoldTested() | RunFinished() | RunStopped() | RunFailed():
                self._take_turn(event)
            case _:
                self._show(event)

    def _take_start(self, event: TrialStarted) -> None:
        self.pending[event.number] = self.begun = event
        self.resumed = None
        if event.expected is None and self.common is not None and event.reason != "default":
            self._responses[event.number] = (self.common.expected, self.common.deviation)
        default = event.reason == "default" and self._is_usual(event.setting)
        if default or (event.reason == "past" and self._is_default(event)):
            self._default = event.number

    def _is_default(self, event: TrialStarted) -> bool:
        space = self.started.space
        return event.setting == {axis["name"]: axis.get("default") for axis in space} != {}

    def _is_usual(self, setting: dict[str, Any]) -> bool:
        """Whether a default setting is the run's: of several models, that of the usual one."""
        space = self.started.space
        return not self.several or setting.get(MODEL) == space[0].get("default")

    def _take_end(
        self, event: TrialFinished | TrialFailed, score: float, fits: int, failure: str
    ) -> None:
        begun = self.pending.pop(event.number, None) or TrialStarted()
        trial = Trial(
            number=event.number,
            setting=event.setting,
            score=score,
            took=event.took,
            fits=fits,
            reason=begun.reason,
            expected=begun.expected,
            uncertainty=begun.uncertainty,
            response=self._responses.pop(event.number, None),
            candidates=begun.candidates,
            failure=failure,
            behind=isinstance(event, TrialFinished) and event.behind,
            ended=event.seconds,
            error=self._error_of(event),
        )
        self.add(trial)
        self.begun, self.latest, self.resumed = None, trial, None

    def _error_of(self, event: TrialFinished | TrialFailed) -> float:
        if isinstance(event, TrialFailed):
            return 0.0
        return fold_error(event.fold_scores, self.started.repeats)

    def _take_turn(
        self, event: RunResumed | FoldTested | RunFinished | RunStopped | RunFailed
    ) -> None:
        """What happened just before is no news any more."""
        self.begun, self.latest, self.resumed, self.exclusion = None, None, None, None
        match event:
            case RunResumed():
                if event.total > self.total:
                    self.extended_at = event.done
                self.total = event.total or self.total
                self.resumed, self.ended, self.results, self.fold = event, None, None, None
                self.tuning_ended, self.shortened, self.picked = None, False, None
            case FoldTested():
                self.fold = event
            case RunFailed():
                self.ended = event
            case _:
                self.ended, self.results = event, event.results

    def _show(self, event: Event) -> None:
        """Keep what the latest model or surrogate shows."""
        match event:
            case SurrogateFitted() if event.model:
                self.surrogates = {**self.surrogates, event.model: event}
            case SurrogateFitted():
                self.surrogate = event
            case HistoryRead() if event.model:
                self.histories = {**self.histories, event.model: event}
            case HistoryRead():
                self.history = event
            case CommonSurfaceFitted():
                self.common = event
                standard = Standard(event.trials, event.mean, event.scale, event.settled)
                self.standards.append(standard)
            case SequencesLabelled():
                self.labelled = event
            case MoleculesFolded():
                self.folded = event
            case TopicsFound():
                self.topics = event
            case ImagesDrawn():
                self.images = event
            case MembersDisagree():
                self.disagreement = event
            case ModelLooked():
                self._look(event)
            case ModelsCompared():
                self.compared = event
            case ModelPicked():
                self.picked = event

    def _look(self, event: ModelLooked) -> None:
        known = self.looks[event.model].score if event.model in self.looks else None
        if known is None or (event.score is not None and self._beats(event.score, known)):
            self.looks = {**self.looks, event.model: event}

    def adopt(self, trial: Trial) -> None:
        """Take a trial over that ended in a run of which this one is a part."""
        self.add(trial)
        self.latest = trial
        if trial.reason == "default":
            self._default = trial.number

    # Coming back --------------------------------------------------------------------------------

    def moment(self) -> Moment:
        """What it takes to come back to this moment; as small for a long run as for a short one."""
        return Moment(
            self._copy(),
            trials=len(self.trials),
            replaced=len(self.replaced),
            steps=len(self.steps),
            gradients=len(self.gradients),
            ensembles=len(self.ensembles),
            standards=len(self.standards),
        )

    def _copy(self) -> RunState:
        """A copy that shares what only grows."""
        made = copy.copy(self)
        made.excluded, made.pending = set(self.excluded), dict(self.pending)
        made._responses = dict(self._responses)
        return made


@dataclass(frozen=True)
class Moment:
    """A moment of a run: what is small as it was, and how much there was of what only grows.

    `light` shares with the run what only grows; there is more of it by now.
    """

    light: RunState
    trials: int
    replaced: int
    steps: int
    gradients: int
    ensembles: int
    standards: int

    def state(self) -> RunState:
        """The run as it stood, to be gone on from; it shares nothing with the run any more."""
        light, made = self.light, self.light._copy()
        made._cut(light, self.trials, self.replaced)
        made.steps = light.steps[: self.steps]
        made.gradients = light.gradients[: self.gradients]
        made.ensembles = light.ensembles[: self.ensembles]
        made.standards = light.standards[: self.standards]
        return made


def folded(events: Iterable[Event]) -> RunState:
    """The state that events add up to."""
    state = RunState()
    for event in events:
        state.consume(event)
    return state
