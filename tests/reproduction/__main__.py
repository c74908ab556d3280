"""The papers' tables, measured again: `.venv/bin/python -m tests.reproduction NAME`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.cli.parser import UNUSABLE, Parser
from app.cli.tune_arguments import add_cluster, cluster_connection
from core.errors import UnusableError
from tests.reproduction.kept_work import kept_folder, on_cluster
from tests.reproduction.tables import REPRODUCTIONS, reproduction

INTERRUPTED = 130
PAUSE = 30.0  # seconds between sentences of progress where none is overwritten
DESCRIPTION = "A table of the papers, theirs beside ours."


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table row by row; without a name, list the tables."""
    # Before numpy is loaded: the pools' processes would only take each other's time.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    given = _parser().parse_args(arguments)
    if not given.name:
        print(tables_text())
        return 0
    try:
        with cluster_connection(given) as connection, on_cluster(connection):
            _print_table(given)
    except UnusableError as error:
        print(f"tests.reproduction: {error.sentence}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("\nInterrupted; the next time it goes on from what is finished.", file=sys.stderr)
        return INTERRUPTED
    return 0


def tables_text() -> str:
    """The names of the tables, with titles."""
    lines = []
    for entry in REPRODUCTIONS.values():
        needs = " (needs --data)" if entry.needs_data else ""
        lines.append(f"  {entry.name}\n      {entry.title}{needs}")
    return "The names:\n" + "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="tests.reproduction", description=DESCRIPTION, closing=tables_text)
    help_text = "one of those below (default: list them)"
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help=help_text)
    parser.add_argument("--data", metavar="DIR", help="the folder with the datasets")
    parser.add_argument("--quick", action="store_true", help="fewer seeds, smaller data")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    add_cluster(parser)  # its workers need this checkout on their PYTHONPATH
    return parser


class _Progress:
    """Sentences of progress: overwritten on a terminal, else one in 30 s."""

    def __init__(self) -> None:
        self._shown = 0  # characters of the sentence that stands there
        self._next = 0.0

    def show(self, text: str) -> None:
        if sys.stderr.isatty():
            self.clear()
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self._shown = len(text)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown:
            print(f"\r{' ' * self._shown}\r", end="", file=sys.stderr, flush=True)
            self._shown = 0


def _print_table(given: argparse.Namespace) -> None:
    experiment = reproduction(given.name)
    folder = Path(given.data) if given.data else None
    rows: list[Any] = []
    headers: list[str] = []
    progress = _Progress()
    for row in experiment.measure_rows(folder, given.quick):
        if isinstance(row, str):
            progress.show(row)
            continue
        progress.clear()
        rows.append(row)
        if given.json:
            continue
        if not headers:
            print(experiment.title)
        if row.header_line() not in headers:  # a second table in the same figure
            headers.append(row.header_line())
            print(f"\n{row.header_line()}")
        print(row.cell_line(), flush=True)
    if given.json:
        print(json.dumps([row.as_dict() for row in rows]))
        return
    if experiment.closing:
        print(f"\n{experiment.closing}")
    if experiment.keeps_runs:
        print(f"\nFinished runs are kept in {kept_folder()}; remove it to measure anew.")


if __name__ == "__main__":
    sys.exit(main())
