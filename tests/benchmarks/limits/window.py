"""The window's start from a checkout, beside bare windows: with a plot, and empty."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench_start import BARE, started

from limits.work import TIMES, Work

ROUNDS = 5
OURS = [sys.executable, "-m", "app"]
PLOT = BARE.replace(
    "window.resize",
    "import pyqtgraph\nplot = pyqtgraph.PlotWidget()\nplot.plot([1, 2, 3], [1, 3, 2])\n"
    "window.setCentralWidget(plot)\nwindow.resize",
)


def until(mark: str, bare: str = "") -> Callable[[], float]:
    """Seconds by the clock from the start of the process to a mark; of a bare window's code."""

    def measured() -> float:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            command = [sys.executable, "-c", bare, str(folder / "marks")] if bare else OURS
            started(command, folder)  # compiles
            return statistics.median(started(command, folder)[mark] for _ in range(ROUNDS))

    return measured


WORK = (
    Work("window, first paint", 1.0, until("painted"), until("painted", PLOT),
         "a bare PySide6 + pyqtgraph window", TIMES),
    Work("window, ready to tune", 3.0, until("ready"), until("painted", BARE),
         "an empty PySide6 window"),
)  # fmt: skip
