"""Cards: the white boxes of a page."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.widgets.text_labels import wrapping_label


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


def clear_layout(layout: QLayout) -> None:
    """Delete the widgets of a layout."""
    while (layout_item := layout.takeAt(0)) is not None:
        if (widget := layout_item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := layout_item.layout()) is not None:
            clear_layout(inner)
