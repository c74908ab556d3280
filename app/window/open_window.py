"""Open the window, make ready what it needs later, and run it until it is closed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from app.diagnostics.crash_reports import CrashReporter, FaultFile
from app.look import appearance, icons
from app.preferences.preferences import settings_fault, use_file
from app.session.run_loader import IsWanted, LatestTask
from app.session.session import Session
from app.window import window_end
from app.window.window import PAGES, Window
from core.garbage_collection import restore_collection

START_TIMES = "TUNESCOPE_START_TIMES"  # path of the file that tests/benchmarks/bench_start.py reads


class _Crashes(QObject):
    """Carries a report from any thread to the window."""

    arose = Signal(str, str)

    def __init__(self, window: Window) -> None:
        super().__init__()
        self._window = window
        self.arose.connect(self.show_report, Qt.ConnectionType.QueuedConnection)

    @Slot(str, str)
    def show_report(self, sentence: str, details: str) -> None:
        self._window.offer_details(sentence, details)


def run_window(file: str) -> int:
    """Run the window until it is closed."""
    app = appearance.application()
    app.setApplicationName("Tunescope")
    app.setDesktopFileName("tunescope")
    app.setWindowIcon(icons.tinted_icon("tunescope"))
    appearance.start(app)

    session = Session()
    window = None
    try:
        window = Window(session)
        return _run_event_loop(app, window, file)
    # Whatever happens: a worker process that runs keeps the program from ending.
    finally:
        session.shutdown()
        # Before the application goes: Qt may crash where a window is left to the interpreter's end.
        if window is not None:
            shiboken6.delete(window)
        use_file()  # what the window remembered as it closed is written


def _run_event_loop(app: QApplication, window: Window, file: str) -> int:
    faults, requests = FaultFile(), window_end.EndsOnRequest(window)
    requests.ending.connect(window.prepare_end)
    if faults.fault:
        sys.stderr.write(f"tunescope: {faults.fault}\n")
    crashes, preparation = _Crashes(window), Preparation(window)
    CrashReporter(crashes.arose.emit).install()
    try:
        window.show()
        window_end.report_lost_display(window.session)
        QTimer.singleShot(0, lambda: _after_first_paint(window, preparation, faults, crashes, file))
        status = app.exec()
        if status == window_end.DISPLAY_GONE:
            window_end.say_display_gone(window.session)
        return status
    finally:
        preparation.shutdown()
        requests.close()
        faults.close()


def _after_first_paint(
    window: Window, preparation: Preparation, faults: FaultFile, crashes: _Crashes, file: str
) -> None:
    tell_painted(window, window.session.exporters_changed)
    restore_collection()
    window.session.runs.reload()
    preparation.start(FIRST)
    window.session.busy_changed.connect(preparation.start_all)
    window.pages["start"].visited()
    if crash_text := faults.earlier_crash_text():
        crashes.show_report("Tunescope ended unexpectedly the last time.", crash_text)
    faults.watch_crashes()
    if fault := settings_fault():
        sys.stderr.write(f"tunescope: {fault}\n")
        window.session.problem.emit(fault)
    if file:
        sample_name = file.removeprefix("sample:")
        if sample_name != file:
            window.session.open_sample(sample_name)
        else:
            window.session.open_file(Path(file).absolute())


def tell_painted(window: QMainWindow, worker_ready: SignalInstance) -> None:
    """Mark when the window is painted and the worker ready, then close it; for benchmarks."""
    path = os.environ.get(START_TIMES)
    if not path:
        return
    window.grab()
    _write_mark(path, "painted")

    def tell_ready() -> None:
        _write_mark(path, "ready")
        QTimer.singleShot(0, window.close)

    worker_ready.connect(tell_ready)


def _write_mark(path: str, word: str) -> None:
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{word}\n")


PAUSE = 20  # milliseconds between two views, in which a person's clicks come first
FIRST = ("data",)  # the others are of use once data or a run are there
AHEAD = ("data", "tune", "model", "strategy", "results", "export", "use")
# What pages import when they first need it.
LATER = (
    *("app.views.registry", "app.text.run_head", "app.dialogs.message_boxes"),
    *("app.dialogs.help_dialog", "app.dialogs.settings_dialog", "app.dialogs.target_dialog"),
    *("core.export.exportable_models", "core.datasets.groups", "core.tuning.history.store"),
    *("core.tuning.runs.past_runs", "core.tuning.runs.run_comparison", "core.tuning.runs.state"),
    # For the extensions, whose own code runs no earlier than a page asks for it.
    *("configparser", "importlib.metadata"),
)


class Preparation(QObject):
    """Imports and opens the history in a thread, then makes views and pages, one a turn."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._keys: tuple[str, ...] = AHEAD
        self._steps: Iterator[object] = iter(())
        self._task = LatestTask(self)
        self._task.done.connect(self._begin_steps)
        self._turn = QTimer(self, interval=PAUSE)
        self._turn.timeout.connect(self._take_step)

    @property
    def goes_on(self) -> bool:
        return self._task.goes_on or self._turn.isActive()

    def start(self, keys: tuple[str, ...] = AHEAD) -> None:
        """Prepare these pages; with all of them also what they need later."""
        self._keys = keys
        self._task.start(partial(_prepare, self._window.session, keys))

    def start_all(self, activity: str) -> None:
        """Prepare all pages as a person waits for the first time."""
        if activity:
            self._window.session.busy_changed.disconnect(self.start_all)
            self.start()

    def shutdown(self) -> None:
        self._turn.stop()
        self._task.shutdown()

    def _begin_steps(self) -> None:
        self._steps = self._make_widgets()
        self._turn.start()

    def _take_step(self) -> None:
        if next(self._steps, None) is None:
            self._turn.stop()

    def _make_widgets(self) -> Iterator[object]:
        for key in self._keys:
            yield (page := self._window.make_page(key))
            yield from page.steps()


def _prepare(session: Session, keys: tuple[str, ...], is_wanted: IsWanted) -> None:
    is_all = keys == AHEAD
    for module in (*(PAGES[key][0] for key in keys), *(LATER if is_all else ())):
        if is_wanted():
            importlib.import_module(module)
    if is_all and is_wanted():
        # The first look writes the shipped datasets.
        session.history.read_contents()
