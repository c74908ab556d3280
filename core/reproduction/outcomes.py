"""The last full results of every table, beside the paper's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.json_reading import read_as
from core.reproduction.measured_table import PAPER, SENTENCE, Cells, cell_text
from core.reproduction.registry import reproduction
from core.writing import whole_file

FOLDER = Path(__file__).parents[2] / "resources" / "reproductions"
NOTHING = "–"


@dataclass(frozen=True)
class MeasuredResult:
    """A table or figure as measured."""

    name: str
    rows: tuple[Cells, ...]
    seconds: float | None
    versions: dict[str, str]  # {package: version}


def load_result(name: str, folder: Path = FOLDER) -> MeasuredResult | None:
    """The stored result of a reproduction, or None."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    return read_as(MeasuredResult, json.loads(path.read_text(encoding="utf-8")))


def save_result(result: MeasuredResult, folder: Path = FOLDER) -> Path:
    """Write a result; the path of its file."""
    path = folder / f"{result.name}.json"
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class ResultTable:
    """Rows with the same headings, as texts; “ours / theirs (difference)”."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    compared: bool  # whether the paper has any of its figures


def result_tables(result: MeasuredResult) -> Iterator[ResultTable]:
    """The tables of a result, without sentences."""
    about = reproduction(result.name)
    groups: dict[tuple[str, ...], list[Cells]] = {}
    for cells in result.rows:
        if SENTENCE not in cells:
            groups.setdefault(tuple(cells), []).append(cells)
    for names, rows in groups.items():
        pairs = [name for name in names if name + PAPER in names]
        columns = _columns(names, pairs, about.beside) if pairs else list(names)
        columns = [name for name in columns if any(_has_figure(row, name) for row in rows)]
        texts = tuple(
            tuple(_comparison_text(row, name, name in about.factors) for name in columns)
            for row in rows
        )
        yield ResultTable(tuple(columns), texts, bool(pairs))


def sentences(result: MeasuredResult) -> Iterator[str]:
    """The sentences of a result."""
    return (cells[SENTENCE] for cells in result.rows if SENTENCE in cells)


def _columns(names: Sequence[str], pairs: Sequence[str], beside: Sequence[str]) -> list[str]:
    first = min(min(names.index(name), names.index(name + PAPER)) for name in pairs)
    return [*names[:first], *(name for name in names[first:] if name in (*pairs, *beside))]


def _has_figure(row: Cells, name: str) -> bool:
    return row[name] is not None or row.get(name + PAPER) is not None


def _comparison_text(row: Cells, name: str, as_factor: bool) -> str:
    ours = cell_text(row[name])
    if row.get(name + PAPER) is None:
        return ours
    theirs = row[name + PAPER]
    return f"{ours} / {cell_text(theirs)}{_difference(row[name], theirs, as_factor)}"


def _difference(ours: Any, theirs: Any, as_factor: bool) -> str:
    """Our excess, or our multiple; "" between words."""
    a, b = _parse_number(ours), _parse_number(theirs)
    if a is None or b is None:
        return ""
    if as_factor:
        return f" (× {a / b:.3g})" if b else ""
    return f" ({a - b:+.3g})"


def _parse_number(value: Any) -> float | None:
    try:
        return float(str(value).split(" (")[0])  # “126.2 (limit)”
    except ValueError:
        return None
