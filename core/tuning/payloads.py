"""The records in events: datasets, sequences, molecules, rows and topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.datasets.task import Task
from core.records import Record, optional


@dataclass(frozen=True)
class DatasetFacts(Record):
    """The data of a run."""

    name: str = ""
    rows: int = 0
    features: int = 0
    task: Task = Task.UNKNOWN
    target: str | None = optional()  # None in runs of earlier versions
    classes: list[str] = field(default_factory=list)
    fingerprint: str = ""
    train_rows: int = 0
    test_rows: int = 0
    outer_folds: int = 0  # of nested cross-validation, else 0
    train_sequences: int | None = optional()  # where rows are tokens
    test_sequences: int | None = optional()
    pictures: bool | None = optional()  # whether ImagesDrawn will come

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # by its name too


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
class OmittedTrial:
    """A trial that has a score but is omitted from the average, and why (a sentence)."""

    number: int
    reason: str


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
