"""Predictions for new sequences and molecules, by the very code of exported scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.delimiters import is_number
from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.datasets.files.line_table import LineFile
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.errors import UnusableError
from core.export.bundle.csv_rows import UTF_16, UnreadableError, text_of
from core.export.cell_format import cell_format_of
from core.export.files.parameter_arrays import Arrays


def predict_rows(arrays: Arrays, file: str, report: Callable[[int, int], None]) -> pd.DataFrame:
    """Predictions of checked arrays for a table of any format, or UnusableError."""
    # numba takes a second to import, which models of tables have no use for.
    if str(arrays["kind"]) == "crf":
        from core.export.bundle.tag_prediction import predict_table
    else:
        from core.export.bundle.fold_prediction import predict_table
    name = Path(split_sheet_address(file)[0]).name
    text = text_of_file(file, arrays["settings"])
    try:
        header, rows = predict_table(arrays, text, report)
    except UnreadableError as error:
        where = f"{name}, {error.where}" if error.where else name
        raise UnusableError(error.what, where=where, cure=error.cure) from None
    return pd.DataFrame(rows, columns=header)


def text_of_file(file: str, settings: Any) -> str:
    """A file's text as CSV, in the cell format of a model's JSON `settings`, or UnusableError."""
    opened_file, cell_format = open_table(file), cell_format_of(json.loads(str(settings)))
    if isinstance(opened_file, (TextFile, LineFile)):
        return text_of(_read_bytes(opened_file), cell_format.encoding)
    return _csv_text(opened_file, cell_format.quote, cell_format.decimal)


def _csv_text(table_file: TableFile, quote: str, decimal: str) -> str:
    kinds = dict.fromkeys(table_file.first_cells(), "category")
    table = table_file.read(kinds, ("",)).table.astype(object)
    if decimal != ".":

        def with_decimal_sign(cell: Any) -> Any:
            is_numeric = isinstance(cell, str) and is_number(cell)
            return cell.replace(".", decimal) if is_numeric else cell

        table = table.map(with_decimal_sign)
    return str(table.to_csv(index=False, quotechar=quote))


def _read_bytes(text_file: TextFile | LineFile) -> bytes:
    is_utf_16 = text_file.head.startswith(UTF_16)
    stream = open_bytes(text_file.path, text_file.compression)
    with GuardedFile(stream, text_file.path.name, wide=is_utf_16) as file:
        return file.read()
