"""A scrolling page that is painted rather than plotted."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QToolTip, QWidget

from app.look import appearance
from app.views.plot.ringed_area import RingedArea
from app.views.plot.view import View
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
        """Modest: the board decides."""
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
        """Lay out for the new size."""
        super().resizeEvent(event)
        self.update_layout()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the visible part and the focus ring."""
        painter, theme = QPainter(self.viewport()), appearance.current()
        painter.fillRect(self.viewport().rect(), QColor(theme.paper))
        painter.save()
        painter.translate(0, -self.verticalScrollBar().value())
        self.drawing.paint(painter)
        painter.restore()
        self.paint_ring(painter)
        painter.end()

    def tooltip_at(self, position: QPointF) -> str:
        """The text at a position of the window."""
        return self.drawing.tooltip_at(position + QPointF(0, self.verticalScrollBar().value()))

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tooltip_at(QPointF(event.pos())))
            return True
        return super().viewportEvent(event)


class PaintedView(View):
    """A view whose content is a PaintedPage."""

    wide = True
    interval = 0.2

    def make_drawing(self) -> Drawing:
        """What is painted."""
        raise NotImplementedError

    def make_content(self) -> QWidget:
        """The page."""
        self.page = PaintedPage(self.make_drawing())
        return self.page

    def tooltip_at(self, position: QPointF) -> str:
        """The text at a position."""
        return self.page.tooltip_at(position)

    def picture(self) -> QWidget:
        """The drawing unscrolled."""
        return self.page.full_picture()

    def start(self, started: RunStarted) -> None:
        """Scroll to the top."""
        self.page.verticalScrollBar().setValue(0)

    def paint_theme(self) -> None:
        """Lay out at the new text size."""
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
