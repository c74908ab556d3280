"""What the tests of long measurements begin with: a folder of finished parts of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.reproduction import kept_work


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where finished parts are kept, never the person's own."""
    monkeypatch.setattr(kept_work, "kept_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def ended() -> Callable[[Generator[Any, None, Any]], tuple[list[Any], Any]]:
    """Runs a generator to its end: its items, and what it returned."""

    def run(steps: Generator[Any, None, Any]) -> tuple[list[Any], Any]:
        items = []
        while True:
            try:
                items.append(next(steps))
            except StopIteration as end:
                return items, end.value

    return run
