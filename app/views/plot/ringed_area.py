"""A scrolled area that shows by a ring around it that the keyboard is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea

from app.look import appearance

WIDTH = 2  # pixels

if TYPE_CHECKING:
    _Area = QAbstractScrollArea
else:
    _Area = object  # Qt's classes take no second base that is one of theirs


class FocusRing(_Area):
    """Beside a scrolled area: painted anew whenever the keyboard comes or goes."""

    def paint_ring(self, painter: QPainter) -> None:
        """The ring, inside the edge, while the keyboard is here."""
        if not self.hasFocus():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(appearance.current().focus), WIDTH))
        painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus ring."""
        super().focusOutEvent(event)
        self.viewport().update()


class RingedArea(FocusRing, QAbstractScrollArea):
    """Such an area that is painted by hand."""
