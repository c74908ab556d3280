"""Views that scroll: lists of bars, and pages that are painted rather than plotted."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollBar, QToolTip, QWidget

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.canvas import RingedArea
from app.views.plot.figure_painter import unique_names
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.figures.scales import Scale
from core.tuning.events import RunStarted

STEP = 30  # pixels of an arrow key
LOWEST = 110  # pixels


class Drawing(Protocol):
    """What is painted; `min_height` pixels are visible without scrolling."""

    min_height: float

    def lay_out(self, width: float, height: float) -> float:
        """Place everything in the width; returns the height needed."""

    def paint(self, painter: QPainter) -> None:
        """Paint what was laid out."""

    def tooltip_at(self, position: QPointF) -> str:
        """The text at a position; "" for none."""


class PaintedPage(RingedArea):
    """A drawing that arrow and Page keys scroll."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.drawing = drawing
        self.needed_height = 0.0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(160, LOWEST)

    def sizeHint(self) -> QSize:
        return QSize(320, 180)

    def update_layout(self) -> None:
        """Lay out a new drawing or a new size."""
        size, bar = self.viewport().size(), self.verticalScrollBar()
        self.needed_height = self.drawing.lay_out(size.width(), size.height())
        self.setMinimumHeight(max(LOWEST, round(self.drawing.min_height)))
        bar.setRange(0, max(0, round(self.needed_height - size.height() + 0.5)))
        bar.setPageStep(size.height())
        bar.setSingleStep(STEP)
        self.viewport().update()

    def full_picture(self) -> QWidget:
        """The drawing unscrolled, for a file."""
        size = self.viewport().size()
        height = max(size.height(), round(self.needed_height + 1))
        return _FullDrawing(self.drawing, QSize(size.width(), height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update_layout()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme = QPainter(self.viewport()), appearance.current()
        painter.fillRect(self.viewport().rect(), QColor(theme.paper))
        painter.save()
        painter.translate(0, -self.verticalScrollBar().value())
        self.drawing.paint(painter)
        painter.restore()
        self.paint_ring(painter)
        painter.end()

    def tooltip_at(self, position: QPointF) -> str:
        return self.drawing.tooltip_at(position + QPointF(0, self.verticalScrollBar().value()))

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tooltip_at(QPointF(event.pos())))
            return True
        return super().viewportEvent(event)


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


class _FullDrawing(QWidget):
    def __init__(self, drawing: Drawing, size: QSize) -> None:
        super().__init__()
        self._drawing = drawing
        self.resize(size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(appearance.current().paper))
        self._drawing.paint(painter)
        painter.end()


NAMES = 0.6  # share of the width that the names may take before they are cut


class ScrolledBars(View):
    """Horizontal bars, one a row; a `draw` without a figure ends with `show_rows`."""

    listed = ""  # what the rows are, for the scroll bar's name
    min_rows = 4  # rows that take the full height where there are fewer

    names_share = NAMES
    row_count = 0

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        if not hasattr(self, "painter"):
            self.plot = self.canvas.add_plot(Scale(), Scale("choice"))
            self.plot.vb.invertY(True)

    def make_content(self) -> QWidget:
        super().make_content()
        canvas = self.canvas
        container = QWidget()
        row = QHBoxLayout(container)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(canvas, 1)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        self.scroll_bar.setAccessibleName(self.listed)
        self.scroll_bar.valueChanged.connect(lambda _position: self._show_window())
        self.scroll_bar.hide()
        row.addWidget(self.scroll_bar)
        canvas.wheeled.connect(self._scroll_rows)
        canvas.setAccessibleName(self.title)
        return container

    def _scroll_rows(self, rows: int) -> None:
        self.scroll_bar.setValue(self.scroll_bar.value() + rows)

    def start(self, started: RunStarted) -> None:
        self.scroll_bar.setValue(0)

    def draw(self) -> None:
        super().draw()
        self.show_rows(len(self.shown_figure().y.scale.choices))

    def name_rows(self, names: list[str], share: float = NAMES) -> None:
        """Set row names, elided beyond a share of the width."""
        # Long names of one table tend to differ at their ends.
        metrics, max_width = QFontMetricsF(small_font()), share * self.canvas.width()
        middle = Qt.TextElideMode.ElideMiddle
        cut = [metrics.elidedText(name, middle, max_width) for name in names]
        self.plot.left.set_scale(Scale("choice", unique_names(cut)))

    def show_rows(self, count: int) -> None:
        """Show those of so many rows that fit."""
        self.row_count = count
        self._show_window()

    def _show_window(self) -> None:
        if not self.has_content():
            return
        count = self.row_count
        tall = QFontMetricsF(small_font()).height() + 5
        fit = max(3, int(self.plot.vb.height() / tall))
        self.scroll_bar.setVisible(count > fit)
        self.canvas.keeps_wheel = count > fit
        self.scroll_bar.setMaximum(max(0, count - fit))
        self.scroll_bar.setPageStep(fit)
        first = self.scroll_bar.value() if count > fit else 0
        rows = min(count, fit)
        # A few rows keep bars of a pleasant thickness instead of filling the card.
        self.plot.hold_y(first - 0.6, first + max(rows, min(self.min_rows, fit)) - 0.4, exact=True)
