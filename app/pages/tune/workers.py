"""The workers of a cluster while they run trials: how busy each is, and which trial it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from app.look import appearance
from app.widgets.labels import label, tip

MOST = 24  # workers that are shown one by one; of more the rest is counted
COLUMNS, WIDTH = 4, 150  # side by side; pixels of one, at the usual text size


def headline(workers: Sequence[Mapping[str, Any]]) -> str:
    """How many workers there are, on how many computers, and how many of them are at work."""
    usable = [worker for worker in workers if worker.get("usable")]
    if not usable:
        return "No worker of the cluster can be reached; the run waits for one."
    hosts = len({worker.get("host") for worker in usable})
    threads = sum(int(worker.get("threads", 1)) for worker in usable)
    busy = sum(bool(worker.get("trials")) for worker in usable)
    many = "1 worker" if len(usable) == 1 else f"{len(usable)} workers"
    on = "1 computer" if hosts == 1 else f"{hosts} computers"
    at_once = "1 trial" if threads == 1 else f"{threads} trials"
    left_out = len(workers) - len(usable)
    rest = f" {left_out} cannot be used." if left_out else ""
    return f"{many} on {on}, {busy} at work, {at_once} at a time.{rest}"


def does(worker: Mapping[str, Any]) -> str:
    """What a worker does now."""
    if not worker.get("usable"):
        return "cannot be used"
    trials = [int(number) for number in worker.get("trials", ())]
    if not trials:
        return "at work for others" if worker.get("load") else "idle"
    looks = [number for number in trials if number < 0]
    numbers = [str(number) for number in trials if number >= 0]
    words = [f"trial {numbers[0]}" if len(numbers) == 1 else f"trials {', '.join(numbers)}"]
    return " and ".join([*(words if numbers else []), *(["a first look"] if looks else [])])


class Workers(QFrame):
    """One tile a worker, and a sentence about all of them; hidden where there is no cluster."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Workers of the cluster")
        self.headline = label("", "muted")
        self.rest = label("", "muted")
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
        column.addWidget(self.rest)
        self.hide()

    def show_workers(self, workers: Sequence[Mapping[str, Any]]) -> None:
        """Show what they do now."""
        said = headline(workers)
        self.headline.setText(said)
        self.setAccessibleDescription(
            " ".join([said, *(f"{worker['name']}: {does(worker)}." for worker in workers[:MOST])])
        )
        while len(self.tiles) < min(len(workers), MOST):
            self._grid.addWidget(tile := _Tile(), *divmod(len(self.tiles), COLUMNS))
            self.tiles.append(tile)
        for at, tile in enumerate(self.tiles):
            tile.setVisible(at < len(workers))
            if at < len(workers):
                tile.show_worker(workers[at])
        more = len(workers) - MOST
        self.rest.setText(f"and {more} more" if more > 0 else "")
        self.rest.setVisible(more > 0)
        self.show()


class _Tile(QWidget):
    """A worker: its name and computer, what it does, and a bar of its load."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = self._does = ""
        self._load = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_worker(self, worker: Mapping[str, Any]) -> None:
        """Show what it does now."""
        host = str(worker.get("host", ""))
        self._name = f"{worker.get('name', '')} · {host}" if host else str(worker.get("name", ""))
        self._does, self._load = does(worker), float(worker.get("load") or 0.0)
        self.setToolTip(tip(f"{self._name}: {self._does}"))
        self.update()

    def sizeHint(self) -> QSize:
        """Two lines and a bar."""
        return QSize(appearance.pixels(WIDTH), 2 * self.fontMetrics().height() + 10)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        painter, theme, metrics = QPainter(self), appearance.current(), self.fontMetrics()
        line, width = metrics.height(), self.width()
        elide = Qt.TextElideMode.ElideMiddle
        painter.setPen(QColor(theme.ink))
        painter.drawText(0, metrics.ascent(), metrics.elidedText(self._name, elide, width))
        painter.setPen(QColor(theme.muted))
        painter.drawText(0, line + metrics.ascent(), metrics.elidedText(self._does, elide, width))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width, 4), 2, 2)
        painter.setBrush(QColor(theme.accent))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width * min(1.0, self._load), 4), 2, 2)
