"""Labels at the ends of lines, moved apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour

LineEnd = tuple[float, float, str, str]  # x, y, text, colour
LONGEST = 250  # pixels of a name; the rest of it is left out in its middle


def spread_apart(wanted: Sequence[float], height: float, low: float, high: float) -> np.ndarray:
    """Positions near the wanted ones, at least `height` apart, in [low, high] where they fit."""
    # Least squares under the order: blocks that touch move as one (pool adjacent violators).
    order = np.argsort(wanted, kind="stable")
    blocks: list[tuple[float, int]] = []  # mean of (wanted − rank·height), members
    for rank, index in enumerate(order):
        mean, count = float(wanted[index]) - rank * height, 1
        while blocks and blocks[-1][0] > mean:
            before, members = blocks.pop()
            mean, count = (before * members + mean * count) / (members + count), members + count
        blocks.append((mean, count))
    starts = np.concatenate([[mean] * count for mean, count in blocks]) if blocks else np.empty(0)
    top = max(low, high - height * max(0, len(order) - 1))
    placed = np.empty(len(order))
    placed[order] = np.clip(starts, low, top) + height * np.arange(len(order))
    return placed


class EndLabels(pg.UIGraphicsItem):
    """Names at the right of a plot, joined to their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.rects: list[QRectF] = []
        self._ends: list[tuple[float, float, str, QColor]] = []

    def set_data(self, ends: list[LineEnd]) -> None:
        """Set the ends of the lines."""
        metrics, max_width = QFontMetricsF(small_font()), appearance.pixels(LONGEST)
        middle = Qt.TextElideMode.ElideMiddle  # long names tend to differ at their ends
        self._ends = [
            (x, y, metrics.elidedText(text, middle, max_width), QColor(colour))
            for x, y, text, colour in ends
        ]
        self.update()

    def needed_width(self) -> float:
        """Pixels of the longest text with its stroke."""
        metrics = QFontMetricsF(small_font())
        texts = (metrics.horizontalAdvance(text) for _, _, text, _ in self._ends)
        return max(texts, default=0.0) + 22

    def paint(self, painter: QPainter, *_args: Any) -> None:
        """Draw in device pixels."""
        if not self._ends:
            return
        transform = painter.transform()
        area = transform.mapRect(self.viewRect())
        painter.save()
        painter.resetTransform()
        painter.setFont(small_font())
        metrics = QFontMetricsF(small_font())
        tall = metrics.height()
        ends = [transform.map(QPointF(x, y)) for x, y, _, _ in self._ends]
        low, high = area.top() + tall / 2, area.bottom() - tall / 2
        rows = spread_apart([end.y() for end in ends], tall, low, high)
        self.rects = []
        for end, row, (_, _, text, colour) in zip(ends, rows, self._ends, strict=True):
            painter.setPen(QPen(colour, 1.0))
            painter.drawLine(QPointF(end.x() + 5, end.y()), QPointF(end.x() + 16, row))
            wide = metrics.horizontalAdvance(text) + 2
            left = min(end.x() + 19, area.right() - wide)  # whole, before beside its line
            box = QRectF(left, row - tall / 2, wide, tall)
            painter.fillRect(box, clear_colour(appearance.current().paper, 0.85))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
            self.rects.append(box)
        painter.restore()
