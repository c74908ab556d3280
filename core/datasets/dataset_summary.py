"""What a dataset looks like, for the window and the guidance: records that import no library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from core.datasets.finding import Finding
from core.records import Record, optional

if TYPE_CHECKING:
    from core.datasets.dataset import Format, Kind, Role
    from core.datasets.task import Task

DistributionKind = Literal["numbers", "dates", "values"]
UnitKind = Literal["sequence", "molecule", "document"]


@dataclass(frozen=True)
class Distribution(Record):
    """How the known values of one column are spread.

    Attributes:
        kind: whether `counts` are of bins of numbers, of bins of dates, or of single values.
        counts: rows in each bin, in order; or rows with each of `labels`, the most frequent first.
        low, high: the ends of the bins: the least and the largest value; seconds since 1970 where
            they are dates.
        labels: the values; empty for bins.
        other: rows with other values than `labels`.
        different: how many other values there are.
        rows: how many rows were looked at, missing ones included.
        of: how many there are.
    """

    kind: DistributionKind
    counts: tuple[int, ...]
    low: float = 0.0
    high: float = 0.0
    labels: tuple[str, ...] = ()
    other: int = 0
    different: int = 0
    rows: int = 0
    of: int = 0


@dataclass(frozen=True)
class ColumnSummary(Record):
    """A column (core.datasets.dataset.Column), and how its values are spread."""

    name: str
    role: Role
    kind: Kind
    missing: int = 0
    distinct: int = 0
    categories: tuple[str, ...] = ()
    note: str = ""
    distribution: Distribution | None = None


@dataclass(frozen=True)
class ClassCount(Record):
    """A class, and how many rows have it."""

    label: str
    count: int


@dataclass(frozen=True)
class Preview(Record):
    """The first rows as text: features, then the columns that are left out, the target last."""

    columns: list[str]
    rows: list[list[str]]


NO_ROWS = Preview([], [])


@dataclass(frozen=True)
class StructuredSummary(Record):
    """What the rows make up: sequences of tokens, molecules of bases, or documents of words.

    Attributes:
        items: "1,204 sequences of 3 to 40 tokens".
        shortest, longest, mean: tokens, bases or words.
        test_count: how many the second file has.
        pairs, dropped: of molecules, and those that the grammar cannot make, by kind.
    """

    kind: UnitKind
    count: int
    rows: int
    items: str
    shortest: int
    longest: int
    mean: float
    test_count: int
    pairs: int | None = optional()
    dropped: dict[str, int] | None = optional()


@dataclass(frozen=True)
class DocumentSummary(StructuredSummary):
    """Of documents also their words, those that the rules keep over all documents.

    Attributes:
        column: of texts; "" where words are counted already.
        empty: documents without a word.
        vocabulary: how many words are kept.
        words: the most frequent, and how often each comes.
        size: how many words may be kept.
        language: whose stop words are left out, one of stop_words.CHOICES.
    """

    column: str = ""
    empty: int = 0
    vocabulary: int = 0
    words: list[tuple[str, int]] = field(default_factory=list)
    size: int = 0
    language: str = ""


@dataclass(frozen=True)
class DatasetSummary(Record):
    """A dataset's description; the lists are empty where there is nothing to say.

    Attributes:
        described: how the file was read, in words.
        sheets, sheet: those of a workbook that hold data, and the one that was read.
        features: how many columns predict.
        set_aside: rows without a target.
        file_rows: how many rows the file has, where `rows` of them were drawn; 0 for all.
        test_rows: of the second file.
        more_columns: how many there are beside `columns`.
        texts: the columns whose topics could be looked for.
        counts: whether the numbers of a sparse file could be counts of words.
        prefixes: {start of a name: columns}.
        structured: None where every row stands for itself.
    """

    name: str
    format: Format
    rows: int
    features: int
    task: Task
    target: str
    described: str = ""
    fingerprint: str = ""
    sheets: list[str] = field(default_factory=list)
    sheet: str = ""
    classes: list[ClassCount] = field(default_factory=list)
    set_aside: int = 0
    file_rows: int = 0
    test_rows: int = 0
    columns: list[ColumnSummary] = field(default_factory=list)
    more_columns: int = 0
    preview: Preview = NO_ROWS
    findings: list[Finding] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    counts: bool = False
    prefixes: dict[str, list[str]] = field(default_factory=dict)
    structured: StructuredSummary | None = None

    @property
    def documents(self) -> DocumentSummary:
        """What is `structured` of a dataset of topics."""
        assert isinstance(self.structured, DocumentSummary)
        return self.structured

    @property
    def feature_columns(self) -> list[ColumnSummary]:
        """Those of `columns` that predict."""
        return [column for column in self.columns if column.role == "feature"]

    def column(self, name: str) -> ColumnSummary:
        """One of `columns`."""
        return next(column for column in self.columns if column.name == name)
