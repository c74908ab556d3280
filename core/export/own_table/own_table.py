"""The person's own table with a model's answers behind it, in its own format or another one."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from core.datasets.files.columnar_table import ColumnarFile, check_pyarrow
from core.datasets.files.csv_table import TextFile
from core.datasets.files.line_table import ArffFile, LineFile
from core.datasets.files.sheet_table import SheetFile
from core.datasets.files.table_reader import TableReader
from core.errors import UnusableError
from core.export.destination import (
    COLUMNAR,
    LINES,
    OWN_ALONE,
    PACKED,
    SHEETS,
    TEXT_KINDS,
    TEXTS,
    OutputForm,
)
from core.export.own_table.answer_rows import Answers, Cell, OwnTable, ReadTable, check_row_count
from core.export.own_table.columnar_rows import ColumnarTable, write_columnar
from core.export.own_table.row_order import ordered_rows
from core.export.own_table.sheet_rows import HELD, SheetTable, columns_of_numbers, write_workbook
from core.export.own_table.text_lines import ArffTable, LineTable, text_table_of, write_csv

_WRITABLE = ".csv, .tsv, .txt, .xlsx, .parquet or .feather"


def output_form(path: Path, file: TableReader | None) -> OutputForm:
    """The format that a name asks for, or UnusableError; `file`: the table, None without one."""
    ending = path.suffix.lower()
    compression = PACKED.get(ending, "")
    if compression:
        ending = path.with_suffix("").suffix.lower()
    kind = COLUMNAR.get(ending, "") or ("text" if ending in TEXTS else SHEETS.get(ending, ""))
    own_ending = file.path.suffix.lower() if file is not None else ""
    # Macros, styles and attribute types come from the file itself; none can be made for another.
    if ending in OWN_ALONE:
        kind = _kind_of(file) if ending == own_ending else ""
    elif isinstance(file, LineFile) and (ending == own_ending or ending in LINES):
        kind = "lines"
    elif not kind and ending == own_ending and isinstance(file, TextFile):
        kind = "text"  # whatever such files are called
    if not kind or (compression and kind not in TEXT_KINDS):
        which = " of this table" if ending in OWN_ALONE else ""
        fault = f"no file that ends in {path.suffix.lower()} is written{which}"
        raise UnusableError(fault, where=str(path), cure=f"end the name in {_WRITABLE}")
    if kind in ("parquet", "feather"):
        check_pyarrow(path.name)
    return OutputForm(kind, ending, compression)


def _kind_of(file: TableReader | None) -> str:
    if isinstance(file, SheetFile):
        return file.kind if file.kind in SHEETS.values() else ""
    return "arff" if isinstance(file, ArffFile) else ""


def form_without_name(file: TableReader | None) -> OutputForm:
    """The format of a table that goes to standard output: a text."""
    if isinstance(file, LineFile):
        return OutputForm("lines")
    return OutputForm("text", file.path.suffix.lower() if isinstance(file, TextFile) else ".csv")


@contextmanager
def opened_text(path: Path, form: OutputForm) -> Iterator[IO[bytes]]:
    """A text file to write, compressed as its name says."""
    openers = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    if form.compression:
        with openers[form.compression](path, "wb") as packed:  # type: ignore[operator]
            yield cast(IO[bytes], packed)
        return
    with path.open("wb") as stream:
        yield stream


_HEAD_ROWS = 500
# The table of every reader that has a way of its own back into its format.
_TABLES: dict[type[TableReader], Callable[[Any, str], OwnTable]] = {
    SheetFile: lambda file, _: SheetTable(file),
    ColumnarFile: lambda file, _: ColumnarTable(file),
    ArffFile: lambda file, _: ArffTable(file),
    LineFile: lambda file, _: LineTable(file),
    TextFile: text_table_of,
}


def own_table_of(file: TableReader, column: str = "") -> OwnTable:
    """The table of a file as it was given; `column` is one that the model needs."""
    make_table = _TABLES.get(type(file))
    return ReadTable(file) if make_table is None else make_table(file, column)


_NEW_SHEET = f"The sorted rows are in a new workbook: a sheet with {HELD} cannot be sorted itself."


def write_own_table(
    path: Path, form: OutputForm, table: OwnTable | None, answers: Answers
) -> list[str]:
    """Write the table (if any) with the answers behind it; sentences on what could not stay.

    Raises:
        OSError: it cannot be written.
    """
    if table is not None and not table.is_text and table.can_stay(form, answers):
        return table.write_file(path, form, answers)
    if form.ending in OWN_ALONE and not (table is not None and table.is_text):
        fault = f"no file of predictions alone ends in {form.ending}"
        if table is not None:
            fault = f"the rows of a sheet with {HELD} are not sorted in a {form.ending} file"
        raise UnusableError(fault, where=str(path), cure="end the name in .csv or .xlsx")
    if form.kind in TEXT_KINDS:
        with opened_text(path, form) as into:
            return write_own_text(into, form, table, answers)
    names, rows = joined_rows(table, answers)
    name = path.name if table is None else table.file.path.name
    if form.kind == "xlsx":
        remarks = [_NEW_SHEET] if answers.is_sorted and isinstance(table, SheetTable) else []
        return remarks + write_workbook(path, names, rows, name, _number_columns(table))
    text_count = len(names) - len(answers.columns)
    return write_columnar(path, form.kind, names, rows, text_count)


def _number_columns(table: OwnTable | None) -> set[int]:
    # By the first rows; a table with types says it itself.
    if table is None or isinstance(table, ColumnarTable):
        return set()
    return columns_of_numbers(islice(table.rows(), _HEAD_ROWS), len(table.names))


def write_own_text(
    into: IO[bytes], form: OutputForm, table: OwnTable | None, answers: Answers
) -> list[str]:
    """The same into a stream, as a text or ARFF file."""
    if table is not None and table.is_text and table.can_stay(form, answers):
        return table.write_answered(into, answers)
    names, rows = joined_rows(table, answers)
    return write_csv(into, names, rows, form.delimiter)


def joined_rows(
    table: OwnTable | None, answers: Answers
) -> tuple[list[str], Generator[Sequence[Cell]]]:
    """Names and rows of the table (if any) with the answers behind it."""
    if table is None:
        return answers.columns, ordered_rows(answers.rows(), answers)
    names = [*table.names, *answers.names_beside(table.names)]
    return names, ordered_rows(_rows_beside(table, answers), answers)


def _rows_beside(table: OwnTable, answers: Answers) -> Iterator[Sequence[Cell]]:
    answer_rows, row_count = answers.rows(), 0
    for row in table.rows():
        answer = next(answer_rows, None)
        # Prediction was stopped: the rows below have no answers.
        if answer is None and not answers.is_whole:
            break
        row_count += 1
        if answer is not None:
            yield [*row, *answer]
    check_row_count(answers, row_count, table.file.path.name)
