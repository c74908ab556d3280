"""The help as a folder of HTML pages."""

import json
import shutil
from html import escape
from pathlib import Path

from app.help.glossary import FOLDER
from app.help.help_pages import PICTURES, HelpPage, page_of, pages_by_key
from app.help.page_html import page_html, without_markup
from core.errors import UnusableError, write_error
from core.writing import write_whole
from resources.theme import css_variables

INDEX = "index.html"
_OURS = '<meta name="generator" content="Tunescope help">'


def write_help(folder: Path) -> Path:
    """Write pages, pictures and an index, whose path is returned, to an empty or own folder."""
    try:
        _check_folder(folder)
        (folder / "pictures").mkdir(parents=True, exist_ok=True)
        for picture in sorted(PICTURES.glob("*.png")):
            shutil.copyfile(picture, folder / "pictures" / picture.name)
        for page in pages_by_key().values():
            up = page_of(page.parent) if page.parent else None
            above = f' · <a href="{file_of(up)}">{escape(up.title)}</a>' if up else ""
            nav = f'<nav><a href="{INDEX}">Help of Tunescope</a>{above}</nav>'
            document = _html_document(page.title, f"{nav}\n{page_html(page.text, address)}")
            write_whole(folder / file_of(page), document)
        write_whole(folder / INDEX, _index_document())
    except OSError as error:
        cure = "choose a folder that you may write to"
        raise write_error("the help", str(folder), error, cure=cure) from error
    return folder / INDEX


def _check_folder(folder: Path) -> None:
    index, has_files = folder / INDEX, folder.exists() and any(folder.iterdir())
    # Earlier pages of ours may be replaced, a person's files never.
    if has_files and not (index.is_file() and _OURS.encode() in index.read_bytes()[:2000]):
        raise UnusableError(
            "the folder holds other files", where=str(folder), cure="give a new or an empty one"
        )


def file_of(page: HelpPage) -> str:
    """The file name of a page."""
    return f"{page.key}.html"


def address(link: str) -> str:
    """The address of a link in the folder."""
    if not link.startswith("#"):
        return link
    page = page_of(link[1:])
    if page is None:
        return INDEX
    return file_of(page) + (link if link[1:] != page.key else "")


def _index_document() -> str:
    items, open_list = [], False
    pages = pages_by_key().values()
    for page in pages:
        if bool(page.parent) != open_list:
            items.append("</ul>" if open_list else "<ul>")
            open_list = bool(page.parent)
        items.append(f'<li><a href="{file_of(page)}">{escape(page.title)}</a></li>')
    # A text that holds “</script>” would end the script.
    search_index = [[file_of(page), page.title, without_markup(page.text)] for page in pages]
    data = json.dumps(search_index, ensure_ascii=False).replace("</", "<\\/")
    script = (FOLDER / "search.js").read_text(encoding="utf-8")
    body = f"""<h1>Help of Tunescope</h1>
<div id="searching" hidden><label for="search">Search</label>
<input id="search" type="search" autocomplete="off">
<p id="said" role="status"></p><ul id="found" class="found"></ul></div>
<div id="all"><ul>{"".join(items)}{"</ul>" if open_list else ""}</ul></div>
<script>const pages = {data};
{script}</script>"""
    return _html_document("Help of Tunescope", body)


def _html_document(title: str, body: str) -> str:
    style = css_variables() + (FOLDER / "page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{_OURS}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} – Tunescope</title>
<style>{style}</style>
</head>
<body><main>
{body}
</main></body>
</html>
"""
