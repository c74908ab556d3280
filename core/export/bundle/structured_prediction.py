"""Predictions for new sequences and molecules, from the arrays of an exported model.

What reads and predicts is the very code that exported scripts hold.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from core.datasets.files.opening import (
    GuardedFile,
    check_path,
    compression_of,
    open_bytes,
    read_head,
)
from core.errors import UnusableError
from core.export.bundle.reading import UTF_16, UnreadableError, encoding_of, text_of
from core.export.files.parameter_arrays import Arrays


def predict_rows(arrays: Arrays, file: str, tell: Callable[[int, int], None]) -> pd.DataFrame:
    """The table of predictions for a file.

    Args:
        arrays: a model, checked.
        file: CSV, perhaps compressed.
        tell: (tokens or molecules done, how many) from time to time.

    Raises:
        UnusableError: the file cannot be read, a column is missing, or a cell cannot be used.
    """
    # numba takes a second to import, which models of tables have no use for.
    if str(arrays["kind"]) == "crf":
        from core.export.bundle.tags import predicted
    else:
        from core.export.bundle.folds import predicted
    path = check_path(file)
    text = text_of_file(path, encoding_of(arrays["settings"]))
    try:
        header, rows = predicted(arrays, text, tell)
    except UnreadableError as error:
        where = f"{path.name}, {error.where}" if error.where else path.name
        raise UnusableError(error.what, where=where, cure=error.cure) from None
    return pd.DataFrame(rows, columns=header)


def text_of_file(path: Path, encoding: str) -> str:
    """The text of a file, perhaps compressed.

    Args:
        path: the file.
        encoding: of the file that the model was trained on.

    Raises:
        UnusableError: it cannot be read.
    """
    return text_of(_bytes_of(path), encoding)


def _bytes_of(path: Path) -> bytes:
    compression = compression_of(path)
    wide = read_head(path, compression).startswith(UTF_16)
    with GuardedFile(open_bytes(path, compression), path.name, wide=wide) as file:
        return file.read()
