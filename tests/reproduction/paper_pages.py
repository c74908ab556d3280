"""What was measured of the papers, beside their figures, as pages in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from core.json_reading import read_as
from core.writing import whole_file
from tests.reproduction.tables import (
    PAPER,
    REPRODUCTIONS,
    SENTENCE,
    Cells,
    Reproduction,
    cell_text,
    reproduction,
)

FOLDER = Path(__file__).parent / "results"
NOTHING = "–"


@dataclass(frozen=True)
class MeasuredResult:
    name: str
    rows: tuple[Cells, ...]
    seconds: float | None
    versions: dict[str, str]  # {package: version}


def load_result(name: str, folder: Path = FOLDER) -> MeasuredResult | None:
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


# {key of a page: (title, prefix of the names of its tables)}
BY_PAPER = {
    "papers-foo": ("Foo, Do and Ng 2009: penalties by majorization-minimization", "foo-"),
    "papers-do": ("Do, Foo and Ng 2008: penalties by the implicit gradient", "do-"),
    "papers-brofos": ("Brofos 2013: Gaussian processes that explore", "brofos-"),
    "papers-yogatama": ("Yogatama and Mann 2014: learning from earlier datasets", "yogatama-"),
    "papers-mcinerney": ("McInerney 2017: averages of settings (EB-Hyp)", "mcinerney-"),
    "papers-averages": ("Averages of settings on tables", "averages-"),
}
_HEADING = re.compile(r"^#+ (.+?) \{#([\w-]+)\}$", re.M)
INTRODUCTION = (
    "# The papers, measured again\n\n"
    "The strategies come from five papers. Every table and figure of theirs that can be measured "
    "was measured with this program: all seeds, all folds, on every file of theirs that could be "
    "had; where something was not waited for, its table says so. Where a figure stands beside one "
    "of the paper, it is read “ours / the paper’s (difference)”; a × is a quotient. The commands "
    "are those of a checkout of the program's source."
)


def paper_pages() -> dict[str, str]:
    """{key: Markdown} of the page of every paper."""
    pages = {}
    for key, (title, beginning) in BY_PAPER.items():
        sections = chain.from_iterable(map(_table_section, _reproductions_of(beginning)))
        pages[key] = "\n\n".join([f"# {title}", *sections]) + "\n"
    return pages


def overview() -> str:
    """Markdown of the page of all claims."""
    paragraphs = [INTRODUCTION]
    for key, (title, beginning) in BY_PAPER.items():
        lines = [f"## [{title}](#{key})", "", "| | The claim | Here |", "| --- | --- | --- |"]
        for entry in _reproductions_of(beginning):
            verdict_text = f"**{entry.judgement}**. {entry.finding}"
            link = f"[{_short_title(entry)}](#{entry.name})"
            lines.append(f"| {link} | {entry.claim} | {verdict_text} |")
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"


def help_files() -> dict[str, str]:
    """{path in resources/help: Markdown} of the pages that the program's help has."""
    pages = {f"papers/{key}.md": text for key, text in paper_pages().items()}
    return {"papers.md": overview(), **pages}


@cache
def repository_page() -> str:
    deeper = [re.sub(r"^#", "##", page, flags=re.M) for page in paper_pages().values()]
    markdown = "\n".join([overview(), *deeper])
    anchors = {key: _heading_anchor(words) for words, key in _HEADING.findall(markdown)}
    anchors |= {key: _heading_anchor(title) for key, (title, _) in BY_PAPER.items()}
    # The overview's headings are links to the papers, whose own headings are the same words.
    markdown = re.sub(r"^## \[(.+?)\]\(#[\w-]+\)$", r"**\1**", markdown, flags=re.M)
    markdown = re.sub(r"\]\(#([\w-]+)\)", lambda link: f"](#{anchors[link[1]]})", markdown)
    return re.sub(r" \{#[\w-]+\}", "", markdown)


def _heading_anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _reproductions_of(beginning: str) -> list[Reproduction]:
    return [entry for name, entry in REPRODUCTIONS.items() if name.startswith(beginning)]


def _short_title(entry: Reproduction) -> str:
    """“table 1” of “Foo 2009, table 1: linear regression …”."""
    match = re.search(r", ((?:table|figure) \w+):", entry.title)
    return match[1] if match else entry.name


def _table_section(entry: Reproduction) -> Iterator[str]:
    measurement = load_result(entry.name)
    yield f"## {entry.title} {{#{entry.name}}}"
    yield f"{entry.claim} Here it **{entry.judgement}**. {entry.finding}"
    yield f"    {command(entry)}"
    if measurement is not None:
        yield from (_markdown(table) for table in result_tables(measurement))
        if remarks := [f"- {sentence}" for sentence in sentences(measurement)]:
            yield "\n".join(remarks)
    if entry.causes:
        yield "**Why figures differ.**"
        yield "\n".join(f"- {cause}" for cause in entry.causes)
    if measurement is not None:
        yield _measurement_text(measurement)


def command(entry: Reproduction) -> str:
    data = " --data DIR" if entry.takes_data else ""
    return f".venv/bin/python -m tests.reproduction {entry.name}{data}"


def _measurement_text(measurement: MeasuredResult) -> str:
    took = f" in {measurement.seconds:,.0f} s" if measurement.seconds else ""
    with_what = ", ".join(f"{name} {version}" for name, version in measurement.versions.items())
    return f"Measured{took} with {with_what}."


def _markdown(table: ResultTable) -> str:
    lines = ["| " + " | ".join(name or " " for name in table.headings) + " |"]
    lines.append("|" + " --- |" * len(table.headings))
    for row in table.rows:
        lines.append("| " + " | ".join(text or NOTHING for text in row) + " |")
    return "\n".join(lines)
