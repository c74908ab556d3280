"""Measures tables of the papers in full, keeps what came out, and writes the pages about them.

    .venv/bin/python packaging/make_papers.py [--data DIR] [NAME ...]

Without a name nothing is measured; the pages (PAPERS.md, and the help's) are written anew from what
is kept. Tables that keep finished runs go on where they were stopped, and take their time from
those runs.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from tests.reproduction.kept_work import kept_folder
from tests.reproduction.paper_pages import MeasuredResult, help_files, repository_page, save_result
from tests.reproduction.tables import REPRODUCTIONS, SENTENCE, reproduction

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "PAPERS.md"
HELP = ROOT / "resources" / "help"
PACKAGES = ("tunescope", "numpy", "scipy", "scikit-learn")


def main() -> None:
    """Measure what is named, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(REPRODUCTIONS))
    parser.add_argument("--data", type=Path, help="the folder with the datasets")
    given = parser.parse_args()
    for name in given.names:
        print(save_result(measured(name, given.data)))
    PAGE.write_text(repository_page(), encoding="utf-8")
    (HELP / "papers").mkdir(exist_ok=True)
    for name, text in help_files().items():
        (HELP / name).write_text(text, encoding="utf-8")


def measured(name: str, data: Path | None) -> MeasuredResult:
    """A table, measured in full."""
    about, begun = reproduction(name), time.perf_counter()
    rows = []
    for row in about.measure_rows(data, quick=False):
        if isinstance(row, str):
            print(row, file=sys.stderr)
        elif str(kept_folder()) not in str(row.as_dict().get(SENTENCE)):  # a place on this computer
            rows.append(row.as_dict())
    seconds = None if about.keeps_runs else round(time.perf_counter() - begun, 1)
    versions = {"Python": platform.python_version()} | {one: version(one) for one in PACKAGES}
    return MeasuredResult(name, tuple(rows), seconds, versions)


if __name__ == "__main__":
    main()
