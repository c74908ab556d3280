"""The help's Markdown as HTML, for the dialog and for the folder of pages alike.

Headings with a place “{#place}”, paragraphs, lists, tables, pictures that stand alone, bold, code,
and links: the little that the help is written in. All else is text and stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

_HEADING = re.compile(r"(#{1,3}) (.*?)(?: \{#([\w.-]+)\})?$")
_PICTURE = re.compile(r"!\[(.*?)\]\((\S+?)\)$")
_NUMBERED = re.compile(r"\d+\. ")
_SPAN = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*|\[([^\]]+)\]\(([^)\s]+)\)")

Link = Callable[[str], str]


def html(text: str, link: Link = lambda to: to) -> str:
    """The body of a page.

    Args:
        text: Markdown.
        link: where a link leads, given what stands in it (“#place” or an address).
    """
    return "\n".join(_block(lines, link) for lines in _blocks(text))


def plain(text: str) -> str:
    """The words alone, for searching."""
    bare = re.sub(r"!\[[^\]]*\]\([^)]*\)|\{#[\w.-]+\}|^\|[ \-|]*\|$|[|#*`]", " ", text, flags=re.M)
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", bare).split())


def _blocks(text: str) -> Iterator[list[str]]:
    """Lines that belong together: up to a blank line, or a line of another kind."""
    block: list[str] = []
    for line in text.split("\n"):
        apart = not line.strip() or line.startswith("#") or line.startswith("**")
        goes_on = bool(block) and line.startswith("  ") and _kind(block[0]) in ("ul", "ol")
        if block and not goes_on and (apart or _kind(line) != _kind(block[0])):
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _kind(line: str) -> str:
    if line.startswith("|"):
        return "table"
    if line.startswith("- "):
        return "ul"
    if line.startswith("    "):
        return "pre"
    return "ol" if _NUMBERED.match(line) else "p"


def _block(lines: list[str], link: Link) -> str:
    first = lines[0]
    if heading := _HEADING.match(first):
        level, place = len(heading[1]), heading[3]
        mark = f' id="{place}"' if place else ""
        anchor = f'<a name="{place}"></a>' if place else ""  # what Qt's browser knows
        return f"<h{level}{mark}>{anchor}{_spans(heading[2], link)}</h{level}>"
    if picture := _PICTURE.match(first):
        return f'<p><img src="{escape(picture[2])}" alt="{escape(picture[1])}"></p>'
    match _kind(first):
        case "table":
            return _table(lines, link)
        case "pre":
            return f"<pre>{escape(chr(10).join(line[4:] for line in lines))}</pre>"
        case "ul" | "ol" as kind:
            return _list(lines, kind, link)
    return f"<p>{_spans(' '.join(line.strip() for line in lines), link)}</p>"


def _list(lines: list[str], kind: str, link: Link) -> str:
    items: list[str] = []
    for line in lines:
        if line.startswith("  "):
            items[-1] += f" {line.strip()}"
        else:
            items.append(line.split(" ", 1)[1])
    return f"<{kind}>{''.join(f'<li>{_spans(item, link)}</li>' for item in items)}</{kind}>"


def _table(lines: list[str], link: Link) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    head, body = rows[0], rows[2:]

    def row(cells: list[str], tag: str) -> str:
        inside = "".join(f'<{tag} align="left">{_spans(cell, link)}</{tag}>' for cell in cells)
        return f"<tr>{inside}</tr>"

    table = '<table cellspacing="0" cellpadding="6">'
    return f"{table}{row(head, 'th')}{''.join(row(cells, 'td') for cells in body)}</table>"


def _spans(text: str, link: Link) -> str:
    """Bold, code and links inside a line; the rest letter by letter."""
    made, at = [], 0
    for found in _SPAN.finditer(text):
        made.append(escape(text[at : found.start()]))
        code, bold, slanted, words, to = found.groups()
        if code is not None:
            made.append(f"<code>{escape(code)}</code>")
        elif bold is not None:
            made.append(f"<b>{_spans(bold, link)}</b>")
        elif slanted is not None:
            made.append(f"<i>{_spans(slanted, link)}</i>")
        else:
            made.append(f'<a href="{escape(link(to))}">{escape(words)}</a>')
        at = found.end()
    return "".join(made) + escape(text[at:])
