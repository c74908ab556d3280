"""Cards: the white boxes that a page is made of."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.widgets.labels import label


class Card(QFrame):
    """A titled box. Content goes into `body`, small controls into `corner` at the top right.

    Args:
        title: its heading.
        caption: under it, the question that the content answers or what to do here.
    """

    def __init__(self, title: str = "", caption: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(16, 12, 16, 14)
        whole.setSpacing(8)
        self._title = label(title, "cardtitle")
        self._caption = label(caption, "caption")
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self._title)
        words.addWidget(self._caption)
        head = QHBoxLayout()
        head.addLayout(words, 1)
        self.corner = QHBoxLayout()
        self.corner.setSpacing(4)
        head.addLayout(self.corner)
        whole.addLayout(head)
        self.body = QVBoxLayout()
        self.body.setSpacing(8)
        whole.addLayout(self.body, 1)
        self.set_words(title, caption)

    def set_words(self, title: str, caption: str = "") -> None:
        """Change heading and caption; an empty one takes no place."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._caption.setText(caption)
        self._caption.setVisible(bool(caption))
        if title:
            self.setAccessibleName(title)
            self.setAccessibleDescription(caption)


def clear(layout: QLayout) -> None:
    """Take everything out of a layout; its widgets are deleted."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)
