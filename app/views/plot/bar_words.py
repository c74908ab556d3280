"""Labels at the ends of bars."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.look import appearance
from app.views.plot.axes import small_font


class BarLabels(pg.UIGraphicsItem):
    """A text to the right of each (x, row)."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[tuple[float, float, str]] = []

    def set_data(self, words: list[tuple[float, float, str]]) -> None:
        """(x, row, text) of every bar."""
        self.words = words
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw the texts of visible rows."""
        transform, shown = painter.transform(), self.viewRect()
        area = transform.mapRect(shown)
        painter.save()
        painter.resetTransform()
        font = small_font()
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(appearance.current().muted))
        for x, row, text in self.words:
            if shown.top() <= row <= shown.bottom():
                anchor = transform.map(QPointF(x, row))
                wide, tall = metrics.horizontalAdvance(text) + 2, metrics.height()
                left = min(anchor.x() + 6, area.right() - wide)
                box = QRectF(left, anchor.y() - tall / 2, wide, tall)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.restore()


class TopLabels(BarLabels):
    """A text centred above each (x, row)."""

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw the texts inside the plot."""
        transform = painter.transform()
        area = transform.mapRect(self.viewRect())
        painter.save()
        painter.resetTransform()
        font = small_font()
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(appearance.current().ink))
        for x, row, text in self.words:
            anchor = transform.map(QPointF(x, row))
            wide, tall = metrics.horizontalAdvance(text) + 2, metrics.height()
            left = min(max(anchor.x() - wide / 2, area.left()), area.right() - wide)
            painter.drawText(QRectF(left, anchor.y() - tall - 9, wide, tall), 0, text)
        painter.restore()
