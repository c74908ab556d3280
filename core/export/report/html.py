"""Parts of a page as HTML text, all of it escaped here, and the page's style."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from core.export.report.figure_svg import SIZES, figure_svg
from core.export.spreadsheet_cells import escape_formula
from core.figures.figure import Figure
from core.wording import format_value, shortened_text, with_short_names
from resources.theme import LIGHT, css_colours, css_variables

MAX_CELL = 300  # letters of a cell
MAX_COLUMNS = 40  # of the table of a figure
TABLE = "As a table"
CROWDED = 10  # columns of a table beyond which it is set in small print


def section_card(title: str, question: str, body: str, kind: str = "") -> str:
    """A card with a title and the question that it answers."""
    subtitle = f'<p class="question">{escape(with_short_names(question))}</p>' if question else ""
    return f'<section class="{kind}"><h2>{escape(title)}</h2>{subtitle}{body}</section>'


def figure_card(
    question: str, figure: Figure, kind: str = "", *, title: str = "", below: str = ""
) -> str:
    """A card of a figure in the size of its kind, called as it is, with `below` and its table."""
    headers, rows = figure.table()
    table = html_table(headers[:MAX_COLUMNS], [row[:MAX_COLUMNS] for row in rows])
    body = figure_svg(figure, *SIZES[kind]) + below
    return section_card(title or figure.title, question, body + collapsible(TABLE, table), kind)


def paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph a sentence."""
    texts = map(with_short_names, filter(None, sentences))
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def fact_list(pairs: Mapping[str, str]) -> str:
    """Names with large values below."""
    rows = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in pairs.items())
    return f'<dl class="facts">{"".join(rows)}</dl>'


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    best: int = -1,
    row_heads: bool = False,
    marked: frozenset[tuple[int, int]] = frozenset(),
) -> str:
    """A table of `cell_text`, numbers aligned right, row `best` and cells `marked` highlighted.

    `row_heads`: whether the first cell of a row is its name.
    """
    rows = [list(row) for row in rows]
    numeric = [_is_numeric([row[i] for row in rows]) for i in range(len(header))]
    head = "".join(
        f'<th scope="col"{_class_attribute(number)}>{escape(cell_text(name))}</th>'
        for name, number in zip(header, numeric, strict=True)
    )
    body = []
    for r, row in enumerate(rows):
        cells = [
            f'<th scope="row">{escape(cell_text(value))}</th>'
            if row_heads and c == 0
            else f"<td{_class_attribute(numeric[c], (r, c) in marked)}>"
            f"{escape(cell_text(value))}</td>"
            for c, value in enumerate(row)
        ]
        kind = ' class="best"' if r == best else ""
        body.append(f"<tr{kind}>{''.join(cells)}</tr>")
    named = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    kind = "scroll crowded" if len(header) > CROWDED else "scroll"
    return f'<div class="{kind}"><table>{named}<tbody>{"".join(body)}</tbody></table></div>'


def collapsible(summary: str, body: str) -> str:
    """A body that opens on demand."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def inline_code(text: str) -> str:
    """Machine text in a line."""
    return f"<code>{escape(text)}</code>"


def cell_text(value: Any) -> str:
    """A value in a cell of a table."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return format_value(value, 4)
    if isinstance(value, (list, tuple)):
        return ", ".join(cell_text(element) for element in value)
    # A table can be copied from the page into a spreadsheet.
    text = str(value)
    return str(escape_formula(text if len(text) <= MAX_CELL else shortened_text(text, MAX_CELL)))


def _is_numeric(values: list[Any]) -> bool:
    present_values = [value for value in values if value is not None]
    # Truth values are written as words.
    numbers = [v for v in present_values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return bool(present_values) and len(numbers) == len(present_values)


def _class_attribute(number: bool, marked: bool = False) -> str:
    kinds = [kind for kind, on in (("number", number), ("right", marked)) if on]
    return f' class="{" ".join(kinds)}"' if kinds else ""


def style_sheet() -> str:
    """Plain CSS; paper is always light."""
    rules = (files("resources") / "report.css").read_text(encoding="utf-8")
    roles = (
        f"svg .s-{role} {{ stroke: var(--{role}); }} svg .f-{role} {{ fill: var(--{role}); }}\n"
        for role in css_colours(LIGHT)
    )
    return "".join([css_variables(), rules, *roles])


def svg_file(figure: Figure, kind: str = "") -> str:
    """A figure in the size of a card's kind as a file of its own: dark on white, everywhere."""
    colours = css_colours(LIGHT)
    rules = "".join(re.findall(r"svg ([^{}]+\{[^}]*\})", style_sheet()))
    rules = re.sub(r"var\(--(\w+)\)", lambda match: colours[match[1]], rules)
    # A halo of letters would hide them where programs paint outlines last.
    rules = re.sub(r"paint-order[^}]*", "", rules)
    return figure_svg(figure, *SIZES[kind], f"text {{ font-family: sans-serif; }} {rules}")
