"""The peak of memory from a file to a tuned model, beside twice the data."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from limits.work import Work

TUNE = """
import sys
from pathlib import Path
def kilobytes(what):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return float(lines[what].split()[0])
from app.cli import main
import core.losses.registry, core.tuning.tune
before = kilobytes("VmRSS")
main(["tune", sys.argv[1], "--model", "logistic", "--strategy", "evidence", "--rows", "all",
      "--run-dir", sys.argv[2]])
print((kilobytes("VmHWM") - before) / 1024)
"""


def _peak(write: Callable[[Path], None], ending: str) -> float:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"table{ending}"
        write(path)
        command = [sys.executable, "-c", TUNE, str(path), str(Path(name) / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])


def _table(path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((10**6, 29)).round(5)).add_prefix("x")
    table.assign(y=(table["x0"] + rng.logistic(size=10**6) > 0).astype(int)).to_csv(
        path, index=False
    )


def _scattered(path: Path) -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 20_000, 10**6), rng.integers(0, 50_000, 10**6)
    X = sparse.csr_matrix((rng.standard_normal(10**6), places), shape=(20_000, 50_000))
    y = (X @ rng.standard_normal(50_000) > 0).astype(int)
    dump_svmlight_file(X, y, str(path), zero_based=False)


WORK = (
    Work("memory, CSV of 1e6 × 30, evidence", 1000, lambda: _peak(_table, ".csv"),
         lambda: 2 * 30 * 8.0, "twice the data", "MB"),
    Work("memory, sparse 2e4 × 5e4, evidence", 150, lambda: _peak(_scattered, ".libsvm"),
         lambda: 2 * 12.0, "twice the data", "MB"),
)  # fmt: skip
