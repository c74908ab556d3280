"""The end of an exported script: the model inside it, a file in, a file out.

An exported script holds this file's source.
"""

from __future__ import annotations

import base64
import csv
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.export.bundle.reading import UnreadableError, encoding_of, text_of


def run(packed: str, predicted: Callable[..., Any], arguments: list[str]) -> int:
    """Predict the rows of one file; returns the exit status.

    Args:
        packed: the model's npz file in base 85, in any number of lines.
        predicted: (arrays, text, tell) -> header and rows.
        arguments: the file to read and the file to write; without that, standard output.
    """
    return run_file(io.BytesIO(base64.b85decode("".join(packed.split()))), predicted, arguments)


def run_file(model: Any, predicted: Callable[..., Any], arguments: list[str]) -> int:
    """The same with the model's npz file itself, or its path."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write(f"usage: python {Path(sys.argv[0]).name} NEW.csv [OUT.csv]\n")
        return 2
    np.seterr(all="ignore")  # without numba, numpy would speak of every 0 · ∞ on the way
    with np.load(model, allow_pickle=False) as arrays:
        model_arrays = {name: arrays[name] for name in arrays.files}
    try:
        encoding = encoding_of(model_arrays["settings"])
        text = text_of(Path(arguments[0]).read_bytes(), encoding)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            header, rows = predicted(model_arrays, text, _tell)
        sys.stderr.writelines(f"{one.message}\n" for one in told)
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


def _tell(done: int, every: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {every}" + ("\n" if done == every else ""))
