"""The help's Markdown as HTML: CommonMark with tables, and headings with an anchor “{#name}”."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ANCHOR = re.compile(r" *\{#([\w.-]+)\}$")

Link = Callable[[str], str]


def page_html(text: str, link: Link = lambda to: to) -> str:
    """The body of a page; `link` maps “#anchor” or an address to an address."""
    parser = _markdown_parser()
    tokens = parser.parse(text)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            _set_anchor(token, tokens[index + 1])
        elif token.type == "table_open":
            # Qt's rich text knows no CSS for these.
            token.attrs |= {"cellspacing": "0", "cellpadding": "6"}
        elif token.type == "th_open":
            # Qt centres the heads of tables.
            token.attrs["align"] = "left"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = link(str(child.attrs["href"]))
    return str(parser.renderer.render(tokens, parser.options, {})).strip()


@cache
def without_markup(text: str) -> str:
    """The words of a text, without markup, anchors and pictures."""
    pieces = []
    for token in _markdown_parser().parse(text):
        children = [child for child in token.children or () if child.type != "image"]
        inline = "".join(" " if child.type == "softbreak" else child.content for child in children)
        pieces.append(token.content if token.children is None else _ANCHOR.sub("", inline))
    return " ".join(" ".join(pieces).split())


@cache
def _markdown_parser() -> MarkdownIt:
    # Only now: words of the glossary are looked for in all that is pointed at, and few are shown.
    from markdown_it import MarkdownIt

    # Raw HTML stays text: titles and help of options come from extensions as well.
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _set_anchor(heading: Token, inline: Token) -> None:
    from markdown_it.token import Token

    last = inline.children[-1] if inline.children else None
    match = _ANCHOR.search(last.content) if last else None
    if last is None or match is None or inline.children is None:
        return
    last.content = last.content[: match.start()]
    heading.attrs["id"] = match[1]
    # QTextBrowser scrolls to names of links alone, not to an id.
    anchor = Token("html_inline", "", 0, content=f'<a name="{escape(match[1])}"></a>')
    inline.children.insert(0, anchor)
