"""The state of a run: the sum of its events so far. Only `RunState` adds events up."""

from __future__ import annotations

import copy
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import force_setattr

from core.estimators.multi_model import MODEL
from core.space import default_setting
from core.tuning.events import (
    EnsembleUpdated,
    EvaluationShortened,
    Event,
    FoldTested,
    HistoryRead,
    HyperGradientStep,
    ImagesDrawn,
    JointSurfaceFitted,
    MembersDisagree,
    ModelsCompared,
    ModelScreened,
    ModelSelected,
    MoleculesFolded,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SequencesLabelled,
    SettingRequested,
    SurrogateFitted,
    ThresholdSelected,
    TopicsFound,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.run_results import Results
from core.tuning.runs.trial_table import Trial, TrialTable, tunes_several

Step = PenaltyStep | HyperGradientStep

_UNKNOWN, _NOTHING = TrialStarted(), TrialFinished()


@dataclass(frozen=True)
class ScoreStandardization:
    """After `trials` trials; `settled` where they are the dataset's own."""

    trials: int
    mean: float
    scale: float
    settled: bool
    is_shared: bool  # whether earlier datasets have their share in them

    @classmethod
    def of_surface(cls, common: JointSurfaceFitted) -> ScoreStandardization:
        """That of a joint surface."""
        # The deviation of the scores alone has one degree of freedom less than there are scores.
        is_shared = common.freedom not in (None, 0.0, common.trials - 1.0)
        return cls(common.trials, common.mean, common.scale, common.settled, is_shared)


class RunState(TrialTable):
    """The sum of the events so far of a live, resumed or replayed run."""

    def __init__(self) -> None:
        self._start_over(RunStarted())

    def _start_over(self, started: RunStarted) -> None:
        super().__init__(started.maximize)
        self.started, self.seconds = started, started.seconds
        self.tunes_several_models = tunes_several(started)
        self.total = started.total  # trials or steps at most; 0 where only time bounds them
        self.pending: dict[int, TrialStarted] = {}  # by number, not yet ended
        self.steps: list[PenaltyStep] = []
        self.gradients: list[HyperGradientStep] = []
        # The latest event of each kind, where nothing else is said; of examples an empty one.
        self.surrogate: SurrogateFitted | None = None
        self.history: HistoryRead | None = None
        self.common: JointSurfaceFitted | None = None
        self.standards: list[ScoreStandardization] = []  # the last one after as many trials holds
        self.labelled, self.folded = SequencesLabelled(), MoleculesFolded()
        self.topics, self.images = TopicsFound(), ImagesDrawn()
        self.ensembles: list[EnsembleUpdated] = []  # likewise
        self.disagreement = MembersDisagree()
        # By model, where several are tuned.
        self.looks: dict[str, ModelScreened] = {}  # the best screening
        self.histories: dict[str, HistoryRead] = {}
        self.surrogates: dict[str, SurrogateFitted] = {}
        self.compared: ModelsCompared | None = None  # the leaderboard of several models
        self.picked: ModelSelected | None = None  # by a person; None for the run's choice
        self.threshold: float | None = None  # likewise
        self.notices: tuple[str, ...] = ()  # sentences for the person, each once
        # Seconds: all that is left, and of it what is kept for the end, as told at a second; of
        # screenings, and the second at which a screening or trial ended last.
        self.seconds_left: float | None = None
        self.ending_seconds = self.forecast_at = self.screening_seconds = self.last_end = 0.0
        self.memory = 0  # bytes in use; 0 where unknown
        self.begun: TrialStarted | None = None  # the last one, unless a trial has ended since
        self.latest: Trial | None = None  # to end since the run began or was resumed
        self.resumed: RunResumed | None = None  # until a trial or step follows
        self.exclusion: TrialExcluded | None = None  # since the run began, was resumed or ended
        self.extended_at = 0  # trials that had ended when more were requested last
        self.tuning_ended: TuningEnded | None = None  # None until all is tried
        self.shortened = False  # a person wants the results without tuning in every fold
        self.fold: FoldTested | None = None  # of outer folds
        self.ended: RunFinished | RunStopped | RunFailed | None = None
        self.results: Results | None = None
        self._default = -1  # number of the default setting's trial
        self._responses: dict[int, tuple[float, float]] = {}  # of pending trials

    # What the events add up to ------------------------------------------------------------------

    @property
    def learns_penalties(self) -> bool:
        return self.started.kind == "penalties"

    @property
    def more_minutes(self) -> float:
        """As many as a run of several models was given; 0 for others, which count trials."""
        return (self.started.run_plan.minutes or 0.0) if self.tunes_several_models else 0.0

    @property
    def default_trial(self) -> Trial | None:
        """Once it has a score."""
        trial = self.find_trial(self._default)
        return None if trial is None or trial.failure else trial

    @property
    def unchosen_default(self) -> float | None:
        """The default setting's score where it compares with those of `EnsembleUpdated`."""
        # Those are means over folds, as a trial's score is in cross-validation.
        is_comparable = self.started.judged == "cv" and not self.tunes_several_models
        return self.default_trial.score if is_comparable and self.default_trial else None

    @property
    def last_step(self) -> Step | None:
        if self.gradients:
            return self.gradients[-1]
        return self.steps[-1] if self.steps else None

    @property
    def done_count(self) -> int:
        return len(self.trials) + len(self.steps) + len(self.gradients)

    @property
    def done_share(self) -> float:
        """Of the trials or steps, or of the time where the minutes bound the run."""
        if self.total:
            return min(1.0, self.done_count / self.total)
        return self.seconds / (self.seconds + self.seconds_left) if self.seconds_left else 0.0

    def done_at(self, event: Event) -> int:
        """How many of these had ended at an event."""
        steps: Sequence[Step] = self.steps or self.gradients
        done = bisect_right(self.trials, event.seconds, key=lambda trial: trial.ended)
        return done + bisect_right(steps, event.seconds, key=lambda step: step.seconds)

    @property
    def without_better(self) -> int:
        """Trials in a row without a better one, since the last request for more."""
        return min(self.without_improvement, len(self.trials) - self.extended_at)

    @property
    def fit_count(self) -> int:
        return self.trial_fits + (self.last_step.fits if self.last_step is not None else 0)

    @property
    def ensemble(self) -> EnsembleUpdated | None:
        return self.ensembles[-1] if self.ensembles else None

    @property
    def weights(self) -> dict[int, float]:
        if self.ensemble is None:
            return {}
        return dict(zip(self.ensemble.members, self.ensemble.weights, strict=True))

    def prediction(self, trial: Trial) -> tuple[float, float | None] | None:
        # A standardized prediction becomes a score once this dataset's mean and scale are settled.
        if trial.response is None:
            return None if trial.expected is None else (trial.expected, trial.uncertainty)
        if self.common is None or not self.common.settled:
            return None
        scale, (response, deviation) = self.common.scale, trial.response
        sign = 1.0 if self.common.maximize else -1.0
        return self.common.mean + sign * scale * response, scale * deviation

    def progress(
        self, seconds_left: float | None, ending: float | None = None, memory: int | None = None
    ) -> Progress:
        return Progress(
            done=self.done_count,
            total=self.total,
            seconds_left=seconds_left,
            best=self.best_trial.score if self.best_trial else None,
            default=self.default_trial.score if self.default_trial else None,
            without_improvement=self.without_improvement,
            fits=self.fit_count,
            ending=ending,
            memory=memory,
        )

    # Taking events in ---------------------------------------------------------------------------

    def consume(self, event: Event) -> None:
        """RunStarted begins anew."""
        if event.seconds > self.seconds:
            self.seconds = event.seconds
        # The frequent ones first; `match` takes longer for a structure of another kind.
        if type(event) is TrialStarted:
            self._take_start(event)
            return
        if type(event) is TrialFinished:
            failure = "" if math.isfinite(event.score) else "its score is not a number"
            self._take_end(event, event.score, failure, event)
            return
        match event:
            case TrialFailed():
                self._take_end(event, math.nan, event.reason or "no reason was given")
            case TrialExcluded():
                self.exclude(event.number, event.excluded)
                self.exclusion = event
            case Progress():
                # Beats of the end carry no forecast: the one that was made when the tuning ended
                # stays.
                if event.seconds_left is not None or self.tuning_ended is None:
                    self._take_forecast(event.seconds_left, event.ending or 0.0, event.seconds)
                self.memory = event.memory or self.memory
            case PenaltyStep():
                self.steps.append(event)
                self.resumed = None
            case HyperGradientStep():
                self.gradients.append(event)
                self.resumed = None
            case EnsembleUpdated():
                self.ensembles.append(event)
            case RemarkMade():
                if event.sentence not in self.notices:
                    self.notices = (*self.notices, event.sentence)
            case RunStarted():
                self._start_over(event)
            case TuningEnded():
                self.tuning_ended = event
                if self.ending_seconds:
                    self._take_forecast(0.0, self.ending_seconds, event.seconds)
            case EvaluationShortened():
                self.shortened = True
            case SettingRequested():
                self.total += 1 if self.total else 0
            case RunResumed() | FoldTested() | RunFinished() | RunStopped() | RunFailed():
                self._take_turn(event)
            case _:
                self._keep_latest(event)

    def _take_forecast(self, seconds_left: float | None, ending: float, now: float) -> None:
        self.seconds_left = None if seconds_left is None else seconds_left + ending
        self.ending_seconds, self.forecast_at = ending, now

    def _take_start(self, event: TrialStarted) -> None:
        self.pending[event.number] = self.begun = event
        self.resumed = None
        # A joint surface expects standardized responses, which become scores once its scale
        # settles.
        if event.expected is None and self.common is not None and event.reason != "default":
            self._responses[event.number] = (self.common.expected, self.common.deviation)
        if event.reason in ("default", "past") and self._is_default(event):
            self._default = event.number

    def _is_default(self, event: TrialStarted) -> bool:
        space, setting = self.started.space, event.setting
        if event.reason == "default":
            return not self.tunes_several_models or setting.get(MODEL) == space[0].default
        # The history may begin with the default setting itself, which is then tried once.
        return bool(space) and setting == default_setting(space)

    def _take_end(
        self,
        event: TrialFinished | TrialFailed,
        score: float,
        failure: str,
        finished: TrialFinished = _NOTHING,
    ) -> None:
        begun = self.pending.pop(event.number, None) or _UNKNOWN
        if event is finished and event.setting == begun.setting:
            # A long run has each setting once in memory.
            force_setattr(event, "setting", begun.setting)
        trial = Trial(
            number=event.number,
            setting=event.setting,
            score=score,
            took=event.took,
            fits=finished.fits,
            reason=begun.reason,
            expected=begun.expected,
            uncertainty=begun.uncertainty,
            response=self._responses.pop(event.number, None) if self._responses else None,
            candidates=begun.candidates,
            failure=failure,
            behind=finished.behind,
            fold_scores=finished.fold_scores,
            repeats=self.started.repeats,
            ended=event.seconds,
        )
        self.add_trial(trial)
        self.begun, self.latest, self.resumed = None, trial, None
        self.last_end = event.seconds

    def _take_turn(
        self, event: RunResumed | FoldTested | RunFinished | RunStopped | RunFailed
    ) -> None:
        self.begun, self.latest, self.resumed, self.exclusion = None, None, None, None
        match event:
            case RunResumed():
                # More was asked for, so that patience begins anew; a run merely cut off goes on
                # counting.
                if event.total > self.total or isinstance(self.ended, RunFinished):
                    self.extended_at = event.done
                self.total = event.total or self.total
                self.resumed, self.ended, self.results, self.fold = event, None, None, None
                self.tuning_ended, self.shortened, self.picked = None, False, None
                self.threshold = None
            case FoldTested():
                self.fold = event
            case RunFailed():
                self.ended = event
            case _:
                self.ended, self.results = event, event.results

    def _keep_latest(self, event: Event) -> None:
        match event:
            case SurrogateFitted() if event.model:
                self.surrogates = {**self.surrogates, event.model: event}
            case SurrogateFitted():
                self.surrogate = event
            case HistoryRead() if event.model:
                self.histories = {**self.histories, event.model: event}
            case HistoryRead():
                self.history = event
            case JointSurfaceFitted():
                self.common = event
                # Every one is kept: earlier trials are told by the scale that held then.
                self.standards.append(ScoreStandardization.of_surface(event))
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
            case ModelScreened():
                self._keep_screening(event)
            case ModelsCompared():
                self.compared = event
            case ModelSelected():
                # A threshold is one model's.
                self.picked, self.threshold = event, None
            case ThresholdSelected():
                self.threshold = event.value

    def _keep_screening(self, event: ModelScreened) -> None:
        self.screening_seconds += event.seconds - self.last_end
        self.last_end = event.seconds
        look, score = self.looks.get(event.model), event.score
        best = None if look is None else look.score
        if best is None or (score is not None and self._is_better(score, best)):
            self.looks = {**self.looks, event.model: event}

    def adopt_trial(self, trial: Trial) -> None:
        """Of the run of several models that this one is part of."""
        self.add_trial(trial)
        self.latest = trial
        if trial.reason == "default":
            self._default = trial.number

    # Coming back --------------------------------------------------------------------------------

    def snapshot(self) -> RunSnapshot:
        """As small for a long run as for a short one."""
        return RunSnapshot(
            self._copy_state(),
            trials=len(self.trials),
            replaced=len(self.replaced),
            steps=len(self.steps),
            gradients=len(self.gradients),
            ensembles=len(self.ensembles),
            standards=len(self.standards),
        )

    def _copy_state(self) -> RunState:
        state = copy.copy(self)
        state.excluded, state.pending = set(self.excluded), dict(self.pending)
        state._responses = dict(self._responses)
        return state


@dataclass(frozen=True)
class RunSnapshot:
    """A moment: a copy of what is small, and the lengths of the lists that only grow."""

    light: RunState
    trials: int
    replaced: int
    steps: int
    gradients: int
    ensembles: int
    standards: int

    def restored_state(self) -> RunState:
        """Independent of the run."""
        light, state = self.light, self.light._copy_state()
        state._copy_first(light, self.trials, self.replaced)
        state.steps = light.steps[: self.steps]
        state.gradients = light.gradients[: self.gradients]
        state.ensembles = light.ensembles[: self.ensembles]
        state.standards = light.standards[: self.standards]
        return state


def state_from_events(events: Iterable[Event]) -> RunState:
    """The state after these events."""
    state = RunState()
    for event in events:
        state.consume(event)
    return state


@dataclass(frozen=True)
class RunSeconds:
    """The parts of a run's time, in their order, in seconds."""

    screening: float  # spent
    trials: float
    ending: float  # since the last trial
    free: float  # left for trials
    kept: float  # left for the end

    @property
    def remaining(self) -> float:
        return self.free + self.kept


def run_seconds(run: RunState, now: float | None = None) -> RunSeconds:
    """The parts by `now`, in seconds of the run; by the last event without it."""
    now = run.seconds if now is None else max(now, run.seconds)
    tuned_until = now if run.tuning_ended is None else run.tuning_ended.seconds
    screening = run.screening_seconds if run.trials or run.pending else tuned_until
    trials = max(0.0, tuned_until - screening)
    if run.ended is not None:
        return RunSeconds(screening, trials, now - tuned_until, 0.0, 0.0)
    remaining = max(0.0, 60 * (run.started.run_plan.minutes or 0.0) - now)  # before any forecast
    if run.seconds_left is not None:
        remaining = max(0.0, run.seconds_left - (now - run.forecast_at))
    kept = min(remaining, run.ending_seconds) if run.tuning_ended is None else remaining
    return RunSeconds(screening, trials, now - tuned_until, remaining - kept, kept)
