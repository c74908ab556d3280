"""The command line up to its first line of progress, beside its libraries alone."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from limits.work import Work

ROUNDS = 5
LIBRARIES = "import pandas, sklearn.linear_model, sklearn.model_selection"


def _spent(command: list[str], folder: Path) -> float:
    """Processor seconds of a process until its first line on standard error."""
    environment = {
        **os.environ,
        "TUNESCOPE_RUNS": str(folder / "runs"),
        "TUNESCOPE_HISTORY": str(folder / "history.sqlite3"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe) as process:
        assert process.stderr is not None
        process.stderr.readline()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        process.kill()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_line() -> float:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        load_breast_cancer(as_frame=True).frame.to_csv(path, index=False)
        tune = ["-m", "tunescope", "tune", str(path), "--model", "logistic", "--strategy", "mm"]
        command = [sys.executable, *tune]
        return statistics.median(_spent(command, Path(name)) for _ in range(ROUNDS))


def libraries() -> float:
    say = f"{LIBRARIES}; import sys; print(file=sys.stderr, flush=True); sys.stdin.close()"
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-c", say + "; import time; time.sleep(9)"]
        return statistics.median(_spent(command, Path(name)) for _ in range(ROUNDS))


WORK = (
    Work("command line, to the first line of progress", 1.2, first_line, libraries,
         "scikit-learn and pandas alone"),
)  # fmt: skip
