"""What the tests of the history share: where it lies, and an empty one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.tuning.history.store import History


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "kept" / "history.sqlite3"


@pytest.fixture
def history(tmp_path) -> Iterator[History]:
    with History(tmp_path / "history.sqlite3", starter=False) as empty:
        yield empty
