"""Start times for tests/benchmarks/bench_start.py."""

from __future__ import annotations

import os

from PySide6.QtCore import QTimer, SignalInstance
from PySide6.QtWidgets import QMainWindow

VARIABLE = "TUNESCOPE_START_TIMES"  # path of a file for the marks


def tell_painted(window: QMainWindow, worker_ready: SignalInstance) -> None:
    """Mark when the window is painted and the worker ready, then close it; only for benchmarks."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    window.grab()
    _write_mark(path, "painted")

    def tell_ready() -> None:
        _write_mark(path, "ready")
        QTimer.singleShot(0, window.close)

    worker_ready.connect(tell_ready)


def _write_mark(path: str, word: str) -> None:
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{word}\n")
