"""What the window asks of the worker, and what the worker answers, as small frozen records.

The window gives every request an id, and every answer carries the id of its request. An answer to
a request that is no longer wanted is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.tuning.events import Event, ModelPicked
from core.tuning.plan import DataPlan, Plan

# Requests -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """Read the data, keep them in the worker, and tell what they are."""

    data: DataPlan


@dataclass(frozen=True)
class Estimate:
    """Say how long a plan will take."""

    plan: Plan


@dataclass(frozen=True)
class SummarizeHistory:
    """Say how many earlier datasets can help a plan's model."""

    plan: Plan


@dataclass(frozen=True)
class ImportHistory:
    """Take Optuna studies into the history.

    Attributes:
        storage: a storage URL, or a file.
        model: whose settings were tried.
        rows, columns, classes: of the data that they were tried on.
        study: its name; "" for all of the storage.
    """

    storage: str
    model: str
    rows: int
    columns: int
    classes: int
    study: str = ""


@dataclass(frozen=True)
class Cluster:
    """Where trials run instead of here: "local" or a scheduler's address, and certificates."""

    address: str
    ca: str = ""
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True)
class TryCluster:
    """See whether a cluster answers."""

    cluster: Cluster


@dataclass(frozen=True)
class Tune:
    """Carry out a plan in a new folder below `root`, or go on in `folder`.

    `more_trials` are tried beyond the budget with which the run in `folder` began; trials run on
    the `cluster`, where there is one.
    """

    plan: Plan
    root: str = ""
    folder: str = ""
    more_trials: int = 0
    cluster: Cluster | None = None
    settings: tuple[dict[str, Any], ...] = ()  # that a person wants tried first


@dataclass(frozen=True)
class Conclude:
    """Work out the results of a run anew from its folder.

    Attributes:
        exclude: one of its trials, which is taken out or counts again.
        pick: another model to take away than the run did.
    """

    folder: str
    exclude: Exclude | None = None
    pick: ModelPicked | None = None


@dataclass(frozen=True)
class Export:
    """Write something of a run that ended; `which` of its models (core.export.choices).

    Without `examples`, no rows and examples of the data.
    """

    folder: str
    format: str
    path: str
    which: str = "tuned"
    examples: bool = True


@dataclass(frozen=True)
class Predict:
    """Write what a model file says of the rows of another file.

    Attributes:
        trust: whether a person wants a model file opened that can run code.
    """

    model: str
    file: str
    out: str
    trust: bool = False


@dataclass(frozen=True)
class Explain:
    """Answer a question about a run that ended (core.tuning.why.answers).

    Attributes:
        folder: of the run.
        question: rows, importance, dependence, learning or settings.
        options: of the question: column, and of which class.
    """

    folder: str
    question: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Use:
    """Say what a model says of the rows of a file; its table is kept for `SaveUsed`.

    Attributes:
        folder: of the run whose model is meant; "" for that of a file.
        file: the rows.
        model: a model file; trust: whether one is opened that can run code.
    """

    folder: str
    file: str
    model: str = ""
    trust: bool = False


@dataclass(frozen=True)
class SaveUsed:
    """Write what `Use` told last, all of its rows, as CSV."""

    path: str


@dataclass(frozen=True)
class DescribeModel:
    """Tell which fields a form for one row of a model has: of a run in `folder`, or of a file."""

    folder: str
    model: str = ""
    trust: bool = False


@dataclass(frozen=True)
class TryRow:
    """Say what a model says of one row, {column: number, text or None}."""

    folder: str
    model: str
    trust: bool
    values: dict[str, Any]


@dataclass(frozen=True)
class FindRow:
    """Tell a row of the test set of a run: by its number from 1, or else by its line."""

    folder: str
    number: int = 0
    line: int = 0


@dataclass(frozen=True)
class LeaveQuestion:
    """Work no further on the answer to the question of this id; what is done is kept."""


@dataclass(frozen=True)
class Pause:
    """Do nothing after the current trial until Resume."""


@dataclass(frozen=True)
class Resume:
    """Go on after Pause."""


@dataclass(frozen=True)
class Stop:
    """End the run after the current trial; `keep` works out the results of what there is."""

    keep: bool = True


@dataclass(frozen=True)
class Exclude:
    """Take a trial out of the competition, or back in."""

    number: int
    excluded: bool = True


@dataclass(frozen=True)
class Abandon:
    """Do not wait for the results of a run: its process is ended, what was recorded is kept."""


@dataclass(frozen=True)
class TrySetting:
    """Try this setting next, beyond the budget."""

    setting: dict[str, Any]


Control = Pause | Resume | Stop | Abandon | Exclude | TrySetting | LeaveQuestion
Work = (
    Open
    | Estimate
    | SummarizeHistory
    | ImportHistory
    | Use
    | SaveUsed
    | Tune
    | Conclude
    | Export
    | Predict
    | TryCluster
    | Explain
    | DescribeModel
    | TryRow
    | FindRow
)


@dataclass(frozen=True)
class Request:
    """A request with its id; a control carries the id of the request whose run it is for."""

    id: int
    what: Control | Work


# Answers ------------------------------------------------------------------------------------


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
