"""The canvas of a view: plots named for everyone, re-themed, pickable, open to a closer look."""

from __future__ import annotations

from collections.abc import Callable
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
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip

from app.look import appearance
from app.views.plot.plot import Plot
from app.views.plot.pointer import Crosshair, Reading, nearest
from app.views.plot.ringed_area import Ringed
from app.views.plot.scales import Scale
from app.views.plot.zoom import Zoom

pg.setConfigOptions(antialias=True, useOpenGL=False)

EDGES = (4, 6, 14, 4)  # pixels around the plots: left, top, right, bottom
REACH = 12.0  # pixels from a dot within which a click or the pointer means it


class Canvas(Ringed, pg.GraphicsLayoutWidget):
    """The drawing area of a view; it tells what the pointer is at, and its dots can be clicked."""

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
        self._reading: Callable[[Plot, float, float], Reading | None] = nearest
        self.crosshair = Crosshair(self.viewport())
        self.viewport().setObjectName("qt_scrollarea_viewport")  # pyqtgraph's own has no name
        self.ci.layout.setContentsMargins(*EDGES)
        self.ci.layout.setSpacing(2)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, 110)
        self.setMouseTracking(True)
        self.paint_theme()

    def let_zoom(self) -> None:
        """From now on a drag enlarges a part."""
        self.zoom = Zoom(self, self.plots)
        self.zoom.changed.connect(self.zoomed)
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

    def read_with(self, reading: Callable[[Plot, float, float], Reading | None]) -> None:
        """A function of a plot and a place on its axes that says what is there."""
        self._reading = reading

    def reading_at(self, place: QPointF) -> tuple[Plot, Reading] | None:
        """What is said at a place in the widget, and by which plot; None outside of all."""
        scene = self.mapToScene(place.toPoint())
        for plot in self.plots:
            if plot.vb.sceneBoundingRect().contains(scene):
                at = plot.vb.mapSceneToView(scene)
                found = self._reading(plot, at.x(), at.y())
                return None if found is None else (plot, found)
        return None

    def told_at(self, place: QPointF) -> str:
        """The words for a place in the widget: of a dot in reach, else of what is nearest."""
        number = self.number_at(place)
        if number is not None and self._telling is not None:
            return str(self._telling(number))
        found = self.reading_at(place)
        return found[1].said if found is not None else ""

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
            self.crosshair.hide()
            return
        said = self.told_at(event.position())
        self._cross(event.position())
        if said:
            QToolTip.showText(event.globalPosition().toPoint(), said, self)
        else:
            QToolTip.hideText()

    def _cross(self, place: QPointF) -> None:
        """Lines to the axes through what is told; a dot in reach needs none."""
        found = None if self.number_at(place) is not None else self.reading_at(place)
        if found is None:
            self.crosshair.hide()
            return
        plot, reading = found
        at = self.mapFromScene(plot.vb.mapViewToScene(QPointF(reading.x, reading.y)))
        area = self.mapFromScene(plot.vb.sceneBoundingRect()).boundingRect()
        self.crosshair.show_at(area, at)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is elsewhere."""
        self.crosshair.hide()
        super().leaveEvent(event)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        """The plots, and a ring around them while the keyboard is here."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self.paint_ring(painter)
        painter.end()
