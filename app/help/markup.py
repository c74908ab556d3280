"""The help's Markdown as HTML.

It has headings with an anchor “{#name}”, paragraphs, lists, tables, pictures, bold, italics, code
and links.
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


def page_html(text: str, link: Link = lambda to: to) -> str:
    """The body of a page; `link` maps “#anchor” or an address to an address."""
    return "\n".join(_block_html(lines, link) for lines in _line_blocks(text))


def without_markup(text: str) -> str:
    """The text without markup."""
    bare = re.sub(r"!\[[^\]]*\]\([^)]*\)|\{#[\w.-]+\}|^\|[ \-|]*\|$|[|#*`]", " ", text, flags=re.M)
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", bare).split())


def _line_blocks(text: str) -> Iterator[list[str]]:
    """Lines up to a blank line, or a line of another kind."""
    block: list[str] = []
    for line in text.split("\n"):
        apart = not line.strip() or line.startswith("#") or line.startswith("**")
        goes_on = bool(block) and line.startswith("  ") and _line_kind(block[0]) in ("ul", "ol")
        if block and not goes_on and (apart or _line_kind(line) != _line_kind(block[0])):
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _line_kind(line: str) -> str:
    if line.startswith("|"):
        return "table"
    if line.startswith("- "):
        return "ul"
    if line.startswith("    "):
        return "pre"
    return "ol" if _NUMBERED.match(line) else "p"


def _block_html(lines: list[str], link: Link) -> str:
    first = lines[0]
    if heading := _HEADING.match(first):
        level, identifier = len(heading[1]), heading[3]
        mark = f' id="{identifier}"' if identifier else ""
        anchor = f'<a name="{identifier}"></a>' if identifier else ""  # for QTextBrowser
        return f"<h{level}{mark}>{anchor}{_inline_html(heading[2], link)}</h{level}>"
    if picture := _PICTURE.match(first):
        return f'<p><img src="{escape(picture[2])}" alt="{escape(picture[1])}"></p>'
    match _line_kind(first):
        case "table":
            return _table_html(lines, link)
        case "pre":
            return f"<pre>{escape(chr(10).join(line[4:] for line in lines))}</pre>"
        case "ul" | "ol" as kind:
            return _list_html(lines, kind, link)
    return f"<p>{_inline_html(' '.join(line.strip() for line in lines), link)}</p>"


def _list_html(lines: list[str], kind: str, link: Link) -> str:
    entries: list[str] = []
    for line in lines:
        if line.startswith("  "):
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line.split(" ", 1)[1])
    body = "".join(f"<li>{_inline_html(entry, link)}</li>" for entry in entries)
    return f"<{kind}>{body}</{kind}>"


def _table_html(lines: list[str], link: Link) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    head, body = rows[0], rows[2:]

    def row_html(cells: list[str], tag: str) -> str:
        inside = (f'<{tag} align="left">{_inline_html(cell, link)}</{tag}>' for cell in cells)
        return f"<tr>{''.join(inside)}</tr>"

    content = row_html(head, "th") + "".join(row_html(cells, "td") for cells in body)
    return f'<table cellspacing="0" cellpadding="6">{content}</table>'


def _inline_html(text: str, link: Link) -> str:
    pieces, position = [], 0
    for match in _SPAN.finditer(text):
        pieces.append(escape(text[position : match.start()]))
        code, bold, slanted, words, to = match.groups()
        if code is not None:
            pieces.append(f"<code>{escape(code)}</code>")
        elif bold is not None:
            pieces.append(f"<b>{_inline_html(bold, link)}</b>")
        elif slanted is not None:
            pieces.append(f"<i>{_inline_html(slanted, link)}</i>")
        else:
            pieces.append(f'<a href="{escape(link(to))}">{escape(words)}</a>')
        position = match.end()
    return "".join(pieces) + escape(text[position:])
