"""A desktop notice at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.look import icons
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.session.shown_run import GOING_ON

if TYPE_CHECKING:
    from app.session.session import Session

MESSAGE_MILLISECONDS = 10_000
OVER = ("finished", "interrupted")


class EndNotice(QObject):
    """Asks for attention when a run ends and the window is not in front."""

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self._state = session.state
        self._tray: QSystemTrayIcon | None = None
        session.run_changed.connect(self._on_run_changed)

    def _on_run_changed(self) -> None:
        before, self._state = self._state, self._session.state
        if before in GOING_ON and self._state in OVER:
            self.ask_for_attention()

    def ask_for_attention(self) -> None:
        """Alert the task bar, and show a message in the tray."""
        if self._window.isActiveWindow() or not settings.stored_flag(TELLS_ENDS, True):
            return
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        icon = icons.tinted_icon("tunescope")
        if self._tray is None:
            self._tray = QSystemTrayIcon(icon, self)
            self._tray.messageClicked.connect(self._come_to_front)
        self._tray.show()
        self._tray.showMessage("Tunescope", self.message_text(), icon, MESSAGE_MILLISECONDS)
        QTimer.singleShot(MESSAGE_MILLISECONDS, self._tray, self._tray.hide)

    def message_text(self) -> str:
        """The run that ended, and its best score."""
        from app.text.number_format import format_number
        from app.text.score_text import metric_in_short

        run = self._session.shown.state
        name = run.started.dataset.name.removesuffix(".csv") or "The run"
        outcome = "finished" if self._session.state == "finished" else "stopped before its end"
        best = run.best_trial
        if best is None or run.learns_penalties:
            return f"{name}: {outcome}."
        metric, score = metric_in_short(run.started.metric), format_number(best.score)
        return f"{name}: {outcome}. Best {metric} {score}."

    def _come_to_front(self) -> None:
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
