"""Every hot path beside the machine's limit: what it takes, the least it could take, the factor.

Each row runs in a process of its own, with one thread, on data made from a fixed seed. The limit is
measured on the same arrays in the same process: so many passes, products or Gram matrices.

    python tests/benchmarks/bench_limits.py [--only WORD …] [--list] [--json FILE]
        [--files PATH[:TARGET] …]

With --files the rows are of these files (CSV or LIBSVM) in place of the made data.
"""

from __future__ import annotations

import os

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
for variable in THREADS:
    os.environ[variable] = "1"

import argparse
import importlib
import json
import math
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import limits
import own_files
from limits.work import TIMES, Work

HEAD = f"{'work':<64}{'now':>10}{'limit':>10}{'factor':>8}{'asked':>10}   the limit is"


def every_work(files: list[str]) -> list[Work]:
    """The rows of all parts, in the order of the parts' names; or those of files."""
    if files:
        from limits.own_files import work_on

        return work_on(files)
    found: list[Work] = []
    for module in sorted(one.name for one in pkgutil.iter_modules(limits.__path__)):
        found += getattr(importlib.import_module(f"limits.{module}"), "WORK", ())
    return found


def measured(name: str, files: list[str]) -> dict[str, Any]:
    work = next(one for one in every_work(files) if one.name == name)
    now, limit = work.now(), work.limit()
    return {"name": name, "now": now, "limit": limit, "asked": work.asked, "unit": work.unit}


def in_its_own_process(work: Work, files: list[str]) -> dict[str, Any] | None:
    """A row's figures; None, and the reason on the screen, when it could not be measured."""
    command = [sys.executable, __file__, "--measure", work.name]
    command += ["--files", *files] if files else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{work.name:<64} not measured: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def written(value: float, unit: str) -> str:
    """A figure with its unit: 1.62 s, 15.0 ms, 980 MB."""
    if unit == "s":
        return f"{value:.2f} s" if value >= 0.995 else f"{1e3 * value:.1f} ms"
    return f"{value:.0f} {unit}"


def show(work: Work, row: dict[str, Any]) -> None:
    factor = row["now"] / row["limit"]
    unit = "s" if work.unit == TIMES else work.unit
    figures = [written(row["now"], unit), written(row["limit"], unit)]
    if math.isinf(work.asked):
        figures.append("–")
    else:
        figures.append(f"{work.asked:g} ×" if work.unit == TIMES else written(work.asked, unit))
    reached = (factor if work.unit == TIMES else row["now"]) <= work.asked
    print(
        f"{work.name:<64}{figures[0]:>10}{figures[1]:>10}{factor:>8.1f}{figures[2]:>10}"
        f"   {work.limit_is}{'' if reached else ' (over)'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], metavar="WORD")
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    parser.add_argument("--json", type=Path, metavar="FILE")
    own_files.add_to(parser)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measured(asked.measure, asked.files)))
        return
    with own_files.refusing(parser):
        every = every_work(asked.files)
    chosen = [work for work in every if any(word in work.name for word in asked.only)]
    if asked.list:
        print("\n".join(work.name for work in chosen))
        return
    print(HEAD)
    rows = []
    for work in chosen:
        row = in_its_own_process(work, asked.files)
        if row is not None:
            show(work, row)
            rows.append(row)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
