"""How a file was read: what every column was taken for, what else it could mean, the findings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_text, read_cells
from core.datasets.dataset import Dataset
from core.datasets.distributions import shown_columns
from core.datasets.files.table_file import open_table
from core.datasets.finding import (
    Finding,
    RewrittenCells,
    SuggestedChange,
    column_change,
    shared_changes,
)
from core.datasets.summary import all_findings
from core.datasets.table_formats import formats_of
from core.errors import UnusableError
from core.records import Record

_MAX_BYTES = 2**27  # of a file that is read once more, cell by cell
_COPIED = ("name", "kind", "kind_text", "role", "unit", "missing", "distinct", "note")
_VALUES = ("number", "date", "yes/no")  # kinds whose texts another reading keeps


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


def reading_report(dataset: Dataset, encodings: Mapping[str, str] | None = None) -> ReadingReport:
    """The report on a dataset; `encodings` says what a model is given, {column: words}."""
    readings = {reading.column: reading for reading in dataset.readings}
    columns, rewritten = [], rewritten_cells(dataset)
    for column in shown_columns(dataset.columns):
        reading = readings.get(column.name)
        proposal = reading.proposal if reading else None
        cells = rewritten.get(column.name, RewrittenCells())
        columns.append(
            ReadColumn(
                **{name: getattr(column, name) for name in _COPIED},
                reading=reading.sentence if reading else "",
                otherwise=proposal.option if proposal else "",
                encoding=(encodings or {}).get(column.name, ""),
                rewritten=column.name in rewritten,
                rewritten_cells=cells.count,
                rewritten_example=cells.example,
                kept=cells.proposal.option if cells.proposal else "",
            )
        )
    return ReadingReport(
        name=dataset.name,
        described=dataset.source.described,
        rows=dataset.rows + dataset.set_aside,
        set_aside=dataset.set_aside,
        file_rows=dataset.sampled.of if dataset.sampled else 0,
        task=str(dataset.task),
        target=dataset.target_name,
        columns=columns,
        more_columns=len(dataset.columns) - len(columns),
        findings=all_findings(dataset),
        together=shared_changes(dataset.readings),
    )


def rewritten_cells(dataset: Dataset, max_bytes: int = _MAX_BYTES) -> dict[str, RewrittenCells]:
    """The columns whose texts do not come back; counted in CSV files of at most `max_bytes`."""
    source, formats = dataset.source, formats_of(dataset.columns, dataset.source)
    names = dict.fromkeys((column.name for column in dataset.columns), "category")
    try:
        is_counted = source.format == "csv" and Path(source.path).stat().st_size <= max_bytes
        table = open_table(source.path).read(names).table if is_counted else None
    except (OSError, UnusableError):
        table = None
    if table is None:
        return {name: RewrittenCells() for name, form in formats.items() if form.rewrites}
    columns = {name: _rewritten(table[name], formats[name]) for name in names if name in table}
    return {name: cells for name, cells in columns.items() if cells is not None}


def _rewritten(values: pd.Series, form: ColumnFormat) -> RewrittenCells | None:
    counts = values.value_counts()
    texts = pd.Series(counts.index, dtype="str")
    cells = read_cells(texts, form)
    if form.kind == "number":
        decimals = re.compile(rf"-?\d+{re.escape(form.decimal)}(\d+)")
        places = {len(match[1]) if (match := decimals.fullmatch(t)) else 0 for t in texts}
        [width] = places if len(places) == 1 else [0]
        cells = cells.map(f"{{:.{width}f}}".format if width else cell_text, na_action="ignore")
        cells = cells.astype("str").str.replace(".", form.decimal, regex=False)
    is_other = (cells.fillna("") != texts).to_numpy()
    if form.kind == "number":  # 3.0 and -0.0 are how programs write whole numbers
        bare = texts.str.removesuffix(f"{form.decimal}0").replace("-0", "0")
        is_other = is_other & (cells != bare).to_numpy()
    if not is_other.any():
        return None
    first = int(is_other.argmax())
    value = "missing" if pd.isna(cells[first]) else cells[first]
    keep = column_change("Read it as text", "--reading", str(values.name), "text")
    return RewrittenCells(
        int(counts.to_numpy()[is_other].sum()),
        f"“{texts[first]}” is {value}",
        keep if form.kind in _VALUES else None,
    )
