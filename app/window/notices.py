"""Messages at the top of a page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.widgets.buttons import IconButton, PlainButton
from app.widgets.status_icon import StatusIcon
from app.widgets.text_labels import wrapping_label

LONG = 600  # milliseconds of a wait before it is shown


class Notice(QFrame):
    """A sentence about a problem."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "notice")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(StatusIcon("error", "bad", 20))
        self._sentence = wrapping_label()
        row.addWidget(self._sentence, 1)
        self._action: Callable[[], object] = self.dismiss
        self._button = PlainButton("", lambda: self._action())
        row.addWidget(self._button)
        self._close = IconButton("close", "Close this message", self.dismiss)
        row.addWidget(self._close)
        self.hide()

    @property
    def sentence(self) -> str:
        """The sentence."""
        return self._sentence.text()

    def show_message(
        self, sentence: str, button: str = "", action: Callable[[], object] | None = None
    ) -> None:
        """Show and announce the sentence, perhaps with a button."""
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self._button.setVisible(bool(button))
        if button and action is not None:
            self._button.set_label(button)
            self._action = action
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def dismiss(self) -> None:
        """Hide the message."""
        self.hide()


class BusyNotice(QFrame):
    """A long activity with a moving bar."""

    stop_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "hint")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(6)
        self._label = wrapping_label()
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        row = QHBoxLayout()
        row.addWidget(self._label, 1)
        self.stop_button = PlainButton("Stop", self.stop_pressed.emit)
        row.addWidget(self.stop_button)
        column.addLayout(row)
        column.addWidget(self._bar)
        self._timer = QTimer(self, singleShot=True, interval=LONG)
        self._timer.timeout.connect(self.show)
        self.hide()

    def show_message(self, activity: str, can_stop: bool = False) -> None:
        """Show a long activity; "" hides it at once."""
        self.stop_button.setVisible(can_stop)
        self._label.setText(activity)
        self._bar.setAccessibleName(activity)
        if activity:
            self._timer.start()
        else:
            self._timer.stop()
            self.hide()
