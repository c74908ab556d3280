"""Reads a sheet of a workbook by one repeatable call of pandas.read_excel; nothing is computed."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.column_format import MISSING, quoted_words
from core.datasets.dataset import DataSource, Fill, saved_csv
from core.datasets.files.addresses import with_sheet
from core.datasets.files.filling import HOURS, date_text, with_fills
from core.datasets.files.header_rows import is_figure
from core.datasets.files.spreadsheets import binary_sheets, ods, xlsx
from core.datasets.files.spreadsheets.sheet_header import (
    SheetHeader,
    fills_of,
    head_of,
    no_rows_error,
)
from core.datasets.files.spreadsheets.workbook import SheetExtent, damaged_file_error
from core.datasets.finding import Finding
from core.datasets.raw_table import STORED, RawTable
from core.errors import UnusableError

_KINDS: dict[str, tuple[str, Callable[[Path], list[SheetExtent]]]] = {
    "xlsx": ("Excel workbook", xlsx.read_sheets),
    "xlsb": ("binary Excel workbook", binary_sheets.read_xlsb),
    "xls": ("Excel workbook of before 2007", binary_sheets.read_xls),
    "ods": ("OpenDocument spreadsheet", ods.read_sheets),
}
_HEAD_ROWS = 500  # with a value
_MANY_ROWS = 20  # by which a sheet of texts is a table
_EMPTY = ""  # a cell without a value


@dataclass(frozen=True)
class _Sheet:
    """A sheet that was looked at."""

    extent: SheetExtent
    columns: list[int]  # that hold values, from 0
    head: list[list[Any]]  # the first rows of these, "" where there is no value

    def header(self, required_column: str = "") -> SheetHeader:
        """The beginning of its table; raises UnusableError if nothing is below the header."""
        rows = [list(map(_as_text, row)) for row in self.head]
        return head_of(rows, self.extent, self.columns, required_column)

    @property
    def is_table(self) -> bool:
        """Whether it is no note: several columns, one of them numbers, or many rows."""
        try:
            rows = [row for row in self.header().rows if any(row)]
        except UnusableError:
            return False
        columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
        full = [cells for cells in columns if 2 * len(cells) >= len(rows)]
        has_numbers = any(all(map(is_figure, cells)) for cells in full)
        if len(full) < 2:  # texts, one below the other
            return len(rows) >= 5 * _MANY_ROWS
        return len(rows) > 1 and (has_numbers or len(rows) >= _MANY_ROWS)


@dataclass(frozen=True)
class SheetFile:
    """A sheet of a workbook; `requested_sheet` is "" for the first with a table."""

    path: Path
    kind: str
    requested_sheet: str = ""

    @cached_property
    def _extents(self) -> dict[str, SheetExtent]:
        """All sheets, hidden ones last; raises UnusableError if damaged."""
        with _library_faults(self.path.name):
            extents = _KINDS[self.kind][1](self.path)
        return {extent.name: extent for extent in sorted(extents, key=lambda e: e.is_hidden)}

    @cached_property
    def sheet_names(self) -> tuple[str, ...]:
        """The sheets that hold data; raises UnusableError if none does."""
        names = tuple(name for name, extent in self._extents.items() if extent.is_filled())
        if names:
            return names
        for extent in self._extents.values():
            if extent.lost:
                raise no_rows_error(extent)
        cure = "choose a file with rows"
        raise UnusableError("no sheet holds anything", where=self.path.name, cure=cure)

    @cached_property
    def _sheet(self) -> _Sheet:
        """The sheet that is read; raises UnusableError if it does not exist or is empty."""
        names, wanted = self.sheet_names, self.requested_sheet
        if not wanted:
            first = self._opened(names[0])
            return first if first.is_table else next(self._tables(names[1:]), first)
        if wanted in names:
            return self._opened(wanted)
        fault = "is empty" if wanted in self._extents else "is not in the workbook"
        name_list = ", ".join(f"“{name}”" for name in names[:8])
        cure = f"choose one of {name_list}" if len(names) > 1 else f"choose {name_list}"
        raise UnusableError(f"the sheet “{wanted}” {fault}", where=self.path.name, cure=cure)

    def _tables(self, names: Sequence[str]) -> Iterator[_Sheet]:
        for name in names:
            with suppress(UnusableError):
                if (sheet := self._opened(name)).is_table:
                    yield sheet

    @property
    def sheet_name(self) -> str:
        """The name of the sheet that is read."""
        return self.sheet_extent.name

    @property
    def sheet_extent(self) -> SheetExtent:
        """Its extent; raises UnusableError as reading does."""
        return self._sheet.extent

    @cached_property
    def _excel_file(self) -> pd.ExcelFile:
        content = io.BytesIO(self.path.read_bytes())  # so that no file stays open
        return pd.ExcelFile(content, engine="calamine")

    def _opened(self, name: str) -> _Sheet:
        extent = self._extents[name].complete()  # first, since opening may read every sheet
        with _library_faults(self.path.name):
            sheet = self._excel_file.book.get_sheet_by_name(name)
            if sheet.start is None:
                raise damaged_file_error(self.path.name, "its cells cannot be read")
            head: list[list[Any]] = []
            empty, n_filled = set(range(sheet.width)), 0  # columns, rows
            for row in sheet.iter_rows():
                if n_filled < _HEAD_ROWS:
                    head.append(row)
                    n_filled += any(cell != _EMPTY for cell in row)
                elif not empty:
                    break
                empty -= {i for i in empty if row[i] != _EMPTY}
        filled = [i for i in range(sheet.width) if i not in empty]
        cells = [[row[i] for i in filled] for row in head]
        return _Sheet(extent, [sheet.start[1] + i for i in filled], cells)

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        head = self._sheet.header(required_column)
        return {name: [row[i] for row in head.rows] for i, name in enumerate(head.column_names)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table, empty cells missing; raises UnusableError with the cell where known."""
        sheet, extent = self._sheet, self.sheet_extent
        head = sheet.header(required_column)
        names = dict(zip(sheet.columns, head.column_names, strict=True))
        fills = fills_of(extent, names, head)
        shows = {n: extent.numbers[i] for i, n in names.items() if kinds.get(n) != STORED}
        forms = {n: "0" for n in head.column_names if kinds.get(n) in ("category", "text")}
        forms |= {name: form for name, each in shows.items() if (form := _common_form(each))}
        forms |= {name: HOURS for column, name in names.items() if column in extent.durations}
        options: dict[str, Any] = {
            "sheet_name": extent.name,
            **{"header": None, "skiprows": head.first, "names": head.column_names},
            **{"usecols": sheet.columns, "dtype": "object"},
            **{"na_values": [""], "keep_default_na": False},
        }
        with _library_faults(self.path.name):
            table = self._excel_file.parse(**options)
        table = with_fills(table, fills, forms).dropna(how="all")
        if table.empty:
            raise no_rows_error(extent)
        lines = (head.first + table.index.to_numpy() + 1).tolist()
        table = table.reset_index(drop=True)
        as_csv = saved_csv([str(name) for name in table if table[name].dtype.kind not in "iuf"])
        if not head.has_names:
            as_csv |= {"header": None, "names": head.column_names}
        phrases = [_KINDS[self.kind][0], f"sheet “{extent.name}”", *head.phrases]

        def line_of(row: int) -> int:
            return lines[row] if row < len(lines) else 0

        source = DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            as_csv,
            described=", ".join(phrases),
            reading={"engine": "calamine", **options},
            merged=fills,
            sheets=self.sheet_names,
            shown=forms or None,
        )
        of_forms = (finding for name in shows for finding in _form_findings(name, shows[name]))
        findings = (*head.findings, *self._findings(names, fills), *of_forms)
        return RawTable(self.path.name, table, source, line_of, findings, units=head.units)

    def _findings(self, names: Mapping[int, str], fills: Sequence[Fill]) -> Iterator[Finding]:
        name, extent = self.sheet_name, self.sheet_extent
        others = [other for other in self.sheet_names if other != name]
        if extent.is_hidden and not self.requested_sheet:
            yield Finding(f"The sheet “{name}”, which was read, is hidden in the workbook.")
        if others and not self.requested_sheet:
            yield Finding(
                f"{len(self.sheet_names)} sheets hold data; “{name}” was read, not "
                f"{quoted_words(others)}. To read another, choose it, or put its name behind the "
                f"file: {with_sheet(self.path.name, others[0])}."
            )
        if hidden := [names[column] for column in names if column in extent.hidden]:
            columns = "Column {} is" if len(hidden) == 1 else "Columns {} are"
            yield Finding(f"{columns.format(quoted_words(hidden))} hidden in the sheet and read.")
        if fills:
            where = quoted_words(list(dict.fromkeys(column for column, _, _ in fills)))
            cells = "A merged cell" if len(fills) == 1 else f"{len(fills):,} merged cells"
            yield Finding(f"{cells} in {where}: every row that one reaches over has its value.")
        for column, count in sorted(extent.lost.items()):
            if column in names:
                formulas = "1 formula has" if count == 1 else f"{count:,} formulas have"
                sentence = (
                    f"In column “{names[column]}”, {formulas} no value in the file and count as"
                    " missing; open it in a spreadsheet program and save it again."
                )
                yield Finding(sentence, names[column], serious=True)


def _common_form(counts: Counter[str]) -> str:
    """The form in which most numbers of a column show (see `number_form`); "" if in several."""
    forms = [form for form in counts if form]
    return forms[0] if len(forms) == 1 and 2 * counts[forms[0]] > counts.total() else ""


def _form_findings(name: str, counts: Counter[str]) -> Iterator[Finding]:
    forms, n_plain = [form for form in counts if form], counts[""] - is_figure(name)
    if len(forms) > 1:
        sentence = f"The numbers of “{name}” show as {quoted_words(forms)} and are read alike."
        yield Finding(sentence, name, serious=True)
    elif (form := _common_form(counts)) and n_plain > 0:
        count = "1 number does" if n_plain == 1 else f"{n_plain:,} numbers do"
        sentence = f"In column “{name}”, {count} not show as “{form}” and read as the others."
        yield Finding(sentence, name, serious=True)


def _as_text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return date_text(value).strip()


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
