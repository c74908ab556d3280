"""Tells a benchmark how far the start is: tests/benchmarks/bench_start.py asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

if TYPE_CHECKING:
    from app.window.window import Window

VARIABLE = "TUNESCOPE_START_TIMES"  # a file that takes a word at each mark


def tell_painted(window: Window) -> None:
    """Say that the window has been painted, and later that the worker is ready; then close it.

    Nothing is done where nobody measures.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    window.grab()
    _say(path, "painted")

    def ready() -> None:
        _say(path, "ready")
        QTimer.singleShot(0, window.close)

    window.session.exporters_changed.connect(ready)


def _say(path: str, word: str) -> None:
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{word}\n")
