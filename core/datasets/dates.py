"""Detects the date format of a column."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd

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
_SHAPE = re.compile(r"(?=.*\d)(?=.*[-/.: ])[\w\-/.:, +]{4,35}")
_SAMPLE = 20_000
_EXCHANGED = str.maketrans("md", "dm")


def date_format(values: pd.Series) -> str:
    """The ``pandas.to_datetime`` format that fits every value of a text column, or ""."""
    return next(iter(date_formats(values)), "")


def date_formats(values: pd.Series, share: float = 1.0) -> list[str]:
    """The same (by 20,000 values), and with month and day exchanged, where that fits as well.

    `share`: of the different texts that are dates, at least.
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return []
    texts = values.iloc[:: max(1, len(values) // _SAMPLE)].dropna()
    if texts.empty:
        texts = values.dropna().iloc[:_SAMPLE]
    texts = pd.Series(texts.unique(), dtype="str").str.strip()
    shaped = texts[texts.str.fullmatch(_SHAPE)]
    if texts.empty or len(shaped) < share * len(texts):
        return []
    first = shaped.iloc[:20]
    for form in _FORMATS:
        if _fits(first, form, share) and _fits(texts, form, share):
            other = form.translate(_EXCHANGED) if form.startswith(("%m", "%d")) else ""
            return [form, *([other] if other in _FORMATS and _fits(texts, other, share) else [])]
    return []


def _fits(texts: pd.Series, form: str, share: float) -> bool:
    with warnings.catch_warnings():
        # From Python 3.13 on; a day without a year, as in syslog, is of 1900, no leap year.
        warnings.filterwarnings("ignore", "Parsing dates involving a day", DeprecationWarning)
        times = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    return bool(times.notna().mean() >= share)


def seconds_since_1970(times: pd.Series) -> np.ndarray:
    """Points in time in UTC as seconds, also of years that nanoseconds do not reach."""
    seconds = times.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(float))
