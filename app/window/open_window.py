"""Open the window and run it until it is closed."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.diagnostics.crash_reports import CrashReporter, FaultFile
from app.diagnostics.start_times import tell_painted
from app.look import appearance, icons
from app.window.window import Window
from core.garbage_collection import restore_collection


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
    try:
        return _run_event_loop(app, Window(session), file)
    finally:  # a running worker process keeps the program from ending
        session.shutdown()


def _run_event_loop(app: QApplication, window: Window, file: str) -> int:
    from app.window import display
    from app.window.close_confirmation import EndsOnRequest

    faults, requests = FaultFile(), EndsOnRequest(window)
    if faults.fault:
        sys.stderr.write(f"tunescope: {faults.fault}\n")
    crashes = _Crashes(window)
    CrashReporter(crashes.arose.emit).install()
    try:
        window.show()
        display.tell_when_gone(window)
        QTimer.singleShot(0, lambda: _after_first_paint(window, faults, crashes, file))
        status = app.exec()
        if status == display.GONE:
            display.say_gone(window)
        return status
    finally:
        requests.close()
        faults.close()


def _after_first_paint(window: Window, faults: FaultFile, crashes: _Crashes, file: str) -> None:
    tell_painted(window, window.session.exporters_changed)
    restore_collection()
    window.show_runs()
    window.session.warm_up()
    window.pages["start"].visited()
    if crash_text := faults.earlier_crash_text():
        crashes.show_report("Tunescope ended unexpectedly the last time.", crash_text)
    faults.watch_crashes()
    if file:
        sample_name = file.removeprefix("sample:")
        if sample_name != file:
            window.session.open_sample(sample_name)
        else:
            window.session.open_file(Path(file).absolute())
