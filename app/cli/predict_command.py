"""`tunescope predict`: predictions of an exported model."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.export.using.prediction_stream import PredictedRows, PredictionStream


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    predict = commands.add_parser("predict", help="predict with an exported model")
    predict.add_argument(
        "model", metavar="MODEL", help="a .skops, .joblib, .onnx, .npz, .json or .zip file"
    )
    predict.add_argument(
        "file",
        metavar="FILE",
        help="a table in any format, or a LIBSVM file, with raw rows, new texts, sequences or"
        " molecules",
    )
    predict.add_argument("--out", metavar="FILE", help="write here instead of standard output")
    predict.add_argument(
        "--trust",
        action="store_true",
        help="open a model file that can run any code that is in it (.joblib)",
    )
    predict.set_defaults(run=run_predict)


def run_predict(arguments: argparse.Namespace) -> int:
    """Write predictions as CSV."""
    from core.export.exportable_models import can_run_code

    model = Path(arguments.model)
    trust = arguments.trust or (can_run_code(model) and model.is_file() and _confirm_trust(model))
    out = Path(arguments.out) if arguments.out else None
    with warnings.catch_warnings(record=True) as warning_records:
        warnings.simplefilter("always", UserWarning)
        count, marked, sentences = _predict(model, arguments.file, out, trust)
    warned = [str(record.message) for record in warning_records if record.category is UserWarning]
    for sentence in dict.fromkeys([*warned, *sentences]):
        print(f"tunescope: {sentence}", file=sys.stderr)
    if marked:
        unlike = "row is" if marked == 1 else "rows are"
        print(f"tunescope: {marked:,} {unlike} unlike the training rows.", file=sys.stderr)
    if out is not None:
        print(f"{count:,} prediction{'' if count == 1 else 's'}: {out}", file=sys.stderr)
    return 0


def _predict(model: Path, file: str, out: Path | None, trust: bool) -> tuple[int, int, list[str]]:
    """Write the predictions; their count, unusual rows, remarks."""
    from itertools import chain

    from core.export.destination import check_destination, write_whole_file
    from core.export.prediction import prediction_tables
    from core.export.using.loaded_model import model_of_file
    from core.export.using.prediction_stream import PredictionStream

    if out is not None:
        check_destination(out.expanduser())
    used = model_of_file(str(model), trust=trust)
    if used is None:
        rows, chunks = None, prediction_tables(model, file, _report_progress, trust=trust)
    else:
        rows = PredictionStream(used, file)
        chunks = (chunk.table.iloc[:, : chunk.model_column_count] for chunk in _with_progress(rows))
    first, count = next(chunks), 0  # unusable input is refused before anything is written

    def write_rows(into: TextIO) -> None:
        nonlocal count
        for index, table in enumerate(chain([first], chunks)):
            table.to_csv(into, index=False, header=index == 0)
            count += len(table)

    def write_file(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as into:
            write_rows(into)

    if out is not None:
        write_whole_file(out.expanduser(), write_file)
    else:
        write_rows(sys.stdout)
    return count, rows.marked_count if rows else 0, rows.sentences() if rows else []


def _with_progress(rows: PredictionStream) -> Iterator[PredictedRows]:
    for chunk in rows:
        if rows.total > rows.done or rows.done > len(chunk.table):
            _report_progress(rows.done, rows.total)
        yield chunk


def _confirm_trust(model: Path) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # nobody can answer
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
