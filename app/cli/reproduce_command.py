"""`tunescope reproduce`: a table or figure of the papers, measured again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from app.cli import cluster_options
from app.cli.parsing.help_epilog import reproductions_text
from app.cli.progress_line import ProgressLine


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    reproduce = commands.add_parser(
        "reproduce", help="a table of the papers, theirs beside ours", closing=reproductions_text
    )
    reproduce.add_argument("name", metavar="NAME", help="one of those below")
    reproduce.add_argument("--data", metavar="DIR", help="the folder with the datasets")
    reproduce.add_argument("--quick", action="store_true", help="fewer seeds, smaller data")
    reproduce.add_argument("--json", action="store_true", help="print the rows as JSON")
    cluster_options.add_to(reproduce)
    reproduce.set_defaults(run=run_reproduce)


def run_reproduce(arguments: argparse.Namespace) -> int:
    """Measure and print a table row by row."""
    from core.reproduction.pool import on_cluster

    with cluster_options.cluster_connection(arguments) as connection, on_cluster(connection):
        return _print_table(arguments)


def _print_table(arguments: argparse.Namespace) -> int:
    from core.reproduction.checkpoint import kept_folder
    from core.reproduction.registry import reproduction

    experiment = reproduction(arguments.name)
    folder = Path(arguments.data) if arguments.data else None
    rows: list[Any] = []
    headers: list[str] = []
    progress = ProgressLine(sys.stderr)
    for row in experiment.measure_rows(folder, arguments.quick):
        if isinstance(row, str):
            progress.report_progress(row)
            continue
        progress.close()
        rows.append(row)
        if arguments.json:
            continue
        if not headers:
            print(experiment.title)
        if row.header_line() not in headers:  # a second table in the same figure
            headers.append(row.header_line())
            print(f"\n{row.header_line()}")
        print(row.cell_line())
        sys.stdout.flush()
    if arguments.json:
        print(json.dumps([row.as_dict() for row in rows]))
    elif experiment.closing:
        print(f"\n{experiment.closing}")
    if experiment.keeps_runs and not arguments.json:
        print(f"\nFinished runs are kept in {kept_folder()}; remove it to measure anew.")
    return 0
