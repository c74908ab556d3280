"""A file of a text, as most tests of reading begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes a text, or bytes, and says where it is."""

    def written(content: str | bytes, name: str = "table.csv", encoding: str = "utf-8") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return str(path)

    return written
