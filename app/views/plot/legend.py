"""The legend of a plot, in one or more lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import symbol_path

SAMPLE = 24  # pixels of the line or mark
BESIDE = 5  # between it and its words
APART = 16  # between two entries


@dataclass(frozen=True)
class LegendEntry:
    """A mark, drawn into a box, and its meaning."""

    draw: Callable[[QPainter, QRectF], None]
    words: str

    def needed_width(self, metrics: QFontMetricsF) -> float:
        """Pixels of sample and words."""
        return SAMPLE + BESIDE + metrics.horizontalAdvance(self.words)


def line_sample(pen: QPen) -> Callable[[QPainter, QRectF], None]:
    """A function that draws a short line."""

    def draw(painter: QPainter, box: QRectF) -> None:
        painter.setPen(pen)
        middle = box.center().y()
        painter.drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle))

    return draw


def symbol_sample(
    symbol: str, size: float, outline: QPen, fill: QColor | None = None
) -> Callable[[QPainter, QRectF], None]:
    """A function that draws a symbol."""

    def draw(painter: QPainter, box: QRectF) -> None:
        painter.setPen(outline)
        painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        painter.drawPath(symbol_path(symbol, size).translated(box.center()))

    return draw


def arrange_entries(entries: list[LegendEntry], width: float) -> list[tuple[QPointF, LegendEntry]]:
    """The position of every entry, wrapped at the width."""
    metrics = QFontMetricsF(small_font())
    placed: list[tuple[QPointF, LegendEntry]] = []
    x, y = 0.0, 0.0
    for entry in entries:
        wide = entry.needed_width(metrics)
        if x and x + wide > width:
            x, y = 0.0, y + metrics.height() + 1
        placed.append((QPointF(x, y), entry))
        x += wide + APART
    return placed


def height_of(entries: list[LegendEntry], width: float) -> float:
    """Pixels in height of entries wrapped at the width."""
    tall = QFontMetricsF(small_font()).height()
    return arrange_entries(entries, width)[-1][0].y() + tall if entries else 0.0


def paint_entries(painter: QPainter, entries: list[LegendEntry], area: QRectF) -> None:
    """Draw all entries from the top left of an area."""
    metrics = QFontMetricsF(small_font())
    painter.setFont(small_font())
    for offset, entry in arrange_entries(entries, area.width()):
        corner = area.topLeft() + offset
        painter.save()
        entry.draw(painter, QRectF(corner.x(), corner.y(), SAMPLE, metrics.height()))
        painter.restore()
        wide = metrics.horizontalAdvance(entry.words) + 2
        box = QRectF(corner.x() + SAMPLE + BESIDE, corner.y(), wide, metrics.height())
        painter.setPen(QColor(appearance.current().muted))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), entry.words)


class Legend(pg.GraphicsWidget):
    """The legend above a plot."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[LegendEntry] = []

    def set_entries(self, entries: list[LegendEntry], width: float) -> None:
        """Replace the entries; `width` is in pixels."""
        self.entries = entries
        tall = height_of(entries, width) + 2
        self.setMinimumHeight(tall)
        self.setMaximumHeight(tall)
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw the entries."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_entries(painter, self.entries, QRectF(0, 0, self.size().width(), 0))
