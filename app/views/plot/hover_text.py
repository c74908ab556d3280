"""Hover texts of a plot, and the crosshair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.axes import ScaleAxis
from app.views.plot.items import Dots, HorizontalBars, Lines
from app.views.plot.plot import Plot
from app.views.plot.vertical_bars import VerticalBars


@dataclass(frozen=True)
class HoverText:
    """The text for (x, y) of a plot, one fact a line."""

    text: str
    x: float
    y: float


class Crosshair:
    """A horizontal and a vertical line over a canvas."""

    def __init__(self, parent: QWidget) -> None:
        self._lines = [QWidget(parent) for _ in range(2)]
        for line in self._lines:
            line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            line.setAutoFillBackground(True)
            line.hide()

    @property
    def is_shown(self) -> bool:
        """Whether it is visible."""
        return not self._lines[0].isHidden()

    def show_at(self, area: QRect, centre: QPoint) -> None:
        """Cross at a point of an area of the parent."""
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Window, QColor(appearance.current().control))
        across = QRect(area.left(), centre.y(), area.width(), 1)
        upright = QRect(centre.x(), area.top(), 1, area.height())
        for line, shape in zip(self._lines, (across, upright), strict=True):
            line.setPalette(palette)
            line.setGeometry(shape.intersected(area))
            line.show()

    def hide(self) -> None:
        """Hide both lines."""
        for line in self._lines:
            line.hide()


def nearest_mark(plot: Plot, x: float, y: float) -> HoverText:
    """The nearest bar, else point, else the coordinates."""
    mark = _bar_at(plot, x, y) or _point_at(plot, x, y)
    return mark or HoverText(_axis_values_text(plot, x, y), x, y)


def _bar_at(plot: Plot, x: float, y: float) -> HoverText | None:
    for mark in plot.items:
        if isinstance(mark, HorizontalBars):
            for row, _, end in mark.bars:
                if abs(row - y) <= 0.5:
                    text = f"{plot.left.label_at(row)}: {plot.bottom.value_text(end)}"
                    return HoverText(text, end, row)
        elif isinstance(mark, VerticalBars):
            for position, height in enumerate(mark.heights):
                if abs(position - x) <= 0.5:
                    text = f"{plot.bottom.value_text(position)}\n{plot.left.value_text(height)}"
                    return HoverText(text, float(position), height)
    return None


def _point_at(plot: Plot, x: float, y: float) -> HoverText | None:
    wide, tall = plot.vb.viewPixelSize()
    closest, hover_text = np.inf, None
    for name, positions, heights in _drawn_points(plot):
        far = np.hypot((positions - x) / wide, (heights - y) / tall)
        far = np.where(np.isfinite(far), far, np.inf)
        index = int(np.argmin(far))
        if far[index] < closest:
            closest = float(far[index])
            spot = float(positions[index]), float(heights[index])
            text = _axis_values_text(plot, *spot)
            hover_text = HoverText(f"{name}\n{text}" if name else text, *spot)
    return hover_text


def _drawn_points(plot: Plot) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, x, y) of everything drawn as points."""
    for mark in plot.items:
        if isinstance(mark, (Dots, Lines)) and mark.isVisible() and len(mark.x):
            yield mark.named, mark.x, mark.y


def _axis_values_text(plot: Plot, x: float, y: float) -> str:
    pairs: tuple[tuple[ScaleAxis, float], ...] = ((plot.bottom, x), (plot.left, y))
    return "\n".join(axis.value_text(position) for axis, position in pairs if axis.isVisible())
