"""A sheet with merged cells filled, and cells as they show; exported scripts hold this source."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

HOURS = "[h]"  # the form of durations that their cells do not tell from times of the day
_LONG = re.compile(r"PT(\d+)H(\d+)M([\d.]+)S")  # a duration in an OpenDocument file


def with_fills(
    table: pd.DataFrame,
    merged: Sequence[tuple[str, int, int]] = (),
    shown: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The table of objects, dates as texts, with merged cells (column, first, last row) filled.

    `shown`: columns whose numbers are texts, {column: "%" (hundredths), "$0", "00000", "0", HOURS}.
    """
    for column, first, last in merged:
        rows = table.index[first + 1 : last + 1]
        table.loc[rows, column] = table[column].tolist()[first]
    table = table.infer_objects()
    for column in table.columns:
        form = (shown or {}).get(column, "")
        if form or table[column].dtype == object or table[column].dtype.kind in "Mmb":
            table[column] = cell_texts(table[column], form)
    return table


def cell_texts(cells: pd.Series, form: str = "") -> pd.Series:
    """Mixed cells as texts, dates in ISO 8601, numbers with the decimal sign of the texts."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    has_commas = any(re.fullmatch(r"[-+]?\d*,\d+", text) for text in texts)
    has_commas &= not any("." in text for text in texts)
    is_long = form == HOURS or any(map(_LONG.match, texts))
    if is_long or any(isinstance(cell, datetime.timedelta) for cell in cells):
        cells = cells.map(_in_hours)

    def as_text(cell: Any) -> str:
        text = date_text(cell)
        if form and isinstance(cell, (int, float)) and not isinstance(cell, bool):
            text = number_text(cell, form)
        return text.replace(".", ",") if has_commas and isinstance(cell, float) else text

    return cells.map(as_text, na_action="ignore").astype("str")


def number_text(number: float, form: str) -> str:
    """A number as a sheet shows it, with all its digits."""
    number = float(f"{100 * number:.15g}") if form == "%" else number
    text = str(int(number)) if number % 1 == 0 else repr(float(number))
    if form == "%":
        return text + form
    if form.count("0") == 1:
        return form.replace("0", text)
    digits = list(text.zfill(form.count("0")))
    if not text.isdecimal() or len(digits) > form.count("0"):
        return text
    return "".join(digits.pop(0) if sign == "0" else sign for sign in form)


def _in_hours(cell: Any) -> Any:
    if isinstance(cell, str) and (match := _LONG.fullmatch(cell)):
        hours, minutes, seconds = map(float, match.groups())
        cell = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    elif isinstance(cell, datetime.time):
        time = datetime.datetime.combine(datetime.date.min, cell)
        cell = time - datetime.datetime.combine(datetime.date.min, datetime.time())
    if isinstance(cell, datetime.timedelta) and not pd.isna(cell):
        return number_text(float(f"{cell.total_seconds() / 3600:.12g}"), "0 h")
    return cell


def date_text(cell: Any) -> str:
    """A cell as text, a date without a time where that is midnight."""
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00").replace("T", " ")
    return str(cell)
