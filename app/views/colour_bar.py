"""A colour bar: which colour of a surface stands for which score."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QLinearGradient, QPainter

from app import appearance
from app.views.axes import ScaleAxis
from app.views.scales import Scale

BAR = 12  # pixels
MARGIN = 8


class ColourBar(pg.GraphicsWidget):
    """A narrow gradient at the right of a plot, low scores below, with its own ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.axis = ScaleAxis("right", Scale())
        self._low, self._high = 0.0, 1.0
        self._colours = pg.colormap.get("viridis")
        self._metric = ""
        self.set_range(0.0, 1.0, "")

    def set_colours(self, colours: pg.ColorMap) -> None:
        """Another map; also takes the theme."""
        self._colours = colours
        self.axis.paint_theme(appearance.current())
        self.update()

    def set_range(self, low: float, high: float, metric: str) -> None:
        """The scores of the two ends."""
        self._low, self._high, self._metric = low, high, metric
        widest = max((self.axis.metrics.horizontalAdvance(t) for _, t in self._ticks()), default=0)
        width = BAR + MARGIN + 6 + widest
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)
        self.update()

    def _ticks(self) -> list[tuple[float, str]]:
        tall = max(60.0, self.size().height())
        most = int(tall / (self.axis.metrics.height() * 2.4))
        return Scale().ticks(self._low, self._high, min(6, most))

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Gradient, outline, ticks."""
        theme, metrics = appearance.current(), self.axis.metrics
        foot = self.axis.metrics.height() * 2 + 8  # level with the plot's own axis
        box = QRectF(MARGIN, 1, BAR, max(10.0, self.size().height() - foot))
        gradient = QLinearGradient(box.bottomLeft(), box.topLeft())
        for share in np.linspace(0.0, 1.0, 12):
            gradient.setColorAt(float(share), self._colours.map(float(share), "qcolor"))
        painter.fillRect(box, gradient)
        painter.setPen(pg.mkPen(theme.control))
        painter.drawRect(box)
        painter.setFont(self.axis.font_of_ticks)
        span = (self._high - self._low) or 1.0
        for place, text in self._ticks():
            y = box.bottom() - (place - self._low) / span * box.height()
            top = min(max(y - metrics.height() / 2, 0.0), box.bottom() - metrics.height())
            wide = metrics.horizontalAdvance(text) + 2
            painter.setPen(pg.mkPen(theme.muted))
            painter.drawText(QRectF(box.right() + 5, top, wide, metrics.height()), 0, text)
