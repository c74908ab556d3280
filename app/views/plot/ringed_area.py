"""A scrolled area that shows by a ring around it that the keyboard is there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea

from app.look import appearance

WIDTH = 2  # pixels


class Ringed:
    """Beside a scrolled area: painted anew whenever the keyboard comes or goes."""

    def paint_ring(self, painter: QPainter) -> None:
        """The ring, inside the edge, while the keyboard is here."""
        if not self.hasFocus():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(appearance.current().focus), WIDTH))
        painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QEvent) -> None:
        """Hide the focus ring."""
        super().focusOutEvent(event)
        self.viewport().update()


class RingedArea(Ringed, QAbstractScrollArea):
    """Such an area that is painted by hand."""
