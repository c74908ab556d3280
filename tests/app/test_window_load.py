"""The window's thread: what it imports on all pages, and how long it computes at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Five times what a free core is held to: other programs slow down what is counted, too.
MAX_MILLISECONDS = 250
SCIENTIFIC = {"sklearn", "scipy", "pandas", "optuna", "numba", "joblib"}
WITH_THEM = {"core.tuning.why.answers", "core.tuning.scores.scoring", "core.datasets.dataset"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """What the walk printed: the longest slices by phase in milliseconds, and the modules."""
    folder = tmp_path_factory.mktemp("load")
    program = ROOT / "tests" / "benchmarks" / "bench_window.py"
    history = str(folder / "history.sqlite3")
    done = subprocess.run(
        [sys.executable, str(program), str(folder), "--model", "logistic", "--trials", "0"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "offscreen",
            "TUNESCOPE_HISTORY": history,
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    slices = [(float(words[1]), words[2]) for words in lines if words[0] == "slice"]
    modules = next(line for line in done.stdout.splitlines() if line.startswith("modules "))
    return slices, set(modules.split()[1:])


@pytest.mark.slow
def test_no_page_brings_the_scientific_modules_into_the_window(walked):
    _, modules = walked
    assert {"app.pages.results_page", "app.pages.use_page", "app.dialogs.help_dialog"} <= modules
    assert not (SCIENTIFIC | WITH_THEM) & modules


@pytest.mark.slow
def test_no_page_stops_the_window_with_many_rows(walked):
    slices, _ = walked
    assert [found for found in slices if found[0] > MAX_MILLISECONDS] == []
