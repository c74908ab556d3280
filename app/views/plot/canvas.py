"""The canvas of a view: plots named for everyone, re-themed, pickable, open to a closer look."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip

from app.look import appearance
from app.views.plot.axes import ScaleAxis
from app.views.plot.scales import Scale
from app.views.plot.zoom import Zoom

pg.setConfigOptions(antialias=True, useOpenGL=False)

EDGES = (4, 6, 14, 4)  # pixels around the plots: left, top, right, bottom
SHRINK = 0.55  # share of a held range below which data get a narrower one
REACH = 12.0  # pixels from a dot within which a click or the pointer means it


class Plot(pg.PlotItem):
    """One plot whose ranges are held: they change only when data would leave them."""

    def __init__(self, bottom: Scale | None = None, left: Scale | None = None) -> None:
        self.bottom = ScaleAxis("bottom", bottom)
        self.left = ScaleAxis("left", left)
        super().__init__(axisItems={"bottom": self.bottom, "left": self.left}, enableMenu=False)
        self.hideButtons()
        self.setMouseEnabled(False, False)
        self.vb.disableAutoRange()
        self.vb.setDefaultPadding(0)
        self._held: list[tuple[float, float] | None] = [None, None]
        self.zoomed = False  # a person looks closer; the held ranges wait

    def hold_x(self, low: float, high: float, *, exact: bool = False) -> None:
        """Show at least these places along the bottom."""
        self._hold(0, low, high, exact)

    def hold_y(self, low: float, high: float, *, exact: bool = False) -> None:
        """Show at least these places along the left."""
        self._hold(1, low, high, exact)

    def forget_ranges(self) -> None:
        """The next data choose their ranges anew."""
        self._held = [None, None]

    def show_whole(self) -> None:
        """The held ranges again, after a person looked closer."""
        self.zoomed = False
        for show, held in zip((self.setXRange, self.setYRange), self._held, strict=True):
            if held is not None:
                show(*held, padding=0)
        self.left.fit()

    def _hold(self, axis: int, low: float, high: float, exact: bool) -> None:
        if not (math.isfinite(low) and math.isfinite(high)):
            return
        held = self._held[axis]
        if held is not None and not exact:
            if high - low < SHRINK * (held[1] - held[0]) and high > low:
                held = None
            elif held[0] <= low and high <= held[1]:
                return
        if not exact:
            low, high = self._roomy(held, low, high)
        if (low, high) == self._held[axis]:
            return
        self._held[axis] = (low, high)
        if self.zoomed:
            return
        (self.setXRange if axis == 0 else self.setYRange)(low, high, padding=0)
        if axis == 1:
            self.left.fit()

    @staticmethod
    def _roomy(held: tuple[float, float] | None, low: float, high: float) -> tuple[float, float]:
        # Room beyond the data, so that the next value seldom changes the range again.
        span = (high - low) or max(abs(high) * 0.1, 1e-3)
        if held is None:
            return low - 0.08 * span, high + 0.08 * span
        return (
            held[0] if held[0] <= low else low - 0.15 * span,
            held[1] if held[1] >= high else high + 0.15 * span,
        )


class Canvas(pg.GraphicsLayoutWidget):
    """The drawing area of a view; dots that it was told of can be clicked and pointed at."""

    picked = Signal(int)
    resized = Signal()
    stepped = Signal(int)  # −1 or +1: an arrow key asks for the trial before or after
    wheeled = Signal(int)
    zoomed = Signal(bool)  # whether only a part is shown now

    def __init__(self) -> None:
        super().__init__()
        self.plots: list[Plot] = []
        self.keeps_wheel = False
        self.zoom: Zoom | None = None
        self._dots: list[tuple[Plot, np.ndarray, np.ndarray, np.ndarray]] = []
        self._telling: Any = None
        self.ci.layout.setContentsMargins(*EDGES)
        self.ci.layout.setSpacing(2)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, 110)
        self.setMouseTracking(True)
        self.paint_theme()

    def let_zoom(self) -> None:
        """From now on a drag enlarges a part."""
        self.zoom = Zoom(self)
        self.setToolTip(
            "Drag over a part to enlarge it; drag with Shift to move. Home, or a double "
            "click, shows the whole range."
        )

    def sizeHint(self) -> QSize:
        """Modest, so that the board alone decides."""
        return QSize(320, 180)

    def add_plot(
        self,
        bottom: Scale | None = None,
        left: Scale | None = None,
        *,
        row: int = 0,
        column: int = 0,
    ) -> Plot:
        """One more plot, below or beside the others."""
        plot = Plot(bottom, left)
        self.addItem(plot, row=row, col=column)
        self.plots.append(plot)
        return plot

    def paint_theme(self) -> None:
        """Take the colours of the theme."""
        theme = appearance.current()
        self.setBackground(QColor(theme.paper))
        for plot in self.plots:
            plot.bottom.paint_theme(theme)
            plot.left.paint_theme(theme)

    def inner_width(self, plot: Plot) -> float:
        """Pixels between the left axis and the right edge, known before the layout is."""
        return max(120.0, self.width() - plot.left.needed() - EDGES[0] - EDGES[2])

    def align_left(self) -> None:
        """Give all plots the same left edge."""
        width = max(plot.left.needed() for plot in self.plots)
        for plot in self.plots:
            plot.left.refit = self.align_left
            plot.left.take(width)

    def set_pickable(self, plot: Plot, x: np.ndarray, y: np.ndarray, numbers: np.ndarray) -> None:
        """The dots of a plot and the trials that they are."""
        self._dots = [dots for dots in self._dots if dots[0] is not plot]
        self._dots.append((plot, x, y, numbers))

    def tell_with(self, telling: Any) -> None:
        """A function of a trial's number that gives the words shown at its dot."""
        self._telling = telling

    def number_at(self, place: QPointF) -> int | None:
        """The trial whose dot is nearest to a place in the widget, within reach."""
        scene = self.mapToScene(place.toPoint())
        nearest, found = REACH, None
        for plot, x, y, numbers in self._dots:
            if not len(numbers) or not plot.vb.sceneBoundingRect().contains(scene):
                continue
            at = plot.vb.mapSceneToView(scene)
            wide, tall = plot.vb.viewPixelSize()
            far = np.hypot((x - at.x()) / wide, (y - at.y()) / tall)
            far = np.where(np.isfinite(far), far, np.inf)
            best = int(np.argmin(far))
            if far[best] < nearest:
                nearest, found = float(far[best]), int(numbers[best])
        return found

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks the nearest dot; a drag may begin."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        number = self.number_at(event.position())
        if number is not None:
            self.picked.emit(number)
        if self.zoom is not None and event.button() == Qt.MouseButton.LeftButton:
            moves = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.zoom.press(event.position(), moves)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The whole range again."""
        if self.zoom is not None:
            self.zoom.whole()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say what the dot under the pointer is, or go on with a drag."""
        if self.zoom is not None and self.zoom.drag(event.position()):
            return
        number = self.number_at(event.position())
        if number is None or self._telling is None:
            QToolTip.hideText()
            return
        QToolTip.showText(event.globalPosition().toPoint(), self._telling(number), self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A drag ends."""
        if self.zoom is not None:
            self.zoom.release(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right go from trial to trial; + and − look closer and back."""
        if self.zoom is not None and self.zoom.key(event):
            return
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        scrolls = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps and self._dots:
            self.stepped.emit(steps[event.key()])
        elif event.key() in scrolls and self.keeps_wheel:
            self.wheeled.emit(scrolls[event.key()])
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page, or the bars of a long list."""
        if self.keeps_wheel:
            self.wheeled.emit(-1 if event.angleDelta().y() > 0 else 1)
            event.accept()
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Tell the view that there is another size to fit."""
        super().resizeEvent(event)
        self.resized.emit()

    def focusInEvent(self, event: QEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QEvent) -> None:
        """Hide the focus ring."""
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The plots, and a ring around them while the keyboard is here."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QPen(QColor(appearance.current().focus), 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.end()
