"""What a person does in the window, beside hostile files and folders; see `hostile_folders`.

The worker answers in this process, so that all seconds of the processor are counted in one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtTest import QTest

from app.look import appearance
from app.preferences.preferences import settings_fault
from app.session.session import Session
from app.window.window import Window
from app.worker import messages as m
from app.worker.engine import Engine
from app.worker.worker_process import _Worker

SECONDS = 40  # that a step may take


class HereWorker(QObject):
    """A worker whose engine answers in this process, one request at a time."""

    arrived = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self._worker, self._engine = _Worker(self, ""), Engine()
        self.waiting = 0  # requests without an answer

    def start(self) -> None:
        """Nothing to start, to end or to wait for."""

    begin_shutdown = shutdown = start

    def ask(self, request: m.Request) -> None:
        if isinstance(request.payload, m.Work):
            self.waiting += 1
            QTimer.singleShot(0, partial(self._answer, request))

    def _answer(self, request: m.Request) -> None:
        self._worker._handle_request(self._engine, request)
        self.waiting -= 1

    def send(self, message: m.Message) -> None:
        if isinstance(message.answer, m.WorkerDefect):
            print(f"Traceback of the worker:\n{message.answer.details}")
        self.arrived.emit([message])


class Visit:
    """One visit to all pages."""

    def __init__(self) -> None:
        appearance.start(appearance.application())
        self.worker = HereWorker()
        self.session = Session(worker=self.worker)
        self.session.problem.connect(print)
        self.window = Window(self.session)
        self.window.show()
        print(settings_fault())

    def look_at(self, key: str) -> None:
        self.window.show_page(key)
        self.settle(key)

    def settle(self, step: str) -> None:
        """Wait until nothing is being read or answered."""
        session = self.session
        self.wait_while(
            lambda: self.worker.waiting or session.runs.is_reloading or session.run_loader.goes_on,
            step,
        )

    def wait_while(self, is_busy: Callable[[], object], step: str) -> None:
        QTest.qWait(1)
        end = time.monotonic() + SECONDS
        while is_busy():
            if time.monotonic() > end:
                raise SystemExit(f"{step}: it hangs")
            QTest.qWait(5)

    def see_runs(self, runs: Path) -> None:
        self.window.session.runs.reload()
        for key in ("start", "runs", "history"):
            self.look_at(key)
        folder = runs / "RUN"
        self.window.open_run(folder)
        self.settle("open a run")
        for key in ("results", "export"):
            self.look_at(key)
        self.session.export_model("skops", "out.skops")
        self.settle("export")
        self.session.runs.rename_run(str(folder), "new")
        self.session.runs.write_note(str(folder), "a note")
        self.session.runs.restore_runs([str(runs / "bin/OLD")])
        self.session.runs.delete_runs([str(folder)])
        self.settle("delete")

    def use_model(self) -> None:
        self.window.use_model("model.skops")
        self.settle("open a model")
        self.session.predict_rows("data.csv", "model.skops")
        self.settle("predict")

    def close(self) -> None:
        self.window.close()
        self.session.shutdown()
        shiboken6.delete(self.window)


def walk(runs: Path) -> int:
    """Visit the pages and use what lies in the working folder; the exit status."""
    visit = Visit()
    try:
        visit.see_runs(runs)
        visit.use_model()
    finally:
        visit.close()
    sys.stdout.flush()
    return 0
