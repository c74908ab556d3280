"""A colour bar for a surface of scores."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QLinearGradient, QPainter

from app.look import appearance
from app.views.plot.axes import ScaleAxis
from app.views.plot.scales import Scale

BAR = 12  # pixels
MARGIN = 8


class ColourBar(pg.GraphicsWidget):
    """A gradient beside a plot, low scores below."""

    def __init__(self) -> None:
        super().__init__()
        self.axis = ScaleAxis("right", Scale())
        self._low, self._high = 0.0, 1.0
        self._colours = pg.colormap.get("viridis")
        self._maximize = True
        self.set_range(0.0, 1.0, maximize=True)

    def set_colours(self, colours: pg.ColorMap) -> None:
        """Set the colour map and apply the theme."""
        self._colours = colours
        self.axis.paint_theme(appearance.current())
        self.update()

    def set_range(self, low: float, high: float, *, maximize: bool) -> None:
        """Set both ends, and whether the upper is better."""
        self._low, self._high, self._maximize = low, high, maximize
        texts = [self.better_label, *(text for _, text in self._scale_ticks())]
        widest = max(self.axis.metrics.horizontalAdvance(text) for text in texts)
        width = BAR + MARGIN + 6 + widest
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)
        self.update()

    @property
    def better_label(self) -> str:
        """The words at the better end."""
        return "↑ better" if self._maximize else "↓ better"

    def _scale_ticks(self) -> list[tuple[float, str]]:
        tall = max(60.0, self.size().height())
        most = int(tall / (self.axis.metrics.height() * 2.4))
        return Scale().ticks_between(self._low, self._high, min(6, most))

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw gradient, outline and ticks."""
        theme, metrics = appearance.current(), self.axis.metrics
        foot = metrics.height() * 2 + 8  # level with the plot's own axis
        head = metrics.height() + 4 if self._maximize else 1
        box = QRectF(MARGIN, head, BAR, max(10.0, self.size().height() - foot - head))
        gradient = QLinearGradient(box.bottomLeft(), box.topLeft())
        for share in np.linspace(0.0, 1.0, 12):
            gradient.setColorAt(float(share), self._colours.map(float(share), "qcolor"))
        painter.fillRect(box, gradient)
        painter.setPen(pg.mkPen(theme.control))
        painter.drawRect(box)
        painter.setFont(self.axis.tick_font)
        span = (self._high - self._low) or 1.0
        for position, text in self._scale_ticks():
            y = box.bottom() - (position - self._low) / span * box.height()
            top = min(max(y - metrics.height() / 2, box.top()), box.bottom() - metrics.height())
            wide = metrics.horizontalAdvance(text) + 2
            painter.setPen(pg.mkPen(theme.muted))
            painter.drawText(QRectF(box.right() + 5, top, wide, metrics.height()), 0, text)
        top = 0.0 if self._maximize else box.bottom() + metrics.height() + 6  # below the ticks
        wide = metrics.horizontalAdvance(self.better_label) + 2
        painter.drawText(QRectF(MARGIN, top, wide, metrics.height()), 0, self.better_label)
