"""The answers to the questions that a finished run can be asked, as they are sent and kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.evaluation.calibration_bin import CalibrationBin
from core.records import Record, optional

Cell = str | bool | int | float | None  # of a row as its file has it


@dataclass(frozen=True)
class Answer(Record):
    """What a run answers, or what is known of it so far."""

    @property
    def is_final(self) -> bool:
        """Whether no better answer follows."""
        return getattr(self, "done", True) is not False


@dataclass(frozen=True)
class NoAnswer(Answer):
    """Why there is none, a sentence."""

    problem: str
    done: bool | None = optional()


@dataclass(frozen=True)
class WrongRows(Record):
    """The rows that the model is most wrong about, the worst first, as they stand in the file.

    Attributes:
        headers, rows: the columns, and the cells of each row.
        lines: where each row begins; its number where ``counted`` says "row" instead of "line".
        left_out: how many columns are not shown.
        actual, said: the class, or number, of each row, and what the model predicts.
        sure: the probability of the predicted class; of numbers predicted − actual.
        wrong: how many rows are wrong at all.
    """

    headers: list[str]
    rows: list[list[Cell]]
    lines: list[int]
    counted: str
    left_out: int
    actual: list[str | float]
    said: list[str | float]
    sure: list[float | None]
    wrong: int


@dataclass(frozen=True)
class RowDiagnostics(Answer):
    """What one look at the test rows tells: how many there are, and the worst of them."""

    rows: int
    wrong: WrongRows


@dataclass(frozen=True)
class ThresholdTally(Record):
    """Counts of one class against the rest at falling thresholds, and what follows from them.

    Attributes:
        positives, negatives: rows of the class, and others.
        true, false: how many of them score at least each threshold.
        area: under the ROC curve, with the ends of its 95 % interval.
        precision: the average precision, with the ends of its 95 % interval.
        calibration: empty where the model gives no probabilities.
    """

    positives: int
    negatives: int
    thresholds: list[float]
    true: list[int]
    false: list[int]
    area: list[float | None]
    precision: list[float | None]
    calibration: list[CalibrationBin]

    @property
    def share(self) -> float:
        """The share of rows that are of the class."""
        return self.positives / max(self.positives + self.negatives, 1)


@dataclass(frozen=True)
class ClassDiagnostics(RowDiagnostics):
    """What one look at the test rows tells of a classifier.

    Attributes:
        labels: the classes, the second of two or the most frequent first.
        second: the second of two classes; else "".
        scale: probability or score.
        chosen: the threshold that decides between two classes, where there is one.
        by_costs: whether it was chosen by the costs of mistakes.
        of: the counts of each class.
    """

    labels: list[str]
    second: str
    scale: str
    chosen: float | None
    by_costs: bool
    of: dict[str, ThresholdTally]


@dataclass(frozen=True)
class ResidualBin(Record):
    """The mean residual of some rows with its 95 % interval.

    Attributes:
        at: the rows' mean value along the axis, or their word.
    """

    at: str | float
    mean: float
    low: float | None
    high: float | None
    rows: int


@dataclass(frozen=True)
class Residuals(Record):
    """Predicted − actual of test rows.

    Attributes:
        predicted, residual: of the rows that are drawn.
        rows: how many rows the bins are of.
        left_out: how many columns are not in ``along``.
        along: the drawn rows' values in each column.
        bins: along each column; those along the prediction as "".
    """

    predicted: list[float]
    residual: list[float]
    rows: int
    left_out: int
    along: dict[str, list[str | float | None]]
    bins: dict[str, list[ResidualBin]]


@dataclass(frozen=True)
class RegressionDiagnostics(RowDiagnostics):
    """What one look at the test rows tells of a model of numbers."""

    residuals: Residuals


@dataclass(frozen=True)
class Dependence(Answer):
    """What the tested model says as one column changes; of some columns only why it has no curve.

    Attributes:
        problem: why there is no curve, a sentence; the JSON then has the name beside it alone.
        answer: what is followed, in words.
        numbers: whether the values are numbers.
        grid: the values; their places where they are words.
        mean, low, high: of every value.
        rows: the curves of single rows.
        used: how many rows the mean is of.
        counts, edges: a histogram of the test rows; without edges the count of every word.
    """

    name: str
    problem: str = ""
    answer: str = ""
    numbers: bool = False
    grid: list[float] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    used: int = 0
    counts: list[int] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        if self.problem:
            return iter(("name", "problem"))
        return (key for key in super().__iter__() if key != "problem")


@dataclass(frozen=True)
class ScoreLoss(Record):
    """How much worse the score becomes if columns are shuffled together, with its 95 % interval."""

    names: list[str]
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ColumnLoss(ScoreLoss):
    """The same of one column.

    Attributes:
        weight: of a linear model, on the scaled column; the root of the sum of squares where it
            has several outputs or classes.
    """

    weight: float | None


@dataclass(frozen=True)
class AlikeColumns(Record):
    """Columns that say nearly the same, and the least correlation of two of them."""

    names: list[str]
    least: float


@dataclass(frozen=True)
class ColumnImportance(Answer):
    """Which columns matter.

    Attributes:
        rows: how many of the ``test_rows`` are shuffled.
        total: how many columns there are.
        screened: whether only some of them are shuffled.
        asked, shuffled: how many columns and groups are to be shuffled, and have been.
        columns: the most important first.
        groups: the same with columns that are alike shuffled together.
        dependence: of the first columns, once it is done.
    """

    metric: str
    rows: int
    test_rows: int
    repeats: int
    total: int
    screened: bool
    alike: list[AlikeColumns]
    asked: int = 0
    columns: list[ColumnLoss] = field(default_factory=list)
    groups: list[ScoreLoss] = field(default_factory=list)
    shuffled: int = 0
    dependence: dict[str, Dependence] | None = optional()
    done: bool = True


@dataclass(frozen=True)
class LearningSize(Record):
    """The mean score after so many training rows, with its 95 % interval, over so many fits."""

    rows: int
    mean: float
    low: float | None
    high: float | None
    repeats: int


@dataclass(frozen=True)
class LearningGain(Record):
    """How much better the score is of all rows than of half of them; above 0: more rows helped.

    Attributes:
        from_rows, to_rows: how many rows; the JSON calls them ``from`` and ``to``.
    """

    mean: float | None
    low: float | None
    high: float | None
    from_rows: int
    to_rows: int


@dataclass(frozen=True)
class LearningCurve(Answer):
    """Would more rows help.

    Attributes:
        sizes: growing.
        answer: yes, no or unclear.
    """

    metric: str
    maximize: bool
    sizes: list[LearningSize]
    done: bool = True
    gain: LearningGain | None = optional()
    answer: str | None = optional()


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
    """Which settings mattered.

    Attributes:
        model: whose settings they are.
        trials: how many of all the finished trials, ``of``, are used.
        settings: the most important first.
        together: the share of the variance that no setting explains alone.
    """

    metric: str
    model: str
    trials: int
    of: int
    settings: list[SettingShare]
    together: float
    resamples: int
    done: bool = True
