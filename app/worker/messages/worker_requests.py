"""What the window asks of the worker: work, and controls of the run that is going on."""

from __future__ import annotations

from dataclasses import dataclass

from core.export.using.row_answers import CellValue
from core.space import Setting
from core.tuning.events import ModelSelected
from core.tuning.plan import DataPlan, Plan


@dataclass(frozen=True)
class OpenData:
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
class CheckCluster:
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
    settings: tuple[Setting, ...] = ()  # that a person wants tried first


@dataclass(frozen=True)
class Conclude:
    """Work out the results of a run anew from its folder.

    Attributes:
        exclude: one of its trials, which is taken out or counts again.
        pick: another model to take away than the run did.
    """

    folder: str
    exclude: Exclude | None = None
    pick: ModelSelected | None = None


@dataclass(frozen=True)
class Export:
    """Write something of a run that ended; `which` of its models (core.export.exportable_models).

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
        column: that is asked about, where the question is of one.
    """

    folder: str
    question: str
    column: str = ""


@dataclass(frozen=True)
class PredictRows:
    """Say what a model says of the rows of a file; its table is kept for `SavePredictions`.

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
class SavePredictions:
    """Write what `PredictRows` told last, all of its rows, as CSV."""

    path: str


@dataclass(frozen=True)
class DescribeModel:
    """Tell which fields a form for one row of a model has: of a run in `folder`, or of a file."""

    folder: str
    model: str = ""
    trust: bool = False


@dataclass(frozen=True)
class PredictRow:
    """Predict one row: its values by column."""

    folder: str
    model: str
    trust: bool
    values: dict[str, CellValue]


@dataclass(frozen=True)
class FindTestRow:
    """Tell a row of the test set of a run: by its number from 1, or else by its line."""

    folder: str
    number: int = 0
    line: int = 0


@dataclass(frozen=True)
class CancelExplanation:
    """Work no further on the answer to the question of this id; what is done is kept."""


@dataclass(frozen=True)
class Pause:
    """Do nothing after the current trial until Resume."""


@dataclass(frozen=True)
class Resume:
    """Go on after Pause."""


@dataclass(frozen=True)
class StopRun:
    """End the run after the current trial; `keep` works out the results of what there is."""

    keep: bool = True


@dataclass(frozen=True)
class Exclude:
    """Take a trial out of the competition, or back in."""

    number: int
    excluded: bool = True


@dataclass(frozen=True)
class AbandonRun:
    """Do not wait for the results of a run: its process is ended, what was recorded is kept."""


@dataclass(frozen=True)
class TrySetting:
    """Try this setting next, beyond the budget."""

    setting: Setting


Control = Pause | Resume | StopRun | AbandonRun | Exclude | TrySetting | CancelExplanation
ShortWork = (  # that one answer ends
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
    """A request with its id; a control carries the id of the request whose run it is for."""

    id: int
    payload: Control | Work
