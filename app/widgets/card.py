"""Cards: the white boxes of a page."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.look import appearance
from app.widgets.text_labels import wrapping_label

_BOTH_WIDE = 900  # pixels from which two cards are beside each other


class Card(QFrame):
    """A titled box: content in `body`, small controls in `corner`, all in `column`."""

    def __init__(self, title: str = "", caption: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        layout = self.column = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 14)
        layout.setSpacing(8)
        self._title = wrapping_label(title, "cardtitle")
        self._caption = wrapping_label(caption, "caption")
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self._title)
        words.addWidget(self._caption)
        head = QHBoxLayout()
        head.addLayout(words, 1)
        self.corner = QHBoxLayout()
        self.corner.setSpacing(4)
        head.addLayout(self.corner)
        layout.addLayout(head)
        self.body = QVBoxLayout()
        self.body.setSpacing(8)
        layout.addLayout(self.body, 1)
        self.set_words(title, caption)

    def set_words(self, title: str, caption: str = "") -> None:
        """Change heading and caption."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._caption.setText(caption)
        self._caption.setVisible(bool(caption))
        if title:
            self.setAccessibleName(title)
            self.setAccessibleDescription(caption)


class SideBySide(QWidget):
    """Two cards beside each other where both have room, else one below the other."""

    def __init__(self, first: Card, second: Card, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(12)
        self._layout.addWidget(first, 1)
        self._layout.addWidget(second, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the direction."""
        super().resizeEvent(event)
        is_wide = event.size().width() >= appearance.pixels(_BOTH_WIDE)
        horizontal, vertical = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._layout.setDirection(horizontal if is_wide else vertical)
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """The height at this width: that of wrapped words at the smallest width is far more."""
        size = super().minimumSizeHint()
        return QSize(size.width(), min(size.height(), self.heightForWidth(self.width())))


def clear_layout(layout: QLayout) -> None:
    """Delete the widgets of a layout."""
    while (layout_item := layout.takeAt(0)) is not None:
        if (widget := layout_item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := layout_item.layout()) is not None:
            clear_layout(inner)
