"""A page that is painted by hand: it scrolls up and down, is told by the pointer, and is saved."""

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
    """What is painted on a page.

    Attributes:
        min_height: pixels downwards that are to be seen without scrolling, once it is laid out.
    """

    min_height: float

    def lay_out(self, width: float, height: float) -> float:
        """Find a place for everything in such a width; the pixels that it takes downwards.

        `height` is what is there, for what can grow.
        """

    def paint(self, painter: QPainter) -> None:
        """Paint everything where it was laid out."""

    def tooltip_at(self, position: QPointF) -> str:
        """Words for what is at a place; "" where nothing is."""


class PaintedPage(RingedArea):
    """A drawing in a window of its own height; arrows and Page keys scroll it."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.drawing = drawing
        self.needed_height = 0.0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(160, LOWEST)

    def sizeHint(self) -> QSize:
        """Modest, so that the board alone decides."""
        return QSize(320, 180)

    def update_layout(self) -> None:
        """Lay the drawing out anew: it is another one, or there is other room for it."""
        size, bar = self.viewport().size(), self.verticalScrollBar()
        self.needed_height = self.drawing.lay_out(size.width(), size.height())
        self.setMinimumHeight(max(LOWEST, round(self.drawing.min_height)))
        bar.setRange(0, max(0, round(self.needed_height - size.height() + 0.5)))
        bar.setPageStep(size.height())
        bar.setSingleStep(STEP)
        self.viewport().update()

    def full_picture(self) -> QWidget:
        """All of it in one picture, however much of it is seen."""
        size = self.viewport().size()
        return _Whole(
            self.drawing, QSize(size.width(), max(size.height(), round(self.needed_height + 1)))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size has other places."""
        super().resizeEvent(event)
        self.update_layout()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The part that is seen, and a ring around it while the keyboard is here."""
        painter, theme = QPainter(self.viewport()), appearance.current()
        painter.fillRect(self.viewport().rect(), QColor(theme.paper))
        painter.save()
        painter.translate(0, -self.verticalScrollBar().value())
        self.drawing.paint(painter)
        painter.restore()
        self.paint_ring(painter)
        painter.end()

    def tooltip_at(self, position: QPointF) -> str:
        """Words for what is at a place of the window, however far it is scrolled."""
        return self.drawing.tooltip_at(position + QPointF(0, self.verticalScrollBar().value()))

    def viewportEvent(self, event: QEvent) -> bool:
        """Say what the pointer rests on."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tooltip_at(QPointF(event.pos())))
            return True
        return super().viewportEvent(event)


class PaintedView(View):
    """A view that is such a page; `make_drawing` gives what is painted on it."""

    wide = True
    interval = 0.2

    def make_drawing(self) -> Drawing:
        """What is painted."""
        raise NotImplementedError

    def make_content(self) -> QWidget:
        """The page, which scrolls."""
        self.page = PaintedPage(self.make_drawing())
        return self.page

    def tooltip_at(self, position: QPointF) -> str:
        """What is painted there."""
        return self.page.tooltip_at(position)

    def picture(self) -> QWidget:
        """All of it, scrolled or not."""
        return self.page.full_picture()

    def start(self, started: RunStarted) -> None:
        """From the top again."""
        self.page.verticalScrollBar().setValue(0)

    def paint_theme(self) -> None:
        """The text may have another size now."""
        self.page.update_layout()


class _Whole(QWidget):
    """The whole drawing, for a file; it is never shown."""

    def __init__(self, drawing: Drawing, size: QSize) -> None:
        super().__init__()
        self._drawing = drawing
        self.resize(size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Everything, nothing scrolled."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(appearance.current().paper))
        self._drawing.paint(painter)
        painter.end()
