"""`tunescope help`: the help in the terminal, or as HTML."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.parsing.parser import did_you_mean
from core.errors import UnusableError


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser("help", help="read the help, or write it as HTML pages")
    help_text = "a page to print (default: list them)"
    command.add_argument("page", nargs="?", default="", metavar="PAGE", help=help_text)
    help_text = "write every page into this folder as HTML"
    command.add_argument("--html", default="", metavar="FOLDER", help=help_text)
    command.set_defaults(run=run_help)


def run_help(arguments: argparse.Namespace) -> int:
    """Write the folder, print a page, or list them."""
    from app.help.help_pages import page_of, pages_by_key
    from app.help.html_folder import write_help

    if arguments.html:
        print(write_help(Path(arguments.html)))
        return 0
    if arguments.page:
        page = page_of(arguments.page)
        if page is None:
            suggestion = did_you_mean(arguments.page, pages_by_key()).removeprefix("; ").rstrip("?")
            fault = f"there is no page “{arguments.page}”"
            raise UnusableError(fault, where="help", cure=suggestion or "tunescope help lists them")
        print(page.text, end="")
        return 0
    for page in pages_by_key().values():
        print(f"{'    ' if page.parent else ''}{page.key}: {page.title}")
    return 0
