"""Versions of Qt that are known to fail."""

from __future__ import annotations

import sys

from core.errors import UnusableError

_OLD = ("3.10", "3.11")
# (PySide6, affected versions of Python; empty for all): why
BAD: dict[tuple[str, tuple[str, ...]], str] = {
    ("6.8.0", ()): "it ends the program with a segmentation fault",
    ("6.9.1", ()): "plots zoom by themselves and their attributes get lost",
    ("6.9.2", ("3.12", "3.13")): "plots end the program with a segmentation fault",
    ("6.10.1", ()): "connecting to a table's signals ends the program",
    ("6.11.0", ()): "it is on record as failing together with pyqtgraph",
    ("6.11.1", ()): "it is on record as failing together with pyqtgraph",
    ("6.12.0", _OLD): "it loses references to None and aborts after some thousand calls",
}
# The rest of 6.10 needs pyqtgraph 0.14 or newer, which pyproject.toml asks for anyway.
GOOD = "6.11.3"


def refuse_bad_qt(version: str, python: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raise UnusableError for a version that is known to fail."""
    running = f"{python[0]}.{python[1]}"
    for (bad, pythons), why in BAD.items():
        if version == bad and (not pythons or running in pythons):
            cure = f"install PySide6-Essentials {GOOD}"
            raise UnusableError(f"PySide6 {bad} cannot be used: {why}", cure=cure)
