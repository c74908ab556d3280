"""Cells of tables for people: a spreadsheet must not take a file's text for a formula."""

import re
from typing import Any

FORMULA_STARTS = tuple("=+-\N{MINUS SIGN}@\t\r\n\N{FULLWIDTH EQUALS SIGN}")
_NUMBER = r"[+\-\N{MINUS SIGN}]?[\d.,]*\d(e[+-]?\d+)?"
# A number, with a word for its unit behind it, or a range.
# Amounts and telephone numbers: signs of a currency, digits in groups, a word behind.
_AMOUNT = r"[+\-\N{MINUS SIGN}]\s?[$€£¥₹]?\s?\d[\d.,'’\s]*( ?[$€£¥₹%]| ?\w+)?"
_HARMLESS = re.compile(rf"{_NUMBER}( to {_NUMBER})?( ?[%\w]+)?|{_AMOUNT}", re.IGNORECASE)
_WORD = re.compile(r"\w")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would calculate the text: a sign alone and a number are none."""
    is_open = text.startswith(FORMULA_STARTS) and _WORD.search(text) is not None
    return is_open and not _HARMLESS.fullmatch(text)


def escape_formula(cell: Any) -> Any:
    """The cell, an apostrophe before a text (no number) that a spreadsheet would calculate."""
    if not isinstance(cell, str):
        return cell
    # A lone carriage return would begin another row, since csv does not quote it.
    cell = cell.replace("\r\n", "\n").replace("\r", "\n") if "\r" in cell else cell
    is_formula = cell.startswith(FORMULA_STARTS) and not _HARMLESS.fullmatch(cell)
    return f"'{cell}" if is_formula else cell
