"""A dataset's description for the window and the guidance: records that import no library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from core.datasets.finding import ColumnReading, Finding, RewrittenCells
from core.records import Record, optional

if TYPE_CHECKING:
    from core.datasets.dataset import Format, Kind, Role
    from core.datasets.task import Task

DistributionKind = Literal["numbers", "dates", "values"]
UnitKind = Literal["sequence", "molecule", "document"]


@dataclass(frozen=True)
class Distribution(Record):
    """How the known values of one column are distributed."""

    kind: DistributionKind  # bins of numbers, bins of dates, or single values
    counts: tuple[int, ...]  # rows per bin, or per label with the most frequent first
    low: float = 0.0  # of dates, in seconds since 1970
    high: float = 0.0
    labels: tuple[str, ...] = ()  # empty for bins
    other: int = 0  # rows with a value not in labels
    different: int = 0  # number of those values
    rows: int = 0  # examined, missing ones included
    of: int = 0  # rows in all


@dataclass(frozen=True)
class ColumnSummary(Record):
    """A column (core.datasets.dataset.Column) and its distribution."""

    name: str
    role: Role
    kind: Kind
    missing: int = 0
    distinct: int = 0
    categories: tuple[str, ...] = ()
    note: str = ""
    unit: str = ""  # of numbers
    distribution: Distribution | None = None

    @property
    def kind_text(self) -> str:
        """The kind with the unit: "number, kg"."""
        return f"{self.kind}, {self.unit}" if self.unit else self.kind


@dataclass(frozen=True)
class ClassCount(Record):
    """A class and its number of rows."""

    label: str
    count: int


@dataclass(frozen=True)
class Preview(Record):
    """The first rows as text: features, unused columns, target."""

    columns: list[str]
    rows: list[list[str]]


NO_ROWS = Preview([], [])


@dataclass(frozen=True)
class StructuredSummary(Record):
    """Sequences, molecules or documents that the rows form; lengths in tokens, bases, words."""

    kind: UnitKind
    count: int
    rows: int
    items: str  # "1,204 sequences of 3 to 40 tokens"
    shortest: int
    longest: int
    mean: float
    test_count: int  # in the second file
    pairs: int | None = optional()  # base pairs
    dropped: dict[str, int] | None = optional()  # by kind, pairs that the grammar cannot make


@dataclass(frozen=True)
class DocumentSummary(StructuredSummary):
    """Documents and the words that the rules keep."""

    column: str = ""  # of texts; "" for a file of counts
    empty: int = 0  # documents without a word
    vocabulary: int = 0  # number of words
    words: list[tuple[str, int]] = field(default_factory=list)  # the most frequent, with counts
    size: int = 0  # maximum of vocabulary
    language: str = ""  # of the stop words, one of CHOICES


@dataclass(frozen=True)
class DatasetSummary(Record):
    """A dataset's description; lists may be empty."""

    name: str
    format: Format
    rows: int
    features: int  # number of columns
    task: Task
    target: str
    described: str = ""  # how the file was read
    fingerprint: str = ""
    sheets: list[str] = field(default_factory=list)  # those with data
    sheet: str = ""  # the one that was read
    classes: list[ClassCount] = field(default_factory=list)
    set_aside: int = 0  # rows without a target
    file_rows: int = 0  # rows of the file, if sampled
    test_rows: int = 0  # of the second file
    columns: list[ColumnSummary] = field(default_factory=list)
    more_columns: int = 0  # not in columns
    preview: Preview = NO_ROWS
    findings: list[Finding] = field(default_factory=list)
    readings: list[ColumnReading] = field(default_factory=list)
    # {column: words} of what the model that is recommended is given, where that is something else
    encodings: dict[str, str] = field(default_factory=dict)
    rewritten: dict[str, RewrittenCells] = field(default_factory=dict)  # by column
    texts: list[str] = field(default_factory=list)  # columns for topic models
    counts: bool = False  # a sparse file could hold word counts
    prefixes: dict[str, list[str]] = field(default_factory=dict)  # {prefix: columns}
    structured: StructuredSummary | None = None  # None for independent rows

    @property
    def documents(self) -> DocumentSummary:
        """`structured` of a dataset of topics."""
        assert isinstance(self.structured, DocumentSummary)
        return self.structured

    @property
    def feature_columns(self) -> list[ColumnSummary]:
        """The columns of role feature."""
        return [column for column in self.columns if column.role == "feature"]

    def column(self, name: str) -> ColumnSummary:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)
