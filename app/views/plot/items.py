"""Dots, lines, bands and bars, each kind one graphics item."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt.internals import PrimitiveArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
)
from PySide6.QtSvg import QSvgGenerator

from app.look import appearance
from app.views.plot.axes import small_font

Bar = tuple[float, float, float]  # row, start, end
VEIL = 0.82  # opacity of the paper below words
CROWDED = 16  # pixels a point from which on points are sorted, not marked on a grid


def pen(colour: str | QColor, width: float = 1.0, dashed: bool = False) -> QPen:
    """A pen whose width is in pixels at any zoom."""
    line_pen = QPen(QColor(colour), width)
    line_pen.setCosmetic(True)
    line_pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if dashed:
        line_pen.setDashPattern([5.0, 3.0])
    return line_pen


def clear_colour(colour: str, alpha: float) -> QColor:
    """A colour with an alpha."""
    shade = QColor(colour)
    shade.setAlphaF(alpha)
    return shade


class PixelItem(pg.UIGraphicsItem):
    """An item painted in pixels, onto which `transform` maps the coordinates of its plot."""

    def paint(self, painter: QPainter, *_args: object) -> None:
        transform = painter.transform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small_font())
        self.paint_pixels(painter, transform, transform.mapRect(self.viewRect()))
        painter.restore()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        raise NotImplementedError


def draw_words(painter: QPainter, box: QRectF, words: str, ink: str) -> None:
    """Words that may lie on lines and dots, of which little shines through."""
    painter.fillRect(box, clear_colour(appearance.current().paper, VEIL))
    painter.setPen(QColor(ink))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), words)


class Dots(PixelItem):
    """Equal symbols as one item; `named` is for the pointer."""

    def __init__(self, symbol: str = "circle", size: float = 9.0, named: str = "") -> None:
        super().__init__()
        self.symbol, self.size, self.named = symbol, size, named
        self.x, self.y = np.empty(0), np.empty(0)
        self._fill, self._outline = QBrush(), QPen()
        self._style: tuple[str, str, float] | None = None
        self._sprite: QPixmap | None = None  # one symbol, drawn at many places
        self._fragments = PrimitiveArray(QPainter.PixmapFragment, 10)

    def set_style(self, fill: str | QColor | None, outline: str | None, width: float = 1.2) -> None:
        style = (str(fill), str(outline), width)
        if style == self._style:
            return
        self._style = style
        self._fill = QBrush(QColor(fill)) if fill is not None else QBrush(Qt.BrushStyle.NoBrush)
        self._outline = pen(outline, width) if outline else QPen(Qt.PenStyle.NoPen)
        self._outline.setCapStyle(Qt.PenCapStyle.RoundCap)
        self._sprite = None
        self.update()

    def set_shape(self, symbol: str, size: float) -> None:
        if (symbol, size) != (self.symbol, self.size):
            self.symbol, self.size, self._sprite = symbol, size, None
            self.update()

    def set_data(self, x: Any, y: Any) -> None:
        """Positions with a NaN are skipped."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        is_finite = np.isfinite(x) & np.isfinite(y)
        self.x, self.y = x[is_finite], y[is_finite]
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        if not len(self.x):
            return
        points = pg.functions.transformCoordinates(transform, np.vstack([self.x, self.y])).T
        # In a file symbols stay shapes that can be edited; on the screen one pixmap at many places
        # is far quicker.
        if _is_svg(painter):
            self._draw_shapes(painter, points)
        else:
            self._draw_sprites(painter, _unique_pixels(points))

    def _draw_sprites(self, painter: QPainter, points: np.ndarray) -> None:
        ratio = painter.device().devicePixelRatioF()
        if self._sprite is None or self._sprite.devicePixelRatio() != ratio:
            self._sprite = self._drawn_sprite(ratio)
        self._fragments.resize(len(points))
        rows = self._fragments.ndarray()
        rows[:, 0:2] = points
        rows[:, 2:6] = [0, 0, self._sprite.width(), self._sprite.height()]
        rows[:, 6:10] = [1 / ratio, 1 / ratio, 0.0, 1.0]
        fragments, count = self._fragments.drawargs()
        painter.drawPixmapFragments(fragments, count, self._sprite)

    def _drawn_sprite(self, ratio: float) -> QPixmap:
        # With room for the outline and its soft edge.
        side = int(self.size + 6)
        sprite = QPixmap(int(side * ratio), int(side * ratio))
        sprite.setDevicePixelRatio(ratio)
        sprite.fill(Qt.GlobalColor.transparent)
        painter = QPainter(sprite)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_shapes(painter, np.array([[side / 2, side / 2]]))
        painter.end()
        return sprite

    def _draw_shapes(self, painter: QPainter, points: np.ndarray) -> None:
        painter.setPen(self._outline)
        painter.setBrush(self._fill)
        shape = symbol_path(self.symbol, self.size)
        for x, y in points:
            painter.drawPath(shape.translated(float(x), float(y)))


def symbol_path(symbol: str, size: float) -> QPainterPath:
    """A circle, cross, star, diamond, square or triangle around the origin."""
    path, r = QPainterPath(), size / 2
    if symbol == "cross":
        path.moveTo(-r, -r)
        path.lineTo(r, r)
        path.moveTo(-r, r)
        path.lineTo(r, -r)
    elif symbol == "star":
        turns = np.arange(10) * np.pi / 5 - np.pi / 2
        reach = np.where(np.arange(10) % 2 == 0, r, r * 0.45)
        corners = zip(reach * np.cos(turns), reach * np.sin(turns), strict=True)
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
    elif symbol == "diamond":
        path.addPolygon(QPolygonF([QPointF(*c) for c in ((0, -r), (r, 0), (0, r))]))
        path.lineTo(-r, 0)
        path.closeSubpath()
    elif symbol == "square":
        path.addRect(QRectF(-r, -r, size, size))
    elif symbol == "triangle":
        path.addPolygon(QPolygonF([QPointF(*c) for c in ((0, -r), (r, r), (-r, r))]))
        path.closeSubpath()
    else:
        path.addEllipse(QPointF(0, 0), r, r)
    return path


class Lines(PixelItem):
    """Lines of one colour as one item, with an outline below."""

    def __init__(self, named: str = "") -> None:
        super().__init__()
        self.named = named
        self.x, self.y = np.empty(0), np.empty(0)
        self._starts = np.empty(0, dtype=int)
        self._segments = PrimitiveArray(QLineF, 4)
        self._pen, self._under = QPen(Qt.PenStyle.NoPen), QPen(Qt.PenStyle.NoPen)

    def set_style(self, line: QPen, under: QPen | None = None) -> None:
        """`under` is a wider pen below."""
        self._pen, self._under = QPen(line), QPen(under or Qt.PenStyle.NoPen)
        for stroke in (self._pen, self._under):
            # 125 crossing antialiased segments take Qt 1 ms with square ends, 20 ms with round ones
            stroke.setCapStyle(Qt.PenCapStyle.SquareCap)
        self.update()

    def set_data(self, x: Any, y: Any) -> None:
        """A NaN leaves a gap."""
        self.x, self.y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        finite = np.isfinite(self.x) & np.isfinite(self.y)
        self._starts = np.flatnonzero(finite[:-1] & finite[1:])
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        if not len(self._starts):
            return
        strokes = [s for s in (self._under, self._pen) if s.style() != Qt.PenStyle.NoPen]
        x, y = pg.functions.transformCoordinates(transform, np.vstack([self.x, self.y]))
        # Dashes are to go on around corners, and an SVG keeps one element a line.
        if _is_svg(painter) or any(s.style() != Qt.PenStyle.SolidLine for s in strokes):
            path = pg.functions.arrayToQPath(x, y, "finite")
            for stroke in strokes:
                painter.strokePath(path, stroke)
            return
        ends = (x[self._starts], y[self._starts], x[self._starts + 1], y[self._starts + 1])
        self._segments.resize(len(self._starts))
        self._segments.ndarray()[:] = np.column_stack(ends)
        for stroke in strokes:
            painter.setPen(stroke)
            painter.drawLines(*self._segments.drawargs())


def _is_svg(painter: QPainter) -> bool:
    return isinstance(painter.device(), QSvgGenerator)


class Band(pg.UIGraphicsItem):
    """The area between two lines."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.low, self.high = np.empty(0), np.empty(0), np.empty(0)
        self._path, self._fill = QPainterPath(), QBrush()

    def set_style(self, fill: QColor) -> None:
        self._fill = QBrush(fill)
        self.update()

    def set_data(self, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """NaN separates areas."""
        self.x, self.low, self.high = x, low, high
        self._path = QPainterPath()
        finite = np.isfinite(low) & np.isfinite(high)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(int), [0]])))
        for finite_run in map(slice, edges[::2], edges[1::2]):
            along = np.concatenate([x[finite_run], x[finite_run][::-1]])
            edge = np.concatenate([low[finite_run], high[finite_run][::-1]])
            self._path.addPath(pg.functions.arrayToQPath(along, edge))
            self._path.closeSubpath()
        self.update()

    def paint(self, painter: QPainter, *_args: Any) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(self._path, self._fill)


class HorizontalBars(PixelItem):
    """Hatching repeats what the colour means."""

    thickness = 0.62  # of a row

    def __init__(self) -> None:
        super().__init__()
        self.bars: list[Bar] = []
        self._fills: list[QColor] = []
        self._hatched: list[bool] = []
        self._edge = QPen()

    def set_data(self, bars: list[Bar], fills: list[str], hatched: list[bool], edge: str) -> None:
        self.bars, self._hatched = bars, hatched
        self._fills, self._edge = [QColor(fill) for fill in fills], pen(edge, 1.0)
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        shown = self.viewRect()
        painter.setPen(self._edge)
        bars = zip(self.bars, self._fills, self._hatched, strict=True)
        for (row, start, end), fill, hatched in bars:
            # Of hundreds of rows only those in sight are painted.
            if not shown.top() - 1 <= row <= shown.bottom() + 1:
                continue
            half_height = self.thickness / 2
            box = transform.mapRect(QRectF(start, row - half_height, end - start, self.thickness))
            painter.setBrush(QBrush(fill, Qt.BrushStyle.BDiagPattern) if hatched else fill)
            painter.drawRect(box)


def _unique_pixels(points: np.ndarray) -> np.ndarray:
    rounded = np.round(points)
    low = rounded.min(axis=0)
    size = rounded.max(axis=0) - low + 1
    # Few points over a large area: a grid of its pixels would cost more than sorting.
    if size.prod() > CROWDED * len(points):
        # What numpy.unique does, whose first call takes .06 s to import masked arrays.
        ordered = rounded[np.lexsort(rounded.T[::-1])]
        return ordered[np.append(True, np.any(np.diff(ordered, axis=0), axis=1))]
    # quicker than to sort 100,000 points
    is_covered = np.zeros(size.astype(int), dtype=bool)
    is_covered[tuple((rounded - low).astype(int).T)] = True
    return np.argwhere(is_covered) + low
