"""The time of a run on the screen: a stopwatch between its events, and a bar of its parts."""

from __future__ import annotations

import time

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from app.look import appearance
from app.text.tuning.head import done_share, ledger_parts
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour
from core.tuning.runs.state import RunState

STEPS = 1000  # of the bar
THICK, GAP = 8, 4  # pixels: of the bar, which is thicker where it has parts; above its labels


class Stopwatch:
    """Counts on from the last known seconds while it runs."""

    def __init__(self) -> None:
        self._base_seconds, self._since, self._is_running = 0.0, 0.0, False

    @property
    def seconds(self) -> float:
        """The seconds by now."""
        return self._base_seconds + (time.monotonic() - self._since if self._is_running else 0.0)

    def set_seconds(self, seconds: float) -> None:
        """Set the known seconds; it never goes back while it runs."""
        self._base_seconds, self._since = max(seconds, self.seconds), time.monotonic()

    def set_running(self, is_running: bool, seconds: float) -> None:
        """Run or stand; a change begins at `seconds`."""
        if is_running != self._is_running:
            self._base_seconds, self._since = seconds, time.monotonic()
            self._is_running = is_running


class RunBar(QProgressBar):
    """How much of a run is done; of several models, what its time is spent on and kept for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Progress of the run")
        self.parts: list[tuple[str, float, str]] = []  # name, seconds, label

    def show_run(self, run: RunState, state: str, elapsed: float | None) -> None:
        """Show a run in this state of the session, after so many seconds."""
        has_parts = run.tunes_several_models and bool(run.started.run_plan.minutes)
        self.parts = ledger_parts(run, elapsed) if has_parts and run.fold is None else []
        share = done_share(run, state)
        is_waiting = state == "stopping" and run.fold is None  # for an unknown time
        is_unknown = not self.parts and (is_waiting or (share is None and state == "running"))
        self.setRange(0, 0 if is_unknown else STEPS)
        self.setValue(round(STEPS * (share or 0.0)))
        self.setToolTip(", ".join(label for _, _, label in self.parts if label))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The bar, and a line for its labels."""
        labels = GAP + QFontMetrics(small_font()).height() + GAP if self.parts else 0
        return QSize(200, THICK + labels)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the parts and their labels, those of the ends first where room is short."""
        if not self.parts:
            super().paintEvent(event)
            return
        theme, painter = appearance.current(), QPainter(self)
        painter.setFont(small_font())
        fills = {
            "screening": QBrush(clear_colour(theme.accent, 0.5)),
            "trials": QBrush(QColor(theme.accent)),
            "finishing": QBrush(QColor(theme.good)),
            "free": QBrush(QColor(theme.line)),
            "kept": QBrush(QColor(theme.control), Qt.BrushStyle.BDiagPattern),
        }
        scale = self.width() / (sum(seconds for _, seconds, _ in self.parts) or 1.0)
        thick, left, places = THICK + GAP, 0.0, []
        for name, seconds, label in self.parts:
            box = QRectF(left, 0, seconds * scale, thick)
            painter.fillRect(box.adjusted(0, 0, -1 if box.width() > 2 else 0, 0), fills[name])
            left += box.width()
            places.append((box, label))
        painter.setPen(QColor(theme.muted))
        taken: list[QRectF] = []
        for box, label in (*places[:1], *reversed(places[1:])):
            wide = painter.fontMetrics().horizontalAdvance(label)
            x = min(max(0.0, box.center().x() - wide / 2), self.width() - wide)
            place = QRectF(x, thick, wide + 1, self.height() - thick)
            if label and not any(place.adjusted(-8, 0, 8, 0).intersects(other) for other in taken):
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, label)
                taken.append(place)
