"""The messages between window and worker: requests, and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from core.datasets.dataset_summary import DatasetSummary
from core.datasets.finding import SuggestedChange
from core.records import Record
from core.space import Setting
from core.tuning.events import Event, ModelSelected, ThresholdSelected
from core.tuning.guidance.guidance_records import Advice, RunEstimate
from core.tuning.history.dataset_records import HistoryCounts, ImportCounts
from core.tuning.plan import DataPlan, Plan
from core.tuning.why import answer_types

if TYPE_CHECKING:  # numpy comes with them, which the first paint does without
    from core.export.using.row_answers import CellValue, ModelForm, RowPrediction, TestRow

PATIENT, USUAL, URGENT, NEVER = range(4)  # how soon a request wants its answer


class Work:
    """A request for work, carried out by `engine.HANDLERS` or `Engine.answers`."""

    only_latest: ClassVar[bool] = False  # a later one of its kind makes one that waits pointless
    outdated_by: ClassVar[tuple[type[Work], ...]] = ()  # and so do these
    urgency: ClassVar[int] = USUAL
    yields_to: ClassVar[int] = NEVER  # the urgency for which it leaves what it has begun
    lets_through: ClassVar[tuple[type[Work], ...]] = ()  # answered between two of its answers

    def refused(self, refusal: Refusal) -> Answer:
        """The answer to a person; a form shows the problem where its answer would stand."""
        answer_type = FORM_ANSWERS.get(type(self))
        if answer_type is None or isinstance(refusal, WorkerDefect):
            return refusal
        return answer_type(self, problem=refusal.sentence)


class Control:
    """A request about work that waits or goes on, whose id it has."""


@dataclass(frozen=True)
class OpenData(Work):
    """Read data, keep them in the worker, and return a summary (`Opened`)."""

    only_latest, urgency = True, URGENT

    data: DataPlan


@dataclass(frozen=True)
class Cluster:
    """Where trials run: "local" or a scheduler's address, and certificates."""

    address: str
    ca: str = ""
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True)
class Tune(Work):
    """Carry out a plan in a new folder below `root`, or continue in `folder`."""

    urgency = URGENT

    plan: Plan
    root: str = ""
    folder: str = ""
    more_trials: int = 0  # beyond the first budget of the run in `folder`
    cluster: Cluster | None = None
    settings: tuple[Setting, ...] = ()  # of a person, tried first


@dataclass(frozen=True)
class Estimate(Work):
    """Estimate the time of a plan (`Estimated`)."""

    only_latest, outdated_by, urgency = True, (OpenData, Tune), PATIENT

    plan: Plan


@dataclass(frozen=True)
class SummarizeHistory(Work):
    """The earlier datasets that can help a plan's model (`HistorySummary`)."""

    only_latest, outdated_by, urgency = True, (OpenData, Tune), PATIENT

    plan: Plan


@dataclass(frozen=True)
class ImportHistory(Work):
    """Import Optuna studies into the history (`HistoryImported`)."""

    storage: str  # a URL or a file
    model: str  # whose settings were tried
    rows: int
    columns: int
    classes: int
    study: str = ""  # "" for all
    metric: str = ""  # of its values; "" for what the study says, or a usual one


@dataclass(frozen=True)
class CheckCluster(Work):
    """Whether a cluster answers (`ClusterChecked`)."""

    only_latest = True

    cluster: Cluster


@dataclass(frozen=True)
class Conclude(Work):
    """Compute the results of a run again from its folder."""

    folder: str
    exclude: Exclude | None = None
    pick: ModelSelected | ThresholdSelected | None = None  # another than the run selected


@dataclass(frozen=True)
class Export(Work):
    """Export something of an ended run, or another of its models (`Exported`)."""

    folder: str
    format: str
    path: str
    which: str = "tuned"  # see core.export.exportable_models
    examples: bool = True  # rows and examples of the data may be in it


@dataclass(frozen=True)
class Explain(Work):
    """Answer a question about a run that ended (core.tuning.why.answers) (`Explained`)."""

    outdated_by, urgency, yields_to = (Tune,), PATIENT, USUAL

    folder: str
    question: str  # rows, importance, dependence, learning or settings
    column: str = ""  # of dependence

    def refused(self, refusal: Refusal) -> Answer:
        details = refusal.details if isinstance(refusal, WorkerDefect) else ""
        return Explained(self, answer_types.NoAnswer(refusal.sentence), details)


@dataclass(frozen=True)
class DescribeModel(Work):
    """Describe the form of one row for a model (`ModelDescribed`)."""

    only_latest = True

    folder: str
    model: str = ""
    trust: bool = False


@dataclass(frozen=True)
class PredictRow(Work):
    """Predict one row (`RowPredicted`)."""

    only_latest, outdated_by = True, (DescribeModel,)

    folder: str
    model: str
    trust: bool
    values: dict[str, CellValue]


@dataclass(frozen=True)
class FindTestRow(Work):
    """Get a row of a run's test set (`TestRowFound`)."""

    only_latest, outdated_by = True, (DescribeModel,)

    folder: str
    number: int = 0  # from 1
    line: int = 0  # of the file, where there is no number


@dataclass(frozen=True)
class PredictRows(Work):
    """Predict a file's rows, and keep the predictions (`RowsPredicted`)."""

    only_latest, urgency, yields_to = True, URGENT, URGENT
    lets_through = (DescribeModel, PredictRow, FindTestRow)

    folder: str  # of the run; "" for a model file
    file: str
    model: str = ""
    trust: bool = False  # open a model file that can run code


@dataclass(frozen=True)
class SortPredictions(Work):
    """Give the first rows of the last `PredictRows` in another order (`RowsPredicted`)."""

    only_latest, urgency = True, URGENT

    least_sure_first: bool


@dataclass(frozen=True)
class SavePredictions(Work):
    """Write the table of the last `PredictRows` with its predictions (`PredictionsSaved`)."""

    path: str
    least_sure_first: bool = False


@dataclass(frozen=True)
class CancelExplanation(Control):
    """Cancel the request of this id; what is done is kept."""


@dataclass(frozen=True)
class Pause(Control):
    """Pause after the current trial."""


@dataclass(frozen=True)
class Resume(Control):
    """Continue after Pause."""


@dataclass(frozen=True)
class StopRun(Control):
    """End the run after the current trial; `keep` computes the results."""

    keep: bool = True


@dataclass(frozen=True)
class Exclude(Control):
    """Exclude a trial, or include it again."""

    number: int
    excluded: bool = True


@dataclass(frozen=True)
class AbandonRun(Control):
    """The process is killed; what was recorded is kept."""


@dataclass(frozen=True)
class TrySetting(Control):
    """Try this setting next, beyond the budget."""

    setting: Setting


@dataclass(frozen=True)
class Request:
    """A request with its id; a control has the id of its run's request."""

    id: int
    payload: Control | Work

    @property
    def work(self) -> Work:
        assert isinstance(self.payload, Work)
        return self.payload


class Reply:
    """An answer of the worker, but for the events of a run."""


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
class Ready(Reply):
    """The worker has imported what it needs."""

    exporters: list[ExportFormat] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a sentence for each unusable extension


@dataclass(frozen=True)
class Opened(Reply):
    """The data were read."""

    data: DataPlan
    summary: DatasetSummary
    advice: Advice


@dataclass(frozen=True)
class Estimated(Reply):
    """The time of the plan, or (unusable) why it cannot be carried out."""

    estimate: RunEstimate


@dataclass(frozen=True)
class HistorySummary(Reply):
    """What it has for a plan, or the problem; neither where no strategy uses it."""

    counts: HistoryCounts | None = None
    problem: str = ""


@dataclass(frozen=True)
class HistoryImported(Reply):
    """What was added to the history."""

    imported: ImportCounts


@dataclass(frozen=True)
class FolderMade(Reply):
    """The folder of a new run."""

    folder: str


@dataclass(frozen=True)
class Paused(Reply):
    """The current trial is done and the run waits."""


@dataclass(frozen=True)
class Concluding(Reply):
    """The run stops; the results are being computed."""


@dataclass(frozen=True)
class RunEnded(Reply):
    """The run is over and its folder is complete."""


@dataclass(frozen=True)
class Exported(Reply):
    """The file was written; `remark` says what had to be done before."""

    path: str
    remark: str = ""


@dataclass(frozen=True)
class ClusterChecked(Reply):
    """The result of checking a cluster."""

    sentence: str
    warning: str = ""  # before it is used
    fine: bool = True  # trials can run there


@dataclass(frozen=True)
class PredictionsSaved(Reply):
    """The predictions were written."""

    path: str
    count: int
    sentences: tuple[str, ...] = ()  # on what could not be written as it was


@dataclass(frozen=True)
class Explained(Reply):
    """An answer to a question about a run, final or so far."""

    request: Explain
    answer: answer_types.Answer  # NoAnswer where there is none
    details: str = ""  # of a defect, without data

    @property
    def done(self) -> bool:
        return self.answer.is_final


@dataclass(frozen=True)
class RowsPredicted(Reply):
    """The first rows of a file with their predictions behind them."""

    headers: list[str]
    rows: list[list[object]]
    count: int  # of all rows
    marked: int  # rows unlike the training rows
    remark: str = ""  # what is not known
    sentences: tuple[str, ...] = ()  # for a person, about the rows
    n_own_columns: int = 0  # the first ones, which come from the file
    has_doubt: bool = False  # whether they can be sorted by it
    least_sure_first: bool = False  # whether they are


@dataclass(frozen=True)
class UseProgress(Reply):
    """The number of predicted rows of a file."""

    done: int
    total: int


@dataclass(frozen=True)
class ModelDescribed(Reply):
    """The form for one row of the model, or the problem."""

    request: DescribeModel
    form: ModelForm | None = None
    problem: str = ""


@dataclass(frozen=True)
class RowPredicted(Reply):
    """The prediction for a row, or the problem."""

    request: PredictRow
    prediction: RowPrediction | None = None
    problem: str = ""


@dataclass(frozen=True)
class TestRowFound(Reply):
    """A row of the test set, or the problem."""

    __test__ = False  # no test, for pytest

    request: FindTestRow
    row: TestRow | None = None
    problem: str = ""


@dataclass(frozen=True)
class InputRefused(Reply):
    """Unusable input: a sentence that says what, where and what to do."""

    sentence: str
    columns: tuple[str, ...] = ()  # other targets, where the target is unusable
    texts: tuple[str, ...] = ()  # columns whose topics could be looked for instead
    offer: SuggestedChange | None = None  # a change with which the file is usable


@dataclass(frozen=True)
class WorkerDefect(Reply):
    """A defect: a plain sentence, and details without data for a report."""

    sentence: str
    details: str


@dataclass(frozen=True)
class WorkerDied(Reply):
    """The process ended; sent by the thread, not by the worker."""

    sentence: str
    forced: bool = False  # the window killed it because it did not react
    details: str = ""  # of a defect at the start, without data


FORM_ANSWERS: dict[type[Work], Callable[..., Reply]] = {
    DescribeModel: ModelDescribed,
    PredictRow: RowPredicted,
    FindTestRow: TestRowFound,
}
Refusal = InputRefused | WorkerDefect
Answer = Reply | Event


@dataclass(frozen=True)
class Message:
    """An answer or an event with the id of its request; 0 for none."""

    id: int
    answer: Answer
