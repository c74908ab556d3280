"""The program in the self-test, without a display."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QtMsgType, qInstallMessageHandler

from app.look import appearance
from app.preferences import preferences
from app.self_test.step_runner import StepFailedError
from app.session.session import Session
from app.window.window import Window

# Printed by Qt's platform without a display.
OF_NO_DISPLAY = "This plugin does not support propagateSizeHints"
PATIENCE = 300.0  # seconds; the first run of sequences compiles its loops


def _print_qt_message(_kind: QtMsgType, _context: object, message: str) -> None:
    if not message.startswith(OF_NO_DISPLAY):
        sys.stderr.write(f"{message}\n")


class ProgramUnderTest:
    """A window with a worker in one folder; `problems` since the last action."""

    def __init__(self, folder: Path) -> None:
        self._handler = qInstallMessageHandler(_print_qt_message)
        preferences.use_file(folder / "settings.ini")
        self.app = appearance.application()
        appearance.start(self.app)
        self.session = Session(runs_root=folder / "runs")
        self.problems: list[str] = []
        self.session.problem.connect(self.problems.append)
        self.window = Window(self.session)
        self.window.show()

    def close(self) -> None:
        """End the worker and close the window."""
        self.window.close()
        self.session.shutdown()
        self.window.deleteLater()
        preferences.use_file(None)
        qInstallMessageHandler(self._handler)

    def act_and_wait(self, act: Callable[[], None], done: Callable[[], object]) -> None:
        """Do something and wait until it is done.

        Raises:
            StepFailedError: a problem was reported, or nothing happened.
        """
        self.problems.clear()
        act()
        self.wait_until(done)

    def wait_until(self, done: Callable[[], object]) -> None:
        """Wait until something is true; raises StepFailedError."""
        end = time.monotonic() + PATIENCE
        while not done():
            self.app.processEvents()
            if self.problems:
                raise StepFailedError(f"{' '.join(self.problems)} {self.session.details}".strip())
            if time.monotonic() > end:
                raise StepFailedError(f"nothing happened in {PATIENCE:.0f} seconds")
            time.sleep(0.005)

    def open_data(self, path: Path | str) -> None:
        """Open a file, or sample:NAME."""
        session = self.session
        name = str(path).removeprefix("sample:")
        if name != str(path):
            self.act_and_wait(lambda: session.open_sample(name), lambda: self._is_open(str(path)))
        else:
            self.act_and_wait(lambda: session.open_file(path), lambda: self._is_open(str(path)))

    def _is_open(self, name: str) -> bool:
        data, plan = self.session.data, self.session.plan
        return data is not None and plan is not None and data.file == plan.data.file == name

    def tune_to_end(self, model: str, strategy: str, trials: int | None) -> None:
        """Tune the open data, to the end."""
        session = self.session
        session.choose_model(model)
        session.choose_strategy(strategy)
        session.set_plan(trials=trials, minutes=None)
        self.act_and_wait(session.start, lambda: session.state == "finished")

    def export_run(self, format: str, path: Path) -> None:
        """Export the run; StepFailedError without a file."""
        done: list[str] = []
        self.session.exported.connect(done.append)
        self.act_and_wait(lambda: self.session.export_model(format, path), lambda: done)
        self.session.exported.disconnect(done.append)
        if not path.is_file() or not path.stat().st_size:
            raise StepFailedError(f"{path.name} was not written")
