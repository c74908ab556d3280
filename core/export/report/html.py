"""Parts of a page as HTML text, all of it escaped here, and the page's style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from core.export.report.svg import svg_number
from core.export.spreadsheet_cells import escape_formula
from resources.theme import DARK, LIGHT, Theme

CROWDED = 10  # columns of a table beyond which it is set in small print


def section_card(title: str, question: str, body: str, kind: str = "") -> str:
    """A card with a title and the question that it answers."""
    subtitle = f'<p class="question">{escape(question)}</p>' if question else ""
    return f'<section class="{kind}"><h2>{escape(title)}</h2>{subtitle}{body}</section>'


def paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph a sentence."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)


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
    """A table of `cell_text`, numbers aligned right.

    Args:
        best: the row to highlight.
        row_heads: whether the first cell of a row is its name.
        marked: cells (row, column) to highlight.
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
        return "–" if value != value else svg_number(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(cell_text(element) for element in value)
    # A table can be copied from the page into a spreadsheet.
    return str(escape_formula(str(value)))


def _is_numeric(values: list[Any]) -> bool:
    present_values = [value for value in values if value is not None]
    # Truth values are written as words.
    numbers = [v for v in present_values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return bool(present_values) and len(numbers) == len(present_values)


def _class_attribute(number: bool, marked: bool = False) -> str:
    kinds = [kind for kind, on in (("number", number), ("right", marked)) if on]
    return f' class="{" ".join(kinds)}"' if kinds else ""


_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--canvas); color: var(--ink); line-height: 1.5;
  font: 15px/1.5 Inter, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 17px; margin: 0; }
p { margin: 0 0 8px; max-width: 75ch; }
.lead { color: var(--muted); font-size: 16px; margin-bottom: 20px; }
.question { color: var(--muted); font-size: 13px; margin: 0 0 10px; }
.cards { display: flex; flex-wrap: wrap; gap: 16px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px 18px; flex: 1 1 100%; min-width: 0; }
section.half { flex: 1 1 45%; }
section.wide { flex: 7 1 50%; } section.narrow { flex: 5 1 34%; }
.facts { display: flex; flex-wrap: wrap; gap: 8px 36px; margin: 10px 0 14px; }
.facts div { min-width: 90px; } .facts dt { color: var(--muted); font-size: 13px; }
.facts dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 60%; margin-top: 4px;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 20px 5px 8px; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; font-size: 13px; color: var(--muted); }
tbody th { white-space: nowrap; color: var(--ink); font-weight: 400; font-size: inherit; }
td.number, th.number { text-align: right; }
tr.best td { font-weight: 600; }
.fitted th, .fitted td { padding: 5px 10px 5px 0; } .fitted table { width: 100%; }
.fitted tbody th { white-space: normal; }
.tight th, .tight td { padding: 4px 6px; font-size: 12px; white-space: nowrap; }
.crowded th, .crowded td { padding: 4px 8px 4px 0; font-size: 12px; }
.crowded th { overflow-wrap: anywhere; min-width: 6ch; }
.right { background: var(--selected); font-weight: 600; }
details { margin-top: 10px; } summary { cursor: pointer; color: var(--accent); font-size: 14px; }
summary:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
footer { color: var(--muted); font-size: 13px; margin-top: 20px; }
svg { display: block; width: 100%; height: auto; margin: 0 auto; overflow: visible; }
svg text { font-size: 12px; fill: var(--muted); paint-order: stroke; stroke: var(--paper);
  stroke-width: 3px; }
svg .name { fill: var(--ink); } svg .label { font-size: 12.5px; }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--control); }
svg .curve { fill: none; stroke-linejoin: round; }
svg .dashed { stroke: var(--control); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg .hatched { fill: var(--line); stroke: var(--control); stroke-dasharray: 3 3; }
svg .arc { fill: none; stroke-width: 1.6; } svg .apart { stroke-dasharray: 4 3; }
svg .token { fill: var(--canvas); stroke: var(--line); }
svg .missed { fill: var(--canvas); stroke: var(--bad); stroke-width: 1.5; }
svg .base { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; fill: var(--ink); }
svg .wrong { fill: var(--bad); font-weight: 600; }
@media screen and (max-width: 760px) {
  section.half, section.wide, section.narrow { flex-basis: 100%; }
}
"""

_PRINT = """
@page { margin: 15mm; }
@media print {
  body { background: #fff; font-size: 10pt; } main { max-width: none; padding: 0; }
  main > .cards { display: block; } .cards > section { margin-bottom: 12px; }
  .cards > div { flex: 1 1 40%; }
  section { break-inside: avoid; } section.long { break-inside: auto; }
  section > svg { max-width: 460px; } h2, .question { break-after: avoid; }
  .scroll { overflow: visible; } .scroll table { font-size: 8.5pt; }
  .scroll th, .scroll td { padding: 3px 6px 3px 3px; font-size: inherit; }
  .scroll.crowded table { font-size: 6.5pt; } .crowded th { white-space: normal; }
  tr { break-inside: avoid; } thead { display: table-header-group; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def style_sheet() -> str:
    """Plain CSS; paper is always light."""
    light, dark = _variables(LIGHT), _variables(DARK)
    roles = "".join(
        f"svg .s-{role} {{ stroke: var(--{role}); }} svg .f-{role} {{ fill: var(--{role}); }}\n"
        for role in _colours(LIGHT)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"{_RULES}{roles}svg .f-none {{ fill: none; }} svg .s-none {{ stroke: none; }}\n{_PRINT}"
    )


def _variables(theme: Theme) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in _colours(theme).items())


def _colours(theme: Theme) -> dict[str, str]:
    names = ("ink", "muted", "line", "control", "paper", "canvas", "accent", "selected", "bad")
    colours = {name: getattr(theme, name) for name in (*names, "focus", "model", "observed")}
    colours |= {f"series{i}": colour for i, colour in enumerate(theme.series)}
    return colours
