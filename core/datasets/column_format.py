"""How a column's cells are written: told by all of them, and said where it could be otherwise."""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from core.datasets.cell_values import (
    FACTORS,
    YES_NO,
    ColumnFormat,
    TextLevels,
    cell_number,
    cell_text,
    have_part,
    iso_date,
    moments,
    read_cells,
    same_unit,
    text_levels,
)
from core.datasets.finding import ColumnReading, column_change
from core.wording import count_text

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
_SIZES = {1: "9", 2: "9", 4: "Y"}  # of runs of digits
_DIGITS, _LETTERS, _BLANKS = map(re.compile, (r"\d+", r"[^\W\d_]+", r"\s+"))
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
        # A few texts rule nearly every form out before all are parsed.
        if _fits(few, form, share / 2) and _fits(words, form, share):
            # Where no day is above 12, the file does not say which comes first.
            other = form.translate(_EXCHANGED) if form.startswith(("%m", "%d")) else ""
            is_either = other in _FORMATS and all(_fits(t, other, share) for t in (few, words))
            return [_date_form(each, last_year) for each in (form, *([other] if is_either else []))]
    ordered = _ordered_form(few, words, share, last_year)
    return [ordered] if ordered else []


@lru_cache(64)
def _shape(text: str) -> str:
    """As of the forms: 25.12.2023 is 9.9.Y."""
    if len(text) >= 40:
        return ""
    words = _BLANKS.sub(" ", _LETTERS.sub("a", text))
    return _DIGITS.sub(lambda digits: _SIZES.get(len(digits.group()), "#"), words)


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
    times = moments(np.array(texts, dtype=object), form)
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
    # Eight digits may be any number; many of them that all are days are no accident.
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


# In a column of words these may be words themselves (Namibia, a house without a garage).
PERHAPS = (
    *("NA", "na", "N.A.", "none", "None", "NONE", "missing", "Missing", "-", "--", "—", "."),
)
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
_FACTORS = "|".join(map(re.escape, sorted(FACTORS, key=len, reverse=True)))
_AMOUNT = re.compile(
    rf"(?P<bound>[<>≤≥]=?|[≈~∼])?[\s(+\-−–]*(?P<ahead>{_SIGNS})?[\s(+\-−–—]*"
    r"(?P<digits>\d[\d.,'’ \u00a0\u202f]*(?<=\d)|\d|\d*[.,]\d+|\d+\.|(?<=[-−–—])|(?<=[-−–—]\s))"
    r"(?:[eE][+-]?\d+)?(?:[.,][-−–—]+)?"
    rf"\s?(?:(?P<factor>{_FACTORS})?\s*(?P<sign>{_SIGNS})?|"
    rf"\s*(?P<unit>(?i:{_UNITS})|(?<=[\s\u00a0])[^\W\d_]{{1,8}}\.?))\s*(?P<end>[-)+]*)"
)
_STYLES = (
    *((".", ""), (".", ","), (",", "."), (",", ""), (".", "'"), (".", "’")),
    *((".", " "), (",", " ")),
)
MAX_TRIED = 2000  # texts that decide how numbers are written
_CODE_NAME = re.compile(r"zip|plz|postal|post_?code|branch|sku|account|phone|tel(efon)?$|code$")
_CODE_DIGITS, _MAX_CODES, _ID_DIGITS = 5, 5000, range(9, 18)
_AS_NUMBER, _AS_TEXT = ("number", "as a number"), ("text", "as text")
_MAX_FOLDED = 1000  # more words are no levels of a category


@dataclass(frozen=True)
class GuessedFormat:
    """The format of a column and what a person should know of it."""

    form: ColumnFormat = field(default_factory=ColumnFormat)
    sentence: str = ""
    word: str = ""  # of READINGS, to read the column otherwise
    button: str = ""

    def reading_of(self, column: str) -> ColumnReading:
        change = column_change(f"Read it {self.button}", "--reading", column, self.word)
        return ColumnReading(column, self.sentence, change if self.word else None)


def holds_for_share(predicate: Callable[[str], object], texts: Sequence[str], share: float) -> bool:
    """Whether a predicate holds for a share of texts; asked until too many are known to fail."""
    max_others = len(texts) - math.ceil(share * len(texts))
    others = itertools.filterfalse(predicate, texts)
    return sum(1 for _ in itertools.islice(others, max_others + 1)) <= max_others


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
    levels: TextLevels | None = None,
) -> GuessedFormat:
    """The format of a column of texts; empty values are missing.

    `kind`, `reading`: a person's; `typed`: the file says these are texts, so "12" is no number;
    `levels`: those of the column, where known.
    """
    kind = kind or ("number" if reading == "number" else "")
    levels = levels or text_levels(values)
    texts, nothing = levels.different_texts, tuple[str, ...]()
    if not NOTHING.isdisjoint(texts):
        texts = [text for text in texts if text]
        nothing = () if reading == "values" else tuple(t for t in texts if t in NOTHING)
    words = [text for text in texts if text not in NOTHING] if nothing else texts
    name, is_compact = str(values.name), bool(words) and words[0].isdecimal() and len(words[0]) == 8
    can_be_date = bool(words) and kind in ("", "date") and reading != "text"
    # 20210103 is a number, too, so days of this form are asked for first, all other dates after
    # numbers.
    guess = _date_guess(words, reading, f"{name} {kind}") if can_be_date and is_compact else None
    if guess is None and words and kind in ("", "number") and reading != "text":
        guess = _number_guess(words, levels, kind, reading, delimiter, typed)
    if guess is None and can_be_date and not is_compact:
        guess = _date_guess(words, reading, f"{name} {kind}")
    if guess is None:
        return _word_guess(levels, texts, kind, reading)
    guess = replace(guess, form=replace(guess.form, missing=(*nothing, *guess.form.missing)))
    if not nothing:
        return guess
    sentences = filter(None, (guess.sentence, missing_text(levels.counts, nothing)))
    return replace(guess, sentence="; ".join(sentences))


def guess_of_numbers(values: pd.Series, kind: str = "", reading: str = "") -> GuessedFormat | None:
    """The format of numbers that are rather dates or codes; None for others."""
    whole = _whole_numbers(values)
    if whole is None or kind not in ("", "date") or reading:
        return None
    if whole.min() >= 17000101 and whole.max() < 22000000:
        guess = _date_guess(list(map(str, whole.unique())), "", f"{values.name} {kind}")
        if guess is not None:
            return guess
    if kind or not _are_codes(whole):
        return None
    code = str(whole.iloc[0])
    sentence = f"“{code}” is a code: every value has {len(code)} digits"
    return GuessedFormat(ColumnFormat(), sentence, *_AS_NUMBER)


def _whole_numbers(values: pd.Series) -> pd.Series | None:
    if (values.iloc[:100].dropna() % 1 != 0).any():
        return None
    known = values.dropna()
    if values.dtype.kind == "f":
        if (known % 1 != 0).any() or known.abs().max() >= 2**53:
            return None
        known = known.astype("int64")
    return known if len(known) else None


def _are_codes(whole: pd.Series) -> bool:
    """Whether numbers are rather codes: all of one width, and each comes again and again.

    Or each is long and comes once, or ends in a check digit.
    """
    low, high = int(whole.min()), int(whole.max())
    width = len(str(low))
    if low <= 0 or width != len(str(high)):
        return False
    if width in _ID_DIGITS and has_check_digits(list(map(str, whole.iloc[:1000].unique()))):
        return True
    named = _CODE_NAME.search(str(whole.name).lower()) is not None
    if len(whole) < 30 or width < (3 if named else _CODE_DIGITS):
        return False
    # Amounts end in zeros, and what counts from somewhere (a day, a serial number) is near it.
    is_exact = high < 2**53  # as a float
    if not named and ((whole % 10 == 0).all() or (high - low < low / 4 and is_exact)):
        return False
    distinct, max_distinct = whole.nunique(), min(_MAX_CODES, len(whole) / (1 if named else 3))
    return 3 <= distinct <= max_distinct or (width in _ID_DIGITS and distinct == len(whole))


def _number_guess(
    words: list[str], levels: TextLevels, kind: str, reading: str, delimiter: str, typed: bool
) -> GuessedFormat | None:
    # 00421 and 421 are two codes and one number.
    have_code = have_part(words, "\x000") and any(map(is_code, words))
    if kind != "number" and (have_code or has_check_digits(words)):
        return None
    # Each form is tried on every text, so very many texts are thinned out.
    formats = number_formats(words[:: max(1, len(words) // MAX_TRIED)], levels)
    form = chosen_format(formats, words, delimiter, reading)
    if form is None:
        return None
    bounds = (word for word in words if _is_bound(word) and cell_number(word, form) < math.inf)
    bound = next(bounds, "")
    # Where the file has types, digits in a text are meant as a text; an amount with a unit is not.
    if typed and kind != "number" and not (form.unit or form.thousands or form.scaled or bound):
        return None
    few = [word for word in words[:1000] if not math.isnan(cell_number(word, form))]
    example = bound or max(few or words[:1], key=len)
    number = f"{cell_number(example, form):,.12g}" + (f", in {form.unit}" if form.unit else "")
    if bound:
        return GuessedFormat(form, f"“{bound}” is a bound and is read as {number}", *_AS_TEXT)
    sentence = f"“{example}” is the number {number}"
    if form.unit or form.scaled:
        return GuessedFormat(form, sentence, *_AS_TEXT)
    others = [other for other in formats if other.decimal != form.decimal]
    # The same cells may be read with the other sign, which a person is offered.
    if others and any("," in word or "." in word for word in words):
        word = "comma" if form.decimal == "." else "point"
        return GuessedFormat(form, sentence, word, f"with a decimal {word}")
    return GuessedFormat(form)


def number_formats(texts: Sequence[str], levels: TextLevels | None = None) -> list[ColumnFormat]:
    """Every way to read texts as numbers; none where they are no numbers, or in two units.

    `levels`: the rows of every text, by which a stray unit is told from a second one.
    """
    few = texts[:: max(1, len(texts) // 20)]
    if sum(_AMOUNT.fullmatch(text) is not None for text in few) < len(few) / 2:
        return []
    counts = levels.counts if levels else {}
    matches = [match for text in texts if (match := _AMOUNT.fullmatch(text)) and _is_amount(match)]
    bounds = sum(_is_bound(match.group()) for match in matches)
    # A few bounds stand among numbers; "<=50K" and ">50K" are two classes.
    if bounds and len(matches) - bounds < max(bounds, 3):
        return []
    is_scaled = _is_scaled(matches)
    unit_by_text = {match.group(): _unit_of(match, is_scaled) for match in matches}
    rows_by_unit = Counter[str]()
    for text, word in unit_by_text.items():
        rows_by_unit[word] += counts.get(text, 1)
    unit = _usual_unit(rows_by_unit)
    numbers = [text for text, word in unit_by_text.items() if not word or same_unit(word, unit)]
    rows = sum(counts.get(text, 1) for text in texts)
    if not numbers or sum(counts.get(text, 1) for text in numbers) < (1 - STRAY_SHARE) * rows:
        return []  # two units are two quantities
    candidates = [ColumnFormat("number", (), *style, unit, is_scaled) for style in _STYLES]
    has_comma = any("," in text for text in numbers)
    return [
        form
        for form in candidates
        if not any(math.isnan(cell_number(text, form)) for text in numbers)
        and (form.thousands == "" or any(form.thousands in text for text in numbers))
        and ("." in (form.decimal, form.thousands) or has_comma)
    ]


def _is_amount(match: re.Match[str]) -> bool:
    """Whether it has one unit at most; a dash stands for 0 behind a currency alone."""
    units = sum(bool(match[part]) for part in ("ahead", "sign", "unit"))
    return units <= 1 and (match["digits"] != "" or bool(match["ahead"] or match["sign"]))


def _is_bound(text: str) -> bool:
    return text[0] in "<>≤≥" or (text[-1] == "+" and len(text) > 1)


def _is_scaled(matches: Sequence[re.Match[str]]) -> bool:
    factors = {match["factor"] for match in matches} - {None}
    if len({FACTORS[factor] for factor in factors}) > 1:
        return True
    is_money = any(match["ahead"] or match["sign"] for match in matches)
    has_gap = any(match.group().endswith(" K") for match in matches)
    return bool(factors) and (is_money or not (factors <= {"m", "B", "b"} or has_gap))


def _unit_of(match: re.Match[str], is_scaled: bool) -> str:
    factor = "" if is_scaled else match["factor"]
    return match["ahead"] or match["sign"] or match["unit"] or factor or ""


def _usual_unit(rows_by_unit: Counter[str]) -> str:
    units = [unit for unit, _ in rows_by_unit.most_common() if unit]
    rows = {u: sum(n for w, n in rows_by_unit.items() if w and same_unit(w, u)) for u in units}
    unit = max(units, key=lambda unit: rows[unit], default="")
    return unit if unit and rows[unit] >= STRAY_SHARE * rows_by_unit.total() else ""


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


def _date_guess(words: list[str], reading: str, name: str) -> GuessedFormat | None:
    if not (forms := date_forms(words, name=name)):
        if not (forms := date_forms(words, 1 - STRAY_SHARE, name)):
            return None
        texts = pd.Series(words, dtype="str")
        times = moments(read_cells(texts, forms[0]), forms[0].date_format)
        strays = tuple(texts[times.isna()])
        if len(strays) > STRAY_KINDS:
            return None
        sentence = f"{quoted_words(strays)} is no date and counts as missing"
        return GuessedFormat(replace(forms[0], missing=strays), sentence)
    form, choice = forms[0], ("", "")
    if len(forms) > 1:  # the month comes first in one, in the other the day
        form = forms[reading == "day first"]
        choice = 2 * (("day first",) if form == forms[0] else ("month first",))
    elif words[0].isdecimal():
        choice = _AS_NUMBER
    elif form.order and "d" not in form.order:
        choice = _AS_TEXT
    if not choice[0]:
        return GuessedFormat(form)
    first = pd.Series(words[:1], dtype="str")
    date = moments(read_cells(first, form), form.date_format)[0]
    return GuessedFormat(form, f"“{words[0]}” is {date.day} {date:%B %Y}", *choice)


def _word_guess(levels: TextLevels, texts: list[str], kind: str, reading: str) -> GuessedFormat:
    nothing = list(filter(NOTHING.__contains__, texts))
    certain = [] if reading == "values" else [text for text in nothing if text in CERTAIN]
    perhaps = [text for text in nothing if text in PERHAPS]
    missing = tuple([*certain, *perhaps] if reading == "missing" else certain)
    words = [text for text in texts if text not in missing] if missing else texts
    is_folded = reading == "any case"
    is_foldable = is_folded or len(words) <= _MAX_FOLDED
    folded = list(dict.fromkeys(map(str.casefold, words))) if is_foldable else words
    pair = _pair(folded if is_folded else words)
    whole = reading != "text" and not (have_part(words, ".") and any(map(_has_decimals, words)))
    form = ColumnFormat("category", missing, whole=whole, folds=is_folded)
    if pair and kind in ("", "yes/no"):
        form = replace(form, kind="yes/no", pair=pair)
    if perhaps and reading != "missing":
        rows = _rows_text(levels.counts, perhaps)
        sentence = f"{quoted_words(perhaps)} is a value of its own ({rows})"
        sentence += f"; {missing_text(levels.counts, missing)}" if missing else ""
        return GuessedFormat(form, sentence, "missing", "as missing")
    if missing:
        sentence = missing_text(levels.counts, missing)
        return GuessedFormat(form, sentence, "values", "as a value of its own")
    if is_folded or len(folded) < len(words):
        counts = Counter(word.casefold() for word in words)
        twins = [word for word in words if counts[word.casefold()] > 1]
        if is_folded:
            return GuessedFormat(form, f"{quoted_words(twins)} are one value", "text", "as written")
        sentence = f"{quoted_words(twins)} differ in case alone"
        return GuessedFormat(form, sentence, "any case", "as one value")
    if has_check_digits(words):
        sentence = f"“{words[0]}” is a code: it ends in a check digit"
        return GuessedFormat(form, sentence, *_AS_NUMBER)
    codes = [word for word in words[:1000] if word[0] == "0" and is_code(word)]
    if codes and all(word.isdecimal() for word in words):
        sentence = f"“{codes[0]}” is a code: its zeros count"
        return GuessedFormat(form, sentence, *_AS_NUMBER)
    return GuessedFormat(form)


def _has_decimals(text: str) -> bool:
    """Whether a text is a number like 1.10, not like 1.0: then 1.0 is a name beside it."""
    head, _, decimals = text.partition(".")
    return head.lstrip("-").isdecimal() and decimals.isdecimal() and decimals.strip("0") != ""


def _pair(texts: Sequence[str]) -> tuple[str, ...]:
    ordered = (tuple(texts), tuple(reversed(texts))) if len(texts) == 2 else ()
    return next((pair for pair in ordered if tuple(map(str.casefold, pair)) in YES_NO), ())


def has_check_digits(words: Sequence[str]) -> bool:
    """Whether texts of 9 to 17 digits end in one that checks them: EAN, ISBN, cards, devices."""
    few = words[:: max(1, len(words) // 100)]
    if len(few) < 5 or not all(re.fullmatch(r"\d{8,16}[\dX]", word) for word in few):
        return False
    digits = [[10 if sign == "X" else int(sign) for sign in reversed(word)] for word in few]
    sums = (
        [sum(n * (3 if i % 2 else 1) for i, n in enumerate(word)) % 10 for word in digits],
        [sum(sum(divmod(n * (1 + i % 2), 10)) for i, n in enumerate(word)) % 10 for word in digits],
        [sum(n * i for i, n in enumerate(word, 1)) % 11 for word in digits],  # ISBN of ten
    )
    return any(sum(rest == 0 for rest in rests) >= 0.9 * len(few) for rests in sums)


def quoted_words(words: Sequence[str]) -> str:
    """The first three in quotes."""
    return ", ".join(f"“{word}”" for word in words[:3]) + (" …" if len(words) > 3 else "")


def missing_text(counts: Mapping[str, int], words: Sequence[str]) -> str:
    """How many rows have the words, which count as missing."""
    return f"{quoted_words(words)} counts as missing ({_rows_text(counts, words)})"


def _rows_text(counts: Mapping[str, int], words: Sequence[str]) -> str:
    return count_text(sum(counts[word] for word in words), "row")
