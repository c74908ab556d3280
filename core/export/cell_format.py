"""How the cells of a CSV file are written; carried into exported scripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class CellFormat:
    """How the file that a model was trained on was written, as far as cells depend on it.

    Attributes:
        padded: whether blanks begin cells.
        missing: the words for a missing value, of all columns or {column: words}.
    """

    quote: str
    padded: bool
    decimal: str
    thousands: str | None
    missing: list[str] | dict[str, list[str]]
    encoding: str = ""
    # of the quotes; None for doubled ones
    reading: str | None = field(default=None, metadata={"optional": True})

    def missing_words(self, column: str) -> set[str]:
        """The words for a missing value in a column."""
        words = self.missing
        return set(words.get(column, ()) if isinstance(words, dict) else words)


PLAIN_CELLS = CellFormat('"', padded=False, decimal=".", thousands="", missing=[""])


def cell_format_of(settings: dict[str, Any]) -> CellFormat:
    """The format that is in a model's settings."""
    return CellFormat(**settings["reading"])
