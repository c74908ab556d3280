"""A dashed line at a score to compare with."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour, pen

Size = tuple[float, float]
Line = tuple[np.ndarray, np.ndarray]  # x and y of its corners
AROUND = 5  # pixels around the words that are to be empty too


class DefaultLine(pg.UIGraphicsItem):
    """A line with words that avoid dots and `other_line`."""

    def __init__(self, other_line: DefaultLine | None = None) -> None:
        super().__init__()
        self._other_line = other_line
        self.value: float | None = None
        self.label = QRectF()
        self._words = ""
        self._dots = np.empty((0, 2))
        self._stairs = np.empty((0, 2))

    def set_value(self, value: float | None, words: str, dots: np.ndarray, stairs: Line) -> None:
        """Set score, words, and what they avoid: dots (n, 2) and a line."""
        self.value, self._words, self._dots = value, words, dots
        self._stairs = _points_along(*stairs)
        self.update()

    def line_colour(self) -> str:
        """The colour of the line."""
        return appearance.current().muted

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels."""
        if self.value is None or not math.isfinite(self.value):
            return
        theme, transform = appearance.current(), painter.transform()
        area = transform.mapRect(self.viewRect())
        height = transform.map(QPointF(0.0, self.value)).y()
        font = small_font()
        metrics = QFontMetricsF(font)
        size = (metrics.horizontalAdvance(self._words) + 6, metrics.height())
        reach = (size[1] + AROUND + 2) * self.viewRect().height() / max(area.height(), 1.0)
        near = self._dots[np.abs(self._dots[:, 1] - self.value) <= reach]  # of up to 100,000
        busy = np.vstack([near, self._stairs]).T
        busy = pg.functions.transformCoordinates(transform, busy).T if busy.size else busy.T
        if self._other_line is not None and self._other_line.value is not None:
            busy = np.vstack([busy, _filling_points(self._other_line.label)])
        self.label = emptiest_box(area, height, size, busy)
        painter.save()
        painter.resetTransform()
        painter.setPen(pen(self.line_colour(), 1.4, dashed=True))
        painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height))
        painter.setFont(font)
        painter.fillRect(self.label, clear_colour(theme.paper, 0.8))
        painter.setPen(QColor(theme.muted))
        painter.drawText(self.label, int(Qt.AlignmentFlag.AlignCenter), self._words)
        painter.restore()


def emptiest_box(area: QRectF, height: float, size: Size, busy: np.ndarray) -> QRectF:
    """The box at a height that covers the fewest busy points."""
    wide, tall = size
    lefts = np.linspace(area.right() - wide - 2, area.left() + 2, 7)
    tops = [
        top for top in (height + 2, height - tall - 2) if area.top() <= top <= area.bottom() - tall
    ]
    boxes = [QRectF(left, top, wide, tall) for top in tops for left in lefts]
    if not boxes:
        return QRectF(lefts[0], height + 2, wide, tall)
    return min(boxes, key=lambda box: _covered_count(box, busy))


def _filling_points(box: QRectF) -> np.ndarray:
    """Points that make a box the busiest."""
    return np.array([(x, box.center().y()) for x in np.linspace(box.left(), box.right(), 30)] * 40)


def _covered_count(box: QRectF, points: np.ndarray) -> int:
    if not len(points):
        return 0
    x, y = points[:, 0], points[:, 1]
    box = box.adjusted(-AROUND, -AROUND, AROUND, AROUND)
    inside = (x > box.left()) & (x < box.right()) & (y > box.top()) & (y < box.bottom())
    return int(np.sum(inside))


def _points_along(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Enough points along the corners for none of the line's parts to be missed.
    if len(x) < 2:
        return np.empty((0, 2))
    shares = np.linspace(0.0, len(x) - 1.0, 60 + 4 * min(len(x), 100))
    ranks = np.arange(len(x))
    return np.column_stack([np.interp(shares, ranks, x), np.interp(shares, ranks, y)])
