"""Vertical bars with words above."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour, pen

BarLabel = tuple[float, float, str]  # x, height, text
SHARE = 0.7  # of the room of a bar that it fills
WIDEST = 34.0  # pixels of a bar
LOWEST = 5.0  # pixels of a bar without a height of its own
OUTLINED = 4.0  # pixels from which a bar has an outline


class VerticalBars(pg.UIGraphicsItem):
    """Bars at 0, 1, …: filled, or pale stubs; some crossed."""

    def __init__(self) -> None:
        super().__init__()
        self.heights: list[float] = []
        self.filled: list[bool] = []
        self.crossed: list[bool] = []
        self._colour = QColor()

    def set_data(
        self, heights: Sequence[float], filled: Sequence[bool], crossed: Sequence[bool], colour: str
    ) -> None:
        """Heights, which bars are filled, and which are crossed."""
        self.heights, self.filled, self.crossed = list(heights), list(filled), list(crossed)
        self._colour = QColor(colour)
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels."""
        theme, transform = appearance.current(), painter.transform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        step = transform.map(QPointF(1, 0)).x() - transform.map(QPointF(0, 0)).x()
        wide = max(1.0, min(WIDEST, SHARE * step))
        for position, height in enumerate(self.heights):
            foot, top = (transform.map(QPointF(position, y)) for y in (0.0, height))
            tall = max(LOWEST, foot.y() - top.y())
            box = QRectF(foot.x() - wide / 2, foot.y() - tall, wide, tall)
            fill = self._colour if self.filled[position] else clear_colour(theme.control, 0.3)
            is_empty = self.filled[position] and not height > 0
            painter.setBrush(Qt.BrushStyle.NoBrush if is_empty else fill)
            edge = self._colour.name() if self.filled[position] else theme.control
            painter.setPen(pen(edge, 1.0) if wide >= OUTLINED else Qt.PenStyle.NoPen)
            painter.drawRect(box)
            if self.crossed[position]:
                _paint_cross(painter, QPointF(foot.x(), box.top() - 7), min(4.0, wide / 2 + 1))
        painter.restore()


def _paint_cross(painter: QPainter, middle: QPointF, half_size: float) -> None:
    painter.setPen(QPen(QColor(appearance.current().bad), 2.0))
    for corner in (QPointF(half_size, half_size), QPointF(half_size, -half_size)):
        painter.drawLine(middle - corner, middle + corner)


class VerticalBarLabels(pg.UIGraphicsItem):
    """A text above each bar, upright where room is short."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[BarLabel] = []
        self.upright = False

    def set_data(self, words: list[BarLabel], room: float) -> float:
        """Set texts and pixels between bars; returns the texts' height."""
        metrics = QFontMetricsF(small_font())
        wide = max((metrics.horizontalAdvance(text) for _, _, text in words), default=0.0)
        self.upright = room < wide + 6
        self.words = words if room >= metrics.height() - 2 else []
        self.update()
        if not self.words:
            return 0.0
        return (wide if self.upright else metrics.height()) + 6

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels."""
        if not self.words:
            return
        transform, metrics = painter.transform(), QFontMetricsF(small_font())
        tall = metrics.height()
        painter.save()
        painter.resetTransform()
        painter.setFont(small_font())
        painter.setPen(QColor(appearance.current().ink))
        for x, height, text in self.words:
            anchor = transform.map(QPointF(x, height))
            wide = metrics.horizontalAdvance(text) + 2
            painter.save()
            foot = transform.map(QPointF(x, 0))
            painter.translate(anchor.x(), min(anchor.y(), foot.y() - LOWEST) - 4)
            if self.upright:
                painter.rotate(-90)
                box = QRectF(0, -tall / 2, wide, tall)
            else:
                box = QRectF(-wide / 2, -tall, wide, tall)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
            painter.restore()
        painter.restore()
