"""How the window ends: closed during a run, on a signal, or with its display."""

import ctypes
import os
import sys
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QProgressDialog, QWidget

from app.diagnostics.interrupts import WINDOW, InterruptSignals
from app.dialogs.message_boxes import ACCEPT, LOSE, ask, message_box
from app.session.session import Session

DISPLAY_GONE = 1  # what Qt's event loop returns where the X server has died, and the exit status

_Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_error_handlers: list[Callable[[int], int]] = []  # Xlib holds a bare pointer to it


def may_close(window: QWidget, session: Session) -> bool:
    """Whether the window may close; asks only during a run."""
    if not session.is_going_on:
        return True
    more = (
        "You can stop it and keep the best so far, or close now and continue at the next start: "
        "finished trials are kept."
    )
    icon = QMessageBox.Icon.Question
    box = message_box(window, "A run is in progress.", more, icon, name="closing")
    keep, later = "Stop and keep best", "Close, continue later"
    answer = ask(box, "Keep tuning", keep, later, roles=(ACCEPT, LOSE))
    return _stop_and_wait(window, session) if answer == keep else answer == later


def _stop_and_wait(parent: QWidget, session: Session) -> bool:
    session.stop()
    words = "The best setting is being fitted and tested …"
    waiting = QProgressDialog(words, "Do not close", 0, 0, parent)
    waiting.setObjectName("closing")
    waiting.setWindowTitle("Tunescope")
    waiting.setWindowModality(Qt.WindowModality.WindowModal)
    waiting.setAccessibleName(waiting.labelText())

    def accept_when_ended() -> None:
        if not session.is_going_on:
            waiting.accept()

    session.run_changed.connect(accept_when_ended)
    accept_when_ended()
    waiting.exec()
    session.run_changed.disconnect(accept_when_ended)
    waiting.deleteLater()
    return not session.is_going_on


class EndsOnRequest(QObject):
    """Ends the program on a signal of the terminal or the system."""

    ending = Signal()  # before the event loop ends

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._interrupts = InterruptSignals(WINDOW, lambda _number, _frame: None)
        fd = self._interrupts.socket.fileno()
        self._notifier = QSocketNotifier(fd, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end_program)

    def close(self) -> None:
        self._notifier.setEnabled(False)
        self._interrupts.close()
        self._interrupts.socket.close()

    def _end_program(self) -> None:
        if number := self._interrupts.read_signal():
            self.ending.emit()
            # Not `close`: this leaves the event loops of open dialogs as well.
            QCoreApplication.exit(128 + number)


def report_lost_display(session: Session) -> None:
    """Make Xlib print a message where it ends the process itself, as it does while it writes."""
    if QGuiApplication.platformName() != "xcb":
        return
    try:
        # By this name it is the one that Qt has loaded already.
        xlib = ctypes.CDLL("libX11.so.6")
    except OSError:
        return

    def handle_display_error(_display: int) -> int:
        say_display_gone(session)
        sys.stderr.flush()
        # Xlib ends the process after this anyway; the worker ends by itself, and the run goes on
        # from its folder.
        os._exit(DISPLAY_GONE)

    _error_handlers[:] = [_Handler(handle_display_error)]
    xlib.XSetIOErrorHandler(_error_handlers[0])


def say_display_gone(session: Session) -> None:
    """Print that the display has gone, and how to continue."""
    goes_on = ""
    if session.is_going_on and session.run_folder is not None:
        name = session.run_folder.name
        goes_on = f" The run is kept: tunescope resume {name} continues it, as does the window."
    sys.stderr.write(f"tunescope: the display has gone.{goes_on}\n")
