"""`tunescope read | predict`: what a file is read as, and what a model says of its rows."""

import argparse
import contextlib
import io
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.cli.streams import OutputBytes, print_remark
from app.cli.tune_arguments import add_columns, columns_of, refuse_role_of_target
from core.datasets.dataset_summary import ReadColumn, ReadingReport
from core.datasets.finding import Finding
from core.errors import UnusableError
from core.records import strict_json, to_plain
from core.wording import count_text, printable_text, shortened_text

MAX_NAME, MAX_WORDS = 40, 600  # letters of a column's name, and of words that repeat it


def add_read(commands: Any) -> None:
    """Add the command."""
    read = commands.add_parser("read", help="say how a file is read, and what it could mean else")
    add_columns(read)
    read.add_argument("--json", action="store_true")
    read.set_defaults(run=_report_reading)


def _report_reading(arguments: argparse.Namespace) -> int:
    from core.tuning.guidance.column_encodings import report_on

    data = columns_of(arguments)
    refuse_role_of_target(data.roles, data.target)
    report = report_on(data)
    if arguments.json:
        plain = to_plain(report) | {"rewritten": report.rewritten}
        print(json.dumps(strict_json(plain), ensure_ascii=False))
    else:
        print("\n".join(_report_lines(report)))
    return 0


def _report_lines(report: ReadingReport) -> Iterator[str]:
    name = _printable(report.name)
    yield f"{name}: {report.described}" if report.described else name
    rows = f"{report.rows:,} rows"
    if report.file_rows:
        rows += f" drawn of {report.file_rows:,}"
    if report.target:
        rows += f"; “{_printable(report.target)}” is predicted"
    yield f"{rows} ({report.task})"
    yield ""
    yield from _column_lines(report)
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


def _column_lines(report: ReadingReport) -> Iterator[str]:
    header = ("column", "kind", "role", "missing", "values")
    rows = [_column_cells(column, report.rows) for column in report.columns]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    yield _aligned(header, widths)
    for column, row in zip(report.columns, rows, strict=True):
        yield _aligned(row, widths)
        if column.reading:
            otherwise = f"; otherwise: {_printable(column.otherwise)}" if column.otherwise else ""
            yield f"    {_printable(column.reading)}{otherwise}"
        if column.encoding:
            yield f"    for the model: {_printable(column.encoding)}"


def _column_cells(column: ReadColumn, rows: int) -> tuple[str, ...]:
    missing = "0"
    if column.missing:
        share = 100 * column.missing / rows
        missing = f"{column.missing:,} ({f'{share:.0f} %' if share >= 1 else 'under 1 %'})"
    name = printable_text(shortened_text(column.name, MAX_NAME))
    return name, column.kind_text, column.role, missing, f"{column.distinct:,}"


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
    # Cells of large files are not counted: that takes as long as reading them.
    if not count:
        return f"Not every text comes back from its value letter by letter: {names}."
    cells = f"{count:,} cells of {len(columns)} columns do"
    if len(columns) == 1:
        cells = f"{count_text(count, 'cell')} of {names} {'does' if count == 1 else 'do'}"
    example = f"{_printable(first.rewritten_example)} in “{_printable(first.name)}”"
    cure = f" ({_printable(first.kept)} keeps the texts)" if first.kept else ""
    return f"{cells} not come back from their values letter by letter: {example}{cure}."


def _printable(text: str) -> str:
    # A terminal would obey what a stranger's file has in a name: clear, overwrite, change titles.
    return printable_text(shortened_text(text, MAX_WORDS))


def add_predict(commands: Any) -> None:
    """Add the command."""
    predict = commands.add_parser(
        "predict",
        help="predict with an exported model",
        description="Predict the rows of a file. Its table comes back as it is, every column and"
        " cell as it was written, with the predictions behind it: prediction, the probability of"
        " every class or the ends of an interval, and how a row is unlike the training rows. A"
        " name is numbered where the table has it already.",
    )
    predict.add_argument("model", metavar="MODEL")
    predict.add_argument("file", metavar="FILE")
    predict.add_argument("--out", metavar="FILE")
    # Sorted predictions alone would not say of which rows they are.
    order = predict.add_mutually_exclusive_group()
    order.add_argument("--only", action="store_true")
    order.add_argument("--least-sure-first", action="store_true")
    predict.add_argument("--trust", action="store_true")
    predict.set_defaults(run=run_predict)


def run_predict(arguments: argparse.Namespace) -> int:
    """Write a table with predictions."""
    from core.export.exportable_models import MODEL_ENDINGS

    model = Path(arguments.model)
    if model.is_file() or model.suffix in (*MODEL_ENDINGS, ".json", ".zip"):
        return _predict_file(model, arguments)
    from core.tuning.trials.executors import ScratchFolder

    # What a killed command leaves is removed by the next.
    scratch_folder = ScratchFolder("predict")
    model = _export_model(arguments.model, scratch_folder.path)
    arguments.trust = True  # it was written a moment ago
    return _predict_file(model, arguments)


def _export_model(run_name: str, folder: Path) -> Path:
    from core.export.exporters import export_run
    from core.export.finished_run import finished_run
    from core.tuning.runs.run_folder import RunFolder

    run = finished_run(RunFolder.find_run(run_name))
    for ending in (".skops", ".npz", ".zip"):
        with contextlib.suppress(UnusableError):
            return export_run(run, folder / f"model{ending}", with_card=False)
    return export_run(run, folder / "model.joblib", with_card=False)


def _predict_file(model: Path, arguments: argparse.Namespace) -> int:
    from core.export.exportable_models import can_run_code
    from core.export.using.file_prediction import predict_into

    trust = arguments.trust or (can_run_code(model) and model.is_file() and _confirm_trust(model))
    # Warnings are sentences for a person, once each, after the predictions.
    with warnings.catch_warnings(record=True) as warning_records:
        warnings.simplefilter("always", UserWarning)
        options = {"trust": trust, "only": arguments.only}
        options["least_sure_first"] = arguments.least_sure_first
        with io.BufferedWriter(OutputBytes()) as stream:
            out = arguments.out or stream
            written = predict_into(model, arguments.file, out, _report_progress, **options)
    warned = [str(record.message) for record in warning_records if record.category is UserWarning]
    for sentence in dict.fromkeys([*warned, *written.sentences]):
        print_remark(f"tunescope: {sentence}")
    if marked := written.marked_count:
        verb = "is" if marked == 1 else "are"
        print_remark(f"tunescope: {count_text(marked, 'row')} {verb} unlike the training rows.")
    if arguments.out:
        print_remark(f"{count_text(written.count, 'prediction')}: {arguments.out}")
    return 0


def _confirm_trust(model: Path) -> bool:
    # Nobody can answer: a script must say --trust.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(
        f"Opening {model.name} can run any code that is in it: it could read, change or delete"
        " whatever you can. Open it only if you know who made it.",
        file=sys.stderr,
    )
    print("Open it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _report_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total}", end="\n" if done == total else "", file=sys.stderr)
