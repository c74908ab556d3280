"""Detects how the dates of a column are written."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_text, iso_date, moments

# Month first, unless a number above 12 rules it out.
_FORMATS = (
    *("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),  # pandas takes them for ISO 8601
    "ISO8601",
    *("%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
    *("%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%y %H:%M", "%d/%m/%y %H:%M", "%m/%d/%y %H:%M:%S", "%d/%m/%y %H:%M:%S"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y %H:%M", "%d.%m.%y %H:%M:%S"),
    *("%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S,%f", "%d/%b/%Y:%H:%M:%S %z"),
    *("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %I:%M %p", "%m/%d/%y %I:%M:%S %p"),
    *("%d/%m/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p", "%d-%b-%y %I.%M.%S.%f %p"),
    *("%b %d %H:%M:%S", "%b %d %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y"),
    *("%a %Y-%m-%d %H:%M:%S %Z", "%a, %d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M:%S"),
    *("%H:%M", "%H:%M:%S"),
)
_SAMPLE, _FIRST = 20_000, 20
_EXCHANGED = str.maketrans("md", "dm")
_RUN = re.compile(r"\d+|[^\W\d_]+|\s+")
# What a part of a form looks like: Y four digits, 9 one or two, # others, a letters.
_PARTS = {"%Y": "Y", "%f": "9Y#", "%z": ("+Y", "-Y", "+9:9", "-9:9", "a")}
_PARTS |= dict.fromkeys(("%b", "%B", "%a", "%p", "%Z"), "a")
_WORD, _GAP = r"[^\W\d_]{3,10}\.?", r"[-/., ]*(?:de |del |of )?"
_QUARTER = r"(?:q|t|qtr|quarter|quartal|trimestre|trim\.?|kwartaal)"
# How else days, months and quarters are written; the first day stands for a month.
_ORDERS = (
    ("ym", r"\d{4}[-/]\d{1,2}"),
    ("my", r"\d{1,2}[-/]\d{4}"),
    ("ym", rf"\d{{4}}{_GAP}{_WORD}"),
    ("my", rf"{_WORD}(?:{_GAP}\d{{4}}|(?:[-/]| ?['’])\d\d)"),
    ("yq", rf"\d{{4}}[-/ ]?{_QUARTER} ?[1-4]"),
    ("qy", rf"(?:{_QUARTER} ?[1-4]|[1-4]\.? ?{_QUARTER})[-/ '’]*(?:\d{{4}}|\d\d)"),
    ("dmy", rf"(?:{_WORD},? )?\d{{1,2}}(?:st|nd|rd|th|er|\.?º)?{_GAP}{_WORD}{_GAP}(\d{{4}}|\d\d)"),
    ("mdy", rf"(?:{_WORD},? )?{_WORD}{_GAP}\d{{1,2}}(?:st|nd|rd|th)?{_GAP}\d{{4}}"),
    ("ymd", rf"\d{{4}}{_GAP}{_WORD}{_GAP}\d{{1,2}}"),
)
_ORDER_FORMS = tuple(
    (order, re.compile(form + r"([ T,]+\d{1,2}:\d\d(:\d\d)?)?", re.IGNORECASE))
    for order, form in _ORDERS
)
_BIRTH = re.compile(r"born|birth|\bdob\b|geb|naiss|nacim|nacid|nascim|nascit")
_DATE_NAME = re.compile(r"date|dat(um|a)?\b|day|tag\b|fecha|jour|giorno|\bdt|_dt\b")


def date_format(values: pd.Series) -> str:
    """The ``pandas.to_datetime`` format that fits every value of a text column, or ""."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return ""
    texts = values.iloc[:: max(1, len(values) // _SAMPLE)].dropna()
    if texts.empty:
        texts = values.dropna().iloc[:_SAMPLE]
    forms = date_forms([cell_text(text) for text in texts.unique()])
    return next((form.date_format for form in forms if not form.order), "")


def date_forms(words: Sequence[str], share: float = 1.0, name: str = "") -> list[ColumnFormat]:
    """The forms of dates in which different texts are written; month and day exchanged as well.

    `share`: of the texts that are dates, at least; `name`: the column's, which tells of births.
    """
    if words and len(words[0]) == 8 and words[0].isdecimal():
        return _compact_forms(words, name)
    few = words[:: max(1, len(words) // _FIRST)]
    marks = [_shape(word) for word in few]
    if not any("9" in mark or "Y" in mark for mark in marks):
        return []
    likely = {form for mark in marks for form in _forms_of(mark)}
    words = words[:: max(1, len(words) // _SAMPLE)]
    last_year = datetime.date.today().year if _BIRTH.search(name.lower()) else 2068
    for form in (form for form in _FORMATS if form in likely):
        if _fits(few, form, share / 2) and _fits(words, form, share):
            other = form.translate(_EXCHANGED) if form.startswith(("%m", "%d")) else ""
            is_either = other in _FORMATS and all(_fits(t, other, share) for t in (few, words))
            return [_date_form(each, last_year) for each in (form, *([other] if is_either else []))]
    ordered = _ordered_form(few, words, share, last_year)
    return [ordered] if ordered else []


def _shape(text: str) -> str:
    """The shape of a text, as of the forms: 25.12.2023 is 9.9.Y."""
    return _RUN.sub(lambda run: _run_mark(run.group()), text) if len(text) < 40 else ""


def _run_mark(run: str) -> str:
    if run.isdecimal():
        return "9" if len(run) <= 2 else "Y" if len(run) == 4 else "#"
    return " " if run.isspace() else "a"


def _shapes_of(form: str) -> list[str]:
    parts = [part for part in re.split(r"(%\w)", form) if part]
    choices = [_PARTS.get(part, "9") if part[0] == "%" else (part,) for part in parts]
    return ["".join(choice) for choice in itertools.product(*choices)]


_FORMS_BY_SHAPE: dict[str, list[str]] = {}
for _form in _FORMATS:
    for _mark in _shapes_of(_form):
        _FORMS_BY_SHAPE.setdefault(_mark, []).append(_form)


def _forms_of(mark: str) -> list[str]:
    iso = ["ISO8601"] if mark.startswith(("Y-9-9", "# 9:9", "#a9")) else []
    return iso + _FORMS_BY_SHAPE.get(mark, [])


def _fits(texts: Sequence[str], form: str, share: float) -> bool:
    times = moments(pd.Series(list(texts), dtype="str"), form)
    return bool(times.notna().mean() >= share)


def _date_form(form: str, last_year: int) -> ColumnFormat:
    """The format of a column; the birth years of two digits are none to come."""
    parts = re.findall(r"%(\w)", form)
    if last_year != 2068 and "y" in parts and set(parts) <= set("dmybHMS"):
        return _by_order("".join(parts[:3]).replace("b", "m"), last_year)
    return ColumnFormat("date", date_format=form)


def _by_order(order: str, last_year: int = 2068) -> ColumnFormat:
    return ColumnFormat("date", date_format="ISO8601", order=order, last_year=last_year)


def _ordered_form(
    few: Sequence[str], words: Sequence[str], share: float, last_year: int
) -> ColumnFormat | None:
    # Without a name or a quarter these could be any two numbers.
    has_letters = any(letter.isalpha() for letter in few[0])
    for order, pattern in _ORDER_FORMS:
        if 2 * sum(pattern.fullmatch(word) is not None for word in few) < share * len(few):
            continue
        form = _by_order(order, last_year)
        dates = [iso_date(word, form) for word in words if pattern.fullmatch(word)]
        dates = [date for date in dates if has_letters or "15" <= date[:2] < "22"]
        if sum(map(bool, dates)) >= (share if has_letters else 1) * len(words):
            return form
    return None


def _compact_forms(words: Sequence[str], name: str) -> list[ColumnFormat]:
    """The form of 20210103; none where a word is no day, or few words could be so by chance."""
    form = _by_order("ymd")
    is_told = len(words) >= 12 or _DATE_NAME.search(name.lower()) is not None
    for some in (words[:100], words) if is_told else ():
        years = [iso_date(word, form)[:4] for word in some if len(word) == 8 and word.isdecimal()]
        if len(years) < len(some) or "" in years or not "1700" <= min(years) <= max(years) < "2200":
            return []
    return [form] if is_told and int(max(years)) - int(min(years)) <= 100 else []


def seconds_since_1970(times: pd.Series) -> np.ndarray:
    """Points in time in UTC as seconds, also of years that nanoseconds do not reach."""
    seconds = times.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(float))
