"""Views that scroll: lists of bars, and pages that are painted rather than plotted."""

from typing import Protocol

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from app.views.plot.axes import small_font
from app.views.plot.canvas import LOWEST, FullPicture, PaintedArea
from app.views.plot.view import View
from app.widgets.layouts import in_row
from core.tuning.events import RunStarted

STEP = 30  # pixels of an arrow key


class Drawing(Protocol):
    """What is painted; `min_height` pixels are visible without scrolling."""

    min_height: float

    def lay_out(self, width: float, height: float) -> float:
        """Returns the height needed."""

    def paint(self, painter: QPainter) -> None:
        """Paint what was laid out."""

    def tooltip_at(self, position: QPointF) -> str:
        """The text at a position; "" for none."""


class PaintedPage(PaintedArea):
    """A drawing that arrow and Page keys scroll."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.drawing = drawing
        self.needed_height = 0.0
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def update_layout(self) -> None:
        size, bar = self.viewport().size(), self.verticalScrollBar()
        self.needed_height = self.drawing.lay_out(size.width(), size.height())
        self.setMinimumHeight(max(LOWEST, round(self.drawing.min_height)))
        bar.setRange(0, max(0, round(self.needed_height - size.height() + 0.5)))
        bar.setPageStep(size.height())
        bar.setSingleStep(STEP)
        self.viewport().update()

    def full_picture(self) -> QWidget:
        size = self.viewport().size()
        height = max(size.height(), round(self.needed_height + 1))
        return FullPicture(QSize(size.width(), height), self.drawing.paint)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update_layout()

    def paint_content(self, painter: QPainter) -> None:
        painter.translate(0, -self.verticalScrollBar().value())
        self.drawing.paint(painter)

    def tooltip_at(self, position: QPointF) -> str:
        return self.drawing.tooltip_at(position + QPointF(0, self.verticalScrollBar().value()))


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

    def paint_theme(self) -> None:
        self.page.update_layout()


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
