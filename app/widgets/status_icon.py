"""An icon beside text."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look import icons


class StatusIcon(QWidget):
    """A picture beside text."""

    def __init__(self, icon: str, token: str, size: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = icons.tinted_icon(icon, token)
        self.setFixedSize(size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon."""
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()
