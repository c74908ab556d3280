"""Numbers, durations, shares, counts and lists in sentences: each is written in one way.

| what | function | examples |
| --- | --- | --- |
| a number | ``format_number`` | 0.672, 2310, 20,628, 10⁻⁷ |
| a whole number | ``format_integer`` | 12, 2,310 |
| an amount | ``amount_text`` | 20,600 €, 0.672 |
| a duration | ``duration_text`` | 0.3 s, 40 s, 1 min, 1 min 40 s, 2 h 5 min |
| an estimated duration | ``rough_duration_text`` | 3 s, 45 s, 12 min |
| a share of one | ``percent`` | 25 %, 3.3 %, < 0.1 % |
| a count | ``count_text`` | 1 row, 2,310 rows |
| a list | ``list_text`` | a, b and c; a, b and 3 others |
| a stranger's text | ``shortened_text`` | the first words…the last |
| a sentence that quotes names | ``with_short_names`` | “the first…the last” is missing |

Scores are written by `core.tuning.scores.score`, which knows their measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

NBSP = "\N{NO-BREAK SPACE}"
PERCENT = f"{NBSP}%"  # no line break before it
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MIN_MARKED = 10_000  # below it a number may be a year
_MIN_COUNTED = 150  # characters of a text that have room for how many are left out
_COUNT_LETTERS = 45  # of these words
MAX_NAME = 80  # letters of a name on a line or a screen
_LONG_QUOTE = re.compile(rf"“([^“”]{{{MAX_NAME + 1},}})”")


class _Marks:
    """The decimal point and the mark between thousands."""

    # Asked at every number: a locale may change while the program runs.
    current: Callable[[], tuple[str, str]] = staticmethod(lambda: (".", ","))


def use_marks(marks: Callable[[], tuple[str, str]]) -> None:
    """Take (decimal point, mark between thousands) from `marks` in this process."""
    # Only a window does so; the command line, files and the worker write 1,234.5 everywhere.
    _Marks.current = staticmethod(marks)


def format_number(value: float | None, digits: int = 3) -> str:
    """Significant digits: 0.01, 1, 250, 10⁻⁷; "–" for None."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    # log10(1000) may be a hair below 3.
    size = math.floor(math.log10(abs(value)) + 1e-12)
    if not -5 <= size <= 6:
        front = f"{value / 10.0**size:.{digits - 1}f}".rstrip("0").rstrip(".")
        if front == "1":
            return power_of_ten(size)
        return f"{_localized(front)}×{power_of_ten(size)}"
    mark = "," if abs(value) >= _MIN_MARKED else ""
    text = f"{value:{mark}.{max(0, digits - 1 - size)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return _localized(text)


def format_decimals(value: float | None, decimals: int) -> str:
    """Fixed decimals; "–" for None."""
    if value is None or not math.isfinite(value):
        return "–"
    return _localized(f"{round(value, decimals) + 0.0:,.{decimals}f}")  # + 0.0 makes −0 a 0


def format_integer(value: int) -> str:
    """A whole number with marks between thousands."""
    return f"{value:,}".replace(",", _Marks.current()[1]).replace("-", "−")


def amount_text(amount: float, unit: str = "", pads: bool = False) -> str:
    """Three digits of an amount with its unit: "20,600 €", "0.672"; `pads`: "0.800", not "0.8"."""
    size = math.floor(math.log10(abs(amount))) if amount else 0
    rounded = round(amount, 2 - size)
    if 1e3 <= abs(rounded) < 1e10:
        number = format_integer(round(rounded))
    elif pads and (not amount or 1e-4 <= abs(rounded) < 1e3):
        number = _localized(f"{amount:#.3g}".rstrip("."))
    else:
        number = format_number(amount)
    return f"{number}{NBSP}{unit}" if unit else number


def amount_texts(amounts: Sequence[float], unit: str = "") -> list[str]:
    """Amounts beside each other: with zeros at the end where one of them has decimals."""
    has_decimals = any(not float(f"{amount:.3g}").is_integer() for amount in amounts)
    return [amount_text(amount, unit, pads=has_decimals) for amount in amounts]


def format_aligned(values: Sequence[float]) -> list[str]:
    """Numbers with equally many decimals."""
    sizes = sorted(abs(value) for value in values if math.isfinite(value))
    middle = sizes[len(sizes) // 2] if sizes else 0.0
    decimals = 2 - math.floor(math.log10(middle)) if middle > 0 else 3
    texts = [format_decimals(value, min(6, max(0, decimals))) for value in values]
    if len(set(texts)) < len(set(values)):  # one more may tell them apart
        texts = [format_decimals(value, min(6, max(0, decimals + 1))) for value in values]
    return texts


def format_value(value: object, digits: int = 3) -> str:
    """Any value of a setting."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < _MIN_MARKED else format_integer(value)
    return format_number(value, digits)


def power_of_ten(exponent: int) -> str:
    """10 with a raised exponent."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def percent(share: float) -> str:
    """A share of one in percent: "25 %", "3.3 %", "< 0.1 %", "0 %"."""
    hundredths = 100 * share
    if 0 < hundredths < 0.1:
        return f"< {format_decimals(0.1, 1)}{PERCENT}"
    is_rounded = hundredths >= 10 or hundredths == 0
    number = format_decimals(hundredths, 0) if is_rounded else format_number(hundredths, 2)
    return f"{number}{PERCENT}"


def duration_text(seconds: float) -> str:
    """A duration: "0.3 s", "40 s", "1 min 40 s", "2 h 5 min"."""
    if 0 < seconds < 0.05:
        return f"< {format_decimals(0.1, 1)} s"
    if seconds < 9.95:  # above it would be rounded to 10.0
        return f"{format_number(round(seconds, 1))} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, second = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {second} s" if second else f"{minutes} min"
    hours, minute = divmod(round(seconds / 60), 60)
    return f"{hours} h {minute} min" if minute else f"{hours} h"


def rough_duration_text(seconds: float) -> str:
    """An estimate, no finer than it can be true: in seconds, in fives of them, in minutes."""
    step = 1 if seconds < 10 else 5 if seconds < 90 else 60
    return duration_text(max(1, step * round(seconds / step)))


def count_text(count: int, noun: str, plural: str = "") -> str:
    """A count of things: "1 row", "2,310 rows"."""
    return f"1 {noun}" if count == 1 else f"{format_integer(count)} {plural or f'{noun}s'}"


def list_text(words: Iterable[str], max_words: int | None = None) -> str:
    """A list in a sentence: "a", "a and b", "a, b and c"; with a limit "a, b and 3 others"."""
    listed = list(words)
    if max_words is not None and len(listed) > max_words:
        listed = [*listed[:max_words], count_text(len(listed) - max_words, "other")]
    return " and ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def quoted(words: Iterable[object]) -> list[str]:
    """Each in quotes, shortened."""
    return [f"“{shortened_text(word, MAX_NAME)}”" for word in words]


def with_short_names(sentence: str) -> str:
    """The sentence with the quoted names that are longer than `MAX_NAME` shortened."""
    return _LONG_QUOTE.sub(lambda quote: quoted([quote[1]])[0], sentence)


def printable_text(text: str) -> str:
    """The text with U+FFFD for each unprintable character, which a terminal might obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def shortened_text(value: object, max_letters: int = 60) -> str:
    """One line of at most so many characters; where it is longer its middle is left out."""
    text = " ".join(str(value).split())
    if len(text) <= max_letters:
        return text
    mark, room = "…", max_letters - 1
    if max_letters >= _MIN_COUNTED:
        room = max_letters - _COUNT_LETTERS
        mark = f" … ({format_integer(len(text) - room)} characters left out) … "
    end = room // 3  # the first words say more than the last
    return text[: room - end] + mark + text[len(text) - end :]


def _localized(text: str) -> str:
    point, between = _Marks.current()
    marks: dict[str, str | int | None] = {".": point, ",": between, "-": "−"}
    return text.translate(str.maketrans(marks))
