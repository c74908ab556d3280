"""Predictions for new sequences and molecules, from the arrays of an exported model.

What reads and predicts is the very code that exported scripts hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.files.addresses import divided
from core.datasets.files.delimiters import is_number
from core.datasets.files.opening import GuardedFile, open_bytes
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.errors import UnusableError
from core.export.bundle.reading import UTF_16, UnreadableError, encoding_of, text_of
from core.export.files.parameter_arrays import Arrays


def predict_rows(arrays: Arrays, file: str, tell: Callable[[int, int], None]) -> pd.DataFrame:
    """The table of predictions for a file.

    Args:
        arrays: a model, checked.
        file: a table of any format.
        tell: (tokens or molecules done, how many) from time to time.

    Raises:
        UnusableError: the file cannot be read, a column is missing, or a cell cannot be used.
    """
    # numba takes a second to import, which models of tables have no use for.
    if str(arrays["kind"]) == "crf":
        from core.export.bundle.tags import predicted
    else:
        from core.export.bundle.folds import predicted
    name = Path(divided(file)[0]).name
    text = text_of_file(file, arrays["settings"])
    try:
        header, rows = predicted(arrays, text, tell)
    except UnreadableError as error:
        where = f"{name}, {error.where}" if error.where else name
        raise UnusableError(error.what, where=where, cure=error.cure) from None
    return pd.DataFrame(rows, columns=header)


def text_of_file(file: str, settings: Any) -> str:
    """The text of a file as CSV.

    Args:
        file: a table of any format.
        settings: of the model, JSON text: how the file that it was trained on was written.

    Raises:
        UnusableError: it cannot be read.
    """
    opened = open_table(file)
    if isinstance(opened, TextFile):
        return text_of(_bytes_of(opened), encoding_of(settings))
    reading = json.loads(str(settings)).get("reading", {})
    return _as_csv(opened, str(reading.get("quote", '"')), str(reading.get("decimal", ".")))


def _as_csv(opened: TableFile, quote: str, decimal: str) -> str:
    """A table with every cell as the text that it would be in such a CSV file."""
    kinds = dict.fromkeys(opened.first_cells(), "category")
    table = opened.read(kinds, ("",)).table.astype(object)
    if decimal != ".":

        def said(cell: Any) -> Any:
            known = isinstance(cell, str) and is_number(cell)
            return cell.replace(".", decimal) if known else cell

        table = table.map(said)
    return str(table.to_csv(index=False, quotechar=quote))


def _bytes_of(opened: TextFile) -> bytes:
    wide = opened.head.startswith(UTF_16)
    stream = open_bytes(opened.path, opened.compression)
    with GuardedFile(stream, opened.path.name, wide=wide) as file:
        return file.read()
