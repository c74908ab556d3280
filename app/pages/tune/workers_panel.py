"""The workers of a cluster while they run trials."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from app.look import appearance
from app.widgets.text_labels import plain_tooltip, wrapping_label
from core.tuning.payloads import ClusterWorker

MAX_TILES = 24  # more workers are only counted
COLUMNS, WIDTH = 4, 150  # pixels of a tile at the usual text size


def headline(workers: Sequence[ClusterWorker]) -> str:
    """How many workers and computers there are, and how many are busy."""
    usable_workers = [worker for worker in workers if worker.usable]
    if not usable_workers:
        return "No worker of the cluster can be reached; the run waits for one."
    host_count = len({worker.host for worker in usable_workers})
    thread_count = sum(worker.threads for worker in usable_workers)
    busy_count = sum(bool(worker.trials) for worker in usable_workers)
    workers_text = "1 worker" if len(usable_workers) == 1 else f"{len(usable_workers)} workers"
    computers_text = "1 computer" if host_count == 1 else f"{host_count} computers"
    trials_text = "1 trial" if thread_count == 1 else f"{thread_count} trials"
    unusable_count = len(workers) - len(usable_workers)
    unusable_text = f" {unusable_count} cannot be used." if unusable_count else ""
    activity = f"{workers_text} on {computers_text}, {busy_count} at work, {trials_text} at a time."
    return f"{activity}{unusable_text}"


def activity_text(worker: ClusterWorker) -> str:
    """What a worker does now."""
    if not worker.usable:
        return "cannot be used"
    if not worker.trials:
        return "at work for others" if worker.load else "idle"
    screenings = [number for number in worker.trials if number < 0]
    numbers = [str(number) for number in worker.trials if number >= 0]
    words = [f"trial {numbers[0]}" if len(numbers) == 1 else f"trials {', '.join(numbers)}"]
    return " and ".join([*(words if numbers else []), *(["a screening"] if screenings else [])])


class WorkersPanel(QFrame):
    """A tile for each worker, and a sentence about all; hidden without a cluster."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Workers of the cluster")
        self.headline = wrapping_label("", "muted")
        self.more_label = wrapping_label("", "muted")
        self.tiles: list[_Tile] = []
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 2)
        column.setSpacing(4)
        column.addWidget(self.headline)
        column.addWidget(inner)
        column.addWidget(self.more_label)
        self.hide()

    def show_workers(self, workers: Sequence[ClusterWorker]) -> None:
        """Show what the workers do now."""
        summary = headline(workers)
        self.headline.setText(summary)
        activities = [f"{worker.name}: {activity_text(worker)}." for worker in workers[:MAX_TILES]]
        self.setAccessibleDescription(" ".join([summary, *activities]))
        while len(self.tiles) < min(len(workers), MAX_TILES):
            self._grid.addWidget(tile := _Tile(), *divmod(len(self.tiles), COLUMNS))
            self.tiles.append(tile)
        for index, tile in enumerate(self.tiles):
            tile.setVisible(index < len(workers))
            if index < len(workers):
                tile.show_worker(workers[index])
        hidden_count = len(workers) - MAX_TILES
        self.more_label.setText(f"and {hidden_count} more" if hidden_count > 0 else "")
        self.more_label.setVisible(hidden_count > 0)
        self.show()


class _Tile(QWidget):
    """A worker: name and computer, current trial, and load."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = self._activity = ""
        self._load = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_worker(self, worker: ClusterWorker) -> None:
        self._name = f"{worker.name} · {worker.host}" if worker.host else worker.name
        self._activity, self._load = activity_text(worker), worker.load
        self.setToolTip(plain_tooltip(f"{self._name}: {self._activity}"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(appearance.pixels(WIDTH), 2 * self.fontMetrics().height() + 10)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme, metrics = QPainter(self), appearance.current(), self.fontMetrics()
        line, width = metrics.height(), self.width()
        elide = Qt.TextElideMode.ElideMiddle
        painter.setPen(QColor(theme.ink))
        painter.drawText(0, metrics.ascent(), metrics.elidedText(self._name, elide, width))
        painter.setPen(QColor(theme.muted))
        activity = metrics.elidedText(self._activity, elide, width)
        painter.drawText(0, line + metrics.ascent(), activity)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width, 4), 2, 2)
        painter.setBrush(QColor(theme.accent))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width * min(1.0, self._load), 4), 2, 2)
