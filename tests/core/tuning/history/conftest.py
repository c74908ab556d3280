"""What the tests of the history share: an empty one."""

from collections.abc import Iterator

import pytest

from core.tuning.history.store import History


@pytest.fixture
def history(tmp_path) -> Iterator[History]:
    with History(tmp_path / "history.sqlite3", starter=False) as opened:
        yield opened
