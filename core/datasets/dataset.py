"""The Dataset: a table or sparse matrix with its columns' roles and kinds, target and task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.cell_values import ColumnFormat
from core.datasets.dataset_summary import Column, Distribution, Format, Role
from core.datasets.finding import ColumnReading, Finding
from core.datasets.task import Task
from core.datasets.texts.vocabulary import PAPER_RULES, WordRules
from core.records import Record, optional

if TYPE_CHECKING:
    from core.datasets.texts.documents import Documents

Fill = tuple[str, int, int]  # merged cells: column, first and last row, from 0


@dataclass(frozen=True)
class DataSource(Record):
    """Where the rows came from and how to read them again."""

    path: str  # "" for a generated sample
    format: Format
    read_csv: Mapping[str, Any] = field(default_factory=dict)  # or of the table saved as CSV
    libsvm: Mapping[str, Any] = field(default_factory=dict)  # of load_svmlight_file
    fingerprint: str = ""  # SHA-256 in hexadecimal
    described: str = ""  # for a lay person: "semicolons, decimal commas"
    compression: str = ""  # gzip, bz2, xz, zip or ""
    reading: Mapping[str, Any] = field(default_factory=dict)  # of other readers of pandas
    merged: tuple[Fill, ...] = ()  # filled in every row that they cover
    sheets: tuple[str, ...] = ()  # those with data
    sampled: SampleFacts | None = optional()  # the rows that a finished run used; None for all
    strays: list[str] | None = optional()  # numeric columns where redacted words are missing
    formats: dict[str, ColumnFormat] | None = optional()  # of columns with a form of their own
    # Arguments of `doubled_text`, through which a text goes before `read_csv`; None: it does not.
    quotes: dict[str, Any] | None = optional()
    shown: dict[str, str] | None = optional()  # how a sheet shows numbers: see `with_fills`


def saved_csv(texts: Iterable[str], missing: Sequence[str] = ("",)) -> dict[str, Any]:
    """The arguments of pandas.read_csv for a table that was saved as CSV."""
    plain = {"sep": ",", "encoding": "utf-8", "index_col": False, "na_values": list(missing)}
    dtypes = dict.fromkeys(texts, "str")
    return {**plain, "keep_default_na": False, **({"dtype": dtypes} if dtypes else {})}


@dataclass(frozen=True)
class SampleFacts(Record):
    """Rows of a file drawn at random to stand for all."""

    rows: int
    of: int  # rows of the file
    seed: int
    stratified: bool  # every class has its share
    asked: bool  # by a person; else more are not read: see `RowSample.max_bytes`
    form: Mapping[str, Any] = field(default_factory=dict)  # fields of RowFormat


@dataclass(frozen=True, kw_only=True)
class RowSample(SampleFacts):
    """The same as it was drawn."""

    chosen: np.ndarray = field(compare=False, repr=False)  # row numbers in the file, sorted
    max_bytes: int = 0  # that a file of its size may unpack to; 0 where memory was the limit

    def sentence(self, name: str) -> str:
        """The finding on this sample, for the window and the report."""
        shares = ", every class in its share and rare ones with 20 rows" if self.stratified else ""
        rows, why = f"its {self.of:,} rows", "does not fit into the memory of this computer"
        if self.max_bytes:
            limit = f"{self.max_bytes / 1e6:,.0f} MB, the most that is read at once"
            why = f"is more than {limit} of a file of its size, once unpacked"
        why = f"{name} {why}: "
        if self.asked:
            rows, why = f"the {self.of:,} rows of {name}", ""
        return (
            f"{why}{self.rows:,} of {rows} were drawn at random (seed {self.seed}{shares}). "
            "Tuning, the test, scaling, gaps and categories go by these; a category that only "
            "other rows have counts as unknown."
        )

    @property
    def facts(self) -> SampleFacts:
        return SampleFacts(**{each.name: getattr(self, each.name) for each in fields(SampleFacts)})


@dataclass(frozen=True)
class Dataset:
    """Rows with a known target, ready to be split."""

    name: str
    source: DataSource
    columns: Sequence[Column]  # in file order, target included; of tokens, the sequence first
    table: pd.DataFrame | None  # n rows of features and sequences; None if sparse
    matrix: sparse.csr_matrix | None  # CSR, n × p; None for a table
    target: np.ndarray  # n floats, labels, or zeros for topics
    task: Task
    classes: tuple[Any, ...] = ()  # sorted
    row_groups: np.ndarray | None = None  # n values of the group column, qid or sequence
    units: np.ndarray | None = None  # n codes of what is never split, if coarser than row_groups
    times: np.ndarray | None = None  # n; the latest test; NaN where unknown
    row_names: np.ndarray | None = None  # n names of molecules
    set_aside: int = 0  # rows dropped for want of a target
    findings: tuple[Finding, ...] = ()
    telling: tuple[str, ...] = ()  # features each of which tells the target without error
    readings: tuple[ColumnReading, ...] = ()
    test: Dataset | None = None  # the second file
    left_out: pd.DataFrame | None = None  # first rows of unused columns, for display
    words: WordRules = PAPER_RULES
    sampled: RowSample | None = None  # None for all rows
    other_letters: bool = False  # letters that are no bases are read as N
    distributions: Mapping[str, Distribution] = field(default_factory=dict)  # of the first columns

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # extensions may give its name

    @property
    def features(self) -> pd.DataFrame | sparse.csr_matrix:
        features = self.matrix if self.table is None else self.table
        assert features is not None
        return features

    @property
    def rows(self) -> int:
        return len(self.target)

    @property
    def kept_together(self) -> np.ndarray | None:
        """Codes of what no split divides, shape (n,); None where every row is independent."""
        return self.row_groups if self.units is None else self.units

    @property
    def target_name(self) -> str:
        """The target column's name; "" where nothing is predicted."""
        return self._name_of("target") if self.task.has_target else ""

    def has_target(self, target: pd.Series) -> np.ndarray:
        """Which rows of the file, by their target there, are this dataset's: a mask."""
        is_known = target.notna()
        if self.classes and is_known.sum() != self.rows:  # classes of one row have been left out
            is_known = target.isin(self.classes)
        return is_known.to_numpy()

    @property
    def feature_names(self) -> list[str]:
        return [c.name for c in self.columns if c.role in ("feature", "sequence")]

    @property
    def units_of_columns(self) -> dict[str, str]:
        """{column: unit} of the columns of a table that have one."""
        columns = () if self.is_sparse else self.columns  # whose columns are made on access
        return {column.name: column.unit for column in columns if column.unit}

    @property
    def sequence_name(self) -> str:
        """The column of role sequence; "" for none."""
        return self._name_of("sequence")

    def _name_of(self, role: Role) -> str:
        # From the end: in a sparse file the target is the last one; others are made on access.
        return next((c.name for c in reversed(self.columns) if c.role == role), "")

    @property
    def has_texts(self) -> bool:
        kinds = ((column.role, column.kind) for column in self.columns)
        return self.task.is_table and ("feature", "text") in kinds

    @property
    def is_sparse(self) -> bool:
        return self.matrix is not None

    @cached_property
    def documents(self) -> Documents:
        """All documents, for display; UnusableError for no text, word or count."""
        from core.datasets.texts.documents import documents_of_counts, documents_of_texts

        if self.matrix is not None:
            return documents_of_counts(self.matrix, where=self.name, rules=self.words)
        assert self.table is not None
        where = f"{self.name}, column {self.table.columns[0]}"
        return documents_of_texts(self.table.iloc[:, 0], where, self.words)
