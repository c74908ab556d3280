"""The window's start from a checkout, beside bare windows: with a plot, and empty."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import bench_window
from bench_start import BARE, started

from limits.work import TIMES, Work

ROUNDS = 5
OURS = [sys.executable, "-m", "app"]


def until(mark: str, *, bare: bool = False) -> Callable[[], float]:
    """Seconds by the clock from the start of the process to a mark."""

    def measured() -> float:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            command = [sys.executable, "-c", BARE, str(folder / "marks")] if bare else OURS
            started(command, folder)  # compiles
            return statistics.median(started(command, folder)[mark] for _ in range(ROUNDS))

    return measured


def plotting() -> float:
    """Seconds until a window with nothing but a plot of three points is painted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_window.first_paint(bench_window.BARE, folder)
        rounds = (bench_window.first_paint(bench_window.BARE, folder) for _ in range(ROUNDS))
        return statistics.median(rounds)


WORK = (
    Work("window, first paint", 1.0, until("painted"), plotting,
         "a bare PySide6 + pyqtgraph window", TIMES),
    Work("window, ready to tune", 3.0, until("ready"), until("painted", bare=True),
         "an empty PySide6 window"),
)  # fmt: skip
