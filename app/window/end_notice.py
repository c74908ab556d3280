"""A run ends while nobody looks: the desktop is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.look import icons
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.session.run import GOING_ON

if TYPE_CHECKING:
    from app.session.session import Session

SHOWN = 10_000  # milliseconds
OVER = ("finished", "interrupted")


class EndNotice(QObject):
    """Asks for attention when a run ends and the window is not in front.

    The task bar is asked everywhere; where the desktop has a tray, a message says what ended.

    Args:
        window: that of the program.
        session: whose runs they are.
    """

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self._state = session.state
        self._tray: QSystemTrayIcon | None = None
        session.run_changed.connect(self._look)

    def _look(self) -> None:
        before, self._state = self._state, self._session.state
        if before in GOING_ON and self._state in OVER:
            self.tell()

    def tell(self) -> None:
        """Ask for attention, unless the window is in front or the person does not want it."""
        if self._window.isActiveWindow() or not settings.flag(TELLS_ENDS, True):
            return
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(icons.icon("tunescope"), self)
            self._tray.messageClicked.connect(self._come_to_front)
        self._tray.show()
        self._tray.showMessage("Tunescope", self.words(), icons.icon("tunescope"), SHOWN)
        QTimer.singleShot(SHOWN, self._tray, self._tray.hide)

    def words(self) -> str:
        """What ended, and with which score."""
        from app.text.numbers import plain
        from app.text.scores import metric_in_short

        run = self._session.shown.state
        name = str(run.started.dataset.get("name", "")).removesuffix(".csv") or "The run"
        ended = "finished" if self._session.state == "finished" else "stopped before its end"
        best = run.best
        if best is None or run.learns_penalties:
            return f"{name}: {ended}."
        return f"{name}: {ended}. Best {metric_in_short(run.started.metric)} {plain(best.score)}."

    def _come_to_front(self) -> None:
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
