"""Words in a plot: at bars, lines' ends and levels, where they cover nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QTransform

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import PixelItem, draw_words, pen, symbol_path
from core.figures.figure import spaced_apart, spread_apart


class BarLabels(PixelItem):
    """A text to the right of each (x, row)."""

    ink = "muted"  # a colour of the theme

    def __init__(self) -> None:
        super().__init__()
        self.words: list[tuple[float, float, str]] = []
        self.boxes: list[QRectF] = []  # of those that were painted

    def set_data(self, words: list[tuple[float, float, str]]) -> None:
        self.words = words
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        shown, metrics = self.viewRect(), QFontMetricsF(painter.font())
        ink = getattr(appearance.current(), self.ink)
        self.boxes = []
        for x, row, text in self.words:
            wide, tall = metrics.horizontalAdvance(text) + 2, metrics.height()
            box = self._box_at(transform.map(QPointF(x, row)), wide, tall, area)
            # Of hundreds of rows only those in sight are painted, and none over another.
            if shown.top() <= row <= shown.bottom() and not any(map(box.intersects, self.boxes)):
                draw_words(painter, box, text, ink)
                self.boxes.append(box)

    def _box_at(self, anchor: QPointF, wide: float, tall: float, area: QRectF) -> QRectF:
        x_min = min(anchor.x() + 6, area.right() - wide)
        return QRectF(x_min, anchor.y() - tall / 2, wide, tall)


class TopLabels(BarLabels):
    """A text centred above each (x, row)."""

    ink = "ink"

    def _box_at(self, anchor: QPointF, wide: float, tall: float, area: QRectF) -> QRectF:
        x_min = min(max(anchor.x() - wide / 2, area.left()), area.right() - wide)
        return QRectF(x_min, anchor.y() - tall - 9, wide, tall)


EDGE = 6  # pixels from the edge to a mark of what lies beyond it
MOST_NUMBERS = 6  # of marks at the edges
TURNS = {(0, -1): 0, (1, 0): 90, (0, 1): 180, (-1, 0): 270}  # degrees, by the way beyond


class EdgeMarks(PixelItem):
    """A triangle at the edge for every point beyond it, with its text where there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.boxes: list[tuple[QRectF, str]] = []  # of the texts that were drawn
        self._points, self._colour = np.empty((0, 2)), ""

    def set_data(self, x: Any, y: Any, texts: Sequence[str], colour: str) -> None:
        self._points, self.texts = np.column_stack([x, y]).astype(float), list(texts)
        self._colour = colour
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        self.boxes = []
        if not len(self._points):
            return
        points = pg.functions.transformCoordinates(transform, self._points.T).T
        ends = (area.left(), area.top()), (area.right(), area.bottom())
        ways = np.sign(points - np.clip(points, *ends))
        # A point that lies beyond a corner is not of what is looked at.
        rows = np.flatnonzero(np.abs(ways).sum(axis=1) == 1)
        inset = np.clip(points, np.add(ends[0], EDGE), np.subtract(ends[1], EDGE))
        painter.setPen(pen(appearance.current().ink, 0.8))
        painter.setBrush(QColor(self._colour))
        for x, y, right, down in set(map(tuple, np.hstack([inset, ways])[rows].round().tolist())):
            turn = QTransform().translate(x, y).rotate(TURNS[right, down])
            painter.drawPath(turn.map(symbol_path("triangle", 7)))
        numbered = [row for row in rows.tolist() if row < len(self.texts)]
        self._draw_texts(painter, area, inset, ways, numbered)

    def _draw_texts(
        self, painter: QPainter, area: QRectF, points: np.ndarray, ways: np.ndarray, rows: list[int]
    ) -> None:
        metrics, muted = QFontMetricsF(painter.font()), appearance.current().muted
        widths = [metrics.horizontalAdvance(self.texts[row]) + 8 for row in rows]
        for index in spaced_apart([points[row, 0] for row in rows], widths, MOST_NUMBERS):
            (x, y), wide, tall = points[rows[index]], widths[index], metrics.height()
            box = QRectF(x - wide / 2, y - tall / 2, wide, tall)
            box.translate(0.0, -ways[rows[index], 1] * (tall / 2 + EDGE))
            box.moveLeft(min(max(box.left(), area.left()), area.right() - wide))
            draw_words(painter, box, self.texts[rows[index]], muted)
            self.boxes.append((box, self.texts[rows[index]]))


LONGEST = 250  # pixels of a name; the rest of it is left out in its middle


class EndLabels(PixelItem):
    """Names at the right, joined to their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.rects: list[QRectF] = []
        self._ends: list[tuple[float, float, str]] = []

    def set_data(self, ends: list[tuple[float, float, str]]) -> None:
        metrics, max_width = QFontMetricsF(small_font()), appearance.pixels(LONGEST)
        # Long names of one table tend to differ at their ends.
        middle = Qt.TextElideMode.ElideMiddle
        self._ends = [(x, y, metrics.elidedText(text, middle, max_width)) for x, y, text in ends]
        self.update()

    def needed_width(self) -> float:
        """Pixels of the longest text with its stroke."""
        metrics = QFontMetricsF(small_font())
        texts = (metrics.horizontalAdvance(text) for _, _, text in self._ends)
        return max(texts, default=0.0) + 22

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        if not self._ends:
            return
        ink, metrics = appearance.current().ink, QFontMetricsF(painter.font())
        tall = metrics.height()
        ends = [transform.map(QPointF(x, y)) for x, y, _ in self._ends]
        low, high = area.top() + tall / 2, area.bottom() - tall / 2
        rows = spread_apart([end.y() for end in ends], tall, low, high)
        self.rects = []
        for end, row, (_, _, text) in zip(ends, rows, self._ends, strict=True):
            painter.setPen(pen(ink))
            painter.drawLine(QPointF(end.x() + 5, end.y()), QPointF(end.x() + 16, row))
            wide = metrics.horizontalAdvance(text) + 2
            # Rather whole than right beside its line.
            x_min = min(end.x() + 19, area.right() - wide)
            box = QRectF(x_min, row - tall / 2, wide, tall)
            draw_words(painter, box, text, ink)
            self.rects.append(box)


STAR = 11.0  # pixels around the middle of a star


class Marker(PixelItem):
    """A line in a colour of the theme, with words on the side that has room."""

    def __init__(self, colour: str = "observed") -> None:
        super().__init__()
        self._colour = colour
        self.value: float | None = None
        self.label = QRectF()
        self._words = ""
        self._avoided: tuple[float, float] | None = None

    def set_value(
        self, value: float | None, words: str, avoided: tuple[float, float] | None = None
    ) -> None:
        """None for no line; `avoided` is a dot."""
        self.value, self._words, self._avoided = value, words, avoided
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        if self.value is None:
            return
        theme, x = appearance.current(), transform.map(QPointF(self.value, 0.0)).x()
        painter.setPen(pen(getattr(theme, self._colour), 1.8, dashed=True))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if self._words:
            metrics, words = QFontMetricsF(painter.font()), self._words
            if metrics.horizontalAdvance(words) + 9 > max(x - area.left(), area.right() - x):
                words = "\n".join(filter(None, words.rpartition(" ")[::2]))  # its number below
            size = metrics.size(0, words)
            wide, tall = size.width() + 6, size.height()
            x_min = x + 3 if x + 3 + wide <= area.right() else max(x - 3 - wide, area.left())
            box = QRectF(x_min, area.top() + 1, wide, tall)
            if self._avoided is not None:
                dot = transform.map(QPointF(*self._avoided))
                if box.adjusted(-STAR, -STAR, STAR, STAR).contains(dot):
                    box.moveBottom(area.bottom() - 2)
            self.label = box
            draw_words(painter, box, words, theme.ink)


Size = tuple[float, float]
Line = tuple[np.ndarray, np.ndarray]  # x and y of its corners
AROUND = 5  # pixels around the words that are to be empty too


class DefaultLine(PixelItem):
    """A line with words that avoid dots and `other_line`."""

    def __init__(self, other_line: DefaultLine | None = None) -> None:
        super().__init__()
        self._other_line = other_line
        self.value: float | None = None
        self.label = QRectF()
        self._words = self._number = ""
        self._dots = np.empty((0, 2))
        self._stairs = np.empty((0, 2))

    def set_value(
        self, value: float | None, words: str, number: str, dots: np.ndarray, stairs: Line
    ) -> None:
        """`number` is for the edge; dots, shape (n, 2), and stairs are avoided."""
        self.value, self._words, self._number, self._dots = value, words, number, dots
        self._stairs = _points_along(*stairs)
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        if self.value is None or not math.isfinite(self.value):
            return
        muted, metrics = appearance.current().muted, QFontMetricsF(painter.font())
        height = transform.map(QPointF(0.0, self.value)).y()
        words, is_seen = self._words, area.top() <= height <= area.bottom()
        if not is_seen:
            words = f"{words} {self._number} {'↓' if height > area.bottom() else '↑'}"
            # clear of the numbers of trials at the edge
            area = area.adjusted(0.0, metrics.height() + EDGE, 0.0, -metrics.height() - 2 * EDGE)
            height = min(max(height, area.top()), area.bottom())
        size = (metrics.horizontalAdvance(words) + 6, metrics.height())
        reach = (size[1] + AROUND + 2) * self.viewRect().height() / max(area.height(), 1.0)
        # Only dots near the line can be covered, of up to 100,000.
        near = self._dots[np.abs(self._dots[:, 1] - self.value) <= reach]
        busy = np.vstack([near, self._stairs]).T
        busy = pg.functions.transformCoordinates(transform, busy).T if busy.size else busy.T
        if self._other_line is not None and self._other_line.value is not None:
            other = self._other_line.label
            x = np.linspace(other.left(), other.right(), 30)
            filling = np.column_stack([x, np.full(len(x), other.center().y())])
            busy = np.vstack([busy, *[filling] * 40])
        self.label = emptiest_box(area, height, size, busy)
        painter.setPen(pen(muted, 1.4, dashed=True))
        if is_seen:
            painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height))
        if self._words:
            draw_words(painter, self.label, words, muted)


def emptiest_box(area: QRectF, height: float, size: Size, busy: np.ndarray) -> QRectF:
    """The box at a height that covers the fewest busy points."""
    wide, tall = size
    # From the right, where trials are yet to come: the first of equally empty places is taken.
    edges = np.linspace(area.right() - wide - 2, area.left() + 2, 7)
    tops = [
        top for top in (height + 2, height - tall - 2) if area.top() <= top <= area.bottom() - tall
    ]
    boxes = [QRectF(x_min, top, wide, tall) for top in tops for x_min in edges]
    if not boxes:
        return QRectF(edges[0], height + 2, wide, tall)
    return min(boxes, key=lambda box: _covered_count(box, busy))


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
