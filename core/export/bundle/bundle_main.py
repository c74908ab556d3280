"""The end of an exported script: the model inside it, a file in, a file out.

An exported script holds this file's source.
"""

from __future__ import annotations

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

from core.export.bundle.csv_rows import UnreadableError, text_of
from core.export.cell_format import cell_format_of


def run_packed(packed_model: str, predict_table: Callable[..., Any], arguments: list[str]) -> int:
    """Predict the rows of one file; returns the exit status.

    Args:
        packed_model: the model's npz file in base 85, in any number of lines.
        predict_table: (arrays, text, tell) -> header and rows.
        arguments: the file to read and the file to write; without that, standard output.
    """
    return run_file(
        io.BytesIO(base64.b85decode("".join(packed_model.split()))), predict_table, arguments
    )


def run_file(model: Any, predict_table: Callable[..., Any], arguments: list[str]) -> int:
    """The same with the model's npz file itself, or its path."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write(f"usage: python {Path(sys.argv[0]).name} NEW.csv [OUT.csv]\n")
        return 2
    np.seterr(all="ignore")  # without numba, numpy would speak of every 0 · ∞ on the way
    with np.load(model, allow_pickle=False) as arrays:
        model_arrays = {name: arrays[name] for name in arrays.files}
    try:
        cell_format = cell_format_of(json.loads(str(model_arrays["settings"])))
        text = text_of(Path(arguments[0]).read_bytes(), cell_format.encoding)
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", UserWarning)
            header, rows = predict_table(model_arrays, text, _report_progress)
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


def _report_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {total}" + ("\n" if done == total else ""))
