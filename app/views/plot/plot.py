"""One plot: stable ranges, and the drags and keys that enlarge a part."""

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsView, QRubberBand, QSizePolicy

from app.views.plot.axes import ScaleAxis
from core.figures.scales import Scale

Range = tuple[float, float]
SHRINK = 0.7  # share of a held range below which data get a narrower one
INSET = 8  # pixels from an edge to a mark of what has no place inside


class Plot(pg.GraphicsWidget):
    """One plot whose ranges change only when data would leave them."""

    # pg.PlotItem makes 66 widgets of menus for every plot, which each change of the look lays out.

    def __init__(self, bottom: Scale | None = None, left: Scale | None = None) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.vb = pg.ViewBox(self, enableMouse=False, enableMenu=False, defaultPadding=0)
        self.vb.disableAutoRange()
        self.bottom, self.left = ScaleAxis("bottom", bottom), ScaleAxis("left", left)
        grid = QGraphicsGridLayout(self)
        grid.setContentsMargins(1, 1, 1, 1)
        grid.setSpacing(0)
        for widget, row, column in ((self.vb, 0, 1), (self.bottom, 1, 1), (self.left, 0, 0)):
            grid.addItem(widget, row, column)
        for axis in (self.bottom, self.left):
            axis.linkToView(self.vb)
            axis.setZValue(0.5)  # above pictures at 0; what is drawn over the axes is from 1 on
        self.items: list[pg.GraphicsObject] = []
        self._held: list[Range | None] = [None, None]  # of x and y
        self.widest: Range | None = None  # of bars that were shown
        self.zoomed = False  # a person looks closer; the held ranges wait
        self.full_ranges: list[Range | None] = [None, None]  # of x and y, where some is left out
        self.leaves_out = False  # the same of what has no axis, such as a colour
        self.is_whole = False  # a person asked for all

    def add_marks(self, *marks: pg.GraphicsObject) -> None:
        """The lowest first."""
        for mark in marks:
            self.addItem(mark)

    def addItem(self, mark: pg.GraphicsObject) -> None:
        """Add a mark, by the name of pyqtgraph, which extensions call."""
        self.items.append(mark)
        self.vb.addItem(mark)

    def removeItem(self, mark: pg.GraphicsObject) -> None:
        self.items.remove(mark)
        self.vb.removeItem(mark)

    def hold_x(self, low: float, high: float, *, exact: bool = False) -> None:
        self._hold_range(0, low, high, exact)

    def hold_y(self, low: float, high: float, *, exact: bool = False) -> None:
        self._hold_range(1, low, high, exact)

    def forget_ranges(self) -> None:
        self._held, self.widest = [None, None], None

    @property
    def has_more(self) -> bool:
        return self.leaves_out or any(self._wide_range(axis) != self._held[axis] for axis in (0, 1))

    def show_held(self, *, is_whole: bool = False) -> None:
        self.zoomed, self.is_whole = False, is_whole
        for axis in (0, 1):
            self._show_axis(axis)

    def _wide_range(self, axis: int) -> Range | None:
        held, full = self._held[axis], self.full_ranges[axis]
        if held is None or full is None or (held[0] <= full[0] and full[1] <= held[1]):
            return held
        return self._padded_range(None, min(held[0], full[0]), max(held[1], full[1]))

    def seen_heights(self, heights: np.ndarray) -> np.ndarray:
        """Heights where they are marked: beyond an edge at that, without a value at the lower."""
        (low, high), room = self.vb.viewRange()[1], INSET * self.vb.viewPixelSize()[1]
        heights = np.where(heights >= low, heights, low + abs(room))
        return np.where(heights <= high, heights, high - abs(room))

    def is_within_view(self) -> bool:
        pairs = zip(self._held, self.vb.viewRange(), strict=True)
        seen = ((held, low, high, 1e-6 * (high - low)) for held, (low, high) in pairs if held)
        return all(low - e <= held[0] and held[1] <= high + e for held, low, high, e in seen)

    def _show_axis(self, axis: int) -> None:
        wanted = self._wide_range(axis) if self.is_whole else self._held[axis]
        # A person looks closer: `show_held` sets the range that is held now.
        if wanted is None or self.zoomed:
            return
        (self.vb.setXRange, self.vb.setYRange)[axis](*wanted, padding=0)
        if axis == 1:
            self.left.fit_thickness()

    def _hold_range(self, axis: int, low: float, high: float, exact: bool) -> None:
        # Without any finite value the range stays as it was.
        if not (math.isfinite(low) and math.isfinite(high)):
            return
        held = self._held[axis]
        if held is not None and not exact:
            if high - low < SHRINK * (held[1] - held[0]) and high > low:
                held = None
            elif held[0] <= low and high <= held[1]:
                low, high, exact = *held, True
        if not exact:
            low, high = self._padded_range(held, low, high)
        if (low, high) != self._held[axis] or self.is_whole:
            self._held[axis] = (low, high)
            self._show_axis(axis)

    @staticmethod
    def _padded_range(held: Range | None, low: float, high: float) -> Range:
        # Room beyond the data, so that the next value seldom changes the range again.
        span = (high - low) or max(abs(high) * 0.1, 1e-3)
        if held is None:
            return low - 0.08 * span, high + 0.08 * span
        low = held[0] if held[0] <= low else low - 0.15 * span
        return low, held[1] if held[1] >= high else high + 0.15 * span


DRAG = 6  # pixels below which a drag is a click
STEP = 0.15  # of the range that an arrow key moves
CLOSER = 0.7  # of the range that is left after one press of +
MOVES: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
CLOSER_KEYS = (Qt.Key.Key_Plus, Qt.Key.Key_Equal)
CHANGES: dict[int, float] = {**dict.fromkeys(CLOSER_KEYS, CLOSER), Qt.Key.Key_Minus: 1 / CLOSER}


class Zoom(QObject):
    """A drag or + enlarges, Shift pans, Home shows all."""

    changed = Signal()

    def __init__(self, canvas: QGraphicsView, plots: list[Plot], enlarges: bool) -> None:
        super().__init__(canvas)
        self._canvas, self._plots, self._enlarges = canvas, plots, enlarges
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, canvas.viewport())
        self._from: QPoint | None = None
        self._last = QPoint()
        self._moves = False

    @property
    def is_zoomed(self) -> bool:
        return any(plot.zoomed for plot in self._plots)

    @property
    def is_whole(self) -> bool:
        return any(plot.is_whole for plot in self._plots)

    @property
    def has_more(self) -> bool:
        return self.is_zoomed or any(plot.has_more for plot in self._plots)

    # The mouse --------------------------------------------------------------------------------

    def start_drag(self, position: QPointF, moves: bool) -> None:
        if self._enlarges:
            self._from = self._last = position.toPoint()
            self._moves = moves

    def continue_drag(self, position: QPointF) -> bool:
        if self._from is None:
            return False
        pixel = position.toPoint()
        if not self._moves:
            self._band.setGeometry(QRect(self._from, pixel).normalized())
            self._band.setVisible((pixel - self._from).manhattanLength() > DRAG)
            return True
        plot = self._plot_at(self._from)
        if plot is not None:
            before, now = (self._view_point(plot, point) for point in (self._last, pixel))
            self._shift_range(plot, before.x() - now.x(), before.y() - now.y())
        self._last = pixel
        return True

    def end_drag(self, position: QPointF) -> None:
        start, self._from = self._from, None
        self._band.hide()
        pixel = position.toPoint()
        if start is None or self._moves:
            return
        size = QSize(abs(pixel.x() - start.x()), abs(pixel.y() - start.y()))
        plot = self._plot_at(start)
        # So short a drag was meant as a click.
        if plot is None or min(size.width(), size.height()) <= DRAG:
            return
        corners = self._view_point(plot, start), self._view_point(plot, pixel)
        x, y = sorted(corner.x() for corner in corners), sorted(corner.y() for corner in corners)
        self._show_ranges(plot, x, y)

    def _plot_at(self, pixel: QPoint) -> Plot | None:
        scene = self._canvas.mapToScene(pixel)
        return next((p for p in self._plots if p.vb.sceneBoundingRect().contains(scene)), None)

    def _view_point(self, plot: Plot, pixel: QPoint) -> QPointF:
        return plot.vb.mapSceneToView(self._canvas.mapToScene(pixel))

    # The keys ---------------------------------------------------------------------------------

    def handle_key(self, event: QKeyEvent) -> bool:
        """False for other keys."""
        if event.key() == Qt.Key.Key_Home:
            self.toggle_whole()
        elif not self._enlarges:
            return False
        elif event.key() in CHANGES:
            for plot in self._plots[:1]:  # those below share its x range, and follow
                self._scale_range(plot, CHANGES[event.key()])
        elif event.key() in MOVES and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            right, up = MOVES[event.key()]
            for plot in self._plots[:1]:  # those below share its x range, and follow
                (begin, end), (low, high) = plot.vb.viewRange()
                self._shift_range(plot, right * STEP * (end - begin), up * STEP * (high - low))
        else:
            return False
        return True

    def turn_wheel(self, steps: float, position: QPointF) -> bool:
        """Widen or narrow the ranges; False where nothing changes."""
        is_wider = steps < 0
        # The page scrolls on where there is no more to see.
        if self.is_whole if is_wider else not (self._enlarges or self.is_whole):
            return False
        plot = self._plot_at(position.toPoint())
        if not self._enlarges or plot is None or (is_wider and not self.is_zoomed):
            if is_wider and not self.has_more:
                return False
            self.show_ranges(is_whole=is_wider)
            return True
        centre = self._view_point(plot, position.toPoint())
        self._scale_range(plot, CLOSER**steps, (centre.x(), centre.y()))
        if is_wider and all(plot.is_within_view() for plot in self._plots):
            self.show_ranges()
        return True

    def _scale_range(self, plot: Plot, factor: float, centre: Range | None = None) -> None:
        ranges = []
        for axis, (low, high) in enumerate(plot.vb.viewRange()):
            middle = (low + high) / 2 if centre is None else centre[axis]
            ranges.append([middle + factor * (end - middle) for end in (low, high)])
        self._show_ranges(plot, *ranges)

    # What is shown ----------------------------------------------------------------------------

    def _shift_range(self, plot: Plot, along: float, up: float) -> None:
        (begin, end), (low, high) = plot.vb.viewRange()
        self._show_ranges(plot, [begin + along, end + along], [low + up, high + up])

    def _show_ranges(self, plot: Plot, x: list[float], y: list[float]) -> None:
        if x[1] <= x[0] or y[1] <= y[0]:
            return
        for canvas_plot in self._plots:
            # Linked ones too: none of them may take its range back alone.
            canvas_plot.zoomed, canvas_plot.is_whole = True, False
        # The x range of linked plots belongs to the first.
        leader = self._plots[0] if plot.vb.linkedView(0) is not None else plot
        leader.vb.setXRange(*x, padding=0)
        plot.vb.setYRange(*y, padding=0)
        plot.left.fit_thickness()
        self.changed.emit()

    def toggle_whole(self) -> None:
        """Show all there is; after that, what is near the best."""
        self.show_ranges(is_whole=not self.is_whole and any(plot.has_more for plot in self._plots))

    def show_ranges(self, *, is_whole: bool = False) -> None:
        if self.is_zoomed or self.is_whole != is_whole:
            for plot in self._plots:
                plot.show_held(is_whole=is_whole)
            self.changed.emit()
