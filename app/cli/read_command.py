"""`tunescope read`: how a file is read, before anything is tuned."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from app.cli.parsing import tune_arguments
from app.cli.parsing.column_options import refuse_role_of_target
from app.cli.plan_from_arguments import columns_of
from core.records import strict_json, to_plain

if TYPE_CHECKING:
    from core.datasets.finding import Finding
    from core.datasets.reading_report import ReadColumn, ReadingReport

MAX_NAME = 40  # letters of a column's name


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    read = commands.add_parser("read", help="say how a file is read, and what it could mean else")
    tune_arguments.add_columns(read)
    read.add_argument("--json", action="store_true", help="print as JSON")
    read.set_defaults(run=_read)


def _read(arguments: argparse.Namespace) -> int:
    from core.tuning.guidance.column_encodings import report_on

    data = columns_of(arguments)
    refuse_role_of_target(data.roles, data.target)
    report = report_on(data)
    if arguments.json:
        plain = to_plain(report) | {"rewritten": report.rewritten}
        print(json.dumps(strict_json(plain), ensure_ascii=False))
    else:
        print("\n".join(_lines(report)))
    return 0


def _lines(report: ReadingReport) -> Iterator[str]:
    name = _printable(report.name)
    yield f"{name}: {report.described}" if report.described else name
    rows = f"{report.rows:,} rows"
    if report.file_rows:
        rows += f" drawn of {report.file_rows:,}"
    if report.target:
        rows += f"; “{_printable(report.target)}” is predicted"
    yield f"{rows} ({report.task})"
    yield ""
    yield from _table(report)
    if report.more_columns:
        yield f"and {report.more_columns:,} more columns"
    if report.findings:
        yield ""
        yield from map(_finding_line, report.findings)
    if report.together:
        yield ""
        yield from (f"{change.words}: {_printable(change.option)}" for change in report.together)
    yield ""
    yield _cells_line(report)


def _table(report: ReadingReport) -> Iterator[str]:
    header = ("column", "kind", "role", "missing", "values")
    rows = [_row(column, report.rows) for column in report.columns]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    yield _aligned(header, widths)
    for column, row in zip(report.columns, rows, strict=True):
        yield _aligned(row, widths)
        if column.reading:
            otherwise = f"; otherwise: {_printable(column.otherwise)}" if column.otherwise else ""
            yield f"    {_printable(column.reading)}{otherwise}"
        if column.encoding:
            yield f"    for the model: {_printable(column.encoding)}"


def _row(column: ReadColumn, rows: int) -> tuple[str, ...]:
    missing = "0"
    if column.missing:
        missing = f"{column.missing:,} ({_share_text(column.missing / rows)})"
    name = _printable(column.name)
    name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 2]} …"
    return name, column.kind_text, column.role, missing, f"{column.distinct:,}"


def _share_text(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:3], widths, strict=False)]
    padded += [cell.rjust(width) for cell, width in zip(cells[3:], widths[3:], strict=True)]
    return "  ".join(padded).rstrip()


def _finding_line(finding: Finding) -> str:
    proposal = finding.proposal
    option = f" ({_printable(proposal.option)})" if proposal and proposal.option else ""
    return f"{'!' if finding.serious else '-'} {_printable(finding.sentence)}{option}"


def _cells_line(report: ReadingReport) -> str:
    columns = [column for column in report.columns if column.rewritten]
    if not columns:
        return "Every cell is read as it is written."
    names = ", ".join(f"“{_printable(column.name)}”" for column in columns)
    first, count = columns[0], sum(column.rewritten_cells for column in columns)
    if not count:
        return f"Not every text comes back from its value letter by letter: {names}."
    cells = f"{count:,} cells of {len(columns)} columns do"
    if len(columns) == 1:
        cells = f"1 cell of {names} does" if count == 1 else f"{count:,} cells of {names} do"
    example = f"{_printable(first.rewritten_example)} in “{_printable(first.name)}”"
    kept = f" ({_printable(first.kept)} keeps the texts)" if first.kept else ""
    return f"{cells} not come back from their values letter by letter: {example}{kept}."


def _printable(text: str) -> str:
    """A text of the file without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
