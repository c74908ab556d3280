"""`tunescope reproduce`: a table or figure of the papers, theirs beside ours."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from app.cli import cluster
from app.cli.parsing.closing import reproductions_in_words
from app.cli.progress import ProgressLine


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    reproduce = commands.add_parser(
        "reproduce",
        help="a table of the papers, theirs beside ours",
        closing=reproductions_in_words,
    )
    reproduce.add_argument("name", metavar="NAME", help="one of those below")
    reproduce.add_argument("--data", metavar="DIR", help="the folder with the datasets")
    reproduce.add_argument("--quick", action="store_true", help="fewer seeds, smaller data")
    reproduce.add_argument("--json", action="store_true", help="print the rows as JSON")
    cluster.add_to(reproduce)
    reproduce.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Measure and print the table row by row."""
    from core.reproduction.pool import on_cluster

    with cluster.connected(given) as connection, on_cluster(connection):
        return _printed(given)


def _printed(given: argparse.Namespace) -> int:
    from core.reproduction.checkpoint import kept_folder
    from core.reproduction.registry import reproduction

    chosen = reproduction(given.name)
    folder = Path(given.data) if given.data else None
    rows: list[Any] = []
    headers: list[str] = []
    progress = ProgressLine(sys.stderr)
    for row in chosen.rows(folder, given.quick):
        if isinstance(row, str):
            progress.tell(row)
            continue
        progress.close()
        rows.append(row)
        if given.json:
            continue
        if not headers:
            print(chosen.title)
        if row.header() not in headers:  # a second table in the same figure
            headers.append(row.header())
            print(f"\n{row.header()}")
        print(row.line())
        sys.stdout.flush()
    if given.json:
        print(json.dumps([row.as_dict() for row in rows]))
    elif chosen.closing:
        print(f"\n{chosen.closing}")
    if chosen.kept and not given.json:
        print(f"\nFinished runs are kept in {kept_folder()}; remove it to measure anew.")
    return 0
