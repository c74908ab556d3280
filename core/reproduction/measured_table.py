"""A table that is measured row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Cells = Mapping[str, Any]
Measure = Callable[[Path | None, bool], Iterator[Cells | str]]
PAPER = " (paper)"  # ends the heading of a printed figure; ours has the heading without it
SENTENCE = "in words"  # the heading of a sentence


@dataclass(frozen=True)
class TableRow:
    """One row, {heading: value}, and widths of columns."""

    cells: Cells
    widths: Mapping[str, int]

    def header_line(self) -> str:
        """The headings over the cells."""
        return "  ".join(f"{name:>{self._column_width(name)}}" for name in self.cells)

    def cell_line(self) -> str:
        """The cells as one line."""
        shown = {name: cell_text(value) for name, value in self.cells.items()}
        return "  ".join(f"{text:>{self._column_width(name)}}" for name, text in shown.items())

    def as_dict(self) -> dict[str, object]:
        """The plain cells."""
        return dict(self.cells)

    def _column_width(self, name: str) -> int:
        return max(len(name), self.widths.get(name, 9))


def cell_text(value: Any) -> str:
    """A cell as text; numbers with four significant digits."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Reproduction:
    """One table of a paper."""

    name: str  # on the command line
    title: str
    needs_data: bool  # whether it needs a folder with datasets
    measure: Measure  # (folder or None, quick) -> cells by row, and sentences of progress
    closing: str = ""  # what to mind when comparing
    widths: Mapping[str, int] | None = None  # of columns of more than nine characters
    keeps_runs: bool = False  # whether it can be stopped and continued
    factors: tuple[str, ...] = ()  # columns compared by quotient
    beside: tuple[str, ...] = ()  # columns of ours alone that belong beside the paper's
    takes_data: bool = True  # whether a folder with datasets changes what is measured

    def measure_rows(self, folder: Path | None, quick: bool) -> Iterator[TableRow | str]:
        """The rows, with sentences of progress in between."""
        for cells in self.measure(folder, quick):
            yield cells if isinstance(cells, str) else TableRow(cells, self.widths or {})
