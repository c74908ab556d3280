"""Numbers on the screen, in the locale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QLocale

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float | None, digits: int = 3) -> str:
    """Significant digits: 0.01, 1, 250, 10⁻⁷; "–" for None."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)) + 1e-12)
    if not -5 <= size <= 6:
        return _powered(value, size, digits)
    text = f"{value:.{max(0, digits - 1 - size)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return _localized(text)


def format_decimals(value: float | None, decimals: int) -> str:
    """Fixed decimals; "–" for None."""
    if value is None or not math.isfinite(value):
        return "–"
    return _localized(f"{round(value, decimals) + 0.0:.{decimals}f}")  # + 0.0 makes −0 a 0


def percent(share: float) -> str:
    """A share of one in percent: "25 %", "3.3 %", "< 0.1 %", "0 %"."""
    hundredths = 100 * share
    if 0 < hundredths < 0.1:
        return f"< {format_decimals(0.1, 1)}\u00a0%"
    is_rounded = hundredths >= 10 or hundredths == 0
    number = format_decimals(hundredths, 0) if is_rounded else format_number(hundredths, 2)
    return f"{number}\u00a0%"  # one line


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
    return str(value) if isinstance(value, int) else format_number(value, digits)


def format_duration(value: float) -> str:
    """A duration: "0.29 s", "12 s", "3 min 20 s"."""
    if value < 10:
        return f"{format_decimals(value, 2)} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def power_of_ten(exponent: int) -> str:
    """10 with a raised exponent."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def _powered(value: float, size: int, digits: int) -> str:
    front = f"{value / 10.0**size:.{digits - 1}f}".rstrip("0").rstrip(".")
    if front == "1":
        return power_of_ten(size)
    return f"{_localized(front)}×{power_of_ten(size)}"


def _localized(text: str) -> str:
    return text.replace(".", QLocale().decimalPoint()).replace("-", "−")
