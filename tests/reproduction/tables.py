"""Tables of papers that are measured row by row, by name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean, stdev
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
        return "  ".join(f"{name:>{self._column_width(name)}}" for name in self.cells)

    def cell_line(self) -> str:
        shown = {name: cell_text(value) for name, value in self.cells.items()}
        return "  ".join(f"{text:>{self._column_width(name)}}" for name, text in shown.items())

    def as_dict(self) -> dict[str, object]:
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


@cache
def printed_figures(name: str) -> dict[str, Any]:
    """The rows of a table as the paper prints them; the file says what their columns are."""
    path = Path(__file__).with_name("printed_figures.json")
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))[name]["rows"]
    return rows


def _read_tables() -> Iterator[Reproduction]:
    for plain in json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8")):
        plain["closing"] = "\n".join(plain.get("closing", ()))
        yield read_as(Reproduction, plain)


REPRODUCTIONS: dict[str, Reproduction] = {entry.name: entry for entry in _read_tables()}


def reproduction(name: str) -> Reproduction:
    if name not in REPRODUCTIONS:
        cure = nearest_names_cure(REPRODUCTIONS, name)
        raise UnusableError(f"there is no reproduction “{name}”", cure=cure)
    return REPRODUCTIONS[name]


def paired_difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Mean of first − second over seeds and its standard error s/√n, s with n − 1.

    Pairs of which a value is not finite are left out. The error is nan below two pairs, the mean
    below one. Raises ValueError: the numbers of seeds differ.
    """
    if len(first) != len(second):
        raise ValueError("the two methods were run with different seeds")
    # Without numpy, which the command loads only after it has limited its threads.
    pairs = zip(first, second, strict=True)
    differences = [float(a - b) for a, b in pairs if math.isfinite(a - b)]
    n = len(differences)
    mean = fmean(differences) if n else math.nan
    return mean, stdev(differences) / math.sqrt(n) if n > 1 else math.nan
