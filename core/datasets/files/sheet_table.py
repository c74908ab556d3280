"""Reads a sheet of a workbook by one repeatable call of pandas.read_excel; nothing is computed."""

from __future__ import annotations

import io
import os
import re
import tempfile
import threading
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.column_format import MISSING, quoted_words
from core.datasets.dataset import DataSource, Fill, saved_csv
from core.datasets.files import binary_sheets, xml_sheets
from core.datasets.files.addresses import with_sheet
from core.datasets.files.filling import HOURS, date_text, with_fills
from core.datasets.files.sniffing import header_of, is_figure, names_place
from core.datasets.files.table_reader import HEAD_ROWS, FileStart, TableReader, unique_names
from core.datasets.files.workbook import (
    Merged,
    SheetExtent,
    damaged_file_error,
    other_document_error,
)
from core.datasets.finding import Finding
from core.datasets.raw_table import STORED, RawTable
from core.errors import UnusableError
from core.wording import count_text

_MAX_ROWS_ABOVE = 50  # rows among which the header is looked for
_MAX_HEADER_ROWS = 5
_MAX_FILLS = 100_000
_PANIC = re.compile(
    rb"\n?thread '.*? panicked at .*?(^note: [^\n]*\n|\Z)", re.DOTALL | re.MULTILINE
)
_ERROR_STREAM = threading.RLock()  # of the process
Rows = Sequence[list[str]]


@dataclass(frozen=True)
class SheetHeader:
    """The beginning of a sheet's table; rows of the sheet count from 0."""

    column_names: list[str]
    first: int  # row of the table below the header
    has_names: bool
    rows: list[list[str]]  # the first ones of the table, as text
    phrases: list[str]  # for a lay person
    findings: list[Finding]
    units: dict[str, str] = field(default_factory=dict)  # from a row below the names


def head_of(
    rows: Rows, extent: SheetExtent, columns: Sequence[int], required_column: str = ""
) -> SheetHeader:
    """The beginning of the table in the first rows of a sheet."""
    start, depth = _header_rows(rows, _rows_above(rows, required_column), columns, extent.merged)
    units: tuple[str, ...] = ()
    filled = [i for i in range(start, len(rows)) if any(rows[i])]
    if depth == 1 and filled:
        place, units = names_place([rows[i] for i in filled], required_column)
        start = filled[place]
    joined = _joined_names(rows[start : start + depth], start, columns, extent.merged)
    table = [row for row in [joined, *rows[start + depth :]] if any(row)]
    header = header_of(table, len(table[0])) if table else ()
    if table and (depth > 1 or units or (required_column and required_column in joined)):
        header = tuple(joined)
    below = table[1 + bool(units) :] if header else table
    if not below:
        raise no_rows_error(extent)
    names, findings = [f"column {i + 1}" for i in range(len(table[0]))], list[Finding]()
    if header:
        names, findings = unique_names(header, extent.where)
        findings += _joined_findings(names, depth)
    phrases = ["a header" if header else "no header"] + ["units below it"] * bool(units)
    if start:
        phrases.append(f"{count_text(start, 'line')} above the table left out")
    first = filled[place + 1] + 1 if units else start + depth * bool(header)
    unit_of = {name: unit for name, unit in zip(names, units, strict=False) if unit}
    return SheetHeader(names, first, bool(header), below, phrases, findings, unit_of)


def no_rows_error(extent: SheetExtent) -> UnusableError:
    """The error for a sheet without rows, whose formulas may lack their values."""
    fault, cure = "there is no row below the header", "add rows"
    if extent.lost:
        fault = f"its {sum(extent.lost.values()):,} formulas have no values in the file"
        cure = "open it in a spreadsheet program and save it again"
    return UnusableError(fault, where=extent.where, cure=cure)


def _rows_above(rows: Rows, required_column: str) -> int:
    filled = [sum(map(bool, row)) for row in rows]
    counts = Counter(count for count in filled[1:] or filled if count)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    # A title fills one cell, a row of the table at least half of the usual number.
    needed = max(2, usual / 2) if usual > 1 else 1
    for row_index, row in enumerate(rows[:_MAX_ROWS_ABOVE]):
        if (required_column and required_column in row) or filled[row_index] >= needed:
            return row_index
    return next((index for index, count in enumerate(filled) if count), 0)


def _header_rows(
    rows: Rows, start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> tuple[int, int]:
    """The first row of the header and how many rows it has, by its merged cells."""
    left_end, right_end = min(columns, default=0), max(columns, default=0)
    ranges = [
        (top, bottom, right > left)
        for top, left, bottom, right in merged
        # What spans all columns is a title.
        if right >= left_end and left <= right_end and not left <= left_end < right_end <= right
    ]
    # Merged cells over the names are groups of these and belong to the header.
    while any(top < start <= bottom or (wide and top == start - 1) for top, bottom, wide in ranges):
        if sum(map(bool, rows[start - 1])) == 1 and rows[start - 1][0]:
            break  # a title
        start -= 1
    last = start
    for _ in range(_MAX_HEADER_ROWS):
        ends = [bottom for top, bottom, _ in ranges if start <= top <= last < bottom]
        has_group = any(wide and top <= last <= bottom for top, bottom, wide in ranges)
        below = rows[last + 1] if last + 1 < len(rows) else []
        if ends and max(ends) < start + _MAX_HEADER_ROWS:
            last = max(ends)
        elif has_group and any(below) and not any(map(is_figure, below)):
            last += 1
        else:
            break
    if any(is_figure(cell) for row in rows[start + 1 : last + 1] for cell in row):
        return start, 1  # merged cells of the table itself
    return start, last - start + 1


def _joined_names(
    rows: Rows, start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> list[str]:
    """The header's rows as one: "group: name", a merged cell's name in all that it covers."""
    names: list[dict[str, None]] = [{} for _ in columns]
    for i, row in enumerate(rows, start):
        texts = list(row)
        for top, left, bottom, right in merged:
            if start <= top <= i <= bottom:
                inside = [j for j, column in enumerate(columns) if left <= column <= right]
                written = next(filter(None, (rows[top - start][j] for j in inside)), "")
                texts = [written if j in inside else text for j, text in enumerate(texts)]
        for name, text in zip(names, texts, strict=False):
            name |= {text: None} if text or len(rows) == 1 else {}
    return [": ".join(name) for name in names]


def _joined_findings(names: Sequence[str], depth: int) -> list[Finding]:
    joined = [f"“{name}”" for name in names if ": " in name][:3]
    examples = f", such as {' and '.join(joined)}" if joined else ""
    sentence = f"The header has {depth} rows, which are read as one name a column{examples}."
    return [Finding(sentence)] if depth > 1 else []


def fills_of(extent: SheetExtent, names: Mapping[int, str], head: SheetHeader) -> tuple[Fill, ...]:
    """Merged cells below the header: column, first, last row."""
    fills: list[Fill] = []
    for top, left, bottom, right in extent.merged:
        inside = [name for column, name in names.items() if left <= column <= right]
        last = min(bottom, extent.rows - 1)
        if not inside or (top, left) == (last, right) or last < head.first or top > last:
            continue
        # A value over several columns is of none, and one over the header no value at all.
        is_across = left != right or top < head.first
        if is_across or len(fills) == _MAX_FILLS:
            which = "" if is_across else f"and {_MAX_FILLS:,} others "
            cells = f"{column_letters(left)}{top + 1}:{column_letters(right)}{bottom + 1}"
            cure = "unmerge them in the spreadsheet program and give each cell a value of its own"
            raise UnusableError(
                f"the cells {cells} {which}are merged", where=extent.where, cure=cure
            )
        fills.append((inside[0], top - head.first, last - head.first))
    return tuple(fills)


def column_letters(column: int) -> str:
    """The spreadsheet name of a column (from 0): A to Z, then AA, AB and so on."""
    letters, column = "", column + 1
    while column:
        column, letter_index = divmod(column - 1, 26)
        letters = chr(ord("A") + letter_index) + letters
    return letters


_KINDS: dict[str, tuple[str, Callable[[Path], list[SheetExtent]]]] = {
    "xlsx": ("Excel workbook", xml_sheets.read_xlsx),
    "xlsb": ("binary Excel workbook", binary_sheets.read_xlsb),
    "xls": ("Excel workbook of before 2007", binary_sheets.read_xls),
    "ods": ("OpenDocument spreadsheet", xml_sheets.read_ods),
}
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_MANY_ROWS = 20  # by which a sheet of texts is a table
_EMPTY = ""  # a cell without a value


@dataclass(frozen=True)
class _Sheet:
    extent: SheetExtent
    columns: list[int]  # that hold values, from 0
    head: list[list[Any]]  # the first rows of these, "" where there is no value

    def header(self, required_column: str = "") -> SheetHeader:
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
        # Of one column a note has a few lines, and a table of texts very many.
        if len(full) < 2:  # texts, one below the other
            return len(rows) >= 5 * _MANY_ROWS
        return len(rows) > 1 and (has_numbers or len(rows) >= _MANY_ROWS)


@dataclass(frozen=True)
class SheetFile(TableReader):
    """A sheet of a workbook; `requested_sheet` is "" for the first with a table."""

    kind: str
    requested_sheet: str = ""

    @classmethod
    def recognize(cls, start: FileStart) -> SheetFile | None:
        kind = "xls" if start.magic.startswith(binary_sheets.MAGIC) else ""
        kind = _archive_kind(start.path) if start.magic.startswith(b"PK") else kind
        return cls(start.path, kind, start.sheet) if kind else None

    @cached_property
    def _extents(self) -> dict[str, SheetExtent]:
        """All sheets, hidden ones last."""
        with _library_faults(self.path.name):
            extents = _KINDS[self.kind][1](self.path)
        return {extent.name: extent for extent in sorted(extents, key=lambda e: e.is_hidden)}

    @cached_property
    def sheet_names(self) -> tuple[str, ...]:
        """The sheets that hold data."""
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
        names, wanted = self.sheet_names, self.requested_sheet
        # The first sheet often is a note on the others: then the first with a table is read.
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
        return self.sheet_extent.name

    @property
    def sheet_extent(self) -> SheetExtent:
        return self._sheet.extent

    @cached_property
    def _excel_file(self) -> pd.ExcelFile:
        content = io.BytesIO(self.path.read_bytes())  # so that no file stays open
        return pd.ExcelFile(content, engine="calamine")

    def _opened(self, name: str) -> _Sheet:
        extent = self._extents[name].complete()  # first, since opening may read every sheet
        with _library_faults(self.path.name):
            sheet = self._excel_file.book.get_sheet_by_name(name)
            # It was counted before, so it has cells that this library cannot read.
            if sheet.start is None:
                raise damaged_file_error(self.path.name, "its cells cannot be read")
            head: list[list[Any]] = []
            empty, n_filled = set(range(sheet.width)), 0  # columns, rows
            # Down to the first rows with values, and on while a column has shown none.
            for row in sheet.iter_rows():
                if n_filled < HEAD_ROWS:
                    head.append(row)
                    n_filled += any(cell != _EMPTY for cell in row)
                elif not empty:
                    break
                empty -= {i for i in empty if row[i] != _EMPTY}
        filled = [i for i in range(sheet.width) if i not in empty]
        cells = [[row[i] for i in filled] for row in head]
        return _Sheet(extent, [sheet.start[1] + i for i in filled], cells)

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        head = self._sheet.header(required_column)
        return {name: [row[i] for row in head.rows] for i, name in enumerate(head.column_names)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
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
        # Blank rows go last, so that fills and lines are counted in rows of the sheet.
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


def _archive_kind(path: Path) -> str:
    """The kind xlsx, xlsb or ods; "" for another archive. Other Office documents are refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "[Content_Types].xml" in names or any(n.startswith("xl/") for n in names):
                if "xl/workbook.bin" in names:
                    return "xlsb"
                if any(name.startswith("xl/") for name in names):
                    return "xlsx"
                raise other_document_error(path.name)
            if "content.xml" not in names or "mimetype" not in names:
                return ""
            kind = archive.open("mimetype").read(200).decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError, EOFError):
        return ""  # opening the archive raises the error
    if kind.removesuffix("-template") != _ODS:
        raise other_document_error(path.name)
    return "ods"


def _common_form(counts: Counter[str]) -> str:
    """The form in which most numbers of a column show (see `number_form`); "" if in several."""
    # A few cells of another form are slips; two forms are two quantities.
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
        with warnings.catch_warnings(), _without_panic_reports():
            warnings.simplefilter("ignore")  # on styles and the like
            yield
    except (UnusableError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # the libraries raise any error; Rust's panics are no Exception
        raise damaged_file_error(name, f"{type(error).__name__}: {error}") from None


@contextmanager
def _without_panic_reports() -> Iterator[None]:
    """Hold back what is written to standard error, and drop the report of a panic from it."""
    # Rust reports a panic there before Python has the error, and cannot be told not to.
    with _ERROR_STREAM, tempfile.TemporaryFile() as held_text, ExitStack() as restored:
        try:
            stream = os.dup(2)
        except OSError:  # a program without standard error
            yield
            return
        restored.callback(os.close, stream)
        restored.callback(lambda: os.write(stream, _PANIC.sub(b"", held_text.read())))
        restored.callback(held_text.seek, 0)
        restored.callback(os.dup2, stream, 2)
        os.dup2(held_text.fileno(), 2)
        yield
