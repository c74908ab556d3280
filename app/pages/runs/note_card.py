"""The note of a run: a box that saves what is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.look import appearance
from app.widgets.card import Card

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary

SAVE_DELAY = 1500  # milliseconds after the last key
HEIGHT = 76  # pixels


class _Box(QPlainTextEdit):
    focus_lost = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_lost.emit()


class NoteCard(Card):
    """The note of the one chosen run."""

    written = Signal(str, str)  # the run's folder and the note

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Note", "", parent)
        self._path = self._saved_note = ""
        self.box = _Box()
        self.box.setAccessibleName("Note to the chosen run")
        self.box.setPlaceholderText("What was tried here, what came of it …")
        self.box.setTabChangesFocus(True)
        self.box.setFixedHeight(appearance.pixels(HEIGHT))
        self.body.addWidget(self.box)
        self._timer = QTimer(self, interval=SAVE_DELAY, singleShot=True)
        self._timer.timeout.connect(self.save_note)
        self.box.textChanged.connect(self._timer.start)
        self.box.focus_lost.connect(self.save_note)
        self.hide()

    def show_run(self, run: RunSummary | None) -> None:
        """Show the note of a run; an unsaved note of another one is saved first."""
        path = run.path if run is not None else ""
        if path != self._path:
            self.save_note()
        self.setVisible(run is not None)
        if run is None or (path == self._path and self.box.toPlainText() != self._saved_note):
            return  # nothing, or something is being typed
        self.set_words(f"Note to {run.display_name}")
        if path != self._path or run.note != self._saved_note:
            self._path, self._saved_note = path, run.note
            with QSignalBlocker(self.box):
                self.box.setPlainText(run.note)

    def focus_box(self) -> None:
        """Set the focus."""
        if self.isVisible():
            self.box.setFocus()

    def save_note(self) -> None:
        """Save what is typed."""
        self._timer.stop()
        text = self.box.toPlainText()
        if self._path and text.rstrip() != self._saved_note.rstrip():
            self._saved_note = text
            self.written.emit(self._path, text)
