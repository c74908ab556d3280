"""A dataset's description for the window and the guidance: records that import no library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from core.datasets.finding import (
    ColumnReading,
    Finding,
    RewrittenCells,
    SuggestedChange,
    column_title,
    shared_changes,
)
from core.records import Record, optional

if TYPE_CHECKING:
    from core.datasets.task import Task

# Of `ReadColumn`, what a column says itself; the rest is told of the reading.
_COPIED = ("name", "kind", "kind_text", "role", "unit", "missing", "distinct", "note")
DistributionKind = Literal["numbers", "dates", "values"]
UnitKind = Literal["sequence", "molecule", "document"]
Role = Literal["target", "feature", "group", "ignore", "sequence"]
Kind = Literal["number", "category", "yes/no", "date", "text", "identifier", "constant"]
SheetFormat = Literal["xlsx", "xlsb", "xls", "ods"]
Format = Literal[
    SheetFormat, "csv", "libsvm", "sample", "parquet", "feather", "arff", "conll", "dot-brackets"
]
# What a model is given of a category. levels: a column each; means: above a few levels, the mean
# of the target in each, cross-fitted (Micci-Barreca 2001); both: for several models, of which each
# takes its own.
Categories = Literal["levels", "means", "both"]
FEW_LEVELS = 10  # that have a column each for every model (tests/benchmarks/bench_encodings.py)


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


@dataclass(frozen=True, slots=True)
class Column(Record):
    """One column of the file."""

    name: str  # without a header "column 3" or "feature 3", counted from 1
    role: Role  # group: rows with one value are never split; sequence: ids, or letters of molecules
    kind: Kind
    missing: int = 0
    distinct: int = 0  # without missing ones
    categories: tuple[str, ...] = ()  # at most 20, the most frequent first
    note: str = ""  # the reason of an unusual role, for a lay person
    date_format: str = ""  # for pandas.to_datetime
    unit: str = ""  # of numbers, as it is written beside them

    @property
    def title(self) -> str:
        """The name with the unit, of an axis: "weight, kg"."""
        return column_title(self.name, self.unit)

    @property
    def kind_text(self) -> str:
        """The kind with the unit: "number, kg"."""
        return column_title(self.kind, self.unit)

    @property
    def may_be_encoded(self) -> bool:
        """Whether it is a feature that models are given encoded, or filled."""
        is_encoded = self.kind in ("category", "yes/no", "date")
        is_filled = self.kind == "number" and self.missing > 0
        return self.role == "feature" and (is_encoded or is_filled)


@dataclass(frozen=True, slots=True)
class ColumnSummary(Column):
    """A column and its distribution."""

    distribution: Distribution | None = None


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
    rival: str = ""  # a column as likely as this target, if that was guessed
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
        return [column for column in self.columns if column.role == "feature"]

    def column(self, name: str) -> ColumnSummary:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class ReadColumn(Record):
    """A column as it was read."""

    name: str
    kind: str
    kind_text: str  # with the unit: "number, kg"
    role: str
    unit: str = ""  # of numbers
    missing: int = 0
    distinct: int = 0
    note: str = ""  # the reason of an unusual role
    reading: str = ""  # what it was taken for, where it could mean something else
    otherwise: str = ""  # the option of the command line that reads it otherwise
    encoding: str = ""  # what a model is given of it, where that is something else
    rewritten: bool = False  # whether some cells are written otherwise than they are read
    rewritten_cells: int = 0  # 0 where they were not counted
    rewritten_example: str = ""  # "“$1,200” is 1200"
    kept: str = ""  # the option that keeps the texts of such cells


@dataclass(frozen=True)
class ReadingReport(Record):
    """A file as it was read."""

    name: str
    described: str  # "semicolons between columns, decimal commas"
    rows: int  # with those without a target
    set_aside: int  # rows without a target
    file_rows: int  # rows of the file if some were drawn, else 0
    task: str
    target: str
    columns: list[ReadColumn]
    more_columns: int = 0  # not in columns
    findings: list[Finding] = field(default_factory=list)
    together: list[SuggestedChange] = field(default_factory=list)  # for several columns at once

    @property
    def rewritten(self) -> list[str]:
        """The columns whose texts do not come back from their values letter by letter."""
        return [column.name for column in self.columns if column.rewritten]


def reading_report(summary: DatasetSummary) -> ReadingReport:
    """The part of a summary that says how the file was read."""
    readings = {reading.column: reading for reading in summary.readings}
    columns = []
    for column in summary.columns:
        reading = readings.get(column.name)
        proposal = reading.proposal if reading else None
        cells = summary.rewritten.get(column.name, RewrittenCells())
        columns.append(
            ReadColumn(
                **{name: getattr(column, name) for name in _COPIED},
                reading=reading.sentence if reading else "",
                otherwise=proposal.option if proposal else "",
                encoding=summary.encodings.get(column.name, ""),
                rewritten=column.name in summary.rewritten,
                rewritten_cells=cells.count,
                rewritten_example=cells.example,
                kept=cells.proposal.option if cells.proposal else "",
            )
        )
    return ReadingReport(
        name=summary.name,
        described=summary.described,
        rows=summary.rows + summary.set_aside,
        set_aside=summary.set_aside,
        file_rows=summary.file_rows,
        task=str(summary.task),
        target=summary.target,
        columns=columns,
        more_columns=summary.more_columns,
        findings=summary.findings,
        together=shared_changes(summary.readings),
    )
