"""`tunescope predict`: predictions of an exported model, without the training data."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any


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
    predict.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write a table of predictions as CSV."""
    from core.export.choices import runs_code
    from core.export.prediction import predict_into, predicted_parts

    model = Path(given.model)
    trust = given.trust or (runs_code(model) and model.is_file() and _asked(model))
    out = Path(given.out) if given.out else None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        if out is not None:
            count = predict_into(model, given.file, out, _tell, trust=trust)
        else:
            for at, table in enumerate(predicted_parts(model, given.file, _tell, trust=trust)):
                table.to_csv(sys.stdout, index=False, header=at == 0)
    for sentence in dict.fromkeys(str(one.message) for one in told if one.category is UserWarning):
        print(f"tunescope: {sentence}", file=sys.stderr)
    if out is not None:
        print(f"{count:,} prediction{'' if count == 1 else 's'}: {out}", file=sys.stderr)
    return 0


def _asked(model: Path) -> bool:
    """What the person says, where one is there to be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(
        f"Opening {model.name} can run any code that is in it: it could read, change or delete"
        " whatever you can. Open it only if you know who made it.",
        file=sys.stderr,
    )
    print("Open it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell(done: int, every: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {every}", end="\n" if done == every else "", file=sys.stderr)
