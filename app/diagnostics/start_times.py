"""Tells a benchmark how far the start is: tests/benchmarks/bench_start.py asks for it."""

from __future__ import annotations

import os

from PySide6.QtCore import QTimer, SignalInstance
from PySide6.QtWidgets import QMainWindow

VARIABLE = "TUNESCOPE_START_TIMES"  # a file that takes a word at each mark


def tell_painted(window: QMainWindow, worker_ready: SignalInstance) -> None:
    """Say that the window has been painted, and later that the worker is ready; then close it.

    Nothing is done where nobody measures.

    Args:
        window: which is shown.
        worker_ready: tells when the worker is.
    """
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
