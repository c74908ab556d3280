"""The records that events carry: datasets, sequences, molecules, rows and topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.datasets.task import Task
from core.records import Record, optional


@dataclass(frozen=True)
class DatasetFacts(Record):
    """The data of a run.

    Attributes:
        target: None in runs of earlier versions, which do not name it.
        outer_folds: of nested cross-validation, where all rows train and test; otherwise 0.
        train_sequences, test_sequences: where rows are tokens.
        pictures: whether ImagesDrawn will come, for models that draw.
    """

    name: str = ""
    rows: int = 0
    features: int = 0
    task: Task = Task.UNKNOWN
    target: str | None = optional()
    classes: list[str] = field(default_factory=list)
    fingerprint: str = ""
    train_rows: int = 0
    test_rows: int = 0
    outer_folds: int = 0
    train_sequences: int | None = optional()
    test_sequences: int | None = optional()
    pictures: bool | None = optional()

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # by its name too


@dataclass(frozen=True)
class HistoryDataset:
    """An earlier dataset with its trials, as the history held it.

    Attributes:
        id: its fingerprint in the history.
        statistics: core.samplers.transfer.history.Statistics of it.
        values: of the axes, one list a trial.
        scores: one a trial.
        maximize: whether larger scores are better there.
        starter: whether it came with the program.
        distance: to this run's dataset (TuningHistory.distances).
    """

    id: str
    statistics: list[float]
    values: list[list[Any]]
    scores: list[float]
    maximize: bool
    starter: bool
    distance: float


@dataclass(frozen=True)
class ClusterWorker(Record):
    """What a worker of a cluster does at a moment.

    Attributes:
        host: its computer.
        load: the share of its threads that are at work, for anyone.
        trials: the numbers of those of this run that it is at; below 0 for screenings.
    """

    name: str
    host: str = ""
    threads: int = 1
    load: float = 0.0
    trials: list[int] = field(default_factory=list)
    usable: bool = False


@dataclass(frozen=True)
class LabelledSequence:
    """A sequence of T tokens, and what the model says of each.

    Attributes:
        marginals: probabilities, one list of K a token, in the order of the event's classes.
    """

    name: str
    tokens: list[str]
    truth: list[str]
    labels: list[str]
    marginals: list[list[float]]


@dataclass(frozen=True)
class FoldedMolecule:
    """A molecule, and how the model folds it.

    Attributes:
        sequence: its letters.
        truth, predicted: structures in dot-bracket notation.
        pairs: [i, j, probability] with 0 <= i < j, those of 0.01 and more.
    """

    name: str
    sequence: str
    truth: str
    predicted: str
    pairs: list[list[float]]


@dataclass(frozen=True)
class OmittedTrial:
    """A trial that is not in the average although it has a score, and why (a sentence)."""

    number: int
    reason: str


@dataclass(frozen=True)
class DisputedRow:
    """A held-out row, and what the members of the average say of it.

    Attributes:
        row: of the dataset, from 0.
        about: its values in words.
        truth: as text; "" where it is not known.
        spread: of what they say, in nats; for numbers the standard deviation.
        said: one a member: a list of probabilities, a number, or a log density.
    """

    row: int
    about: str
    truth: str
    spread: float
    said: list[Any]


@dataclass(frozen=True)
class Topic:
    """A topic: its share of all words, and its likeliest words with their probabilities."""

    share: float
    words: list[str]
    weights: list[float]


@dataclass(frozen=True)
class LeaderboardEntry:
    """How one of several models stands in a run.

    Attributes:
        model: its name.
        trials: that ended with a score on all rows.
        best: the best of their scores; None before the first.
        error: the standard error of that score over the folds; None with one fold.
        look: its best score at the screening; None where that failed.
        seconds: spent on it so far.
        gain: how much its next trial is expected to raise the best score of all.
        takes: seconds that this trial is expected to take.
        state: "waiting" before its first trial, "tuned", "behind" where it is clearly worse than
            the best, "slow" where a trial would take too much of the time, "failed".
        why: one sentence, for failed and slow models.
    """

    model: str
    trials: int
    best: float | None
    error: float | None
    look: float | None
    seconds: float
    gain: float
    takes: float
    state: str
    why: str = ""
