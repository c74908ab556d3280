"""The legend of a plot, and the colour bar of a surface."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.items import symbol_path
from core.figures.scales import Scale

SAMPLE = 24  # pixels of the line or mark
BESIDE = 5  # between it and its words
APART = 16  # between two entries


@dataclass(frozen=True)
class LegendEntry:
    """A mark and its meaning."""

    draw: Callable[[QPainter, QRectF], None]
    words: str


def line_sample(pen: QPen) -> Callable[[QPainter, QRectF], None]:
    """A function that draws a short line."""

    def draw(painter: QPainter, box: QRectF) -> None:
        painter.setPen(pen)
        middle = box.center().y()
        painter.drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle))

    return draw


def symbol_sample(
    symbol: str, size: float, outline: QPen, fill: QColor | None = None, line: QPen | None = None
) -> Callable[[QPainter, QRectF], None]:
    """A function that draws a symbol, perhaps on a line."""

    def draw(painter: QPainter, box: QRectF) -> None:
        if line is not None:
            line_sample(line)(painter, box)
        painter.setPen(outline)
        painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        painter.drawPath(symbol_path(symbol, size).translated(box.center()))

    return draw


def arrange_entries(entries: list[LegendEntry], width: float) -> list[tuple[QPointF, LegendEntry]]:
    """Positions of entries, wrapped at the width."""
    metrics = QFontMetricsF(small_font())
    placed: list[tuple[QPointF, LegendEntry]] = []
    x, y = 0.0, 0.0
    for entry in entries:
        wide = SAMPLE + BESIDE + metrics.horizontalAdvance(entry.words)
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
    """Draw entries from the top left."""
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
        self.entries = entries
        tall = height_of(entries, width) + 2
        self.setMinimumHeight(tall)
        self.setMaximumHeight(tall)
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_entries(painter, self.entries, QRectF(0, 0, self.size().width(), 0))


BAR = 12  # pixels
MARGIN = 8


class ColourBar(pg.GraphicsWidget):
    """A gradient, low scores below."""

    def __init__(self) -> None:
        super().__init__()
        self._low, self._high, self._cut = 0.0, 1.0, (False, False)
        self._colours = pg.colormap.get("viridis")
        self.set_range(0.0, 1.0, Scale(), maximize=True)

    def set_colours(self, colours: pg.ColorMap) -> None:
        self._colours = colours
        self.update()

    def set_range(
        self,
        low: float,
        high: float,
        scale: Scale,
        *,
        maximize: bool,
        cut: tuple[bool, bool] = (False, False),
    ) -> None:
        self._low, self._high, self._scale, self._maximize = low, high, scale, maximize
        self._cut = cut
        texts = [self.better_label, *(text for _, text in self._scale_ticks())]
        widest = max(map(QFontMetricsF(small_font()).horizontalAdvance, texts))
        width = BAR + MARGIN + 6 + widest
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)
        self.update()

    @property
    def better_label(self) -> str:
        return "↑ better" if self._maximize else "↓ better"

    def _scale_ticks(self) -> list[tuple[float, str]]:
        tall, line = max(60.0, self.size().height()), QFontMetricsF(small_font()).height()
        most = int(tall / (line * 2.4))
        ticks = self._scale.ticks_between(self._low, self._high, min(6, most))
        ends = [
            (end, f"{sign} {self._scale.label_at(end)}")
            for end, sign, is_cut in zip((self._low, self._high), "≤≥", self._cut, strict=True)
            if is_cut
        ]
        apart = (self._high - self._low) * 1.8 * line / tall
        clear = (t for t in ticks if all(abs(t[0] - end) > apart for end, _ in ends))
        return [*clear, *ends]

    def paint(self, painter: QPainter, *_args: object) -> None:
        theme, metrics = appearance.current(), QFontMetricsF(small_font())
        # The lower end is level with the plot's own axis, below which ticks and title stand.
        foot = metrics.height() * 2 + 8
        head = metrics.height() + 4 if self._maximize else 1
        box = QRectF(MARGIN, head, BAR, max(10.0, self.size().height() - foot - head))
        gradient = QLinearGradient(box.bottomLeft(), box.topLeft())
        for share in np.linspace(0.0, 1.0, 12):
            gradient.setColorAt(float(share), self._colours.map(float(share), "qcolor"))
        painter.fillRect(box, gradient)
        painter.setPen(pg.mkPen(theme.control))
        painter.drawRect(box)
        painter.setFont(small_font())
        span = (self._high - self._low) or 1.0
        for position, text in self._scale_ticks():
            y = box.bottom() - (position - self._low) / span * box.height()
            top = min(max(y - metrics.height() / 2, box.top()), box.bottom() - metrics.height())
            wide = metrics.horizontalAdvance(text) + 2
            painter.setPen(pg.mkPen(theme.muted))
            painter.drawText(QRectF(box.right() + 5, top, wide, metrics.height()), 0, text)
        # below the ticks
        top = 0.0 if self._maximize else box.bottom() + metrics.height() + 6
        wide = metrics.horizontalAdvance(self.better_label) + 2
        painter.drawText(QRectF(MARGIN, top, wide, metrics.height()), 0, self.better_label)
