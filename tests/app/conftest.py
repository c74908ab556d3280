"""What tests of the window may ask for: sessions, settings of their own, and a strict end.

Every test fails on a warning of Qt, and on a thread or process that it leaves behind.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import sys
import threading
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QtMsgType, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QWidget,
)

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.widgets import buttons
from app.worker.messages import Message, OpenData, Opened, Work
from app.worker.worker_thread import WorkerThread
from core.tuning.plan import DataPlan
from resources.theme import LIGHT

WORKER_TESTS = str(Path(__file__).parent / "worker")


@pytest.fixture
def fake_worker(monkeypatch):
    """Makes worker threads whose engine does no statistics; the child finds it on its path."""
    monkeypatch.syspath_prepend(WORKER_TESTS)
    assert WORKER_TESTS in sys.path
    return lambda: WorkerThread(engine="fake_engine")


@pytest.fixture(autouse=True)
def hearing_buttons(monkeypatch):
    """Buttons that can be pressed at once: no test waits as a person does."""
    monkeypatch.setattr(buttons, "DEAF_SECONDS", 0.0)


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
    """A worker that remembers what it is asked, and answers what a test says."""

    arrived = Signal(list)

    def __init__(self):
        super().__init__()
        self.asked, self._ids = [], []

    def start(self):
        """Nothing to start, to end or to wait for."""

    begin_shutdown = shutdown = start

    def ask(self, request):
        self.asked.append(request.payload)
        self._ids.append(request.id)

    def all_of(self, kind):
        """What was asked of a kind, the latest last."""
        return [payload for payload in self.asked if isinstance(payload, kind)]

    @property
    def data_wanted(self):
        """The data that were to be read last."""
        return self.all_of(OpenData)[-1].data

    def answer(self, *answers, to=Work):
        """Answer the latest request of a kind, all in one batch."""
        # A control is no request: it has the id of its run's.
        id = next(
            id for id, payload in zip(self._ids[::-1], self.asked[::-1], strict=True)
            if isinstance(payload, to)
        )  # fmt: skip
        self.arrived.emit([Message(id, answer) for answer in answers])


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


UNFREEZE = gc.unfreeze


@pytest.fixture(autouse=True)
def short_collections(monkeypatch):
    """What is there before a test is not searched after it, though opening a run unfreezes it."""
    if gc.get_freeze_count() == 0:
        gc.collect()
    gc.freeze()
    monkeypatch.setattr(gc, "unfreeze", lambda: None)


@pytest.fixture
def whole_collections(short_collections, monkeypatch):
    """The collector as it is, with nothing frozen."""
    monkeypatch.setattr(gc, "unfreeze", UNFREEZE)
    gc.unfreeze()


@pytest.fixture(autouse=True)
def nothing_left_behind(own_settings, short_collections):
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


LEAST = 24  # pixels, WCAG 2.2 AA 2.5.8
CONTROLS = (QAbstractButton, QAbstractSpinBox, QAbstractSlider, QComboBox, QLineEdit)


@pytest.fixture
def assert_accessible():
    """Every visible control of a widget has a name, is reached by keyboard, and large enough."""

    def check(widget):
        controls = [widget, *widget.findChildren(QWidget)]
        faults = [
            fault
            for control in controls
            if control.isVisible() and not _is_inner(control)
            for fault in _faults(control)
        ]
        assert not faults, "\n".join(faults)

    return check


def _is_inner(control):
    """Parts that Qt makes inside its own controls; the control speaks for them."""
    inside = control.parentWidget()
    if isinstance(control, QScrollBar) or control.objectName().startswith("qt_"):
        return True
    return isinstance(inside, (QAbstractSpinBox, QComboBox)) and isinstance(control, QLineEdit)


def _faults(control):
    reached = bool(control.focusPolicy() & Qt.FocusPolicy.TabFocus)
    if not isinstance(control, CONTROLS) and not reached:
        return
    what = f"{type(control).__name__} “{control.accessibleName()}”"
    if not control.accessibleName():
        yield f"{what} in {type(control.parentWidget()).__name__}: no accessible name"
    if control.isEnabled() and not reached:
        yield f"{what}: not reached by keyboard"
    size = control.width(), control.height()
    # The line under a term comes where the keyboard rests; F1 does the same without it.
    is_line = bool(control.property("term"))
    if not isinstance(control, QAbstractScrollArea) and min(size) < LEAST and not is_line:
        yield f"{what}: {size} pixels"


@pytest.fixture
def show(qtbot):
    """Shows a widget until the test ends, in a size if one is given."""

    def shown(widget, *size):
        qtbot.addWidget(widget)
        if size:
            widget.resize(*size)
        widget.show()
        return widget

    return shown


@pytest.fixture
def look(qapp):
    """The program's own look, light; light again and at the usual text size at the end."""
    settings.remember(settings.SCHEME, "light")
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
    still.open_sample("clinic")
    still.worker.answer(Opened(DataPlan(file="sample:clinic"), *clinic))
    assert still.plan is not None
    return still


@pytest.fixture
def read(still):
    """Opens data in that session, understood as the worker would understand this plan of them."""

    def open_data(file, **fields):
        still.open_file(str(file))
        data = DataPlan(str(file), **fields)
        # A sample is the same in every test; another file is written anew in each.
        is_sample = data == DataPlan(str(file)) and data.file.startswith("sample:")
        opened = _understood_sample(data.file) if is_sample else _understood(data)
        still.worker.answer(opened, to=OpenData)
        return still

    return open_data


def _understood(data):
    from app.worker.engine import Engine

    return Engine().answer(OpenData(data))


@cache
def _understood_sample(file):
    return _understood(DataPlan(file))
