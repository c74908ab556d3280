"""What the worker answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.worker.messages.requests import DescribeModel, Explain, FindRow, TryRow
from core.tuning.events import Event
from core.tuning.plan import DataPlan


@dataclass(frozen=True)
class Ready:
    """The worker has imported what it needs.

    Attributes:
        exporters: what can be saved.
        left_out: a sentence for each extension that could not be used.
    """

    exporters: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Opened:
    """The data were read."""

    data: DataPlan
    summary: dict[str, Any]
    advice: dict[str, Any]


@dataclass(frozen=True)
class Estimated:
    """How long the plan will take, or (unusable) why it cannot be carried out."""

    estimate: dict[str, Any]


@dataclass(frozen=True)
class HistorySummary:
    """What the history holds that can help: {datasets, similar, starter, enabled}.

    {"problem": sentence} where the history cannot be used; {} where no strategy uses it.
    """

    known: dict[str, Any]


@dataclass(frozen=True)
class HistoryImported:
    """What came into the history: {datasets, trials, known_already, left_out}."""

    imported: dict[str, Any]


@dataclass(frozen=True)
class FolderMade:
    """Where the run keeps everything."""

    folder: str


@dataclass(frozen=True)
class Paused:
    """The current trial is done and the run waits."""


@dataclass(frozen=True)
class Concluding:
    """The request to stop was heard; the results are being worked out."""


@dataclass(frozen=True)
class Ended:
    """The run is over and its folder is complete."""


@dataclass(frozen=True)
class Exported:
    """The file was written; `said` is what had to be done before, a sentence, if anything."""

    path: str
    said: str = ""


@dataclass(frozen=True)
class ClusterTried:
    """A cluster answered, or not.

    Attributes:
        sentence: what was found.
        warning: what to know before it is used; "" for nothing.
        fine: whether trials can run there.
    """

    sentence: str
    warning: str = ""
    fine: bool = True


@dataclass(frozen=True)
class Predicted:
    """The predictions were written, so many of them."""

    path: str
    count: int


@dataclass(frozen=True)
class Explained:
    """The answer to a question about a run, or what is known of it so far.

    Attributes:
        asked: the question.
        answer: plain data; {"problem": sentence} where there is none.
        done: whether it is the last.
        details: of a defect; no data in it.
    """

    asked: Explain
    answer: dict[str, Any]
    done: bool = True
    details: str = ""


@dataclass(frozen=True)
class Used:
    """What a run's model says of new rows: the first of them, and how many there are.

    Attributes:
        headers, rows: of the table of predictions.
        marked: how many rows are unlike the training rows.
        said: what is not known, a sentence.
        sentences: what a person should know of the rows.
        own: how many of the columns are the model's; the others are the rows'.
    """

    headers: list[str]
    rows: list[list[Any]]
    count: int
    marked: int
    said: str = ""
    sentences: tuple[str, ...] = ()
    own: int = 0


@dataclass(frozen=True)
class UseProgress:
    """So many rows of a file are predicted, of so many."""

    done: int
    total: int


@dataclass(frozen=True)
class ModelDescribed:
    """The fields of a form (core.export.using.question), or {"problem": sentence}."""

    asked: DescribeModel
    form: dict[str, Any]


@dataclass(frozen=True)
class RowTried:
    """What the model says of a row (core.export.using.question), or {"problem": sentence}."""

    asked: TryRow
    said: dict[str, Any]


@dataclass(frozen=True)
class RowFound:
    """A row of the test set (core.export.using.test_rows), or {"problem": sentence}."""

    asked: FindRow
    found: dict[str, Any]


@dataclass(frozen=True)
class Refused:
    """Unusable input: one sentence that says what, where and what to do.

    `columns` are those to choose from where the file's target is what cannot be used, `texts` those
    whose topics could be looked for instead. `offer` has the "words" of a button and the "fields"
    of the data plan with which the file can be used.
    """

    sentence: str
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    offer: dict[str, Any] | None = None


@dataclass(frozen=True)
class Broke:
    """A defect: a plain sentence, and details without any data for a report."""

    sentence: str
    details: str


@dataclass(frozen=True)
class Died:
    """The process ended; said by the thread, not by the worker.

    Attributes:
        sentence: what happened, for a person.
        forced: whether the window ended it itself because it did not react.
        details: of a defect that kept it from starting; no data in it.
    """

    sentence: str
    forced: bool = False
    details: str = ""


Answer = (
    Ready
    | Opened
    | Estimated
    | HistorySummary
    | HistoryImported
    | FolderMade
    | Event
    | Paused
    | Concluding
    | Ended
    | Exported
    | Predicted
    | Used
    | UseProgress
    | ModelDescribed
    | RowTried
    | RowFound
    | ClusterTried
    | Explained
    | Refused
    | Broke
    | Died
)


@dataclass(frozen=True)
class Message:
    """An answer, or an event of a run, with the id of its request; 0 for what nobody asked."""

    id: int
    answer: Answer
