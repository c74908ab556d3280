"""The replay of a run: a slider over its trials or steps, and play."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.look import icons
from app.text.number_format import format_duration
from app.widgets.buttons import IconButton
from app.widgets.quiet_controls import QuietSlider
from app.widgets.text_labels import ElidedLabel
from core.tuning.events import Event

PLAYING = 8_000  # milliseconds for a whole run
FASTEST = 40  # milliseconds between two positions


class Replay(QFrame):
    """Chooses how much of a run the views show."""

    moved = Signal(int)  # how many events are shown

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: list[int] = []  # the number of events at the end of each trial or step
        self._events: Sequence[Event] = ()
        self._of_trials = True
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.play_button = IconButton("play", "Play the run again", self.play)
        row.addWidget(self.play_button)
        self.slider = QuietSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Moment of the run")
        self.slider.setMinimumHeight(28)
        self.slider.valueChanged.connect(self._on_slider_moved)
        row.addWidget(self.slider, 1)
        self._position_label = ElidedLabel("", "caption")
        self._position_label.setMinimumWidth(170)
        row.addWidget(self._position_label)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance_slider)

    def load_run(self, events: Sequence[Event], stops: Sequence[int], of_trials: bool) -> None:
        """Take a run and go to its end, without `moved`."""
        self.stop()
        self._events, self._of_trials = events, of_trials
        self._stops = [*stops[:-1], len(events)] if stops else []
        self.slider.blockSignals(True)
        self.slider.setRange(min(1, len(self._stops)), len(self._stops))
        self.slider.setPageStep(max(1, len(self._stops) // 10))
        self.slider.setValue(len(self._stops))
        self.slider.blockSignals(False)
        self._show_position()

    def play(self) -> None:
        """Play from here, or from the start at the end; pressed again, stop."""
        if self._timer.isActive():
            self.stop()
            return
        if self.slider.value() == self.slider.maximum():
            self.slider.setValue(self.slider.minimum())
        self._timer.start(max(FASTEST, PLAYING // max(1, len(self._stops))))
        self._show_button("pause", "Stop playing")

    def stop(self) -> None:
        """Stop playing."""
        self._timer.stop()
        self._show_button("play", "Play the run again")

    def _show_button(self, icon: str, name: str) -> None:
        self.play_button.setIcon(icons.tinted_icon(icon, "muted"))
        self.play_button.setAccessibleName(name)
        self.play_button.setToolTip(name)

    def _advance_slider(self) -> None:
        ticks = PLAYING // FASTEST
        self.slider.setValue(self.slider.value() + max(1, len(self._stops) // ticks))
        if self.slider.value() == self.slider.maximum():
            self.stop()

    def _on_slider_moved(self, position: int) -> None:
        self._show_position()
        self.moved.emit(self._stops[position - 1] if position and self._stops else 0)

    def _show_position(self) -> None:
        position = self.slider.value()
        if not self._stops or not position:
            self._position_label.setText("")
            return
        event = self._events[self._stops[position - 1] - 1]
        words = "after trial {at} of {all}, {time}"
        count = len(self._stops)
        if not self._of_trials:  # the first step is the start, number 0
            words = "after step {at} of {all}, {time}"
            position, count = position - 1, count - 1
        position_text = words.format(at=position, all=count, time=format_duration(event.seconds))
        self._position_label.setText(position_text)
        self.slider.setAccessibleDescription(position_text)
