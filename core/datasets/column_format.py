"""How a column's cells are written: told by all of them, and said where it could be otherwise."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from core.datasets.cell_values import YES_NO, ColumnFormat, cell_number, cell_text, moments
from core.datasets.dates import date_formats
from core.datasets.finding import ColumnReading, SuggestedChange
from core.datasets.option_syntax import column_option

# In a column of words these may be words themselves (Namibia, a house without a garage).
PERHAPS = (*("NA", "na", "N.A.", "none", "None", "NONE", "missing", "Missing", "-", "--", "."),)
CERTAIN = (
    *("N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "NAN", "-nan", "-NaN", "NaT"),
    *("null", "Null", "NULL", "?", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"),
    *(f"Err:{number}" for number in (*range(501, 513), 522, 523)),
)
MISSING = ("", *CERTAIN, *PERHAPS)  # in columns of numbers and dates
NOTHING = frozenset(MISSING)
# A column stays a column of numbers when at most this share, and this many different ones, of its
# values are no numbers; those then count as missing.
STRAY_SHARE = 0.1
STRAY_KINDS = 20
_SIGNS = r"US\$|R\$|[$€£¥₹₽₩₺%‰°]|CHF|EUR|USD|GBP|Rs\.?|kr\.?|zł"
_UNITS = (
    r"kg|mg|µg|g|t|lbs?|oz|km|cm|mm|µm|nm|mi|ml|dl|cl|ms|min|m|ft|in|l|gal|s|hrs?|h|d|kWh|Wh|kW|W|"
    r"MW|mV|V|mA|A|kHz|MHz|GHz|Hz|kB|KB|MB|GB|TB|B|°C|°F|K|hPa|kPa|Pa|bar|psi|mph|km/h|m/s|hp|cc|"
    r"px|pt|bps|bpm|bp|m²|m2|m³|m3|km²|ha|mol|mmol/l|mg/dl|kcal|cal|kJ|J|N|dB"
)
_AMOUNT = re.compile(
    rf"\(?\s*[+\-−–]?\s*(?P<ahead>{_SIGNS})?\s*[+\-−–]?\s*"
    r"(?P<digits>\d[\d.,'’ \u00a0\u202f]*(?<=\d)|\d|\d*[.,]\d+|\d+\.)(?:[eE][+-]?\d+)?"
    rf"\s*(?P<behind>{_SIGNS}|{_UNITS}|(?<=[\s\u00a0])[^\W\d_]{{1,8}}\.?)?\s*[-)]?"
)
_STYLES = (
    *((".", ""), (".", ","), (",", "."), (",", ""), (".", "'"), (".", "’")),
    *((".", " "), (",", " ")),
)
MAX_TRIED = 2000  # texts that decide how numbers are written
_CODE_NAME = re.compile(r"zip|plz|postal|post_?code|branch|sku|account|phone|tel(efon)?$|code$")
_CODE_DIGITS, _MAX_CODES = 5, 5000


@dataclass(frozen=True)
class GuessedFormat:
    """The format of a column and what a person should know of it."""

    form: ColumnFormat = field(default_factory=ColumnFormat)
    sentence: str = ""
    word: str = ""  # of READINGS, to read the column otherwise
    button: str = ""

    def reading_of(self, column: str) -> ColumnReading:
        """The same as a person is told of it."""
        option = column_option("--reading", column, self.word)
        change = SuggestedChange(f"Read it {self.button}", option, readings={column: self.word})
        return ColumnReading(column, self.sentence, change if self.word else None)


def is_code(text: str) -> bool:
    """Whether a text is digits whose leading zero would be lost in a number."""
    return len(text) > 1 and text[0] == "0" and text.isdecimal()


def guess_format(
    values: pd.Series,
    kind: str = "",
    reading: str = "",
    *,
    delimiter: str = ",",
    typed: bool = False,
) -> GuessedFormat:
    """The format of a column of texts; empty values are missing.

    `kind`, `reading`: a person's; `typed`: the file says these are texts, so "12" is no number.
    """
    kind = kind or ("number" if reading == "number" else "")
    texts = [cell_text(cell) for cell in pd.unique(values.dropna())]
    texts = [text for text in dict.fromkeys(texts) if text]
    words = [text for text in texts if text not in NOTHING]
    if reading == "values":
        words = texts
    nothing = () if reading == "values" else tuple(text for text in texts if text in NOTHING)
    if words and kind in ("", "number") and reading != "text":
        guess = _number_guess(words, nothing, kind, reading, delimiter, typed)
        if guess is not None:
            return guess
    if words and kind in ("", "date") and (guess := _date_guess(words, nothing, reading)):
        return guess
    return _word_guess(values, texts, kind, reading)


def _number_guess(
    words: list[str], nothing: tuple[str, ...], kind: str, reading: str, delimiter: str, typed: bool
) -> GuessedFormat | None:
    if kind != "number" and any(map(is_code, words)):
        return None
    formats = number_formats(words[:: max(1, len(words) // MAX_TRIED)])
    chosen = chosen_format(formats, words, delimiter, reading)
    if chosen is None:
        return None
    if typed and kind != "number" and not (chosen.unit or chosen.thousands):
        return None
    form = replace(chosen, missing=nothing)
    example = max(words[:1000], key=len)
    number = cell_number(example, form)
    if form.unit:
        sentence = f"“{example}” is the number {number:,g}, in {form.unit}"
        return GuessedFormat(form, sentence, "text", "as text")
    others = [other for other in formats if other.decimal != form.decimal]
    if others and any("," in word or "." in word for word in words):
        word = "comma" if form.decimal == "." else "point"
        sentence = f"“{example}” is the number {number:,g}"
        return GuessedFormat(form, sentence, word, f"with a decimal {word}")
    return GuessedFormat(form)


def number_formats(texts: Sequence[str]) -> list[ColumnFormat]:
    """Every way to read texts as numbers; none where they are no numbers, or in two units."""
    matches = [match for text in texts if (match := _AMOUNT.fullmatch(text))]
    if not matches or len(matches) < (1 - STRAY_SHARE) * len(texts):
        return []
    units = Counter(match["ahead"] or match["behind"] or "" for match in matches)
    names = [unit for unit in units if unit]
    if len(names) > 1 or any(match["ahead"] and match["behind"] for match in matches):
        return []  # two units are two quantities
    unit = names[0] if names else ""
    candidates = [ColumnFormat("number", (), *style, unit) for style in _STYLES]
    numbers = [match.group() for match in matches]
    has_comma = any("," in text for text in numbers)
    return [
        form
        for form in candidates
        if not any(math.isnan(cell_number(text, form)) for text in numbers)
        and (form.thousands == "" or any(form.thousands in text for text in numbers))
        and ("." in (form.decimal, form.thousands) or has_comma)
    ]


def chosen_format(
    formats: Sequence[ColumnFormat], words: Sequence[str], delimiter: str = ",", reading: str = ""
) -> ColumnFormat | None:
    """Of several ways to read all numbers the one that people more likely meant."""
    if not formats:
        return None
    decimal = {"comma": ",", "point": "."}.get(reading, "")
    formats = [form for form in formats if form.decimal == decimal] or formats
    by_style = {(form.decimal, form.thousands): form for form in formats}
    bare = [re.sub(r"[^\d.,]", "", word) for word in words]
    # A semicolon between columns avoids commas within numbers.
    pairs = ((",", (".", ","), (",", "")), (".", (",", "."), (".", "")))
    for sign, grouped, decimals in pairs:
        if grouped not in by_style or decimals not in by_style:
            continue
        with_sign = [text for text in bare if sign in text]
        # 1,234 beside 5678, or 0,123: who writes a sign between thousands writes it always.
        is_grouped = not any(text.startswith("0") for text in with_sign)
        is_grouped &= all(len(text) <= 3 for text in bare if sign not in text)
        is_usual = (sign == ",") == (delimiter != ";")
        return by_style[grouped if is_grouped and is_usual else decimals]
    return formats[0]


def _date_guess(words: list[str], nothing: tuple[str, ...], reading: str) -> GuessedFormat | None:
    texts = pd.Series(words, dtype="str")
    forms = date_formats(texts)
    if not forms:
        return _date_guess_beside_strays(texts, nothing)
    day_first = [form for form in forms if form.startswith("%d")]
    month_first = [form for form in forms if form.startswith("%m")]
    form = forms[0]
    if day_first and month_first:
        form = day_first[0] if reading == "day first" else month_first[0]
        is_day = form in day_first
        date = pd.to_datetime(words[0], format=form)
        sentence = f"“{words[0]}” is {date.day} {date:%B %Y}"
        word = "month first" if is_day else "day first"
        return GuessedFormat(ColumnFormat("date", nothing, date_format=form), sentence, word, word)
    return GuessedFormat(ColumnFormat("date", nothing, date_format=form))


def _date_guess_beside_strays(texts: pd.Series, nothing: tuple[str, ...]) -> GuessedFormat | None:
    """Dates among which a few texts are none, which then count as missing."""
    if not (forms := date_formats(texts, 1 - STRAY_SHARE)):
        return None
    strays = tuple(texts[moments(texts, forms[0]).isna()])
    if len(strays) > STRAY_KINDS:
        return None
    form = ColumnFormat("date", (*nothing, *strays), date_format=forms[0])
    return GuessedFormat(form, f"{quoted_words(strays)} is no date and counts as missing")


def _word_guess(values: pd.Series, texts: list[str], kind: str, reading: str) -> GuessedFormat:
    certain = [] if reading == "values" else [text for text in texts if text in CERTAIN]
    perhaps = [text for text in texts if text in PERHAPS]
    missing = tuple([*certain, *perhaps] if reading == "missing" else certain)
    words = [text for text in texts if text not in missing]
    pair = _pair(words)
    whole = not any(_has_decimals(word) for word in words)
    form = ColumnFormat("category", missing, whole=whole)
    if pair and kind in ("", "yes/no"):
        form = replace(form, kind="yes/no", pair=pair)
    if perhaps and reading != "missing":
        count = int(values.isin(perhaps).sum())
        sentence = f"{quoted_words(perhaps)} is a value of its own ({_rows_text(count)})"
        return GuessedFormat(form, sentence, "missing", "as missing")
    if missing:
        count = int(values.isin(missing).sum())
        sentence = f"{quoted_words(missing)} counts as missing ({_rows_text(count)})"
        return GuessedFormat(form, sentence, "values", "as a value of its own")
    codes = [word for word in words[:1000] if is_code(word)]
    if codes and all(word.isdecimal() for word in words):
        sentence = f"“{codes[0]}” is a code: its zeros count"
        return GuessedFormat(form, sentence, "number", "as a number")
    return GuessedFormat(form)


def _has_decimals(text: str) -> bool:
    """Whether a text is a number like 1.10, not like 1.0: then 1.0 is a name beside it."""
    head, _, decimals = text.partition(".")
    return head.lstrip("-").isdecimal() and decimals.isdecimal() and decimals.strip("0") != ""


def _pair(texts: Sequence[str]) -> tuple[str, ...]:
    if len(texts) != 2:
        return ()
    for ordered in (tuple(texts), tuple(reversed(texts))):
        if tuple(text.casefold() for text in ordered) in YES_NO:
            return ordered
    return ()


def has_code_width(values: pd.Series) -> bool:
    """Whether whole numbers are rather codes: all of one width, and each comes again and again."""
    if values.dtype.kind not in "iu" or len(values) < 30:
        return False
    low, high = int(values.min()), int(values.max())
    if low <= 0 or len(str(low)) != len(str(high)):
        return False
    distinct = int(values.nunique())
    named = _CODE_NAME.search(str(values.name).lower()) is not None
    is_wide = len(str(low)) >= (3 if named else _CODE_DIGITS)
    max_distinct = min(_MAX_CODES, len(values) / (1 if named else 3))
    # Amounts end in zeros, and what counts from somewhere (a day, a serial number) is near it.
    is_exact = high < 2**53  # as a float
    is_amount = not named and ((values % 10 == 0).all() or (high - low < low / 4 and is_exact))
    return is_wide and 3 <= distinct <= max_distinct and not is_amount


def quoted_words(words: Sequence[str]) -> str:
    """The first three in quotes."""
    return ", ".join(f"“{word}”" for word in words[:3]) + (" …" if len(words) > 3 else "")


def _rows_text(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
