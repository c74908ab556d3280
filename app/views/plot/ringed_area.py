"""A scroll area with a ring while it has the focus."""

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
    """Mixin of a scroll area, repainted when the focus changes."""

    def paint_ring(self, painter: QPainter) -> None:
        """Paint the ring while the area has the focus."""
        if not self.hasFocus():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(appearance.current().focus), WIDTH))
        painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the ring."""
        super().focusOutEvent(event)
        self.viewport().update()


class RingedArea(FocusRing, QAbstractScrollArea):
    """A scroll area with a focus ring."""
