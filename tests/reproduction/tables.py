"""Tables of papers that are measured row by row, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from core.errors import UnusableError, nearest_names_cure
from core.json_reading import read_as

Cells = Mapping[str, Any]
# (folder or None, quick) -> cells by row, and sentences of progress
Measure = Callable[[Path | None, bool], Iterator[Cells | str]]
PAPER = " (paper)"  # ends the heading of a printed figure; ours has the heading without it
SENTENCE = "in words"  # the heading of a sentence
JUDGEMENTS = ("holds", "holds in part", "does not hold")


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
    measure: str  # "module:function" of this folder; the function is a `Measure`
    claim: str  # of the paper, one sentence
    judgement: str  # holds, in part, or not
    finding: str  # here, one or two sentences
    causes: tuple[str, ...] = ()  # of differences, a sentence each
    closing: str = ""  # what to mind when comparing
    widths: dict[str, int] | None = None  # of columns of more than nine characters
    keeps_runs: bool = False  # whether it can be stopped and continued
    factors: tuple[str, ...] = ()  # columns compared by quotient
    beside: tuple[str, ...] = ()  # columns of ours alone that belong beside the paper's
    takes_data: bool = True  # whether a folder with datasets changes what is measured

    def measure_rows(self, folder: Path | None, quick: bool) -> Iterator[TableRow | str]:
        """The rows, with sentences of progress in between."""
        # Only now: the modules import models and samplers, which the pages do without.
        module_name, _, function = self.measure.partition(":")
        measure: Measure = getattr(import_module(f"{__package__}.{module_name}"), function)
        for cells in measure(folder, quick):
            yield cells if isinstance(cells, str) else TableRow(cells, self.widths or {})


def _read_tables() -> Iterator[Reproduction]:
    for plain in json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8")):
        plain["closing"] = "\n".join(plain.get("closing", ()))
        yield read_as(Reproduction, plain)


REPRODUCTIONS: dict[str, Reproduction] = {entry.name: entry for entry in _read_tables()}


def reproduction(name: str) -> Reproduction:
    """One reproduction by its name.

    Raises:
        UnusableError: there is none.
    """
    if name not in REPRODUCTIONS:
        cure = nearest_names_cure(REPRODUCTIONS, name)
        raise UnusableError(f"there is no reproduction “{name}”", cure=cure)
    return REPRODUCTIONS[name]
