"""Open the window and run it until it is closed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from app.diagnostics.crash_reports import CrashReporter, FaultFile
from app.look import appearance, icons
from app.preferences.preferences import settings_fault
from app.window.pages_ahead import Preparation
from app.window.window import Window
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
    from app.session.session import Session

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


def _run_event_loop(app: QApplication, window: Window, file: str) -> int:
    # Not needed for the first paint.
    from app.window import window_end

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
    window.session.warm_up()
    preparation.start()
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
    """Mark when the window is painted and the worker ready, then close it; only for benchmarks."""
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
