"""Messages at the top of a page, and a desktop notice at the end of a run."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QFrame, QProgressBar, QSystemTrayIcon, QWidget

from app.look import icons
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.session.session import Session
from app.session.shown_run import GOING_ON
from app.widgets.buttons import IconButton, PlainButton
from app.widgets.layouts import in_column, in_row
from app.widgets.text_labels import StatusIcon, wrapping_label

LONG = 250  # milliseconds of a wait before it is shown
MESSAGE_MILLISECONDS = 10_000
OVER = ("finished", "interrupted")


class Notice(QFrame):
    """A sentence about a problem."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "notice")
        self._sentence = wrapping_label()
        self._action: Callable[[], object] = self.hide
        self._button = PlainButton("", lambda: self._action())
        self._close = IconButton("close", "Close this message", self.hide)
        in_row(
            StatusIcon("error", "bad", 20),
            (self._sentence, 1),
            self._button,
            self._close,
            on=self,
            gap=10,
            margins=(12, 8, 8, 8),
        )
        self.hide()

    @property
    def sentence(self) -> str:
        return self._sentence.text()

    def show_message(
        self, sentence: str, button: str = "", action: Callable[[], object] | None = None
    ) -> None:
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self._button.setVisible(bool(button))
        if button and action is not None:
            self._button.set_label(button)
            self._action = action
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))


class BusyNotice(QFrame):
    """A long activity with a moving bar."""

    stop_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "hint")
        self._label = wrapping_label()
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self.stop_button = PlainButton("Stop", self.stop_pressed.emit)
        row = in_row((self._label, 1), self.stop_button)
        in_column(row, self._bar, on=self, gap=6, margins=(12, 8, 12, 10))
        self._timer = QTimer(self, singleShot=True, interval=LONG)
        self._timer.timeout.connect(self.show)
        self.hide()

    def show_message(self, activity: str, can_stop: bool = False) -> None:
        self.stop_button.setVisible(can_stop)
        self._label.setText(activity)
        self._bar.setAccessibleName(activity)
        if activity:
            self._timer.start()
        else:
            self._timer.stop()
            self.hide()


class EndNotice(QObject):
    """Asks for attention when a run ends behind other windows."""

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
        # Who looks at the window sees the end.
        if self._window.isActiveWindow() or not settings.stored_flag(TELLS_ENDS, True):
            return
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        icon = icons.tinted_icon("tunescope")
        if self._tray is None:
            self._tray = QSystemTrayIcon(icon, self)
            self._tray.messageClicked.connect(self._come_to_front)
        # An icon that stays would promise that the program does something there.
        self._tray.show()
        self._tray.showMessage("Tunescope", self.message_text(), icon, MESSAGE_MILLISECONDS)
        QTimer.singleShot(MESSAGE_MILLISECONDS, self._tray, self._tray.hide)

    def message_text(self) -> str:
        from core.tuning.scores.score import metric_in_short, score_text

        run = self._session.shown.state
        name = run.started.dataset.name.removesuffix(".csv") or "The run"
        outcome = "finished" if self._session.state == "finished" else "stopped before its end"
        best = run.best_trial
        if best is None or run.learns_penalties:
            return f"{name}: {outcome}."
        metric = run.started.metric
        score = f"{metric_in_short(metric)} {score_text(best.score, metric)}"
        return f"{name}: {outcome}. Best {score}."

    def _come_to_front(self) -> None:
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()
