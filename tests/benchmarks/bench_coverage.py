"""What the program's intervals, alarms and predictions promise, beside what they hold.

    python tests/benchmarks/bench_coverage.py [--sets 1000] [--only WORD …]

Every figure is counted over simulated tables on which the truth is known, with the bounds in which
it is promised. A figure outside them by more than three standard errors is marked, and the command
then ends with 1.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# In place of this folder, whose modules are called as packages are.
sys.path[0] = str(ROOT)

from tests.benchmarks import simulations
from tests.benchmarks.simulations.figure import Figure


def row_text(figure: Figure) -> str:
    """A figure as a row of the table."""
    bounds = f"{figure.low:g} to {figure.high:g}"
    mark = "" if figure.is_reached else "   outside"
    return (
        f"{figure.name:<72}{figure.value:>10.4g}{bounds:>18}{figure.sets:>7}{mark}  {figure.note}"
    )


def main() -> int:
    """Print the table; 1 where a figure is outside its bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="simulated sets a figure")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the modules' names")
    arguments = parser.parse_args()
    print(f"{'figure':<72}{'value':>10}{'promised':>18}{'sets':>7}")
    is_reached = True
    for module in sorted(m.name for m in pkgutil.iter_modules(simulations.__path__)):
        if module == "figure" or not any(word in module for word in arguments.only):
            continue
        for figure in importlib.import_module(f"{simulations.__name__}.{module}").figures(
            arguments.sets
        ):
            print(row_text(figure), flush=True)
            is_reached &= figure.is_reached
    return 0 if is_reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
