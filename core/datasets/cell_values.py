"""The cells of a column in their canonical form; exported scripts hold this source (pandas)."""

from __future__ import annotations

import datetime
import functools
import math
import re
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
_BLANKS = "\0 \t\r\n\f\v\u00a0\u2007\u202f\u3000\ufeff\u200b"
_MINUS = str.maketrans(
    dict.fromkeys("\u2212\u2013\u2014", "-") | dict.fromkeys("\u00a0\u202f\u2007", " ")
)
FACTORS = {
    **dict.fromkeys(("k", "K", "tsd", "Tsd."), 1e3),
    **dict.fromkeys(("M", "m", "mn", "mln", "Mio", "Mio."), 1e6),
    **dict.fromkeys(("B", "b", "bn", "Bn", "Mrd", "Mrd."), 1e9),
}
_BOUNDS = "<>≤≥≈~∼"  # before a number: it is read as the bound
# English, German, French, Spanish, Italian, Portuguese and Dutch, without accents.
_MONTHS = (
    "january januar janner janvier enero gennaio janeiro januari",
    "february februar feber fevrier febrero febbraio fevereiro februari",
    "march marz maerz mars marzo marco maart mrt",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember decembre diciembre dicembre dezembro",
)
# What ``datetime`` can hold in any zone.
YEARS = pd.Timestamp("0001-01-02", tz="UTC"), pd.Timestamp("9999-12-30", tz="UTC")
_DATE_PARTS = re.compile(r"\d+|[^\W\d_]+")
_CLOCK = re.compile(r"[ T,]+(\d{1,2}:\d\d(?::\d\d)?)$")


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


def canonical_texts(cells: list[Any]) -> list[str]:
    """`cell_text` of each."""
    # Most columns hold nothing to change, which is told far more quickly than it is changed.
    if set(map(type, cells)) <= {str}:
        joined = "".join(cells)
        is_plain = joined.isascii() and "\0" not in joined
        if is_plain and cells == list(map(str.strip, cells)):
            return cells
    return [cell_text(cell) for cell in cells]


@dataclass(frozen=True)
class TextLevels:
    """The different cells of a column in their order of appearance."""

    codes: np.ndarray  # of every row, −1 where it is missing
    cells: list[Any]

    @functools.cached_property
    def texts(self) -> list[str]:
        """The cells as texts, of which some may be alike."""
        return canonical_texts(self.cells)

    @functools.cached_property
    def counts(self) -> dict[str, int]:
        """The number of rows of every text."""
        counts = dict.fromkeys(self.texts, 0)
        rows = np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))
        for text, count in zip(self.texts, rows.tolist(), strict=True):
            counts[text] += count
        return counts

    @property
    def different_texts(self) -> list[str]:
        return self.texts if self.texts is self.cells else list(self.counts)


def text_levels(values: pd.Series) -> TextLevels:
    """The levels of a column of any type."""
    codes, levels = pd.factorize(values)
    return TextLevels(codes, levels.tolist())


def have_part(texts: Sequence[str], *parts: str) -> bool:
    """Whether any of many texts has one of the parts, in which NUL stands for a text's edge."""
    joined = "\0".join(["", *texts, ""])
    return any(part in joined for part in parts)


@dataclass(frozen=True)
class ColumnFormat:
    """How the cells of a column are written."""

    kind: str = "category"  # or number, yes/no, date: what they are read as
    missing: tuple[str, ...] = ()  # texts that count as missing, beside the empty one
    decimal: str = "."
    thousands: str = ""  # the sign between them
    unit: str = ""  # before or behind numbers
    scaled: bool = False  # whether k, M, bn behind a number are factors
    pair: tuple[str, ...] = ()  # what no and yes are called
    date_format: str = ""  # for ``pandas.to_datetime``
    order: str = ""  # of day, month, quarter and year where cells become YYYY-MM-DD: "dmy"
    last_year: int = 2068  # the last one that two digits mean
    folds: bool = False  # whether levels that differ in case alone are one
    whole: bool = True  # whether a text such as "3.0" is 3
    rewrites: bool = False  # whether cells of the training rows were written otherwise

    @property
    def needs_text(self) -> bool:
        return self.kind != "number" or self.rewrites


def cell_number(text: str, form: ColumnFormat) -> float:
    """The number that a text of `cell_text` writes, with its unit or without; NaN for none.

    A bound (<5, 90+) is the number itself, and a dash behind a currency is 0, as in accounts.
    """
    decimal, thousands = form.decimal, form.thousands
    text, factor = text.translate(_MINUS), 1.0
    if text and text[0] in _BOUNDS:
        text = text.lstrip(_BOUNDS + "= ")
    if form.unit or not text[-1:].isdigit():
        text, factor = _bare_number(text, form)
    if thousands:
        whole, mark, digits = text.partition(decimal)
        sizes = [len(group) for group in whole.lstrip("+-").split(thousands)[1:]]
        if sizes and (sizes[-1] != 3 or set(sizes[:-1]) not in (set(), {3}, {2})):  # 1,00,000
            return math.nan
        text = whole.replace(thousands, "") + mark + digits
    if decimal != ".":
        if "." in text:
            return math.nan
        text = text.replace(decimal, ".")
    if not text or text[-1] not in "0123456789." or "_" in text:  # no "nan", "inf" and "1_000"
        return math.nan
    try:
        number = factor * float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _bare_number(text: str, form: ColumnFormat) -> tuple[str, float]:
    """The digits of an amount with their sign, and what they are multiplied by."""
    factor, has_unit = 1.0, False
    while text:
        if form.unit and not has_unit and (rest := _without_unit(text, form.unit)) != text:
            text, has_unit = rest, True
        elif text.startswith("(") and text.endswith(")"):
            factor, text = -factor, text[1:-1].strip()
        elif text.endswith((".-", ",-", "+")):  # 1'200.-, 90+
            text = text.rstrip("-+").rstrip(".,")
        elif text.endswith("-") and len(text) > 1:  # as accountants write it
            factor, text = -factor, text[:-1].rstrip()
        elif form.scaled and (letters := re.search(r"(?<=\d) ?([^\W\d_]+\.?)$", text)):
            if letters[1] not in FACTORS:
                break
            factor, text = factor * FACTORS[letters[1]], text[: letters.start()]
        else:
            break
    return ("0" if has_unit and text == "-" else text), factor


def _without_unit(text: str, unit: str) -> str:
    bare = text.lstrip("+-( ")
    word = rf"(?:{re.escape(unit)}|[^\W\d_]+\.?)"
    found = re.search(rf"^{word}|{word}$", bare)
    if found is None or not same_unit(found.group(), unit):
        return text
    ahead = text[: len(text) - len(bare)].strip()
    return ahead + (bare[: found.start()] + bare[found.end() :]).strip()


def same_unit(word: str, other: str) -> bool:
    """Whether two units differ in case, a full stop or a plural alone; mW and MW do not."""
    first, second = (_singular(unit) for unit in (word, other))
    is_prefix = word[1:] == other[1:] and word[:1] != other[:1] and word[1:2].isupper()
    return first == second and not (is_prefix and first[0] == "m")


def _singular(unit: str) -> str:
    letters = unit.casefold().rstrip(".")
    return letters[:-1] if len(letters) > 2 and letters.endswith("s") else letters


def iso_date(text: str, form: ColumnFormat) -> str:
    """A date of the format's order as YYYY-MM-DD, with its time; "" for none."""
    clock = _CLOCK.search(text)
    tokens = _DATE_PARTS.findall(text[: clock.start()] if clock else text)
    if len(tokens) == 1 and len(text) == 8:
        tokens = [text[:4], text[4:6], text[6:]]
    # A weekday, "of" and the letter of a quarter say nothing.
    numbers = [token if token.isdecimal() else month_number(token) for token in tokens]
    parts = dict(zip(form.order, filter(None, numbers), strict=False))
    if len(parts) != len(form.order) or len(numbers) - numbers.count("") != len(parts):
        return ""
    year = int(parts["y"])
    if len(parts["y"]) == 2 and form.order[0] != "y":
        year = form.last_year - (form.last_year - year) % 100
    elif len(parts["y"]) != 4:
        return ""
    month = int(parts.get("m", 0)) or 3 * int(parts.get("q", 0)) - 2
    try:
        day = datetime.date(year, month, int(parts.get("d", 1))).isoformat()
        return f"{day} {datetime.time.fromisoformat(clock[1].zfill(5))}" if clock else day
    except ValueError:
        return ""


@functools.lru_cache(1000)
def month_number(word: str) -> str:
    """The number of a month's name or its first three letters, in some languages; or ""."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    letters = "".join(letter for letter in letters if letter.isalpha())
    for number, names in enumerate(_MONTHS, 1):
        if len(letters) > 2 and any(name.startswith(letters) for name in names.split()):
            return str(number)
    return ""


def read_cells(
    values: pd.Series, form: ColumnFormat, levels: TextLevels | None = None
) -> pd.Series:
    """A column as its format says, however its cells are written.

    Numbers become floats, NaN also for infinities and what is none; all others texts, None where
    missing; what cannot be read as a date stays. `levels`: its `text_levels`, where known.
    """
    if form.kind == "number" and values.dtype.kind in "iuf":
        is_missing = np.isinf(values.to_numpy(float))
        if form.missing:
            is_missing |= values.map(cell_text).isin(form.missing).to_numpy()
        return values.mask(is_missing) if is_missing.any() else values
    if values.dtype.kind == "b" or isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    levels = levels or text_levels(values)
    codes, cells = levels.codes, levels.cells
    meanings = canonical_cells(levels.texts, form)
    if form.kind == "number":
        return pd.Series(np.array([*meanings, math.nan])[codes], values.index, name=values.name)
    if cells == meanings and values.dtype != object:
        return values  # nothing changes, and nothing is copied
    words = pd.Series([*meanings, None], dtype="str").array
    return pd.Series(words.take(codes), values.index, name=values.name)


def canonical_cells(texts: list[str], form: ColumnFormat) -> list[Any]:
    """What canonical texts are read as: numbers, NaN for none, or texts, None where missing."""
    if form.kind == "date":
        if form.order:
            texts = [iso_date(text, form) or text for text in texts]
        texts = _dates(texts, form.date_format)
    elif form.kind == "yes/no" and form.pair:
        texts = [_answer(text, form.pair) for text in texts]
    elif form.kind == "category" and form.whole and have_part(texts, "."):
        texts = [_whole(text) for text in texts] if have_part(texts, ".0", ".\0") else texts
    nothing = {"", *form.missing}
    if form.folds:
        texts = [text if text in nothing else text.casefold() for text in texts]
    if form.kind == "number":
        return [math.nan if text in nothing else cell_number(text, form) for text in texts]
    if nothing.isdisjoint(texts):
        return texts
    return [None if text in nothing else text for text in texts]


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
    """Dates of another form in this one, where it can hold them."""
    column = pd.Series(texts, dtype="str")
    if date_format == "ISO8601" or not (is_strange := moments(column, date_format).isna()).any():
        return texts
    is_strange &= column.str.len() > len("2024")  # a year alone is no day
    times, texts = moments(column[is_strange], "ISO8601"), list(texts)
    times = times[times.between(*YEARS)]
    written = pd.Series([time.strftime(date_format) for time in times], times.index, "str")
    is_held = (moments(written, date_format) - times).abs() < pd.Timedelta(days=1)
    for i in times.index[is_held | ("y" not in date_format.lower())]:
        texts[i] = written[i]
    return texts


def moments(texts: Any, date_format: str) -> Any:
    """Points in time; NaT of what is no date of this form."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parsing dates involving a day", DeprecationWarning)
        return pd.to_datetime(texts, errors="coerce", format=date_format, utc=True)
