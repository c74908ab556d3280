"""The answers to questions about a finished run, as they are sent and stored."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.datasets.finding import column_title
from core.evaluation.calibration_bin import CalibrationBin
from core.records import Record, optional

Cell = str | bool | int | float | None  # of a row as its file has it


@dataclass(frozen=True)
class Answer(Record):
    """An answer about a run, or what is known of it so far."""

    @property
    def is_final(self) -> bool:
        return getattr(self, "done", True) is not False


@dataclass(frozen=True)
class NoAnswer(Answer):
    """Why there is no answer, a sentence."""

    problem: str
    done: bool | None = optional()


@dataclass(frozen=True)
class WrongRows(Record):
    """The rows with the worst predictions, the worst first, as in the file."""

    headers: list[str]
    rows: list[list[Cell]]
    lines: list[int]  # the line where each row begins, or its number where ``counted`` is "row"
    counted: str
    left_out: int  # how many columns are not shown
    actual: list[str | float]  # classes or numbers
    said: list[str | float]  # predictions
    sure: list[float | None]  # the predicted class's probability; of numbers predicted − actual
    wrong: int  # how many rows are wrong at all


@dataclass(frozen=True)
class RowDiagnostics(Answer):
    """How many test rows there are, and the worst of them."""

    rows: int
    wrong: WrongRows


@dataclass(frozen=True)
class ThresholdTally(Record):
    """Counts of one class against the rest at falling thresholds, and summaries of them."""

    positives: int  # rows of the class
    negatives: int
    thresholds: list[float]
    true: list[int]  # positives that score at least each threshold; false: negatives
    false: list[int]
    area: list[float | None]  # under the ROC curve, with the ends of its 95 % interval
    precision: list[float | None]  # the average precision, with the ends of its 95 % interval
    calibration: list[CalibrationBin]  # empty without probabilities

    @property
    def share(self) -> float:
        return self.positives / max(self.positives + self.negatives, 1)


@dataclass(frozen=True)
class ClassDiagnostics(RowDiagnostics):
    """Diagnostics of a classifier."""

    labels: list[str]  # the classes, the second of two or the most frequent first
    second: str  # the second of two classes; else ""
    scale: str  # probability or score
    chosen: float | None  # the threshold that decides between two classes, where there is one
    of: dict[str, ThresholdTally]  # the counts of each class


@dataclass(frozen=True)
class ResidualBin(Record):
    """The mean residual of some rows with its 95 % interval."""

    at: str | float  # the rows' mean value along the axis, or their word
    mean: float
    low: float | None
    high: float | None
    rows: int


@dataclass(frozen=True)
class Residuals(Record):
    """Predicted − actual of test rows."""

    predicted: list[float]  # of the rows that are drawn, as the residuals
    residual: list[float]
    rows: int  # how many rows the bins are of
    left_out: int  # how many columns are not in ``along``
    along: dict[str, list[str | float | None]]  # the drawn rows' values in each column
    bins: dict[str, list[ResidualBin]]  # along each column; those along the prediction as ""
    units: dict[str, str] | None = optional()  # {column: unit}

    def title_of(self, name: str) -> str:
        return column_title(name, (self.units or {}).get(name))


@dataclass(frozen=True)
class RegressionDiagnostics(RowDiagnostics):
    """Diagnostics of a regression."""

    residuals: Residuals


@dataclass(frozen=True)
class Dependence(Answer):
    """The partial dependence of a column, or the reason for none."""

    name: str
    problem: str = ""  # that reason, a sentence; the JSON then has nothing else but the name
    answer: str = ""  # what is plotted, in words
    numbers: bool = False  # whether the values are numbers
    grid: list[float] = field(default_factory=list)  # the values, or the positions of words
    words: list[str] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)  # at every value
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)  # the curves of single rows
    used: int = 0  # how many rows the mean is of
    counts: list[int] = field(default_factory=list)  # of a histogram, or of words without edges
    edges: list[float] = field(default_factory=list)
    unit: str | None = optional()  # of the values

    @property
    def title(self) -> str:
        return column_title(self.name, self.unit)

    def __iter__(self) -> Iterator[str]:
        if self.problem:
            return iter(("name", "problem"))
        return (key for key in super().__iter__() if key != "problem")


@dataclass(frozen=True)
class ScoreLoss(Record):
    """The loss of score when columns are shuffled together, with its 95 % interval."""

    names: list[str]
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ColumnLoss(ScoreLoss):
    """The loss of score of one column."""

    # Of a linear model, on the scaled column; of several outputs the root of the sum of squares.
    weight: float | None


@dataclass(frozen=True)
class AlikeColumns(Record):
    """Nearly equal columns, and the least correlation of two of them."""

    names: list[str]
    least: float


@dataclass(frozen=True)
class ColumnImportance(Answer):
    """Which columns matter."""

    metric: str
    rows: int  # how many of the ``test_rows`` are shuffled
    test_rows: int
    repeats: int
    total: int  # how many columns there are
    screened: bool  # whether only some of them are shuffled
    alike: list[AlikeColumns]
    asked: int = 0  # how many columns and groups are to be shuffled
    columns: list[ColumnLoss] = field(default_factory=list)  # the most important first
    groups: list[ScoreLoss] = field(default_factory=list)  # with similar columns together
    shuffled: int = 0
    dependence: dict[str, Dependence] | None = optional()  # of the first columns, once it is done
    units: dict[str, str] | None = optional()  # {column: unit}
    done: bool = True

    def title_of(self, columns: ScoreLoss | AlikeColumns) -> str:
        return " + ".join(
            column_title(name, (self.units or {}).get(name)) for name in columns.names
        )


@dataclass(frozen=True)
class LearningSize(Record):
    """The mean score of `repeats` fits on so many training rows, with its 95 % interval."""

    rows: int
    mean: float
    low: float | None
    high: float | None
    repeats: int


@dataclass(frozen=True)
class LearningGain(Record):
    """The score of all rows minus that of half of them; above 0: more rows helped."""

    mean: float | None
    low: float | None
    high: float | None
    from_rows: int  # in JSON ``from`` and ``to``
    to_rows: int


@dataclass(frozen=True)
class LearningCurve(Answer):
    """Whether more rows would help."""

    metric: str
    maximize: bool
    sizes: list[LearningSize]  # growing
    done: bool = True
    gain: LearningGain | None = optional()
    answer: str | None = optional()  # yes, no or unclear


@dataclass(frozen=True)
class SettingShare(Record):
    """The share of the scores' variance that a setting explains alone, with its 95 % interval."""

    name: str
    label: str
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class SettingImportance(Answer):
    """Which settings mattered."""

    metric: str
    model: str
    trials: int  # how many of all the finished trials, ``of``, are used
    of: int
    settings: list[SettingShare]  # the most important first
    together: float  # the share of the variance that no setting explains alone
    resamples: int
    done: bool = True
