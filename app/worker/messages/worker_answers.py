"""What the worker answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.worker.messages.worker_requests import DescribeModel, Explain, FindTestRow, PredictRow
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.finding import SuggestedChange
from core.export.using.row_answers import ModelForm, RowPrediction, TestRow
from core.records import Record
from core.tuning.events import Event
from core.tuning.guidance.guidance_records import Advice, RunEstimate
from core.tuning.history.history_counts import HistoryCounts, ImportCounts
from core.tuning.plan import DataPlan
from core.tuning.why import answer_types


@dataclass(frozen=True)
class ExportFormat(Record):
    """What an exporter writes of one form of run (core.export.exporters, where the fields are)."""

    name: str
    title: str
    sentence: str
    ending: str
    form: str
    warning: str = ""
    of_run: bool = False
    joins: bool = False
    endings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """The worker has imported what it needs.

    Attributes:
        exporters: what can be saved.
        left_out: a sentence for each extension that could not be used.
    """

    exporters: list[ExportFormat] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Opened:
    """The data were read."""

    data: DataPlan
    summary: DatasetSummary
    advice: Advice


@dataclass(frozen=True)
class Estimated:
    """How long the plan will take, or (unusable) why it cannot be carried out."""

    estimate: RunEstimate


@dataclass(frozen=True)
class HistorySummary:
    """What the history holds that can help, or the problem that keeps it from being used.

    Neither of both where no strategy uses it.
    """

    counts: HistoryCounts | None = None
    problem: str = ""


@dataclass(frozen=True)
class HistoryImported:
    """What came into the history."""

    imported: ImportCounts


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
class RunEnded:
    """The run is over and its folder is complete."""


@dataclass(frozen=True)
class Exported:
    """The file was written; `remark` is what had to be done before, a sentence, if anything."""

    path: str
    remark: str = ""


@dataclass(frozen=True)
class ClusterChecked:
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
class PredictionsSaved:
    """The predictions were written, so many of them."""

    path: str
    count: int


@dataclass(frozen=True)
class Explained:
    """The answer to a question about a run, or what is known of it so far.

    Attributes:
        request: the question.
        answer: a NoAnswer where there is none.
        details: of a defect; no data in it.
    """

    request: Explain
    answer: answer_types.Answer
    details: str = ""

    @property
    def done(self) -> bool:
        """Whether it is the last."""
        return self.answer.is_final


@dataclass(frozen=True)
class RowsPredicted:
    """What a model predicts for new rows: the first of them, and how many there are.

    Attributes:
        headers, rows: of the table of predictions.
        marked: how many rows are unlike the training rows.
        remark: what is not known, a sentence.
        sentences: what a person should know of the rows.
        n_model_columns: how many of the columns are the model's; the others are the rows'.
    """

    headers: list[str]
    rows: list[list[object]]
    count: int
    marked: int
    remark: str = ""
    sentences: tuple[str, ...] = ()
    n_model_columns: int = 0


@dataclass(frozen=True)
class UseProgress:
    """So many rows of a file are predicted, of so many."""

    done: int
    total: int


@dataclass(frozen=True)
class ModelDescribed:
    """The form for one row of the model, or the problem that there is none."""

    request: DescribeModel
    form: ModelForm | None = None
    problem: str = ""


@dataclass(frozen=True)
class RowPredicted:
    """What the model predicts for a row, or the problem that it predicts nothing."""

    request: PredictRow
    prediction: RowPrediction | None = None
    problem: str = ""


@dataclass(frozen=True)
class TestRowFound:
    """A row of the test set, or the problem that there is none."""

    __test__ = False  # no test, for pytest

    request: FindTestRow
    row: TestRow | None = None
    problem: str = ""


@dataclass(frozen=True)
class InputRefused:
    """Unusable input: one sentence that says what, where and what to do.

    `columns` are those to choose from where the file's target is what cannot be used, `texts` those
    whose topics could be looked for instead. `offer` is a change with which the file can be used.
    """

    sentence: str
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    offer: SuggestedChange | None = None


@dataclass(frozen=True)
class WorkerDefect:
    """A defect: a plain sentence, and details without any data for a report."""

    sentence: str
    details: str


@dataclass(frozen=True)
class WorkerDied:
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
    | RunEnded
    | Exported
    | PredictionsSaved
    | RowsPredicted
    | UseProgress
    | ModelDescribed
    | RowPredicted
    | TestRowFound
    | ClusterChecked
    | Explained
    | InputRefused
    | WorkerDefect
    | WorkerDied
)


@dataclass(frozen=True)
class Message:
    """An answer, or an event of a run, with the id of its request; 0 for what nobody asked."""

    id: int
    answer: Answer
