"""The cells of a column in their canonical form; exported scripts hold this source (pandas)."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

YES_NO = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("off", "on")),
    *(("nein", "ja"), ("non", "oui"), ("nee", "ja"), ("no", "sí"), ("não", "sim")),
    *(("falsch", "wahr"), ("faux", "vrai"), ("falso", "verdadero"), ("falso", "vero")),
)
_NO, _YES = ({pair[i] for pair in YES_NO} for i in (0, 1))
_BLANKS = " \t\r\n\f\v\u00a0\u2007\u202f\u3000\ufeff\u200b"
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2007": " "})


def cell_text(cell: Any) -> str:
    """A cell as text: composed letters, no blanks around, whole numbers without ".0"."""
    if isinstance(cell, str):
        text = cell if cell.isascii() else unicodedata.normalize("NFC", cell)
        return text.strip(_BLANKS)
    if isinstance(cell, (float, np.floating)) and math.isfinite(cell) and cell == int(cell):
        return str(int(cell))
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00").replace("T", " ")
    return str(cell)


@dataclass(frozen=True)
class ColumnFormat:
    """How the cells of a column are written."""

    kind: str = "category"  # or number, yes/no, date: what they are read as
    missing: tuple[str, ...] = ()  # texts that count as missing, beside the empty one
    decimal: str = "."
    thousands: str = ""  # the sign between them
    unit: str = ""  # before or behind numbers
    pair: tuple[str, ...] = ()  # what no and yes are called
    date_format: str = ""  # for ``pandas.to_datetime``
    whole: bool = True  # whether a text such as "3.0" is 3
    rewrites: bool = False  # whether cells of the training rows were written otherwise

    @property
    def needs_text(self) -> bool:
        """Whether it reads texts, not what a parser makes of them."""
        return self.kind != "number" or self.rewrites


def cell_number(text: str, form: ColumnFormat) -> float:
    """The number that a text of `cell_text` writes, with its unit or without; NaN for none."""
    decimal, thousands, unit = form.decimal, form.thousands, form.unit
    text = text.translate(_MINUS)
    sign = 1.0
    if text.startswith("(") and text.endswith(")"):
        sign, text = -1.0, text[1:-1].strip()
    if unit:
        bare = text.lstrip("+-").lstrip()
        ahead = text[: len(text) - len(bare)].strip()
        if bare.startswith(unit):
            text = ahead + bare.removeprefix(unit).strip()
        elif text.endswith(unit):
            text = text.removesuffix(unit).strip()
    if text.endswith("-") and len(text) > 1:  # as accountants write it
        sign, text = -sign, text[:-1]
    if thousands:
        whole, mark, digits = text.partition(decimal)
        groups = whole.lstrip("+-").split(thousands)
        if len(groups) > 1 and any(len(group) != 3 for group in groups[1:]):
            return math.nan
        text = whole.replace(thousands, "") + mark + digits
    if decimal != ".":
        if "." in text:
            return math.nan
        text = text.replace(decimal, ".")
    if not text or text[-1] not in "0123456789." or "_" in text:  # no "nan", "inf" and "1_000"
        return math.nan
    try:
        number = sign * float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def read_cells(values: pd.Series, form: ColumnFormat) -> pd.Series:
    """A column as its format says, however its cells are written.

    Numbers become floats, NaN also for infinities and what is none; all others texts, None where
    missing; what cannot be read as a date stays.
    """
    if form.kind == "number" and values.dtype.kind in "iuf":
        is_missing = np.isinf(values.to_numpy(float))
        if form.missing:
            is_missing |= values.map(cell_text).isin(form.missing).to_numpy()
        return values.mask(is_missing) if is_missing.any() else values
    if values.dtype.kind == "b" or isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    codes, cells = pd.factorize(values)
    texts = [cell_text(cell) for cell in cells]
    if form.kind == "date":
        texts = _dates(texts, form.date_format)
    elif form.kind == "yes/no" and form.pair:
        texts = [_answer(text, form.pair) for text in texts]
    elif form.kind == "category" and form.whole:
        texts = [_whole(text) for text in texts]
    nothing = {"", *form.missing}
    if form.kind == "number":
        numbers = [math.nan if text in nothing else cell_number(text, form) for text in texts]
        return pd.Series(np.array([*numbers, math.nan])[codes], values.index, name=values.name)
    if not nothing.intersection(texts) and list(cells) == texts and values.dtype != object:
        return values  # nothing changes, and nothing is copied
    words = np.array([*(None if text in nothing else text for text in texts), None], dtype=object)
    return pd.Series(words[codes], values.index, "str", values.name)


def _whole(text: str) -> str:
    head, dot, decimals = text.partition(".")
    return head if dot and head.lstrip("-").isdigit() and not decimals.strip("0") else text


def _answer(text: str, pair: Sequence[str]) -> str:
    if text in pair:
        return text
    word = _whole(text).casefold()
    same = [name for name in pair if name.casefold() == word]
    if len(same) == 1:
        return same[0]
    if pair[0].casefold() in _NO and pair[1].casefold() in _YES:
        if word in _NO:
            return pair[0]
        if word in _YES:
            return pair[1]
    return text


def _dates(texts: list[str], date_format: str) -> list[str]:
    column = pd.Series(texts, dtype="str")
    if date_format == "ISO8601" or not (is_strange := moments(column, date_format).isna()).any():
        return texts
    for i, moment in moments(column[is_strange], "ISO8601").dropna().items():
        texts[i] = moment.strftime(date_format)  # type: ignore[call-overload]
    return texts


def moments(texts: pd.Series, date_format: str) -> pd.Series:
    """Points in time; NaT of what is no date of this form."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parsing dates involving a day", DeprecationWarning)
        return pd.to_datetime(texts, errors="coerce", format=date_format, utc=True)
