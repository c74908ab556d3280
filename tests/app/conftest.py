"""Sessions for tests: with a fake engine in a real process, ended whatever happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.session import Session
from app.worker.thread import WorkerThread

WORKER_TESTS = str(Path(__file__).parent / "worker")


@pytest.fixture
def fake_worker(monkeypatch):
    """Makes worker threads whose engine does no statistics; the child finds it on its path."""
    monkeypatch.syspath_prepend(WORKER_TESTS)
    assert WORKER_TESTS in sys.path
    return lambda: WorkerThread(engine="fake_engine")


@pytest.fixture
def session(qapp, tmp_path, fake_worker):
    made = Session(runs_root=tmp_path / "runs", worker=fake_worker())
    yield made
    made.shutdown()


@pytest.fixture
def opened(session, qtbot):
    """A session with data and a plan."""
    with qtbot.waitSignal(session.plan_changed, timeout=20_000):
        session.open_file("some.csv")
    return session
