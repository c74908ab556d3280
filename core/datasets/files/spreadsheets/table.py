"""A sheet of a workbook becomes a table, by one call of pandas.read_excel that anyone can repeat.

Formulas count as the values that are stored with them; nothing is computed, no macro is run and no
link followed.
"""

from __future__ import annotations

import io
import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.datasets.dataset import Fill, Finding, Source
from core.datasets.files.addresses import on_sheet
from core.datasets.files.csv_table import check_header, settle_types, text_columns
from core.datasets.files.filling import with_fills
from core.datasets.files.opening import fingerprint
from core.datasets.files.packages import check_package
from core.datasets.files.sniffing import MISSING
from core.datasets.files.spreadsheets import ods, xlsx
from core.datasets.files.spreadsheets.header import Head, head_of
from core.datasets.files.spreadsheets.merged_cells import fills_of
from core.datasets.files.spreadsheets.workbook import Extent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    DamagedError,
    check_parts,
    damaged,
    opened_archive,
)
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_READ_SHEETS: dict[str, Callable[[Path], Workbook]] = {
    "xlsx": xlsx.read_sheets,
    "ods": ods.read_sheets,
}
_TITLES = {"xlsx": "Excel workbook", "ods": "OpenDocument spreadsheet"}
_ENGINES: dict[str, Literal["openpyxl", "odf"]] = {"xlsx": "openpyxl", "ods": "odf"}
_HEAD_ROWS = 500
# What stands in a cell whose formula went wrong; pandas knows those of Excel by their type.
_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
_ERRORS_OF = {"xlsx": (), "ods": tuple(f"Err:{number}" for number in (*range(501, 513), 522, 523))}


@dataclass(frozen=True)
class SheetFile:
    """A workbook on a sheet.

    Attributes:
        path: the file.
        kind: xlsx or ods.
        asked: the sheet's name; "" for the first one with data.
    """

    path: Path
    kind: str
    asked: str = ""

    @cached_property
    def workbook(self) -> Workbook:
        """Its sheets.

        Raises:
            UnusableError: damaged, or what reads it is missing.
        """
        with opened_archive(self.path) as archive:
            check_parts(archive, self.path.name)
        found = _READ_SHEETS[self.kind](self.path)
        check_package(found.package, self.path.name)
        return found

    @cached_property
    def sheets(self) -> tuple[str, ...]:
        """The sheets that hold data.

        Raises:
            UnusableError: none does.
        """
        found = self.workbook.filled(self.path.name)
        if not found:
            raise UnusableError(
                "no sheet holds anything", where=self.path.name, cure="choose a file with rows"
            )
        return found

    @property
    def sheet(self) -> str:
        """The one that is read.

        Raises:
            UnusableError: there is none of the name that was asked for, or it is empty.
        """
        if not self.asked:
            return self.sheets[0]
        if self.asked in self.sheets:
            return self.asked
        what = "is empty" if self.asked in self.workbook.names else "is not in the workbook"
        some = ", ".join(f"“{name}”" for name in self.sheets[:8])
        raise UnusableError(
            f"the sheet “{self.asked}” {what}",
            where=self.path.name,
            cure=f"choose one of {some}" if len(self.sheets) > 1 else f"choose {some}",
        )

    @cached_property
    def extent(self) -> Extent:
        """What the sheet holds."""
        return self.workbook.extent(self.sheet, self.path.name)

    @cached_property
    def book(self) -> pd.ExcelFile:
        """The opened workbook."""
        with _library_faults(self.path.name):
            content = io.BytesIO(self.path.read_bytes())  # so that no file stays open
            return pd.ExcelFile(content, engine=_ENGINES[self.kind])

    def first_cells(self, wanted: str = "") -> dict[str, list[str]]:
        """Every column's first values as text.

        Raises:
            UnusableError: whatever makes it no table.
        """
        head = self._head(wanted)
        return {name: [row[i] for row in head.dialect.rows] for i, name in enumerate(head.names)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, wanted: str = ""
    ) -> RawTable:
        """The table.

        Args:
            kinds: {column: kind} where a person or the training file has decided.
            missing: what stands for nothing; among words, "." and "none" are words.
            wanted: a column that must be there, if any.

        Raises:
            UnusableError: whatever makes it no table, with the cell where it can be told.
        """
        try:
            return self._read(kinds, missing, wanted)
        except DamagedError:
            if not self._drop_empty_texts():
                raise
            return self._read(kinds, missing, wanted)

    def _read(self, kinds: Mapping[str, str], missing: Sequence[str], wanted: str) -> RawTable:
        head = self._head(wanted)
        check_header(head.dialect, self.extent.where)
        arguments = self._arguments(head, missing)
        arguments["dtype"] = text_columns(head.dialect, kinds)
        fills = fills_of(self.extent, self.columns, head)
        table = self._parse(arguments, head, fills)
        strays = _settle(table, arguments, kinds, self.extent.where)
        if strays is not None:
            table = self._parse(arguments, head, fills)
        rows = table.index.to_numpy()
        table = table.reset_index(drop=True)

        def line_of(row: int) -> int:
            return int(head.first + rows[row] + 1) if row < len(rows) else 0

        _refuse_infinity(table, self.extent.where, line_of)
        source = self._source(arguments, head, fills)
        findings = (*self._findings(head, fills), *(strays or ()))
        return RawTable(self.path.name, table, source, line_of, findings)

    @cached_property
    def columns(self) -> list[int]:
        """The columns of the sheet that hold anything, from 0."""
        return sorted(self.extent.columns)

    def _head(self, wanted: str) -> Head:
        rows = min(self.extent.rows, _HEAD_ROWS)
        cells = self._call(header=None, dtype=object, na_filter=False, nrows=rows)
        cells = cells.reindex(columns=self.columns, fill_value="")
        return head_of(cells.to_numpy(dtype=object).tolist(), self.extent.where, wanted)

    def _drop_empty_texts(self) -> bool:
        """Leave out the last columns where they hold nothing but empty texts, as pandas does."""
        width = self._call(header=None, dtype=object, na_filter=False).shape[1]
        kept = [column for column in self.columns if column < width]
        fewer = len(kept) < len(self.columns)
        self.columns[:] = kept
        return fewer

    def _arguments(self, head: Head, missing: Sequence[str]) -> dict[str, Any]:
        """What pandas.read_excel is told, in plain JSON types."""
        arguments: dict[str, Any] = {"sheet_name": self.sheet}
        if head.plain:
            arguments["header"] = head.header_row
        else:
            arguments |= {"header": None, "skiprows": head.first, "names": head.names}
        if self.columns != list(range(len(self.columns))) or not head.plain:
            arguments["usecols"] = self.columns
        every = (*missing, *_ERRORS, *_ERRORS_OF[self.kind])
        words = list(every if len(missing) > 1 else missing)
        arguments |= {"na_values": words, "keep_default_na": False}
        if head.dialect.decimal != ".":
            arguments["decimal"] = head.dialect.decimal
        if head.dialect.thousands:
            arguments["thousands"] = head.dialect.thousands
        return arguments

    def _parse(
        self, arguments: Mapping[str, Any], head: Head, fills: Sequence[Fill]
    ) -> pd.DataFrame:
        """The table without blank rows; its index says which rows of the sheet are left."""
        table = self._call(**arguments)
        if list(table.columns) != head.names:
            raise damaged(self.path.name, "its columns cannot be told apart")
        table = with_fills(table, fills).dropna(how="all")
        if table.empty:
            raise UnusableError(
                "there is no row below the header", where=self.extent.where, cure="add rows"
            )
        return table

    def _call(self, **arguments: Any) -> pd.DataFrame:
        with _library_faults(self.path.name):
            return self.book.parse(**{"sheet_name": self.sheet, **arguments})

    def _source(self, arguments: dict[str, Any], head: Head, fills: Sequence[Fill]) -> Source:
        """How it was read, and how the same table is read once it is written as CSV."""
        if not arguments["dtype"]:
            del arguments["dtype"]
        as_csv: dict[str, Any] = {
            name: arguments[name]
            for name in ("na_values", "keep_default_na", "dtype")
            if name in arguments
        }
        if not head.dialect.header:
            as_csv |= {"header": None, "names": head.names}
        said = [_TITLES[self.kind], f"sheet “{self.sheet}”"]
        said += head.dialect.said_of_rows
        return Source(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            {"sep": ",", "encoding": "utf-8", "index_col": False, **as_csv},
            {},
            fingerprint(self.path),
            ", ".join(said),
            reading=arguments,
            merged=tuple(fills),
            sheets=self.sheets,
        )

    def _findings(self, head: Head, fills: Sequence[Fill]) -> Iterator[Finding]:
        if not self.asked and len(self.sheets) > 1:
            other = on_sheet(self.path.name, self.sheets[1])
            yield Finding(
                f"{len(self.sheets)} sheets hold data; “{self.sheet}” was read. To read another,"
                f" choose it, or put its name behind the file: {other}."
            )
        names = dict(zip(self.columns, head.names, strict=True))
        if fills:
            of = list(dict.fromkeys(column for column, _, _ in fills))
            some = ", ".join(f"“{name}”" for name in of[:3]) + (" …" if len(of) > 3 else "")
            cells = "A merged cell" if len(fills) == 1 else f"{len(fills):,} merged cells"
            yield Finding(f"{cells} in {some}: every row that one reaches over has its value.")
        for place, count in sorted(self.extent.lost.items()):
            if place in names:
                formulas = "1 formula has" if count == 1 else f"{count:,} formulas have"
                yield Finding(
                    f"In column “{names[place]}”, {formulas} no value in the file and count as"
                    " missing; open it in a spreadsheet program and save it again.",
                    names[place],
                    serious=True,
                )


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    """Turn whatever a library says of a damaged workbook into one sentence.

    Raises:
        UnusableError: it cannot be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and dates that are no concern of rows
            yield
    except UnusableError:
        raise
    except Exception as error:  # the libraries are not made for damage and raise anything
        raise damaged(name, f"{type(error).__name__}: {error}") from None


def _settle(
    table: pd.DataFrame, arguments: dict[str, Any], kinds: Mapping[str, str], where: str
) -> list[Finding] | None:
    """As `settle_types`; columns of dates, truth values and the like are text as well."""
    mixed = []
    for column in table.columns:
        if column in arguments["dtype"] or table[column].dtype != object:
            continue
        values = table[column].dropna()
        odd = values[~values.map(lambda value: isinstance(value, (str, numbers.Real)))]
        odd = odd if len(odd) else values[values.map(lambda value: isinstance(value, bool))]
        if len(odd) and kinds.get(column) == "number":
            raise UnusableError(
                f"“{odd.iloc[0]}” is no number",
                where=f"{where}, column {column}",
                cure="let the column be a category",
            )
        if len(odd):
            mixed.append(column)
    for column in table.columns:
        if column not in arguments["dtype"] and table[column].dtype.kind in "mM":
            mixed.append(column)
    arguments["dtype"] |= dict.fromkeys(mixed, "str")
    strays = settle_types(table, arguments, kinds, where)
    return [] if mixed and strays is None else strays


def _refuse_infinity(table: pd.DataFrame, where: str, line_of: Callable[[int], int]) -> None:
    for column in table.columns:
        values = table[column]
        if values.dtype.kind == "f" and (endless := np.isinf(values.to_numpy())).any():
            raise UnusableError(
                "the value is infinite",
                where=f"{where}, row {line_of(int(endless.argmax()))}, column {column}",
                cure="give a finite number, or leave the cell empty",
            )
