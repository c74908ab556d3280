"""What every test gets: a quiet numerical environment, a history of its own, the real datasets."""

from __future__ import annotations

import os
from pathlib import Path

# Before numpy is imported: BLAS threads beside parallel tests only fight each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest


@pytest.fixture(autouse=True)
def own_history(tmp_path_factory, monkeypatch) -> Path:
    """Where the history lies during a test: never where the person's own is."""
    place = tmp_path_factory.mktemp("history") / "history.sqlite3"
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(place))
    return place


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the real datasets, or a skip with the reason."""
    folder = Path(__file__).parent.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real datasets are not on this machine (no folder ../shared/data)")
    return folder
