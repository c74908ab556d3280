"""Keyboard shortcuts of the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QToolButton

from app.text import key_names
from app.window.rail import STEPS

if TYPE_CHECKING:
    from app.window.window import Window

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KeyboardShortcuts:
    """The shortcuts of a window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        acts: dict[str, Callable[[], object]] = {
            key_names.OPEN: window.open_file,
            key_names.SAVE: lambda: window.pages[window.here].save_asked(),
            key_names.EXPORT: lambda: window.rail_press("export"),
            key_names.QUIT: window.close,
            key_names.START: self.start_run,
            key_names.PAUSE: self.pause_run,
            key_names.STOP: self.stop_run,
            key_names.NEXT: lambda: self.move_by(1),
            key_names.BEFORE: lambda: self.move_by(-1),
            key_names.HELP: window.explain,
            key_names.LIST: lambda: window.show_help("keyboard"),
        }
        for number, key in enumerate(STEPS, start=1):
            acts[f"Ctrl+{number}"] = partial(window.rail_press, key)
        self._shortcuts = {}
        for keys, act in acts.items():
            shortcut = QShortcut(QKeySequence(keys), window)
            shortcut.activated.connect(act)
            self._shortcuts[keys] = shortcut

    def start_run(self) -> None:
        """Start the planned run, or resume."""
        window, session = self._window, self._window.session
        estimate = session.estimate
        if session.state in ("paused", "interrupted"):
            session.resume()
        elif session.state in ("running", "stopping"):
            window.rail.explain("A run is in progress already.")
            return
        elif session.plan is None:
            window.rail.explain("Open a file first, in step 1.")
            return
        elif estimate is not None and estimate.unusable:
            window.notice.show_message(estimate.sentence)
            return
        else:
            session.start()
        window.show_page("tune")

    def pause_run(self) -> None:
        """Pause the run, or resume it."""
        session = self._window.session
        if session.state == "running":
            session.pause()
        elif session.state == "paused":
            session.resume()
        else:
            self._window.rail.explain("No run is in progress.")

    def stop_run(self) -> None:
        """Stop the run, or the prediction of a file."""
        session = self._window.session
        if session.state in ("running", "paused"):
            session.stop()
        else:
            session.prediction.stop_predicting()

    def move_by(self, offset: int) -> None:
        """Go to the next or previous step."""
        window = self._window
        current_step = "data" if window.here == "start" else window.here
        if current_step not in STEPS:
            window.rail_press("export" if offset < 0 and current_step == "use" else "data")
            return
        index = STEPS.index(current_step) + offset
        if 0 <= index < len(STEPS):
            window.rail_press(STEPS[index])


def press_focused(event: QKeyEvent) -> bool:
    """Whether Enter pressed the focused button."""
    focused = QApplication.focusWidget()
    if event.key() not in ENTER or not isinstance(focused, (QPushButton, QToolButton)):
        return False
    assert isinstance(focused, QAbstractButton)
    focused.click()
    return True
