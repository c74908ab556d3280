"""The end of an exported script, which holds this source: the model, a file in, a file out."""

import base64
import csv
import io
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.export.bundle.csv_rows import (
    UnreadableError,
    cell_format_of,
    columns_of,
    names_beside,
    text_of,
)


def run_packed(packed_model: str, predict_table: Callable[..., Any], arguments: list[str]) -> int:
    """Predict the rows of one file by a model's npz file in base 85; returns the exit status.

    `predict_table` makes the header and rows of (arrays, text, report); the arguments are the file
    to read and the file to write, or standard output.
    """
    model = io.BytesIO(base64.b85decode("".join(packed_model.split())))
    return run_file(model, predict_table, arguments)


def run_file(model: Any, predict_table: Callable[..., Any], arguments: list[str]) -> int:
    """The same with the model's npz file itself, or its path."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write(f"usage: python {Path(sys.argv[0]).name} NEW.csv [OUT.csv]\n")
        return 2
    np.seterr(all="ignore")  # without numba, numpy would speak of every 0 · ∞ on the way
    with np.load(model, allow_pickle=False) as arrays:
        model_arrays = {name: arrays[name] for name in arrays.files}
    try:
        settings = json.loads(str(model_arrays["settings"]))
        cell_format = cell_format_of(settings)
        text = text_of(Path(arguments[0]).read_bytes(), cell_format.encoding)
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", UserWarning)
            header, rows = predict_table(model_arrays, text, _report_progress)
        header, rows = _behind_own_columns(text, settings, header, rows)
        sys.stderr.writelines(f"{caught_warning.message}\n" for caught_warning in caught_warnings)
        if len(arguments) == 1:
            csv.writer(sys.stdout, lineterminator="\n").writerows([header, *rows])
            return 0
        with Path(arguments[1]).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    except UnreadableError as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}.\n")
        return 2
    count = f"{len(rows):,} prediction" + ("" if len(rows) == 1 else "s")
    sys.stderr.write(f"{count}: {arguments[1]}\n")
    return 0


def _behind_own_columns(
    text: str, settings: dict[str, Any], header: list[str], rows: list[list[Any]]
) -> tuple[list[str], list[list[Any]]]:
    """The table as it is written, and the answers behind it; alone where it has no columns."""
    transforms = [str(transform["column"]) for transform in settings.get("parts") or ()]
    named = [settings.get("sequence") or settings.get("column"), *transforms]
    needed = list(dict.fromkeys(name for name in named if name))
    if not needed:  # of LIBSVM lines
        return header, rows
    columns, _ = columns_of(text, needed, cell_format_of(settings))
    cells = list(zip(*columns.values(), strict=True))
    if len(cells) != len(rows):
        return header, rows
    starts = [header.index(name) for name in ("prediction", "structure") if name in header]
    start = min(starts, default=0)  # columns of the table stand before
    names = [*columns, *names_beside(header[start:], columns)]
    pairs = zip(cells, rows, strict=True)
    return names, [[*own_cells, *row[start:]] for own_cells, row in pairs]


def _report_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {total}" + ("\n" if done == total else ""))
