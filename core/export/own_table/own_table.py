"""The person's own table with a model's answers behind it, in its own format or another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.line_table import ArffFile, LineFile
from core.datasets.files.spreadsheets.sheet_table import SheetFile
from core.datasets.files.table_file import TableFile, TextFile
from core.errors import UnusableError
from core.export.own_table.answer_rows import Answers, Cell, check_row_count
from core.export.own_table.arff_rows import ArffTable
from core.export.own_table.columnar_rows import ColumnarTable
from core.export.own_table.endings import OWN_ALONE, TABS
from core.export.own_table.line_rows import LineTable
from core.export.own_table.new_tables import (
    columns_of_numbers,
    write_columnar,
    write_csv,
    write_workbook,
)
from core.export.own_table.output_form import OutputForm, opened_text
from core.export.own_table.read_table import ReadTable
from core.export.own_table.sheet_rows import SheetTable
from core.export.own_table.text_lines import TextTable, text_table_of

_HEAD_ROWS = 500
OwnTable = TextTable | ColumnarTable | ReadTable


def own_table_of(file: TableFile, column: str = "") -> OwnTable:
    """The table of a file as it was given; `column` is one that the model needs."""
    if isinstance(file, SheetFile):
        return SheetTable(file)
    if isinstance(file, ColumnarFile):
        return ColumnarTable(file)
    if isinstance(file, ArffFile):
        return ArffTable(file)
    if isinstance(file, TextFile):
        return text_table_of(file, column)
    return LineTable(file) if isinstance(file, LineFile) else ReadTable(file)


def first_rows(table: OwnTable, max_rows: int) -> list[list[object]]:
    """The first rows as they stand there."""
    return [list(row) for row in islice(table.rows(), max_rows)]


def write_own_table(
    path: Path, form: OutputForm, table: OwnTable | None, answers: Answers
) -> list[str]:
    """Write the table (if any) with the answers behind it; sentences on what could not stay.

    Raises:
        UnusableError: there are more or fewer answers than rows.
        OSError: it cannot be written.
    """
    if table is None and form.ending in OWN_ALONE:
        fault = f"no file of predictions alone ends in {form.ending}"
        raise UnusableError(fault, where=str(path), cure="end the name in .csv or .xlsx")
    if isinstance(table, SheetTable) and table.can_stay(form.ending):
        return table.write_answered(path, answers)
    if isinstance(table, ColumnarTable) and form.kind in ("parquet", "feather"):
        return table.write_answered(path, answers, form.kind)
    if form.kind in ("text", "lines", "arff"):
        with opened_text(path, form) as into:
            return write_own_text(into, form, table, answers)
    names, rows = _joined(table, answers)
    name = path.name if table is None else table.file.path.name
    if form.kind == "xlsx":
        return write_workbook(path, names, rows, name, _number_columns(table))
    text_count = len(names) - len(answers.columns)
    return write_columnar(path, form.kind, names, rows, text_count)


def _number_columns(table: OwnTable | None) -> set[int]:
    """The columns of texts that are numbers, by the first rows; a typed table says it itself."""
    if table is None or isinstance(table, ColumnarTable):
        return set()
    return columns_of_numbers(islice(table.rows(), _HEAD_ROWS), len(table.names))


def write_own_text(
    into: IO[bytes], form: OutputForm, table: OwnTable | None, answers: Answers
) -> list[str]:
    """The same into a stream, as a text or ARFF file."""
    if isinstance(table, ArffTable) and form.kind == "arff":
        return table.write_answered(into, answers)
    if isinstance(table, LineTable) and form.kind == "lines" and table.can_stay(answers):
        return table.write_answered(into, answers)
    if isinstance(table, TextTable) and _has_its_signs(table, form):
        return table.write_answered(into, answers)
    names, rows = _joined(table, answers)
    return write_csv(into, names, rows, form.delimiter)


def _has_its_signs(table: TextTable, form: OutputForm) -> bool:
    """Whether the delimiter may stay: a name in .tsv means tabs, and one in .csv does not."""
    if form.ending in TABS:
        return table.delimiter == "\t"
    was_tabs = table.file.path.suffix.lower() in TABS
    return not (form.ending == ".csv" and was_tabs and table.delimiter == "\t")


def _joined(table: OwnTable | None, answers: Answers) -> tuple[list[str], Iterator[Sequence[Cell]]]:
    if table is None:
        return answers.columns, answers.rows()
    names = [*table.names, *answers.names_beside(table.names)]
    return names, _joined_rows(table, answers)


def _joined_rows(table: OwnTable, answers: Answers) -> Iterator[Sequence[Cell]]:
    answer_rows, row_count = answers.rows(), 0
    for row in table.rows():
        answer = next(answer_rows, None)
        if answer is None and not answers.is_whole:
            break
        row_count += 1
        if answer is not None:
            yield [*row, *answer]
    check_row_count(answers, row_count, table.file.path.name)
