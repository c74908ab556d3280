"""Answers of the worker."""

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
    """What an exporter writes of one form of run (fields of core.export.exporters)."""

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
    """The worker has imported what it needs."""

    exporters: list[ExportFormat] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a sentence for each unusable extension


@dataclass(frozen=True)
class Opened:
    """The data were read."""

    data: DataPlan
    summary: DatasetSummary
    advice: Advice


@dataclass(frozen=True)
class Estimated:
    """The time of the plan, or (unusable) why it cannot be carried out."""

    estimate: RunEstimate


@dataclass(frozen=True)
class HistorySummary:
    """What the history has for a plan, or the problem; neither where no strategy uses it."""

    counts: HistoryCounts | None = None
    problem: str = ""


@dataclass(frozen=True)
class HistoryImported:
    """What was added to the history."""

    imported: ImportCounts


@dataclass(frozen=True)
class FolderMade:
    """The folder of a new run."""

    folder: str


@dataclass(frozen=True)
class Paused:
    """The current trial is done and the run waits."""


@dataclass(frozen=True)
class Concluding:
    """The run stops; the results are being computed."""


@dataclass(frozen=True)
class RunEnded:
    """The run is over and its folder is complete."""


@dataclass(frozen=True)
class Exported:
    """The file was written; `remark` is a sentence about what had to be done before."""

    path: str
    remark: str = ""


@dataclass(frozen=True)
class ClusterChecked:
    """The result of checking a cluster."""

    sentence: str
    warning: str = ""  # before it is used
    fine: bool = True  # trials can run there


@dataclass(frozen=True)
class PredictionsSaved:
    """The predictions were written."""

    path: str
    count: int
    sentences: tuple[str, ...] = ()  # on what could not be written as it was


@dataclass(frozen=True)
class Explained:
    """An answer to a question about a run, final or so far."""

    request: Explain
    answer: answer_types.Answer  # NoAnswer where there is none
    details: str = ""  # of a defect, without data

    @property
    def done(self) -> bool:
        """Whether it is the last."""
        return self.answer.is_final


@dataclass(frozen=True)
class RowsPredicted:
    """The first rows of a file with their predictions behind them."""

    headers: list[str]
    rows: list[list[object]]
    count: int  # of all rows
    marked: int  # rows unlike the training rows
    remark: str = ""  # what is not known
    sentences: tuple[str, ...] = ()  # for a person, about the rows
    n_own_columns: int = 0  # the first ones, which come from the file


@dataclass(frozen=True)
class UseProgress:
    """The number of predicted rows of a file."""

    done: int
    total: int


@dataclass(frozen=True)
class ModelDescribed:
    """The form for one row of the model, or the problem."""

    request: DescribeModel
    form: ModelForm | None = None
    problem: str = ""


@dataclass(frozen=True)
class RowPredicted:
    """The prediction for a row, or the problem."""

    request: PredictRow
    prediction: RowPrediction | None = None
    problem: str = ""


@dataclass(frozen=True)
class TestRowFound:
    """A row of the test set, or the problem."""

    __test__ = False  # no test, for pytest

    request: FindTestRow
    row: TestRow | None = None
    problem: str = ""


@dataclass(frozen=True)
class InputRefused:
    """Unusable input: a sentence that says what, where and what to do."""

    sentence: str
    columns: tuple[str, ...] = ()  # other targets, where the target is unusable
    texts: tuple[str, ...] = ()  # columns whose topics could be looked for instead
    offer: SuggestedChange | None = None  # a change with which the file is usable


@dataclass(frozen=True)
class WorkerDefect:
    """A defect: a plain sentence, and details without data for a report."""

    sentence: str
    details: str


@dataclass(frozen=True)
class WorkerDied:
    """The process ended; sent by the thread, not by the worker."""

    sentence: str
    forced: bool = False  # the window killed it because it did not react
    details: str = ""  # of a defect at the start, without data


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
    """An answer or an event with the id of its request; 0 for none."""

    id: int
    answer: Answer
