"""The panel at the right: what is happening, or what was found, in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton
from app.widgets.labels import label

LONG = 24  # letters of a word that a line of the panel may not hold
PIECE = re.compile(r"[^_./-]{20}|[_./-]+")  # behind which a long word may be broken


class SidePanel(QFrame):
    """A heading, sentences, and "Read more". What has not changed stays where it is.

    Signals:
        more_pressed: the person wants the help text of this page.
    """

    more_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        whole = QVBoxLayout(self)
        whole.setContentsMargins(10, 14, 4, 10)
        whole.setSpacing(6)
        self._title = label("", "panel")
        self._title.setContentsMargins(6, 0, 0, 0)
        whole.addWidget(self._title)
        inner = QWidget()
        inner.setObjectName("scrolled")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(6, 0, 12, 0)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self._lines: list[QWidget] = []
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("What this page says, in plain words")
        area.viewport().setAutoFillBackground(False)
        area.setWidget(inner)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        whole.addWidget(area, 1)
        self.more = LinkButton("Read more", self.more_pressed.emit)
        whole.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def show_words(self, title: str, sentences: Sequence[str]) -> None:
        """Show a heading and one paragraph a sentence."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        for at, sentence in enumerate(sentences):
            if at == len(self._lines):
                self._lines.append(label())
                self._column.insertWidget(at, self._lines[at])
            if self._lines[at].text() != (said := _breakable(sentence)):
                self._lines[at].setText(said)
            self._lines[at].show()
        for line in self._lines[len(sentences) :]:
            line.hide()
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(sentences))


def _breakable(sentence: str) -> str:
    """Long names, which would be wider than the panel, may go on in the next line."""
    return " ".join(
        word if len(word) < LONG else PIECE.sub("\\g<0>\u200b", word)
        for word in sentence.split(" ")
    )
