"""The panel at the right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton
from app.widgets.text_labels import wrapping_label

LONG = 24  # letters of a word that may be wider than the panel
PIECE = re.compile(r"[^_./-]{20}|[_./-]+")  # a long word may be broken after it


class SidePanel(QFrame):
    """A heading, sentences, and "Read more"."""

    more_pressed = Signal()  # show the help of this page

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 14, 4, 10)
        layout.setSpacing(6)
        self._title = wrapping_label("", "panel")
        self._title.setContentsMargins(6, 0, 0, 0)
        layout.addWidget(self._title)
        inner = QWidget()
        inner.setObjectName("scrolled")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(6, 0, 12, 0)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self._lines: list[QLabel] = []
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("What this page says, in plain words")
        area.viewport().setAutoFillBackground(False)
        area.setWidget(inner)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout.addWidget(area, 1)
        self.more = LinkButton("Read more", self.more_pressed.emit)
        layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def show_words(self, title: str, sentences: Sequence[str]) -> None:
        """Show a heading and one paragraph a sentence."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        for index, sentence in enumerate(sentences):
            if index == len(self._lines):
                self._lines.append(wrapping_label())
                self._column.insertWidget(index, self._lines[index])
            if self._lines[index].text() != (line_text := _breakable(sentence)):
                self._lines[index].setText(line_text)
            self._lines[index].show()
        for line in self._lines[len(sentences) :]:
            line.hide()
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(sentences))


def _breakable(sentence: str) -> str:
    words = sentence.split(" ")
    return " ".join(w if len(w) < LONG else PIECE.sub("\\g<0>\u200b", w) for w in words)
