"""Requests of the window to the worker: work, and controls of a run."""

from __future__ import annotations

from dataclasses import dataclass

from core.export.using.row_answers import CellValue
from core.space import Setting
from core.tuning.events import ModelSelected
from core.tuning.plan import DataPlan, Plan


@dataclass(frozen=True)
class OpenData:
    """Read data, keep them in the worker, and return a summary."""

    data: DataPlan


@dataclass(frozen=True)
class Estimate:
    """Estimate the time of a plan."""

    plan: Plan


@dataclass(frozen=True)
class SummarizeHistory:
    """Count the earlier datasets that can help a plan's model."""

    plan: Plan


@dataclass(frozen=True)
class ImportHistory:
    """Import Optuna studies into the history."""

    storage: str  # a URL or a file
    model: str  # whose settings were tried
    rows: int
    columns: int
    classes: int
    study: str = ""  # "" for all


@dataclass(frozen=True)
class Cluster:
    """Where trials run: "local" or a scheduler's address, and certificates."""

    address: str
    ca: str = ""
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True)
class CheckCluster:
    """Check whether a cluster answers."""

    cluster: Cluster


@dataclass(frozen=True)
class Tune:
    """Carry out a plan in a new folder below `root`, or continue in `folder`."""

    plan: Plan
    root: str = ""
    folder: str = ""
    more_trials: int = 0  # beyond the first budget of the run in `folder`
    cluster: Cluster | None = None
    settings: tuple[Setting, ...] = ()  # of a person, tried first


@dataclass(frozen=True)
class Conclude:
    """Compute the results of a run again from its folder."""

    folder: str
    exclude: Exclude | None = None
    pick: ModelSelected | None = None  # another model than the run selected


@dataclass(frozen=True)
class Export:
    """Export something of a run that ended, or of another of its models."""

    folder: str
    format: str
    path: str
    which: str = "tuned"  # see core.export.exportable_models
    examples: bool = True  # rows and examples of the data may be in it


@dataclass(frozen=True)
class Predict:
    """Write the predictions of a model file for the rows of another file."""

    model: str
    file: str
    out: str
    trust: bool = False  # open a model file that can run code


@dataclass(frozen=True)
class Explain:
    """Answer a question about a run that ended (core.tuning.why.answers)."""

    folder: str
    question: str  # rows, importance, dependence, learning or settings
    column: str = ""  # of dependence


@dataclass(frozen=True)
class PredictRows:
    """Predict the rows of a file; the predictions are kept for `SavePredictions`."""

    folder: str  # of the run; "" for a model file
    file: str
    model: str = ""
    trust: bool = False  # open a model file that can run code


@dataclass(frozen=True)
class SavePredictions:
    """Write the table of the last `PredictRows` with all predictions behind its rows."""

    path: str


@dataclass(frozen=True)
class DescribeModel:
    """Describe the form for one row of the model of a run or of a file."""

    folder: str
    model: str = ""
    trust: bool = False


@dataclass(frozen=True)
class PredictRow:
    """Predict one row."""

    folder: str
    model: str
    trust: bool
    values: dict[str, CellValue]


@dataclass(frozen=True)
class FindTestRow:
    """Get a row of a run's test set."""

    folder: str
    number: int = 0  # from 1
    line: int = 0  # of the file, where there is no number


@dataclass(frozen=True)
class CancelExplanation:
    """Cancel the request of this id; what is done is kept."""


@dataclass(frozen=True)
class Pause:
    """Pause after the current trial."""


@dataclass(frozen=True)
class Resume:
    """Continue after Pause."""


@dataclass(frozen=True)
class StopRun:
    """End the run after the current trial; `keep` computes the results."""

    keep: bool = True


@dataclass(frozen=True)
class Exclude:
    """Exclude a trial, or include it again."""

    number: int
    excluded: bool = True


@dataclass(frozen=True)
class AbandonRun:
    """Do not wait for results: the process is killed, what was recorded is kept."""


@dataclass(frozen=True)
class TrySetting:
    """Try this setting next, beyond the budget."""

    setting: Setting


Control = Pause | Resume | StopRun | AbandonRun | Exclude | TrySetting | CancelExplanation
ShortWork = (  # with one answer
    OpenData
    | Estimate
    | SummarizeHistory
    | ImportHistory
    | SavePredictions
    | Export
    | Predict
    | CheckCluster
    | DescribeModel
    | PredictRow
    | FindTestRow
)
Work = ShortWork | PredictRows | Tune | Conclude | Explain


@dataclass(frozen=True)
class Request:
    """A request with its id; a control has the id of its run's request."""

    id: int
    payload: Control | Work
