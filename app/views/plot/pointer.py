"""The pointer over a plot: what is nearest in plain words, and a crosshair at that place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.axes import ScaleAxis
from app.views.plot.columns import Columns
from app.views.plot.items import Bars, Dots, Lines
from app.views.plot.plot import Plot


@dataclass(frozen=True)
class Reading:
    """What a plot says at one place.

    Attributes:
        said: one thing a line.
        x, y: the place that it is of, as the plot's axes count.
    """

    said: str
    x: float
    y: float


class Crosshair:
    """Two thin lines over a canvas, level and upright; the pointer goes through them."""

    def __init__(self, parent: QWidget) -> None:
        self._lines = [QWidget(parent) for _ in range(2)]
        for line in self._lines:
            line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            line.setAutoFillBackground(True)
            line.hide()

    @property
    def shown(self) -> bool:
        """Whether it is seen."""
        return not self._lines[0].isHidden()

    def show_at(self, area: QRect, at: QPoint) -> None:
        """Cross at a place of an area, both in the parent's pixels."""
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Window, QColor(appearance.current().control))
        shapes = (
            QRect(area.left(), at.y(), area.width(), 1),
            QRect(at.x(), area.top(), 1, area.height()),
        )
        for line, shape in zip(self._lines, shapes, strict=True):
            line.setPalette(palette)
            line.setGeometry(shape.intersected(area))
            line.show()

    def hide(self) -> None:
        """Leave no trace."""
        for line in self._lines:
            line.hide()


def nearest(plot: Plot, x: float, y: float) -> Reading:
    """The bar, or else the drawn point, nearest to a place; the place itself where nothing is."""
    return _bar_at(plot, x, y) or _point_at(plot, x, y) or Reading(_numbers(plot, x, y), x, y)


def _bar_at(plot: Plot, x: float, y: float) -> Reading | None:
    for item in plot.items:
        if isinstance(item, Bars):
            for row, _, end in item.bars:
                if abs(row - y) <= 0.5:
                    said = f"{plot.left.word(row)}: {plot.bottom.said(end)}"
                    return Reading(said, end, row)
        elif isinstance(item, Columns):
            for at, height in enumerate(item.heights):
                if abs(at - x) <= 0.5:
                    said = f"{plot.bottom.said(at)}\n{plot.left.said(height)}"
                    return Reading(said, float(at), height)
    return None


def _point_at(plot: Plot, x: float, y: float) -> Reading | None:
    wide, tall = plot.vb.viewPixelSize()
    closest, found = np.inf, None
    for name, places, heights in _points(plot):
        far = np.hypot((places - x) / wide, (heights - y) / tall)
        far = np.where(np.isfinite(far), far, np.inf)
        at = int(np.argmin(far))
        if far[at] < closest:
            closest = float(far[at])
            spot = float(places[at]), float(heights[at])
            said = _numbers(plot, *spot)
            found = Reading(f"{name}\n{said}" if name else said, *spot)
    return found


def _points(plot: Plot) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, x, y) of everything that consists of points."""
    for item in plot.items:
        if isinstance(item, (Dots, Lines)) and item.isVisible() and len(item.x):
            yield item.named, item.x, item.y


def _numbers(plot: Plot, x: float, y: float) -> str:
    axes: tuple[tuple[ScaleAxis, float], ...] = ((plot.bottom, x), (plot.left, y))
    return "\n".join(axis.said(at) for axis, at in axes if axis.isVisible())
