"""Closing the window during a run: ask, and perhaps wait for the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, Qt
from PySide6.QtWidgets import QMessageBox, QProgressDialog, QPushButton, QWidget

from app.diagnostics.interrupts import WINDOW, InterruptSignals
from app.preferences import preferences as settings

if TYPE_CHECKING:
    from app.session.session import Session
    from app.window.window import Window


def may_close(window: Window) -> bool:
    """Whether the window may close now; asks only during a run."""
    session = window.session
    if not session.is_going_on:
        return True
    box, keep, later = _question(window)
    box.exec()
    if box.clickedButton() is keep:
        return _stop_and_wait(window, session)
    return box.clickedButton() is later


def _question(parent: QWidget) -> tuple[QMessageBox, QPushButton, QPushButton]:
    box = QMessageBox(parent)
    box.setObjectName("closing")
    box.setWindowTitle("Tunescope")
    box.setIcon(QMessageBox.Icon.Question)
    box.setText("A run is in progress.")
    box.setInformativeText(
        "You can stop it and keep the best so far, or close now and continue at the next start: "
        "finished trials are kept."
    )
    stay = box.addButton("Keep tuning", QMessageBox.ButtonRole.RejectRole)
    keep = box.addButton("Stop and keep best", QMessageBox.ButtonRole.AcceptRole)
    later = box.addButton("Close, continue later", QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    return box, keep, later


def _stop_and_wait(parent: QWidget, session: Session) -> bool:
    session.stop()
    words = "The best setting is being fitted and tested …"
    waiting = QProgressDialog(words, "Do not close", 0, 0, parent)
    waiting.setObjectName("closing")
    waiting.setWindowTitle("Tunescope")
    waiting.setWindowModality(Qt.WindowModality.WindowModal)
    waiting.setAccessibleName(waiting.labelText())
    settle = _when_settled(session, waiting.accept)
    session.run_changed.connect(settle)
    settle()
    waiting.exec()
    session.run_changed.disconnect(settle)
    has_ended = not session.is_going_on
    waiting.deleteLater()
    return has_ended


def _when_settled(session: Session, then: Callable[[], object]) -> Callable[[], None]:
    def accept_when_ended() -> None:
        if not session.is_going_on:
            then()

    return accept_when_ended


class EndsOnRequest(QObject):
    """Ends the program on a signal of the terminal or the system."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._interrupts = InterruptSignals(WINDOW, lambda _number, _frame: None)
        fd = self._interrupts.socket.fileno()
        self._notifier = QSocketNotifier(fd, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end_program)

    def close(self) -> None:
        """Restore the earlier handlers."""
        self._notifier.setEnabled(False)
        self._interrupts.close()
        self._interrupts.socket.close()

    def _end_program(self) -> None:
        number = self._interrupts.read_signal()
        if not number:
            return
        settings.remember_geometry(self._window.saveGeometry())
        self._window.session.begin_shutdown()
        QCoreApplication.exit(128 + number)  # leaves open dialogs as well
