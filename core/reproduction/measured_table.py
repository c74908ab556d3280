"""A table that is measured row by row, each cell under its heading."""

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
    """One row: {heading: value}; `width` of every column is fixed by the table."""

    cells: Cells
    widths: Mapping[str, int]

    def header_line(self) -> str:
        """The headings over the cells."""
        return "  ".join(f"{name:>{self._column_width(name)}}" for name in self.cells)

    def cell_line(self) -> str:
        """The cells; numbers with four significant digits, nothing for None."""
        shown = {name: cell_text(value) for name, value in self.cells.items()}
        return "  ".join(f"{text:>{self._column_width(name)}}" for name, text in shown.items())

    def as_dict(self) -> dict[str, object]:
        """The plain cells."""
        return dict(self.cells)

    def _column_width(self, name: str) -> int:
        return max(len(name), self.widths.get(name, 9))


def cell_text(value: Any) -> str:
    """A cell as text."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Reproduction:
    """One table of a paper.

    Attributes:
        name: on the command line.
        title: what it is and where it comes from.
        needs_data: whether it needs a folder with datasets.
        measure: (folder or None, quick) -> the cells, row by row; in between, where it takes long,
            sentences that say how far it is.
        closing: what to bear in mind when comparing.
        widths: of columns that need more than nine characters.
        keeps_runs: whether finished runs are kept, so that it can be stopped and gone on with.
        factors: columns whose two figures are compared by their quotient, as penalties are.
        beside: columns of ours alone that belong beside the paper's.
        takes_data: whether a folder with datasets changes what is measured.
    """

    name: str
    title: str
    needs_data: bool
    measure: Measure
    closing: str = ""
    widths: Mapping[str, int] | None = None
    keeps_runs: bool = False
    factors: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    takes_data: bool = True

    def measure_rows(self, folder: Path | None, quick: bool) -> Iterator[TableRow | str]:
        """Measure the table: its rows, and sentences on the way to them."""
        for cells in self.measure(folder, quick):
            yield cells if isinstance(cells, str) else TableRow(cells, self.widths or {})
