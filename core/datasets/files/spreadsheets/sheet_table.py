"""Reads a sheet of a workbook by one repeatable call of pandas.read_excel.

Formulas count as their stored values; nothing is computed, no macro run and no link followed.
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

import pandas as pd

from core.datasets.blocks import first_infinity
from core.datasets.dataset import DataSource, Fill
from core.datasets.files.addresses import with_sheet
from core.datasets.files.csv_table import check_header, settle_types, text_columns
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.filling import with_fills
from core.datasets.files.packages import check_package
from core.datasets.files.sniffing import MISSING
from core.datasets.files.spreadsheets import ods, xlsx
from core.datasets.files.spreadsheets.merged_cells import fills_of
from core.datasets.files.spreadsheets.sheet_header import SheetHeader, head_of
from core.datasets.files.spreadsheets.workbook import SheetExtent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    DamagedError,
    check_parts,
    damaged_file_error,
    open_archive,
)
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_READ_SHEETS: dict[str, Callable[[Path], Workbook]] = {
    "xlsx": xlsx.read_sheets,
    "ods": ods.read_sheets,
}
_TITLES = {"xlsx": "Excel workbook", "ods": "OpenDocument spreadsheet"}
_ENGINES: dict[str, Literal["openpyxl", "odf"]] = {"xlsx": "openpyxl", "ods": "odf"}
_HEAD_ROWS = 500
# Results of failed formulas; pandas detects those of Excel by their type.
_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
_ERRORS_OF = {"xlsx": (), "ods": tuple(f"Err:{number}" for number in (*range(501, 513), 522, 523))}


@dataclass(frozen=True)
class SheetFile:
    """A sheet of an xlsx or ods workbook; `requested_sheet` is "" for the first with data."""

    path: Path
    kind: str
    requested_sheet: str = ""

    @cached_property
    def workbook(self) -> Workbook:
        """Its sheets; raises UnusableError if damaged or without an installed reader."""
        with open_archive(self.path) as archive:
            check_parts(archive, self.path.name)
        workbook = _READ_SHEETS[self.kind](self.path)
        check_package(workbook.package, self.path.name)
        return workbook

    @cached_property
    def sheet_names(self) -> tuple[str, ...]:
        """The sheets that hold data; raises UnusableError if none does."""
        names = self.workbook.filled_sheets(self.path.name)
        if not names:
            cure = "choose a file with rows"
            raise UnusableError("no sheet holds anything", where=self.path.name, cure=cure)
        return names

    @property
    def sheet_name(self) -> str:
        """The sheet that is read; raises UnusableError if it does not exist or is empty."""
        sheet = self.requested_sheet
        if not sheet:
            return self.sheet_names[0]
        if sheet in self.sheet_names:
            return sheet
        fault = "is empty" if sheet in self.workbook.names else "is not in the workbook"
        name_list = ", ".join(f"“{name}”" for name in self.sheet_names[:8])
        cure = f"choose one of {name_list}" if len(self.sheet_names) > 1 else f"choose {name_list}"
        raise UnusableError(f"the sheet “{sheet}” {fault}", where=self.path.name, cure=cure)

    @cached_property
    def sheet_extent(self) -> SheetExtent:
        """The extent of the sheet."""
        return self.workbook.sheet_extent(self.sheet_name, self.path.name)

    @cached_property
    def excel_file(self) -> pd.ExcelFile:
        """The opened workbook."""
        with _library_faults(self.path.name):
            content = io.BytesIO(self.path.read_bytes())  # so that no file stays open
            return pd.ExcelFile(content, engine=_ENGINES[self.kind])

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        head = self._sheet_header(required_column)
        rows = head.dialect.rows
        return {name: [row[i] for row in rows] for i, name in enumerate(head.column_names)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table; raises UnusableError with the cell where known."""
        try:
            return self._read_table(kinds, missing, required_column)
        except DamagedError:
            if not self._drop_empty_texts():
                raise
            return self._read_table(kinds, missing, required_column)

    def _read_table(
        self, kinds: Mapping[str, str], missing: Sequence[str], required_column: str
    ) -> RawTable:
        head = self._sheet_header(required_column)
        check_header(head.dialect, self.sheet_extent.where)
        arguments = self._arguments(head, missing)
        arguments["dtype"] = text_columns(head.dialect, kinds)
        fills = fills_of(self.sheet_extent, self.columns, head)
        table = self._parse_sheet(arguments, head, fills)
        strays = _settle_sheet_types(table, arguments, kinds, self.sheet_extent.where)
        if strays is not None:
            table = self._parse_sheet(arguments, head, fills)
        rows = table.index.to_numpy()
        table = table.reset_index(drop=True)

        def line_of(row: int) -> int:
            return int(head.first + rows[row] + 1) if row < len(rows) else 0

        _refuse_infinity(table, self.sheet_extent.where, line_of)
        source = self._data_source(arguments, head, fills)
        findings = (*self._findings(head, fills), *(strays or ()))
        return RawTable(self.path.name, table, source, line_of, findings)

    @cached_property
    def columns(self) -> list[int]:
        """The columns of the sheet that hold values, from 0."""
        return sorted(self.sheet_extent.columns)

    def _sheet_header(self, required_column: str) -> SheetHeader:
        n_rows = min(self.sheet_extent.rows, _HEAD_ROWS)
        table = self._read_excel(header=None, dtype=object, na_filter=False, nrows=n_rows)
        table = table.reindex(columns=self.columns, fill_value="")
        cells = table.to_numpy(dtype=object).tolist()
        return head_of(cells, self.sheet_extent.where, required_column)

    def _drop_empty_texts(self) -> bool:
        width = self._read_excel(header=None, dtype=object, na_filter=False).shape[1]
        columns = [column for column in self.columns if column < width]
        fewer = len(columns) < len(self.columns)
        self.columns[:] = columns
        return fewer

    def _arguments(self, head: SheetHeader, missing: Sequence[str]) -> dict[str, Any]:
        """The arguments of pandas.read_excel, in JSON types."""
        arguments: dict[str, Any] = {"sheet_name": self.sheet_name}
        if head.plain:
            arguments["header"] = head.header_row
        else:
            arguments |= {"header": None, "skiprows": head.first, "names": head.column_names}
        if self.columns != list(range(len(self.columns))) or not head.plain:
            arguments["usecols"] = self.columns
        missing_texts = (*missing, *_ERRORS, *_ERRORS_OF[self.kind])
        words = list(missing_texts if len(missing) > 1 else missing)
        arguments |= {"na_values": words, "keep_default_na": False}
        if head.dialect.decimal != ".":
            arguments["decimal"] = head.dialect.decimal
        if head.dialect.thousands:
            arguments["thousands"] = head.dialect.thousands
        return arguments

    def _parse_sheet(
        self, arguments: Mapping[str, Any], head: SheetHeader, fills: Sequence[Fill]
    ) -> pd.DataFrame:
        """The table without blank rows; its index holds the rows of the sheet."""
        table = self._read_excel(**arguments)
        if list(table.columns) != head.column_names:
            raise damaged_file_error(self.path.name, "its columns cannot be distinguished")
        table = with_fills(table, fills).dropna(how="all")
        if table.empty:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=self.sheet_extent.where, cure="add rows")
        return table

    def _read_excel(self, **arguments: Any) -> pd.DataFrame:
        with _library_faults(self.path.name):
            return self.excel_file.parse(**{"sheet_name": self.sheet_name, **arguments})

    def _data_source(
        self, arguments: dict[str, Any], head: SheetHeader, fills: Sequence[Fill]
    ) -> DataSource:
        if not arguments["dtype"]:
            del arguments["dtype"]
        as_csv: dict[str, Any] = {
            name: arguments[name]
            for name in ("na_values", "keep_default_na", "dtype")
            if name in arguments
        }
        if not head.dialect.header:
            as_csv |= {"header": None, "names": head.column_names}
        phrases = [_TITLES[self.kind], f"sheet “{self.sheet_name}”"]
        phrases += head.dialect.row_phrases
        return DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            {"sep": ",", "encoding": "utf-8", "index_col": False, **as_csv},
            {},
            fingerprint(self.path),
            ", ".join(phrases),
            reading=arguments,
            merged=tuple(fills),
            sheets=self.sheet_names,
        )

    def _findings(self, head: SheetHeader, fills: Sequence[Fill]) -> Iterator[Finding]:
        if not self.requested_sheet and len(self.sheet_names) > 1:
            other_sheet = with_sheet(self.path.name, self.sheet_names[1])
            yield Finding(
                f"{len(self.sheet_names)} sheets hold data; “{self.sheet_name}” was read. To read "
                f"another, choose it, or put its name behind the file: {other_sheet}."
            )
        names = dict(zip(self.columns, head.column_names, strict=True))
        if fills:
            filled = list(dict.fromkeys(column for column, _, _ in fills))
            name_list = ", ".join(f"“{name}”" for name in filled[:3])
            name_list += " …" if len(filled) > 3 else ""
            cells = "A merged cell" if len(fills) == 1 else f"{len(fills):,} merged cells"
            yield Finding(f"{cells} in {name_list}: every row that one reaches over has its value.")
        for column, count in sorted(self.sheet_extent.lost.items()):
            if column in names:
                formulas = "1 formula has" if count == 1 else f"{count:,} formulas have"
                yield Finding(
                    f"In column “{names[column]}”, {formulas} no value in the file and count as"
                    " missing; open it in a spreadsheet program and save it again.",
                    names[column],
                    serious=True,
                )


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    """Turn any error of a library on a damaged workbook into one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on styles and the like
            yield
    except UnusableError:
        raise
    except Exception as error:  # the libraries raise any error for damaged files
        raise damaged_file_error(name, f"{type(error).__name__}: {error}") from None


def _settle_sheet_types(
    table: pd.DataFrame, arguments: dict[str, Any], kinds: Mapping[str, str], where: str
) -> list[Finding] | None:
    """`settle_types` where dates, truth values and the like also become text."""
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
    if cell := first_infinity(table):
        column, row = cell
        place = f"{where}, row {line_of(row)}, column {column}"
        cure = "give a finite number, or leave the cell empty"
        raise UnusableError("the value is infinite", where=place, cure=cure)
