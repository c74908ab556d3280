"""What a spreadsheet's format puts around a number: a unit, a percent sign, or zeros of a code."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache

from core.datasets.column_format import number_formats

PERCENT = "%"
_BUILT_IN = {9: "0%", 10: "0.00%"}  # formats that files do not write out
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(?P<sign>.)',
    re.DOTALL,
)
_DIGITS = re.compile(r"([^0#?]*?)(?<![.,])([#0?,]*[0#?](?:\.[0#?]+)?)(?![,.])([^0#?,]*)")
_MAX_LETTERS = 255  # of a format in Excel
_CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}


@lru_cache
def number_form(code: str) -> str:
    """How a format of Excel shows numbers: "%", "$0", "0 kg", "00000"; "" if it adds nothing."""
    if len(code) > _MAX_LETTERS:
        return ""
    text = ""
    for token in _TOKEN.finditer(code.replace("General", "0")):
        sign = token["sign"] or ""
        if sign == ";":  # other sections are for negative numbers and zero
            break
        letters = token["quoted"] or token["escaped"] or token["currency"] or ""
        if re.search(r"[\d#?]", letters):
            return ""
        # A percent sign in quotes does not multiply.
        text += sign.replace("%", "\0") or letters
    if set(text) <= set("0-/ ()") and text.count("0") > 1:
        return text
    match = _DIGITS.fullmatch(text)
    if match is None:
        return ""
    ahead, behind = match[1].strip(), match[3].strip()
    return PERCENT if "\0" in ahead + behind else _unit_form(ahead, behind)


def currency_form(code: str) -> str:
    """The form of amounts in a currency of ISO 4217."""
    sign = _CURRENCIES.get(code)
    return f"{sign}0" if sign else _unit_form("", code)


def _unit_form(ahead: str, behind: str) -> str:
    form = ahead + " " * (len(ahead) > 1) + "0" + " " * (len(behind) > 1) + behind
    return form if any(reading.unit for reading in number_formats([form.replace("0", "1")])) else ""


def forms_of_styles(format_ids: Iterable[int], codes: Mapping[int, str]) -> dict[Hashable, str]:
    """{number of a cell's style: its form}, of those that add something."""
    known = {**codes, **_BUILT_IN}
    forms = {i: number_form(known.get(each, "")) for i, each in enumerate(format_ids)}
    return {style: form for style, form in forms.items() if form}
