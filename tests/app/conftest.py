"""What tests of the window may ask for: sessions, settings of their own, and a strict end.

Every test fails on a warning of Qt, and on a thread or process that it leaves behind.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QtMsgType, Signal
from PySide6.QtWidgets import QApplication

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.worker.worker_thread import WorkerThread
from resources.theme import LIGHT

WORKER_TESTS = str(Path(__file__).parent / "worker")


@pytest.fixture
def fake_worker(monkeypatch):
    """Makes worker threads whose engine does no statistics; the child finds it on its path."""
    monkeypatch.syspath_prepend(WORKER_TESTS)
    assert WORKER_TESTS in sys.path
    return lambda: WorkerThread(engine="fake_engine")


@pytest.fixture(autouse=True, scope="session")
def grouped_digits():
    """Numbers as the program writes them, whichever test comes first."""
    appearance.apply_locale()


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


SERIOUS = (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)
# The offscreen platform says these of itself; they are not about the program.
EXCUSED = ("This plugin does not support propagateSizeHints",)


class StillWorker(QObject):
    """A worker that only remembers what it was asked."""

    arrived = Signal(list)

    def __init__(self):
        super().__init__()
        self.asked = []

    def start(self):
        """Nothing to start."""

    def ask(self, request):
        self.asked.append(request.payload)

    def begin_shutdown(self):
        """Nothing to end."""

    def shutdown(self):
        """Nothing to wait for."""


@pytest.fixture(autouse=True, scope="session")
def traced_threads():
    """Threads of Qt are traced as those of Python are, where coverage is measured."""
    from app.session.run_loader import _Task
    from app.worker.evaluator_thread import SurrogateEvaluator

    def traced(run):
        def begin(thread):
            sys.settrace(threading.gettrace())
            run(thread)

        return begin

    with pytest.MonkeyPatch.context() as patched:
        if threading.gettrace() is not None:
            for kind in (WorkerThread, SurrogateEvaluator, _Task):
                patched.setattr(kind, "run", traced(kind.run))
        yield


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """Settings and runs in the test's own folder; the usual look again at the end."""
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    settings.use_file(tmp_path / "settings.ini")
    yield
    settings.use_file(None)


@pytest.fixture(autouse=True)
def no_qt_warnings(request):
    """Fail on what Qt warns of."""
    yield
    log = getattr(request.node, "qt_log_capture", None)
    said = [r for r in (log.records if log else []) if r.type in SERIOUS]
    bad = [r.message for r in said if not r.message.startswith(EXCUSED)]
    assert not bad, f"Qt warned: {bad}"


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    """What is there before a module's tests, all that was imported, is not searched after each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_left_behind(own_settings):
    """Fail on threads and processes that outlive the test."""
    threads, children = set(threading.enumerate()), set(multiprocessing.active_children())
    yield
    if QApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    left = [t.name for t in threading.enumerate() if t not in threads and not t.daemon]
    assert not left, f"threads left behind: {left}"
    orphans = [p.name for p in multiprocessing.active_children() if p not in children]
    assert not orphans, f"processes left behind: {orphans}"


@pytest.fixture
def race(monkeypatch):
    """The module of streams of several models in one run, which lies beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("race_streams")


@pytest.fixture
def assert_accessible(monkeypatch):
    """What every visible control of a widget must have."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("accessible").assert_accessible


@pytest.fixture
def look(qapp):
    """The program's own look, light; light again and at the usual text size at the end."""
    settings.remember_scheme("light")
    if not qapp.styleSheet():
        appearance.start(qapp)
    yield appearance
    if (appearance.current(), appearance.text_percent()) != (LIGHT, 100):
        appearance.change_look(scheme="light", percent=100)


@pytest.fixture(scope="session")
def clinic():
    """(summary, advice) of the sample with every kind of column, as the worker would send it."""
    from core.datasets.reading import read_dataset
    from core.datasets.summary import summarize
    from core.tuning.guidance.advice import advise

    summary = summarize(read_dataset("sample:clinic"))
    return summary, advise(summary)


@pytest.fixture
def still(look, tmp_path):
    """A session without a process: what the pages ask stays in `session.worker.asked`."""
    worker = StillWorker()
    made = Session(runs_root=tmp_path / "runs", worker=worker)
    made.worker = worker
    yield made
    made.shutdown()


@pytest.fixture
def with_data(still, clinic):
    """The same with the clinic's data, the advice, and the recommended plan."""
    from app.worker.messages import Message, Opened
    from core.tuning.plan import DataPlan

    still.open_sample("clinic")
    opened = Opened(DataPlan(file="sample:clinic"), *clinic)
    still.worker.arrived.emit([Message(1, opened)])
    assert still.plan is not None
    return still
