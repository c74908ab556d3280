"""A tile: a button with a title and a sentence under it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.widgets.text_labels import wrapping_label


class ActionTile(QPushButton):
    """A large button with a title and a sentence."""

    def __init__(
        self,
        title: str,
        sentence: str,
        pressed: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("tile", True)
        self.setAutoDefault(False)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sentence)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 9, 12, 9)
        column.setSpacing(2)
        for text, voice in ((title, "tiletitle"), (sentence, "caption")):
            line = wrapping_label(text, voice)
            line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(line)
        column.addStretch(1)
        self.clicked.connect(lambda _checked=False: pressed())

    def hasHeightForWidth(self) -> bool:
        """Always true."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the text."""
        return self._column.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        """The size of the text."""
        return self._column.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        """The smallest size of the text."""
        return self._column.totalMinimumSize()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Grow with the wrapped text."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.heightForWidth(event.size().width()))
