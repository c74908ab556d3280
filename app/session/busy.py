"""What the window waits for, said only once it takes long."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

BUSY_AFTER = 600  # milliseconds; a shorter wait is no news


class Busy(QObject):
    """Says what is waited for after a while, and at once when it is over.

    Signals:
        changed: what is waited for; "" for nothing.
    """

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._what = ""
        self._timer = QTimer(self, singleShot=True, interval=BUSY_AFTER)
        self._timer.timeout.connect(lambda: self.changed.emit(self._what))

    def say(self, what: str) -> None:
        """Something is waited for; "" for nothing any more."""
        self._what = what
        if what:
            self._timer.start()
        else:
            self._timer.stop()
            self.changed.emit("")

    def stop(self) -> None:
        """Say nothing more."""
        self._timer.stop()
