"""A line that installs the packages of more models: a button, progress, a way out, a reason."""

import importlib
import time
from collections.abc import Sequence

from PySide6.QtCore import QProcess, QProcessEnvironment, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.widgets.buttons import ShorteningLink
from app.widgets.layouts import in_column
from app.widgets.text_labels import apply_style, show_text, wrapping_label
from core.estimators import package_installation as packages
from core.estimators.facts import uncapitalized
from core.tuning.guidance.guidance_records import MissingModel
from core.wording import list_text

_STOP_MILLISECONDS = 2000  # until an installation that is cancelled is killed


class InstallLine(QWidget):
    """Models whose packages are missing; hidden without any."""

    installed = Signal()  # more models can be used

    def __init__(self) -> None:
        super().__init__()
        self._models: tuple[MissingModel, ...] = ()
        self._output, self._start_time, self._is_cancelled = "", 0.0, False
        self.words = wrapping_label("", "caption")
        self.button = ShorteningLink("", self._start_or_cancel, "download")
        in_column(self.button, self.words, on=self, gap=2)
        self.process = QProcess(self)
        self.process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self.process.readyReadStandardOutput.connect(self._read_output)
        self.process.finished.connect(self._take_result)
        self.process.errorOccurred.connect(self._fail_to_start)
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._show_progress)
        appearance.application().aboutToQuit.connect(self._kill_process)
        self.hide()

    def _kill_process(self) -> None:
        if self.is_going_on:
            self.process.kill()
            self.process.waitForFinished(_STOP_MILLISECONDS)

    @property
    def is_going_on(self) -> bool:
        return self.process.state() != QProcess.ProcessState.NotRunning

    def show_missing(self, models: Sequence[MissingModel]) -> None:
        if tuple(models) == self._models or self.is_going_on:
            return
        self._models = tuple(models)
        self.setVisible(bool(models))
        self._show_offer()

    def _show_offer(self, sentence: str = "", voice: str = "caption") -> None:
        self._clock.stop()
        names = list_text(uncapitalized(model.title) for model in self._models)
        size = packages.size_text(model.extra for model in self._models)
        self.button.set_label(f"{len(self._models)} more can join: install {names} (up to {size})")
        show_text(self.words, sentence)
        apply_style(self.words, voice=voice)

    def _start_or_cancel(self) -> None:
        if self.is_going_on:
            self._is_cancelled = True
            self.process.terminate()
            QTimer.singleShot(_STOP_MILLISECONDS, self.process, self.process.kill)
            return
        command = packages.installing_command(model.extra for model in self._models)
        if error := packages.installation_refusal(command):
            self._show_offer(f"Not installed: {error.sentence}", "warning")
            return
        environment = QProcessEnvironment()
        for name, value in packages.package_environment().items():
            environment.insert(name, value)
        self.process.setProcessEnvironment(environment)
        self._output, self._start_time, self._is_cancelled = "", time.monotonic(), False
        self.process.start(command[0], command[1:])
        self.button.set_label("Cancel")
        apply_style(self.words, voice="caption")
        self._clock.start()
        self._show_progress()

    def _read_output(self) -> None:
        self._output += bytes(self.process.readAllStandardOutput().data()).decode(errors="replace")
        self._show_progress()

    def _show_progress(self) -> None:
        lines = self._output.split("\n")
        step = next((line.strip() for line in reversed(lines) if line.strip()), "Starting")
        seconds = round(time.monotonic() - self._start_time)
        show_text(self.words, f"Installing, {seconds} s: {step[:80]}")

    def _fail_to_start(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._show_offer(f"Not installed. The installer cannot start: {self.process.program()}")

    def _take_result(self, code: int) -> None:
        self._read_output()
        if self._is_cancelled:
            self._show_offer("Cancelled. The button continues where it stopped.")
        elif code:
            self._show_offer(f"Not installed. {packages.failure_text(self._output)}", "warning")
        else:
            self._show_offer("Installed; the table is read again.")
            # Python remembers which folders lacked the packages.
            importlib.invalidate_caches()
            self.installed.emit()
