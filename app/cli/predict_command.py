"""`tunescope predict`: a table with the predictions of an exported model behind it."""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from pathlib import Path
from typing import Any

from app.cli.streams import OutputBytes


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    predict = commands.add_parser(
        "predict",
        help="predict with an exported model",
        description="Predict the rows of a file. Its table comes back as it is, every column and"
        " cell as it was written, with the predictions behind it: prediction, the probability of"
        " every class or the ends of an interval, and how a row is unlike the training rows. A"
        " name is numbered where the table has it already.",
    )
    help_text = "a .skops, .joblib, .onnx, .npz, .json or .zip file"
    predict.add_argument("model", metavar="MODEL", help=help_text)
    predict.add_argument(
        "file",
        metavar="FILE",
        help="a table in any format, or a LIBSVM file, with raw rows, new texts, sequences or"
        " molecules",
    )
    predict.add_argument(
        "--out",
        metavar="FILE",
        help="write here instead of standard output, in the format that the name says: .csv, .tsv,"
        " .txt (with .gz, .bz2 or .xz behind), .xlsx, .parquet, .feather; .ods and .arff where FILE"
        " is such a file",
    )
    help_text = "write the predictions alone, without the table"
    predict.add_argument("--only", action="store_true", help=help_text)
    help_text = "open a model file that can run any code that is in it (.joblib)"
    predict.add_argument("--trust", action="store_true", help=help_text)
    predict.set_defaults(run=run_predict)


def run_predict(arguments: argparse.Namespace) -> int:
    """Write a table with predictions."""
    from core.export.exportable_models import can_run_code
    from core.export.using.file_prediction import predict_into

    model = Path(arguments.model)
    trust = arguments.trust or (can_run_code(model) and model.is_file() and _confirm_trust(model))
    with warnings.catch_warnings(record=True) as warning_records:
        warnings.simplefilter("always", UserWarning)
        options = {"trust": trust, "only": arguments.only}
        with io.BufferedWriter(OutputBytes()) as stream:
            out = arguments.out or stream
            written = predict_into(model, arguments.file, out, _report_progress, **options)
    warned = [str(record.message) for record in warning_records if record.category is UserWarning]
    for sentence in dict.fromkeys([*warned, *written.sentences]):
        print(f"tunescope: {sentence}", file=sys.stderr)
    if marked := written.marked_count:
        unlike = "row is" if marked == 1 else "rows are"
        print(f"tunescope: {marked:,} {unlike} unlike the training rows.", file=sys.stderr)
    if arguments.out:
        plural = "" if written.count == 1 else "s"
        print(f"{written.count:,} prediction{plural}: {arguments.out}", file=sys.stderr)
    return 0


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
