"""Reads a sheet of a workbook by one repeatable call of pandas.read_excel; nothing is computed."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.column_format import MISSING
from core.datasets.dataset import DataSource, Fill, saved_csv
from core.datasets.files.addresses import with_sheet
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.filling import with_fills
from core.datasets.files.spreadsheets import ods, xls, xlsb, xlsx
from core.datasets.files.spreadsheets.merged_cells import fills_of
from core.datasets.files.spreadsheets.sheet_header import SheetHeader, head_of
from core.datasets.files.spreadsheets.workbook import SheetExtent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    check_parts,
    damaged_file_error,
    open_archive,
)
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_READ_SHEETS: dict[str, Callable[[Path], Workbook]] = {
    "xlsx": xlsx.read_sheets,
    "xlsb": xlsb.read_sheets,
    "xls": xls.read_sheets,
    "ods": ods.read_sheets,
}
_TITLES = {
    "xlsx": "Excel workbook",
    "xlsb": "binary Excel workbook",
    "xls": "Excel workbook of before 2007",
    "ods": "OpenDocument spreadsheet",
}
_HEAD_ROWS = 500
_EMPTY = ""  # a cell without a value
_DATES = {datetime.date, datetime.datetime}


@dataclass(frozen=True)
class _Survey:
    columns: list[int]  # that hold values
    head: list[list[Any]]  # the first rows of these, "" where there is no value
    types: list[set[type]]  # of the values below, by column


@dataclass(frozen=True)
class SheetFile:
    """A sheet of a workbook; `requested_sheet` is "" for the first with data."""

    path: Path
    kind: str
    requested_sheet: str = ""

    @cached_property
    def workbook(self) -> Workbook:
        """Its sheets; raises UnusableError if damaged."""
        if self.kind != "xls":
            with open_archive(self.path) as archive:
                check_parts(archive, self.path.name)
        with _library_faults(self.path.name):
            return _READ_SHEETS[self.kind](self.path)

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
        """The opened workbook; its extent was checked, since opening may read every sheet."""
        assert self.sheet_extent
        with _library_faults(self.path.name):
            content = io.BytesIO(self.path.read_bytes())  # so that no file stays open
            return pd.ExcelFile(content, engine="calamine")

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        head = self._sheet_header(required_column)
        return {name: [row[i] for row in head.rows] for i, name in enumerate(head.column_names)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table, empty cells missing; raises UnusableError with the cell where known."""
        head = self._sheet_header(required_column)
        fills = fills_of(self.sheet_extent, self.columns, head)
        arguments = self._arguments(head, kinds)
        table = with_fills(self._read_excel(**arguments), fills).dropna(how="all")
        if table.empty:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=self.sheet_extent.where, cure="add rows")
        rows = table.index.to_numpy()
        table = table.reset_index(drop=True)

        def line_of(row: int) -> int:
            return int(head.first + rows[row] + 1) if row < len(rows) else 0

        source = self._data_source(arguments, head, fills, table)
        findings = (*head.findings, *self._findings(head, fills))
        return RawTable(self.path.name, table, source, line_of, findings)

    @property
    def columns(self) -> list[int]:
        """The columns of the sheet that hold values, from 0."""
        return self._survey.columns

    @cached_property
    def _survey(self) -> _Survey:
        with _library_faults(self.path.name):
            sheet = self.excel_file.book.get_sheet_by_name(self.sheet_name)
            if sheet.start is None:
                raise damaged_file_error(self.path.name, "its cells cannot be read")
            left = sheet.start[1]
            rows = sheet.iter_rows()
            head = list(islice(rows, _HEAD_ROWS))
            types: list[set[type]] = [set() for _ in range(sheet.width)]
            for row in rows:
                for seen, cell in zip(types, row, strict=True):
                    if cell != _EMPTY:
                        seen.add(type(cell))
        width = range(len(types))
        filled = [i for i in width if types[i] or any(row[i] != _EMPTY for row in head)]
        cells = [[row[i] for i in filled] for row in head]
        return _Survey([left + i for i in filled], cells, [types[i] for i in filled])

    def _sheet_header(self, required_column: str) -> SheetHeader:
        extent, survey = self.sheet_extent, self._survey
        return head_of(survey.head, extent.where, required_column, survey.columns, extent.merged)

    def _arguments(self, head: SheetHeader, kinds: Mapping[str, str]) -> dict[str, Any]:
        arguments: dict[str, Any] = {"engine": "calamine", "sheet_name": self.sheet_name}
        if head.plain:
            arguments["header"] = head.header_row
        else:
            arguments |= {"header": None, "skiprows": head.first, "names": head.column_names}
        if self.columns != list(range(len(self.columns))) or not head.plain:
            arguments["usecols"] = self.columns
        arguments |= {"na_values": [""], "keep_default_na": False}
        survey, first = self._survey, head.first
        names = [*enumerate(head.column_names)]
        dtypes = {name: _dtype_of(survey, i, first, kinds.get(name, "")) for i, name in names}
        dtypes = {name: dtype for name, dtype in dtypes.items() if dtype}
        return arguments | ({"dtype": dtypes} if dtypes else {})

    def _read_excel(self, **arguments: Any) -> pd.DataFrame:
        with _library_faults(self.path.name):
            options = {name: value for name, value in arguments.items() if name != "engine"}
            return self.excel_file.parse(**{"sheet_name": self.sheet_name, **options})

    def _data_source(
        self,
        arguments: dict[str, Any],
        head: SheetHeader,
        fills: Sequence[Fill],
        table: pd.DataFrame,
    ) -> DataSource:
        as_csv = saved_csv(name for name in table.columns if table[name].dtype.kind not in "iuf")
        if head.header_row < 0:
            as_csv |= {"header": None, "names": head.column_names}
        phrases = [_TITLES[self.kind], f"sheet “{self.sheet_name}”", *head.phrases]
        return DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            as_csv,
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


def _dtype_of(survey: _Survey, column: int, first: int, kind: str) -> str:
    """Of pandas: "str" for texts from a row on, "object" where mixed, "" for pandas' own choice."""
    head = {type(row[column]) for row in survey.head[first:] if row[column] != _EMPTY}
    types = head | survey.types[column]
    if kind in ("category", "text") or types == {str}:
        return "str"
    return "" if types <= {int, float} or types <= _DATES else "object"


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on styles and the like
            yield
    except (UnusableError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # the libraries raise any error; Rust's panics are no Exception
        raise damaged_file_error(name, f"{type(error).__name__}: {error}") from None
