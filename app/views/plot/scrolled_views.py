"""Views that scroll: lists of bars, and pages that are painted rather than plotted."""

import math
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollBar, QWidget

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.canvas import LOWEST, FocusRing
from app.views.plot.view import View
from app.widgets.layouts import in_row
from core.tuning.events import RunStarted

STEP = 30  # pixels of an arrow key


class Drawing(Protocol):
    """What is painted; `min_height` pixels are visible without scrolling."""

    min_height: float

    def lay_out(self, width: float, height: float) -> QSizeF:
        """Returns the size needed."""

    def paint(self, painter: QPainter, seen: QRectF) -> None:
        """Paint what was laid out, of which `seen` is in sight."""

    def tooltip_at(self, position: QPointF) -> str:
        """The text at a position; "" for none."""


class FullPicture(QWidget):
    """A drawing in its full size, unscrolled, for a file."""

    def __init__(self, drawing: Drawing, size: QSize) -> None:
        super().__init__()
        self._drawing = drawing
        self.resize(size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(appearance.current().paper))
        self._drawing.paint(painter, QRectF(self.rect()))
        painter.end()


class PaintedPage(FocusRing, QAbstractScrollArea):
    """A drawing that arrow and Page keys scroll."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.take_focus()
        self.drawing = drawing
        self.needed_size = QSizeF()
        self.setCornerWidget(QWidget())

    def update_layout(self) -> None:
        size, across = self.viewport().size(), self.horizontalScrollBar()
        self.needed_size = self.drawing.lay_out(size.width(), size.height())
        for bar, needed, room in (
            (across, self.needed_size.width(), size.width()),
            (self.verticalScrollBar(), self.needed_size.height(), size.height()),
        ):
            bar.setRange(0, max(0, int(needed - room)))
            bar.setPageStep(room)
            bar.setSingleStep(STEP)
        below = across.sizeHint().height() if across.maximum() else 0
        self.setMinimumHeight(max(LOWEST, math.ceil(self.drawing.min_height) + below))
        self.viewport().update()

    @property
    def _scrolled(self) -> QPointF:
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def full_picture(self) -> QWidget:
        size = self.viewport().size().expandedTo(self.needed_size.toSize())
        return FullPicture(self.drawing, size)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update_layout()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, area = QPainter(self.viewport()), self.viewport().rect()
        painter.fillRect(area, QColor(appearance.current().paper))
        painter.save()
        painter.translate(-self._scrolled)
        self.drawing.paint(painter, QRectF(area).translated(self._scrolled))
        painter.restore()
        self.paint_ring(painter)
        painter.end()

    def tooltip_at(self, position: QPointF) -> str:
        return self.drawing.tooltip_at(position + self._scrolled)


class PaintedView(View):
    """A view whose content is a PaintedPage."""

    wide = True
    interval = 0.2

    def make_drawing(self) -> Drawing:
        raise NotImplementedError

    def make_content(self) -> QWidget:
        self.page = PaintedPage(self.make_drawing())
        return self.page

    def tooltip_at(self, position: QPointF) -> str:
        return self.page.tooltip_at(position)

    def picture(self) -> QWidget:
        return self.page.full_picture()

    def start(self, started: RunStarted) -> None:
        self.page.verticalScrollBar().setValue(0)


NAMES = 0.6  # share of the width that the names may take before they are cut
MIN_ROWS = 4  # rows that take the full height where there are fewer


class ScrolledBars(View):
    """Rows, such as horizontal bars, of which those that fit are seen."""

    listed = ""  # what the rows are, for the scroll bar's name
    names_share = NAMES
    row_count = 0

    def make_content(self) -> QWidget:
        super().make_content()
        canvas, container = self.canvas, QWidget()
        bar = self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        bar.setAccessibleName(self.listed)
        bar.valueChanged.connect(lambda _position: self._show_window())
        bar.hide()
        in_row((canvas, 1), bar, on=container, gap=0)
        canvas.wheeled.connect(lambda rows: bar.setValue(bar.value() + rows))
        canvas.setAccessibleName(self.title)
        return container

    def start(self, started: RunStarted) -> None:
        self.scroll_bar.setValue(0)

    def draw(self) -> None:
        super().draw()
        self.row_count = len(self.shown_figure().y.scale.choices)
        self._show_window()

    def _show_window(self) -> None:
        if not self.has_content():
            return
        count = self.row_count
        tall = QFontMetricsF(small_font()).height() + 5
        fit = max(3, int(self.plot.vb.height() / tall))
        self.scroll_bar.setVisible(count > fit)
        # Only a list that scrolls may keep the wheel from the page.
        self.canvas.keeps_wheel = count > fit
        self.scroll_bar.setMaximum(max(0, count - fit))
        self.scroll_bar.setPageStep(fit)
        first = self.scroll_bar.value() if count > fit else 0
        rows = min(count, fit)
        # A few rows keep bars of a pleasant thickness instead of filling the card.
        self.plot.hold_y(first - 0.6, first + max(rows, min(MIN_ROWS, fit)) - 0.4, exact=True)
