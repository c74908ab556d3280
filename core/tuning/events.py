"""The events of a run: frozen dataclasses of plain data, each one line of JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from core.records import optional
from core.space import Axis, Setting
from core.tuning.payloads import (
    ClusterWorker,
    DatasetFacts,
    DisputedRow,
    FoldedMolecule,
    HistoryDataset,
    LabelledSequence,
    LeaderboardEntry,
    OmittedTrial,
    Topic,
)
from core.tuning.plan import Plan, plan_from_dict
from core.tuning.run_results import Interval, Results


@dataclass(frozen=True)
class Event:
    """What every event has: the seconds since the run first started."""

    seconds: float = 0.0
    # what run files call the class, for some its name in an earlier version
    tag: ClassVar[str] = "Event"
    class_by_tag: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls, tag: str = "") -> None:
        cls.tag = tag or cls.__name__
        Event.class_by_tag[cls.tag] = cls


@dataclass(frozen=True)
class RunStarted(Event):
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
        """The plan as a `Plan`."""
        data = {"file": "", **self.plan.get("data", {})}
        return plan_from_dict({"model": "", "strategy": "", **self.plan, "data": data})


@dataclass(frozen=True)
class RunResumed(Event):
    """An interrupted or finished run goes on, perhaps with more trials."""

    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class TrialStarted(Event):
    """A setting is tried, and why this one."""

    number: int = 0
    setting: Setting = field(default_factory=dict)
    reason: str = ""  # default, past, random, grid, improve, explore, start, sample, tpe,
    # cma-es, hand
    expected: float | None = None  # the surrogate's mean there, in units of the score
    uncertainty: float | None = None  # its standard deviation
    candidates: float | None = None  # among how many settings it was drawn in effect, 1/Σp̃²


@dataclass(frozen=True)
class TrialFinished(Event):
    """A setting's validation score."""

    number: int = 0
    setting: Setting = field(default_factory=dict)
    score: float = math.nan
    fold_scores: list[float] = field(default_factory=list)
    took: float = 0.0  # seconds
    fits: int = 0
    behind: bool = False  # ended early, clearly behind the best; the score is an estimate


@dataclass(frozen=True)
class TrialFailed(Event):
    """A trial that failed, and why; the run goes on."""

    number: int = 0
    setting: Setting = field(default_factory=dict)
    reason: str = ""  # one sentence
    took: float = 0.0


@dataclass(frozen=True)
class TrialExcluded(Event):
    """A trial is excluded by a person, or included again."""

    number: int = 0
    excluded: bool = True


@dataclass(frozen=True)
class SettingRequested(Event, tag="SettingWanted"):
    """A person wants a setting tried next, beyond the budget."""

    setting: Setting = field(default_factory=dict)


@dataclass(frozen=True)
class ModelScreened(Event, tag="ModelLooked"):
    """The screening of one of several models: a setting of it, tried on a part of the rows."""

    model: str = ""
    setting: Setting = field(default_factory=dict)
    score: float | None = None  # None where it failed
    rows: int = 0  # that it was fitted on
    took: float = 0.0
    failure: str = ""  # one sentence
    reason: str = "default"  # or past: the setting was best on an earlier dataset


@dataclass(frozen=True)
class ModelsCompared(Event):
    """How several models stand, and which is tried next."""

    models: list[LeaderboardEntry] = field(default_factory=list)  # the best first
    next: str = ""  # the model that is tried next
    why: str = ""  # first: its default; floor: so that none is given up on one bad draw; gain:
    # most improvement a second


@dataclass(frozen=True)
class ModelSelected(Event, tag="ModelPicked"):
    """A person exports another model than the run chose; its results follow."""

    kind: str = ""  # best, simplest, average, default, trial (core.tuning.results.candidates)
    number: int | None = None  # of the trial, where one is meant


@dataclass(frozen=True)
class SurrogateFitted(Event):
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
class HistoryRead(Event):
    """What the history holds of earlier datasets, as far as this run uses it; one event a model."""

    statistics: list[float] = field(default_factory=list)  # of this dataset (history.Statistics)
    axes: list[str] = field(default_factory=list)  # names, in the order of `values`
    datasets: list[HistoryDataset] = field(default_factory=list)  # in the order they came in
    simplex: list[str] = field(default_factory=list)  # TuningHistory.simplex
    model: str = ""  # whose trials they are, where several models are tuned


@dataclass(frozen=True)
class JointSurfaceFitted(Event, tag="CommonSurfaceFitted"):
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
    deviation: float = 0.0  # its standard deviation


@dataclass(frozen=True)
class RemarkMade(Event, tag="Noticed"):
    """Something a person should know while the run goes on."""

    sentence: str = ""


@dataclass(frozen=True)
class PenaltyStep(Event):
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
class HyperGradientStep(Event):
    """One step of implicit-gradient hyperparameter learning."""

    step: int = 0
    holdout_loss: float = math.nan
    d: dict[str, float] = field(default_factory=dict)  # group: log C
    gradient_norm: float = math.nan
    at_bound: list[str] = field(default_factory=list)
    iterations: int = 0
    fits: int = 0


@dataclass(frozen=True)
class SequencesLabelled(Event):
    """The predictions of the latest step's model for a few training sequences."""

    step: int = 0
    classes: list[str] = field(default_factory=list)  # K labels
    sequences: list[LabelledSequence] = field(default_factory=list)


@dataclass(frozen=True)
class MoleculesFolded(Event):
    """How the model of the latest step folds a few training molecules."""

    step: int = 0
    molecules: list[FoldedMolecule] = field(default_factory=list)


@dataclass(frozen=True)
class EnsembleUpdated(Event):
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
class MembersDisagree(Event):
    """The held-out rows about which the members of the average disagree most."""

    members: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)  # empty for numbers, texts and molecules
    rows: list[DisputedRow] = field(default_factory=list)  # the largest spread first
    spread: float = 0.0  # mean over all held-out rows


@dataclass(frozen=True)
class TopicsFound(Event):
    """The topics of the best trial so far, the largest first."""

    number: int = 0  # of the trial
    count: int = 0  # K; `topics` may hold fewer
    documents: int = 0  # how many they were learned from
    topics: list[Topic] = field(default_factory=list)


@dataclass(frozen=True)
class ImagesDrawn(Event):
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
class Progress(Event):
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
class WorkersSeen(Event):
    """The state of the workers of a cluster now; not recorded."""

    workers: list[ClusterWorker] = field(default_factory=list)


@dataclass(frozen=True)
class TuningEnded(Event):
    """No more trials; the best model is being fitted, tested and saved."""

    because: str = ""


@dataclass(frozen=True)
class EvaluationShortened(Event):
    """A person wants the remaining outer folds tested without tuning in each."""


@dataclass(frozen=True)
class FoldTested(Event):
    """An outer fold of nested cross-validation was tested; the scores come at the end."""

    fold: int = 0  # from 1; 0 as the folds begin
    folds: int = 0


@dataclass(frozen=True)
class RunFinished(Event):
    """The run ended by itself."""

    because: str = ""
    results: Results | None = None


@dataclass(frozen=True)
class RunStopped(Event):
    """The run was stopped; `results` are of the best until then."""

    because: str = ""
    results: Results | None = None


@dataclass(frozen=True)
class RunFailed(Event):
    """The run could not go on; `sentence` says why and what to do."""

    sentence: str = ""


# The names of earlier versions, for extensions.
ModelLooked, ModelPicked, SettingWanted = ModelScreened, ModelSelected, SettingRequested
CommonSurfaceFitted, Noticed = JointSurfaceFitted, RemarkMade
