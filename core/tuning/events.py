"""The events of a run: frozen plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import msgspec

from core.datasets.task import Task
from core.records import Record, optional
from core.space import Axis, Setting
from core.tuning.plan import Plan, plan_from_dict
from core.tuning.run_results import Interval, OmittedTrial, Results


@dataclass(frozen=True)
class DatasetFacts(Record):
    """The data of a run."""

    name: str = ""
    rows: int = 0
    features: int = 0
    task: Task = Task.UNKNOWN
    target: str | None = optional()  # None in runs of earlier versions
    target_unit: str | None = optional()  # such as €, where its cells have one
    classes: list[str] = field(default_factory=list)
    fingerprint: str = ""
    train_rows: int = 0
    test_rows: int = 0
    outer_folds: int = 0  # of nested cross-validation, else 0
    train_sequences: int | None = optional()  # where rows are tokens
    test_sequences: int | None = optional()
    telling: list[str] | None = optional()  # features each of which tells the target alone
    pictures: bool | None = optional()  # whether ImagesDrawn will come

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # by its name too

    @property
    def test_set_text(self) -> str:
        """Such as "60 sequences (600 tokens)", or ""."""
        size = self.task.count_text(self.test_rows)
        # Whole sequences are held out: their number says more than that of the tokens.
        if self.task.has_sequences and self.test_sequences:
            return f"{self.test_sequences} sequences ({size})"
        return size if self.test_rows else ""


@dataclass(frozen=True)
class HistoryDataset:
    """An earlier dataset with its trials, as the history held it."""

    id: str  # its fingerprint in the history
    statistics: list[float]  # core.samplers.transfer.history.Statistics of it
    values: list[list[Any]]  # of the axes, one list a trial
    scores: list[float]  # one a trial
    maximize: bool  # whether larger scores are better there
    starter: bool  # whether it came with the program
    distance: float  # to this run's dataset (TuningHistory.distances)


@dataclass(frozen=True)
class ClusterWorker(Record):
    """The state of a worker of a cluster."""

    name: str
    host: str = ""  # its computer
    threads: int = 1
    load: float = 0.0  # share of its threads at work, for anyone
    trials: list[int] = field(default_factory=list)  # of this run; below 0 for screenings
    usable: bool = False


@dataclass(frozen=True)
class LabelledSequence:
    """A sequence of T tokens with predicted labels."""

    name: str
    tokens: list[str]
    truth: list[str]
    labels: list[str]
    marginals: list[list[float]]  # probabilities (T, K), in the order of the event's classes


@dataclass(frozen=True)
class FoldedMolecule:
    """A molecule and its predicted structure, both structures in dot-bracket notation."""

    name: str
    sequence: str  # its letters
    truth: str
    predicted: str
    pairs: list[list[float]]  # [i, j, probability] with 0 <= i < j, those of 0.01 and more


@dataclass(frozen=True)
class DisputedRow:
    """A held-out row, and the predictions of the average's members for it."""

    row: int  # of the dataset, from 0
    about: str  # its values in words
    truth: str  # as text; "" where it is unknown
    spread: float  # of the predictions, in nats; for numbers the standard deviation
    said: list[Any]  # one a member: a list of probabilities, a number, or a log density


@dataclass(frozen=True)
class Topic:
    """A topic: its share of all words, and its likeliest words with their probabilities."""

    share: float
    words: list[str]
    weights: list[float]


@dataclass(frozen=True)
class LeaderboardEntry:
    """One of several models in a run."""

    model: str
    trials: int  # that ended with a score on all rows
    best: float | None  # of these scores; None before the first
    error: float | None  # the standard error of `best`, else of `look`; None where unknown
    look: float | None  # its best screening score; None where that failed
    seconds: float  # spent on it so far
    gain: float  # expected improvement of the best score of all by its next trial
    takes: float  # seconds that this trial is expected to take
    # waiting (before its first trial), tuned, behind (clearly worse than the best), slow, failed
    state: str
    why: str = ""  # one sentence, for failed and slow models
    rows: int | None = optional()  # of a fold's training rows, that its largest fit has seen
    folds: int | None = optional()  # that were scored at that size


class Event:
    """What every event has: the seconds since the run first started.

    The two of every trial are structures of msgspec, which reads them in half the time; the others
    are dataclasses.
    """

    __slots__ = ()
    seconds: float
    # what run files call the class, for some its name in an earlier version
    tag: ClassVar[str] = "Event"
    class_by_tag: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls, tag: str = "", abstract: bool = False) -> None:
        cls.tag = tag or cls.__name__
        if not abstract:
            Event.class_by_tag[cls.tag] = cls

    def with_fields(self, **values: Any) -> Self:
        """The same event with other values."""
        change: Any = msgspec.structs.replace if isinstance(self, msgspec.Struct) else replace
        event: Self = change(self, **values)
        return event


@dataclass(frozen=True)
class RecordedEvent(Event, abstract=True):
    """The seconds of the events that are dataclasses."""

    seconds: float = 0.0


@dataclass(frozen=True)
class RunStarted(RecordedEvent):
    """The run starts: everything a view needs to know before the first trial or step."""

    run: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    dataset: DatasetFacts = DatasetFacts()
    kind: str = "trials"  # "trials" or "penalties"
    space: list[Axis] = field(default_factory=list)
    groups: dict[str, int] = field(default_factory=dict)  # group: number of parameters
    metric: str = "accuracy"  # of the trials' scores; `results` may be measured by another
    maximize: bool = True
    total: int = 0  # trials or steps at most; 0 where only time bounds it
    started_at: str = ""  # ISO time, UTC
    judged: str = "cv"  # what settings are judged by: cv, validation, training
    repeats: int = 1  # how often the training rows are divided into folds
    averages: bool = False  # whether the best models are averaged at the end
    baseline: float | None = None  # the score of the baseline, of trials that predict
    remembered_as: str = ""  # under which name the history of datasets keeps its trials; of
    # several models the start of each one's name there

    @cached_property
    def run_plan(self) -> Plan:
        data = {"file": "", **self.plan.get("data", {})}
        return plan_from_dict({"model": "", "strategy": "", **self.plan, "data": data})


@dataclass(frozen=True)
class RunResumed(RecordedEvent):
    """An interrupted or finished run goes on, perhaps with more trials."""

    done: int = 0
    total: int = 0


class TrialStarted(msgspec.Struct, Event, frozen=True, gc=False, tag_field="event", tag=True):
    """A setting is tried, and why this one."""

    seconds: float = 0.0
    number: int = 0
    setting: Setting = msgspec.field(default_factory=dict)
    reason: str = ""  # default, past, random, grid, improve, explore, start, sample, tpe,
    # cma-es, hand
    expected: float | None = None  # the surrogate's mean there, in units of the score
    uncertainty: float | None = None  # its standard deviation
    candidates: float | None = None  # among how many settings it was drawn in effect, 1/Σp̃²


class TrialFinished(msgspec.Struct, Event, frozen=True, gc=False, tag_field="event", tag=True):
    """A setting's validation score."""

    seconds: float = 0.0
    number: int = 0
    setting: Setting = msgspec.field(default_factory=dict)
    score: float = math.nan
    fold_scores: list[float] = msgspec.field(default_factory=list)
    took: float = 0.0  # seconds
    fits: int = 0
    behind: bool = False  # ended early, clearly behind the best; the score is an estimate


@dataclass(frozen=True)
class TrialFailed(RecordedEvent):
    """A trial that failed, and why; the run goes on."""

    number: int = 0
    setting: Setting = field(default_factory=dict)
    reason: str = ""  # one sentence
    took: float = 0.0


@dataclass(frozen=True)
class TrialExcluded(RecordedEvent):
    """A trial is excluded by a person, or included again."""

    number: int = 0
    excluded: bool = True


@dataclass(frozen=True)
class SettingRequested(RecordedEvent, tag="SettingWanted"):
    """A person wants a setting tried next, beyond the budget."""

    setting: Setting = field(default_factory=dict)


@dataclass(frozen=True)
class ModelScreened(RecordedEvent, tag="ModelLooked"):
    """The screening of one of several models: a setting of it, tried on a part of the rows."""

    model: str = ""
    setting: Setting = field(default_factory=dict)
    score: float | None = None  # None where it failed
    rows: int = 0  # that it was fitted on
    took: float = 0.0
    failure: str = ""  # one sentence
    reason: str = "default"  # or past: the setting was best on an earlier dataset


@dataclass(frozen=True)
class ModelsCompared(RecordedEvent):
    """How several models stand, and which is tried next."""

    models: list[LeaderboardEntry] = field(default_factory=list)  # the best first
    next: str = ""  # the model that is tried next
    why: str = ""  # first: its default; floor: so that none is given up on one bad draw; gain:
    # most improvement a second


@dataclass(frozen=True)
class ModelSelected(RecordedEvent, tag="ModelPicked"):
    """A person exports another model than the run chose; its results follow."""

    kind: str = ""  # best, simplest, average, default, trial (core.tuning.results.candidates)
    number: int | None = None  # of the trial, where one is meant


@dataclass(frozen=True)
class ThresholdSelected(RecordedEvent):
    """A person decides by another threshold; its results follow."""

    value: float | None = None  # probability from which a row is of the second class; None to undo


@dataclass(frozen=True)
class SurrogateFitted(RecordedEvent):
    """The Gaussian process of the scores, for evaluation anywhere in the unit cube."""

    trials: int = 0  # how many trials it has seen
    model: str = ""  # whose scores it models, where several models are tuned
    points: list[list[float]] = field(default_factory=list)  # unit vectors, n × width
    responses: list[float] = field(default_factory=list)  # scores, n
    numbers: list[int] = field(default_factory=list)  # trial numbers, n
    kernel: str = "matern52"  # se, matern32, matern52
    lengths: list[float] = field(default_factory=list)
    amplitude: float = 1.0  # variance of the standardized function
    noise: float = 0.0  # variance of the standardized noise
    mean: float = 0.0  # scores are mean ± scale × standardized, down to the median if spread > 0
    scale: float = 1.0
    maximize: bool = True
    acquisition: str = "ei"  # ei, pi, mean
    incumbent: list[float] = field(default_factory=list)  # unit vector of the best trial
    next: list[float] = field(default_factory=list)  # unit vector of the next trial
    median: float = 0.0  # core.gp.warping.ScoreWarp
    spread: float = 0.0
    proposes: bool = True  # whether it chose the next trial; of the first ones it only watches


@dataclass(frozen=True)
class HistoryRead(RecordedEvent):
    """What the history holds of earlier datasets, as far as this run uses it; one event a model."""

    statistics: list[float] = field(default_factory=list)  # of this dataset (history.Statistics)
    axes: list[str] = field(default_factory=list)  # names, in the order of `values`
    datasets: list[HistoryDataset] = field(default_factory=list)  # in the order they came in
    simplex: list[str] = field(default_factory=list)  # TuningHistory.simplex
    model: str = ""  # whose trials they are, where several models are tuned
    same: int | None = optional()  # runs that do not count: what may be this dataset


@dataclass(frozen=True)
class JointSurfaceFitted(RecordedEvent, tag="CommonSurfaceFitted"):
    """The joint response surface; with HistoryRead it can be evaluated anywhere."""

    trials: int = 0  # of this run that it has seen
    method: str = "transfer"  # how scores become responses: transfer, scot
    kernel: str = "mkl"  # sqe, mkl, printed
    neighbours: list[int] = field(default_factory=list)  # of HistoryRead.datasets, nearest first
    past_responses: list[list[float]] = field(default_factory=list)  # a list for each neighbour
    points: list[list[float]] = field(default_factory=list)  # this run's, unit vectors, n × width
    responses: list[float] = field(default_factory=list)  # this run's, larger is better, n
    numbers: list[int] = field(default_factory=list)  # trial numbers, n
    lengths: list[float] = field(default_factory=list)  # of every entry; sqe: then of statistics
    noise: float = 0.0  # variance of the standardized noise
    constant: float = 1.0  # c of the neighbours' kernel c − ‖x − x'‖/√p
    mean: float = 0.0  # scores of this dataset are mean ± scale × response
    scale: float = 1.0
    settled: bool = False  # whether mean and scale are this dataset's own (two scores or more)
    maximize: bool = True
    incumbent: list[float] = field(default_factory=list)  # unit vector of the best trial, or empty
    next: list[float] = field(default_factory=list)  # unit vector of the next trial
    expected: float = 0.0  # the response expected there
    deviation: float = 0.0  # its standard deviation, that of a score with its noise
    # degrees of freedom of `scale`; 0, and in earlier versions None: taken as exact
    freedom: float | None = optional()
    residual: float | None = optional()  # variance of responses about the surface, without noise


@dataclass(frozen=True)
class RemarkMade(RecordedEvent, tag="Noticed"):
    """Something a person should know while the run goes on."""

    sentence: str = ""


@dataclass(frozen=True)
class PenaltyStep(RecordedEvent):
    """One step of a penalty learner."""

    step: int = 0
    objective: float = math.nan
    loss: float = math.nan
    penalties: dict[str, float] = field(default_factory=dict)  # group: C
    norms: dict[str, float] = field(default_factory=dict)  # group: ‖w_j‖
    switched_off: list[str] = field(default_factory=list)  # groups at their cap
    iterations: int = 0  # of the inner solver, this step
    fits: int = 0  # problems solved so far


@dataclass(frozen=True)
class HyperGradientStep(RecordedEvent):
    """One step of implicit-gradient hyperparameter learning."""

    step: int = 0
    holdout_loss: float = math.nan
    d: dict[str, float] = field(default_factory=dict)  # group: log C
    gradient_norm: float = math.nan
    at_bound: list[str] = field(default_factory=list)
    iterations: int = 0
    fits: int = 0
    switched_off: list[str] | None = optional()  # groups whose weights count for nothing
    ranges: dict[str, list[float]] | None = optional()  # {group: lowest, highest C of single folds}

    @property
    def penalties(self) -> dict[str, float]:
        """{group: C}."""
        # The exponential of more than 700 is infinite.
        return {name: math.exp(min(value, 700.0)) for name, value in self.d.items()}


@dataclass(frozen=True)
class SequencesLabelled(RecordedEvent):
    """The predictions of the latest step's model for a few training sequences."""

    step: int = 0
    classes: list[str] = field(default_factory=list)  # K labels
    sequences: list[LabelledSequence] = field(default_factory=list)

    @property
    def shares(self) -> list[list[float]]:
        """The probabilities of the classes, of every token."""
        return [token for sequence in self.sequences for token in sequence.marginals]


@dataclass(frozen=True)
class MoleculesFolded(RecordedEvent):
    """How the model of the latest step folds a few training molecules."""

    step: int = 0
    molecules: list[FoldedMolecule] = field(default_factory=list)


@dataclass(frozen=True)
class EnsembleUpdated(RecordedEvent):
    """The members of the average after a trial, the best first."""

    finished: int = 0  # S, trials with a score
    members: list[int] = field(default_factory=list)  # trial numbers, T of them
    weights: list[float] = field(default_factory=list)  # sum 1
    scores: list[float] = field(default_factory=list)  # f of every member
    effective: float = 1.0  # 1/Σw²
    # Metric on held-out rows that had no part in choosing the members (they are chosen by the other
    # folds' scores), of the average and of the single best; None where there are no such rows.
    average: float | None = None
    single: float | None = None
    kind: str = ""  # greedy or uniform, where the run has compared them
    # 95 % intervals, low and high, for new rows, where both are corrected for the choice of trials
    average_interval: Interval | None = optional()
    single_interval: Interval | None = optional()
    left_out: list[OmittedTrial] = field(default_factory=list)


@dataclass(frozen=True)
class MembersDisagree(RecordedEvent):
    """The held-out rows about which the members of the average disagree most."""

    members: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)  # empty for numbers, texts and molecules
    rows: list[DisputedRow] = field(default_factory=list)  # the largest spread first
    spread: float = 0.0  # mean over all held-out rows

    @property
    def shares(self) -> list[Any]:
        """The probabilities of the classes, where there are some, of every row and member."""
        return [member_shares for row in self.rows for member_shares in row.said if self.classes]


@dataclass(frozen=True)
class TopicsFound(RecordedEvent):
    """The topics of the best trial so far, the largest first."""

    number: int = 0  # of the trial
    count: int = 0  # K; `topics` may hold fewer
    documents: int = 0  # how many they were learned from
    topics: list[Topic] = field(default_factory=list)


@dataclass(frozen=True)
class ImagesDrawn(RecordedEvent):
    """Images sampled from a model of images, and its reconstructions of some held-out ones."""

    number: int = 0  # of the trial
    height: int = 0
    width: int = 0
    # Grey values 0 (dark) to 1, one list of height × width a picture, row by row.
    samples: list[list[float]] = field(default_factory=list)
    originals: list[list[float]] = field(default_factory=list)
    reconstructions: list[list[float]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # true label of every original


@dataclass(frozen=True)
class Progress(RecordedEvent):
    """How far the run is and how long it will take."""

    done: int = 0
    total: int = 0
    seconds_left: float | None = None  # until the last trial or step
    best: float | None = None
    default: float | None = None  # the default setting's validation score
    without_improvement: int = 0
    fits: int = 0
    ending: float | None = optional()  # seconds kept for the end, which follow `seconds_left`
    memory: int | None = optional()  # bytes in use by all processes


@dataclass(frozen=True)
class WorkersSeen(RecordedEvent):
    """The state of the workers of a cluster now; not recorded."""

    workers: list[ClusterWorker] = field(default_factory=list)


@dataclass(frozen=True)
class TuningEnded(RecordedEvent):
    """No more trials; the best model is being fitted, tested and saved."""

    because: str = ""


@dataclass(frozen=True)
class EvaluationShortened(RecordedEvent):
    """A person wants the remaining outer folds tested without tuning in each."""


@dataclass(frozen=True)
class FoldTested(RecordedEvent):
    """An outer fold of nested cross-validation was tested; the scores come at the end."""

    fold: int = 0  # from 1; 0 as the folds begin
    folds: int = 0


@dataclass(frozen=True)
class RunFinished(RecordedEvent):
    """The run ended by itself."""

    because: str = ""
    results: Results | None = None


@dataclass(frozen=True)
class RunStopped(RecordedEvent):
    """The run was stopped; `results` are of the best until then."""

    because: str = ""
    results: Results | None = None


@dataclass(frozen=True)
class RunFailed(RecordedEvent):
    """The run could not go on; `sentence` says why and what to do."""

    sentence: str = ""


# The names of earlier versions, for extensions.
ModelLooked, ModelPicked, SettingWanted = ModelScreened, ModelSelected, SettingRequested
CommonSurfaceFitted, Noticed = JointSurfaceFitted, RemarkMade
