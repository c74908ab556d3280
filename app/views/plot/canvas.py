"""The canvas of a view: plots, pointer, keys, zoom and the ring of the focus."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from app.look import appearance
from app.views.plot.axes import ScaleAxis
from app.views.plot.items import Dots, HorizontalBars, Lines
from app.views.plot.legend import Legend
from app.views.plot.plot import Plot, Zoom
from core.figures.scales import Scale

RING = 2  # pixels
LOWEST = 110  # pixels of what is painted

if TYPE_CHECKING:
    _Area = QAbstractScrollArea
else:
    # Qt's classes take no second base that is one of theirs.
    _Area = object


class FocusRing(_Area):
    """Mixin of a scroll area reached by keys, with texts where the pointer rests."""

    hint = ""  # where it rests on nothing

    def take_focus(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, LOWEST)

    def sizeHint(self) -> QSize:
        return QSize(320, 180)

    def tooltip_at(self, position: QPointF) -> str:
        raise NotImplementedError

    def viewportEvent(self, event: QEvent) -> bool:
        # What is told of the point stays: a resting pointer asks for the same, not for the hint.
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            tooltip = self.tooltip_at(QPointF(event.pos())) or self.hint
            QToolTip.showText(event.globalPos(), tooltip, self)
            return True
        return super().viewportEvent(event)

    def paint_ring(self, painter: QPainter) -> None:
        if not self.hasFocus():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(appearance.current().focus), RING))
        painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()


@dataclass(frozen=True)
class HoverText:
    """The text for (x, y) of a plot, one fact a line."""

    text: str
    x: float
    y: float


class Crosshair:
    """A horizontal and a vertical line over a canvas."""

    def __init__(self, parent: QWidget) -> None:
        self.lines = [QWidget(parent) for _ in range(2)]
        for line in self.lines:
            line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            line.setAutoFillBackground(True)
            line.hide()

    def show_at(self, area: QRect, centre: QPoint) -> None:
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Window, QColor(appearance.current().control))
        across = QRect(area.left(), centre.y(), area.width(), 1)
        upright = QRect(centre.x(), area.top(), 1, area.height())
        for line, shape in zip(self.lines, (across, upright), strict=True):
            line.setPalette(palette)
            line.setGeometry(shape.intersected(area))
            line.show()

    def hide(self) -> None:
        for line in self.lines:
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
    return None


def _point_at(plot: Plot, x: float, y: float) -> HoverText | None:
    closest, hover_text = np.inf, None
    for mark in plot.items:
        if not (isinstance(mark, (Dots, Lines)) and mark.isVisible() and len(mark.x)):
            continue
        index, distance = _nearest_point(plot, QPointF(x, y), mark.x, mark.y)
        if distance < closest:
            closest, spot = distance, (float(mark.x[index]), float(mark.y[index]))
            lines = filter(None, (mark.named, _axis_values_text(plot, *spot)))
            hover_text = HoverText("\n".join(lines), *spot)
    return hover_text


def _nearest_point(plot: Plot, point: QPointF, x: np.ndarray, y: np.ndarray) -> tuple[int, float]:
    wide, tall = plot.vb.viewPixelSize()
    far = np.hypot((x - point.x()) / wide, (y - point.y()) / tall)
    far = np.where(np.isfinite(far), far, np.inf)
    index = int(np.argmin(far))
    return index, float(far[index])


def _axis_values_text(plot: Plot, x: float, y: float) -> str:
    pairs: tuple[tuple[ScaleAxis, float], ...] = ((plot.bottom, x), (plot.left, y))
    return "\n".join(axis.value_text(position) for axis, position in pairs if axis.isVisible())


pg.setConfigOptions(antialias=True, useOpenGL=False)

EDGES = (4, 6, 14, 4)  # pixels around the plots: left, top, right, bottom
CONTROL = Qt.KeyboardModifier.ControlModifier
DRAGS = "Drag over a part to enlarge it; drag with Shift to move. "
WHOLE = "Home, a double click, or the wheel after a click shows the whole range."
REACH = 12.0  # pixels from a dot within which a click or the pointer means it


class Canvas(FocusRing, pg.GraphicsLayoutWidget):
    """A view's drawing area, with hover texts and pickable dots."""

    picked = Signal(int)
    resized = Signal()
    stepped = Signal(int)  # −1 or +1: an arrow key asks for the trial before or after
    wheeled = Signal(int)
    zoomed = Signal()  # another part is shown

    def __init__(self) -> None:
        super().__init__()
        self.plots: list[Plot] = []
        self.keeps_wheel = False  # scrolls its own list instead of the page
        self.zoom: Zoom | None = None
        self._dots: list[tuple[Plot, np.ndarray, np.ndarray, np.ndarray]] = []
        self.trial_text: Callable[[int], str] | None = None
        self.hover_text: Callable[[Plot, float, float], HoverText | None] = nearest_mark
        # Widgets above the viewport: to move items of the scene would repaint the plots.
        self.crosshair = Crosshair(self.viewport())
        # Qt names every viewport so, by which controls inside others are told apart; pyqtgraph's
        # own has no name.
        self.viewport().setObjectName("qt_scrollarea_viewport")
        self.ci.layout.setContentsMargins(*EDGES)
        self.ci.layout.setSpacing(2)
        self.take_focus()
        self.setMouseTracking(True)
        self.paint_theme()

    def let_zoom(self, *, enlarges: bool = True) -> None:
        self.zoom = Zoom(self, self.plots, enlarges)
        self.zoom.changed.connect(self.zoomed)
        self.hint = DRAGS * enlarges + WHOLE

    def forget_ranges(self) -> None:
        for plot in self.plots:
            plot.forget_ranges()
        if self.zoom is not None:
            self.zoom.show_ranges()

    def add_plot(
        self, bottom: Scale | None = None, left: Scale | None = None, row: int = 0, column: int = 0
    ) -> Plot:
        plot = Plot(bottom, left)
        self.addItem(plot, row=row, col=column)
        self.plots.append(plot)
        return plot

    def add_legend(self) -> Legend:
        legend = Legend()
        self.addItem(legend, row=0, col=0)
        return legend

    def paint_theme(self) -> None:
        theme = appearance.current()
        self.setBackground(QColor(theme.paper))
        for plot in self.plots:
            plot.bottom.paint_theme(theme)
            plot.left.paint_theme(theme)

    @property
    def full_width(self) -> float:
        return self.width() - EDGES[0] - EDGES[2]

    def inner_width(self, plot: Plot) -> float:
        """Pixels right of the left axis, before the layout."""
        return max(120.0, self.full_width - plot.left.needed_thickness())

    def align_left(self) -> None:
        width = max(plot.left.needed_thickness() for plot in self.plots)
        for plot in self.plots:
            plot.left.refit = self.align_left
            plot.left.set_thickness(width)

    def set_pickable(self, plot: Plot, x: np.ndarray, y: np.ndarray, numbers: np.ndarray) -> None:
        self._dots = [dots for dots in self._dots if dots[0] is not plot]
        self._dots.append((plot, x, y, numbers))

    def hover_text_at(self, position: QPointF) -> tuple[Plot, HoverText] | None:
        scene = self.mapToScene(position.toPoint())
        for plot in self.plots:
            if plot.vb.sceneBoundingRect().contains(scene):
                point = plot.vb.mapSceneToView(scene)
                hover_text = self.hover_text(plot, point.x(), point.y())
                return None if hover_text is None else (plot, hover_text)
        return None

    def tooltip_at(self, position: QPointF) -> str:
        # A trial's own text says more than the place of its dot.
        number = self.number_at(position)
        if number is not None and self.trial_text is not None:
            return self.trial_text(number)
        hit = self.hover_text_at(position)
        return hit[1].text if hit is not None else ""

    def number_at(self, position: QPointF) -> int | None:
        scene = self.mapToScene(position.toPoint())
        nearest_distance, number = REACH, None
        for plot, x, y, numbers in self._dots:
            if not len(numbers) or not plot.vb.sceneBoundingRect().contains(scene):
                continue
            index, distance = _nearest_point(plot, plot.vb.mapSceneToView(scene), x, y)
            if distance < nearest_distance:
                nearest_distance, number = distance, int(numbers[index])
        return number

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        number = self.number_at(event.position())
        if number is not None:
            self.picked.emit(number)
        if self.zoom is not None and event.button() == Qt.MouseButton.LeftButton:
            moves = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.zoom.start_drag(event.position(), moves)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.zoom is not None:
            self.zoom.toggle_whole()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.zoom is not None and self.zoom.continue_drag(event.position()):
            self.crosshair.hide()
            return
        tooltip = self.tooltip_at(event.position())
        self._update_crosshair(event.position())
        if tooltip:
            QToolTip.showText(event.globalPosition().toPoint(), tooltip, self)
        else:
            QToolTip.hideText()

    def _update_crosshair(self, position: QPointF) -> None:
        hit = None if self.number_at(position) is not None else self.hover_text_at(position)
        if hit is None:
            self.crosshair.hide()
            return
        plot, hover_text = hit
        centre = self.mapFromScene(plot.vb.mapViewToScene(QPointF(hover_text.x, hover_text.y)))
        area = self.mapFromScene(plot.vb.sceneBoundingRect()).boundingRect()
        self.crosshair.show_at(area, centre)

    def leaveEvent(self, event: QEvent) -> None:
        self.crosshair.hide()
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.zoom is not None:
            self.zoom.end_drag(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.zoom is not None and self.zoom.handle_key(event):
            return
        steps: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        scrolls: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps and self._dots:
            self.stepped.emit(steps[event.key()])
        elif event.key() in scrolls and self.keeps_wheel:
            self.wheeled.emit(scrolls[event.key()])
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps, is_held = event.angleDelta().y() / 120, event.modifiers() & CONTROL
        if self.keeps_wheel:
            self.wheeled.emit(-1 if steps > 0 else 1)
            event.accept()
        # The wheel is the page's, but for a plot that was clicked on.
        elif self.zoom is not None and (self.hasFocus() or is_held):
            event.setAccepted(self.zoom.turn_wheel(steps, event.position()))
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        # pyqtgraph calls it with None as well, which the class between would not take.
        pg.GraphicsLayoutWidget.resizeEvent(self, event)
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self.paint_ring(painter)
        painter.end()
