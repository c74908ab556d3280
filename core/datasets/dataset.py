"""The Dataset: a table or sparse matrix with its columns' roles and kinds, target and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.finding import Finding
from core.datasets.task import Task
from core.datasets.texts.vocabulary import PAPER_RULES, WordRules
from core.records import Record, optional

if TYPE_CHECKING:
    from core.datasets.dataset_summary import Distribution
    from core.datasets.texts.documents import Documents

Role = Literal["target", "feature", "group", "ignore", "sequence"]
Kind = Literal["number", "category", "yes/no", "date", "text", "identifier", "constant"]
Format = Literal["csv", "libsvm", "sample", "xlsx", "ods", "parquet", "feather", "arff"]
Fill = tuple[str, int, int]  # of merged cells: the column, the first and the last row, from 0


@dataclass(frozen=True, slots=True)
class Column(Record):
    """One column of the file.

    Attributes:
        name: as in the header, or "column 3" / "feature 3" (counted from 1) where there is none.
        role: target, feature, group (rows with one value stay on one side of every split), ignore,
            sequence (which sequence a row's token belongs to; for molecules, the letters).
        kind: what its values are.
        missing: how many values are missing.
        distinct: how many different values it has (missing ones not counted).
        categories: its most frequent values first, at most 20, for categories.
        note: why it was given its role, a lay person's words; "" where nothing is unusual.
        date_format: for dates, the format that ``pandas.to_datetime`` reads them with.
    """

    name: str
    role: Role
    kind: Kind
    missing: int = 0
    distinct: int = 0
    categories: tuple[str, ...] = ()
    note: str = ""
    date_format: str = ""


@dataclass(frozen=True)
class DataSource(Record):
    """Where the rows came from and how the file was read, enough to read it again.

    Attributes:
        path: the file; "" for a generated sample.
        format: what kind of file it is, or sample.
        read_csv: the arguments with which plain ``pandas.read_csv(path, **read_csv)`` gives the
            same table as the program's own; of other tables, once they are written as CSV. JSON
            types only; empty for libsvm and samples.
        libsvm: the same for ``sklearn.datasets.load_svmlight_file`` (libsvm only).
        fingerprint: SHA-256 of the file's bytes, hexadecimal.
        described: how it was understood, a lay person's words ("semicolons, decimal commas").
        compression: gzip, bz2, xz, zip or "". scikit-learn's loader opens .gz and .bz2 by itself;
            for the others it wants the opened file.
        reading: of tables other than csv: the arguments of the function of pandas that reads the
            file itself (``read_excel``, ``read_parquet``, ``read_feather``; ``read_csv`` of arff).
        merged: merged cells of a sheet, whose value counts in every row that they reach over.
        sheets: the sheets of a workbook that hold data.
        sampled: which rows a finished run has of it; None for all.
        strays: columns of numbers with words that count as missing, where the words are redacted.
    """

    path: str
    format: Format
    read_csv: Mapping[str, Any] = field(default_factory=dict)
    libsvm: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    described: str = ""
    compression: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    merged: tuple[Fill, ...] = ()
    sheets: tuple[str, ...] = ()
    sampled: SampleFacts | None = optional()
    strays: list[str] | None = optional()


@dataclass(frozen=True)
class SampleFacts(Record):
    """A `RowSample` without the rows' numbers."""

    rows: int
    of: int
    seed: int
    stratified: bool
    asked: bool
    form: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RowSample:
    """Which rows of a file were drawn at random, to stand for all of them.

    Attributes:
        rows: how many were drawn.
        of: how many rows the file has.
        seed: of the draw.
        stratified: whether every class has its share among them.
        asked: whether a person asked for so many; otherwise more do not fit into memory.
        chosen: their numbers in the file, from 0, sorted.
        form: how rows stand in a text (core.datasets.sampling.row_sampling.RowFormat), plain
            values.
    """

    rows: int
    of: int
    seed: int
    stratified: bool
    asked: bool
    chosen: np.ndarray = field(compare=False, repr=False)
    form: Mapping[str, Any] = field(default_factory=dict)

    def sentence(self, name: str) -> str:
        """What a person must know of it."""
        shares = ", every class in its share and rare ones with 20 rows" if self.stratified else ""
        why = "" if self.asked else f"{name} does not fit into the memory of this computer: "
        whole_file_text = (
            f"the {self.of:,} rows of {name}" if self.asked else f"its {self.of:,} rows"
        )
        return (
            f"{why}{self.rows:,} of {whole_file_text} were drawn at random (seed "
            f"{self.seed}{shares}). "
            "Tuning, the test, scaling, gaps and categories go by these; a category that only "
            "other rows have counts as unknown."
        )

    @property
    def facts(self) -> SampleFacts:
        """The same without the rows' numbers."""
        return SampleFacts(
            self.rows, self.of, self.seed, self.stratified, self.asked, dict(self.form)
        )


@dataclass(frozen=True)
class Dataset:
    """Rows with a known target, ready to be split.

    Attributes:
        name: the file's name without folder, or the sample's.
        source: where it came from.
        columns: every column of the file, in its order, target included; for tokens the column of
            role sequence comes first.
        table: the feature columns as pandas read them, n rows (csv and samples), with the column of
            role sequence where there is one; None if sparse.
        matrix: the features as CSR, n × p (libsvm); None for a table.
        target: n values: floats for regression, zeros for topics, otherwise class labels as in the
            file.
        classes: the sorted class labels; empty where there are none.
        row_groups: n values of the column with role group (or LIBSVM's qid), or None; the sequence
            of every token.
        units: n codes of what stays on one side of every split, where that is more than
            `row_groups` says (equal rows, relatives that equal rows join, documents); else None.
        times: n points in time, the latest of which test (NaN where unknown); None to test on rows
            drawn at random.
        row_names: n names of molecules, where the file has a column of names; None otherwise.
        set_aside: how many rows had no target and were left out.
        findings: what a person should know.
        test: the second file's rows, read the same way, or None.
        left_out: the first rows of the columns that are neither feature nor target, to look at
            only; None where there are no such columns.
        words: which words of texts count.
        sampled: which rows of the file these are; None for all.
        other_letters: whether letters of molecules that are no bases are read as N.
        distributions: {column: how its values are spread} of a table's first columns.
    """

    name: str
    source: DataSource
    columns: Sequence[Column]
    table: pd.DataFrame | None
    matrix: sparse.csr_matrix | None
    target: np.ndarray
    task: Task
    classes: tuple[Any, ...] = ()
    row_groups: np.ndarray | None = None
    units: np.ndarray | None = None
    times: np.ndarray | None = None
    row_names: np.ndarray | None = None
    set_aside: int = 0
    findings: tuple[Finding, ...] = ()
    test: Dataset | None = None
    left_out: pd.DataFrame | None = None
    words: WordRules = PAPER_RULES
    sampled: RowSample | None = None
    other_letters: bool = False
    distributions: Mapping[str, Distribution] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # extensions may give its name

    @property
    def features(self) -> pd.DataFrame | sparse.csr_matrix:
        """The feature part, a table or a CSR matrix."""
        if self.table is not None:
            return self.table
        assert self.matrix is not None
        return self.matrix

    @property
    def rows(self) -> int:
        """How many rows have a target."""
        return len(self.target)

    @property
    def kept_together(self) -> np.ndarray | None:
        """Codes of what no split divides, n; None where every row stands for itself."""
        return self.row_groups if self.units is None else self.units

    @property
    def target_name(self) -> str:
        """The target column's name; "" where nothing is predicted."""
        if not self.task.has_target:
            return ""
        # From the end: it is the last one of a sparse file, whose others need not be described.
        named = (column.name for column in reversed(self.columns) if column.role == "target")
        return next(named, "")

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of `features`, in their order."""
        feature_roles = ("feature", "sequence")
        return [column.name for column in self.columns if column.role in feature_roles]

    @property
    def sequence_name(self) -> str:
        """The name of the column of role sequence; "" where there is none."""
        named = (column.name for column in self.columns if column.role == "sequence")
        return next(named, "")

    @property
    def has_texts(self) -> bool:
        """Whether a feature of a table is texts, whose words become sparse columns."""
        has_text = any((c.role, c.kind) == ("feature", "text") for c in self.columns)
        return self.task.is_table and has_text

    @property
    def is_sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return self.matrix is not None

    @cached_property
    def documents(self) -> Documents:
        """All documents by the words that the rules keep, of a dataset of topics; to look at only.

        What is learned and scored has its words from the training part (see `word_counts`).

        Raises:
            UnusableError: there is no text, no word left, or a number that is no count.
        """
        from core.datasets.texts.documents import documents_of_counts, documents_of_texts

        if self.matrix is not None:
            return documents_of_counts(self.matrix, where=self.name, rules=self.words)
        assert self.table is not None
        where = f"{self.name}, column {self.table.columns[0]}"
        return documents_of_texts(self.table.iloc[:, 0], where, self.words)
