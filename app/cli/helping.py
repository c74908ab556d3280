"""`tunescope help`: the window's help in the terminal, or as a folder of HTML pages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.parsing.parser import did_you_mean
from core.errors import UnusableError


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser("help", help="read the help, or write it as HTML pages")
    command.add_argument(
        "page", nargs="?", default="", metavar="PAGE", help="a page to print (default: list them)"
    )
    command.add_argument(
        "--html", default="", metavar="FOLDER", help="write every page into this folder as HTML"
    )
    command.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write the folder, print a page, or list them."""
    from app.help.folder import write
    from app.help.pages import page_of, pages

    if given.html:
        print(write(Path(given.html)))
        return 0
    if given.page:
        page = page_of(given.page)
        if page is None:
            meant = did_you_mean(given.page, pages()).removeprefix("; ").rstrip("?")
            raise UnusableError(
                f"there is no page “{given.page}”",
                where="help",
                cure=meant or "tunescope help lists them",
            )
        print(page.text, end="")
        return 0
    for page in pages().values():
        print(f"{'    ' if page.parent else ''}{page.key}: {page.title}")
    return 0
