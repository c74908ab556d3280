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

    model = Path(given.model)
    trust = given.trust or (runs_code(model) and model.is_file() and _asked(model))
    out = Path(given.out) if given.out else None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        count, marked, sentences = _predict(model, given.file, out, trust)
    warned = [str(one.message) for one in told if one.category is UserWarning]
    for sentence in dict.fromkeys([*warned, *sentences]):
        print(f"tunescope: {sentence}", file=sys.stderr)
    if marked:
        unlike = "row is" if marked == 1 else "rows are"
        print(f"tunescope: {marked:,} {unlike} unlike the training rows.", file=sys.stderr)
    if out is not None:
        print(f"{count:,} prediction{'' if count == 1 else 's'}: {out}", file=sys.stderr)
    return 0


def _predict(model: Path, file: str, out: Path | None, trust: bool) -> tuple[int, int, list[str]]:
    """Write the predictions: how many, how many unlike the training rows, what to know."""
    from itertools import chain

    from core.export.destination import check_destination, write_whole_file
    from core.export.prediction import predicted_parts
    from core.export.using.model import model_of_file
    from core.export.using.parts import Rows

    if out is not None:
        check_destination(out.expanduser())
    used = model_of_file(str(model), trust=trust)
    if used is None:
        rows, parts = None, predicted_parts(model, file, _tell, trust=trust)
    else:
        rows = Rows(used, file)
        parts = (part.table.iloc[:, : part.own] for part in _told(rows))
    first, count = next(parts), 0  # what is unusable is said before anything is written

    def write(into: Any) -> None:
        nonlocal count
        for at, table in enumerate(chain([first], parts)):
            table.to_csv(into, index=False, header=at == 0)
            count += len(table)

    def write_file(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as into:
            write(into)

    if out is not None:
        write_whole_file(out.expanduser(), write_file)
    else:
        write(sys.stdout)
    return count, rows.marked if rows else 0, rows.sentences() if rows else []


def _told(rows: Any) -> Any:
    """The parts, with how far they are where there are several."""
    for part in rows:
        if rows.total > rows.done or rows.done > len(part.table):
            _tell(rows.done, rows.total)
        yield part


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
