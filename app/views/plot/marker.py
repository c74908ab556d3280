"""The dashed vertical line at the next trial."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour, pen

STAR = 11.0  # pixels around the middle of a star


class Marker(pg.UIGraphicsItem):
    """A line with words on the side that has room."""

    def __init__(self) -> None:
        super().__init__()
        self.value: float | None = None
        self.label = QRectF()
        self._words = ""
        self._avoided: tuple[float, float] | None = None

    def set_value(
        self, value: float | None, words: str, avoided: tuple[float, float] | None = None
    ) -> None:
        """Set position (None for no line), words, and a dot to avoid."""
        self.value, self._words, self._avoided = value, words, avoided
        self.update()

    def line_colour(self) -> str:
        """The colour of the line."""
        return appearance.current().observed

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels."""
        if self.value is None:
            return
        theme, transform = appearance.current(), painter.transform()
        area = transform.mapRect(self.viewRect())
        x = transform.map(QPointF(self.value, 0.0)).x()
        painter.save()
        painter.resetTransform()
        painter.setPen(pen(self.line_colour(), 1.8, dashed=True))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if self._words:
            font = small_font()
            metrics = QFontMetricsF(font)
            wide, tall = metrics.horizontalAdvance(self._words) + 6, metrics.height()
            left = x + 3 if x + 3 + wide <= area.right() else x - 3 - wide
            box = QRectF(left, area.top() + 1, wide, tall)
            if self._avoided is not None:
                dot = transform.map(QPointF(*self._avoided))
                if box.adjusted(-STAR, -STAR, STAR, STAR).contains(dot):
                    box.moveBottom(area.bottom() - 2)
            self.label = box
            painter.setFont(font)
            painter.fillRect(box, clear_colour(theme.paper, 0.8))
            painter.setPen(QColor(theme.ink))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self._words)
        painter.restore()
