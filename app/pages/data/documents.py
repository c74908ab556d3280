"""The card about documents: how many, how long, and which words they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.look import appearance
from app.text.data.documents import choices, facts, rules, whole
from app.widgets.card import Card, clear
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, titled
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox
from core.datasets.texts.vocabulary import MOST_WORDS

if TYPE_CHECKING:
    from app.session.session import Session

_COLUMN = 190  # pixels of a column of words, at least
_BAR = 4  # pixels: how high the bar under a word is
_GAP = 22  # pixels between columns


class DocumentsCard(Card):
    """Figures about the documents, their most frequent words, and the rules for counting."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self.body.addWidget(self._make_rules())
        holder = QWidget()
        self._facts = FlowLayout(holder, gap=16, column_width=150)
        self.body.addWidget(holder)
        self.body.addWidget(label("The most frequent, and how often they come", "small"))
        self.words = CommonWords()
        self.body.addWidget(self.words)

    def _make_rules(self) -> QWidget:
        self.stop_words = QuietComboBox()
        for choice, words in choices():
            self.stop_words.addItem(words, choice)
        self.stop_words.currentIndexChanged.connect(
            lambda: self.session.change_data(stop_words=self.stop_words.currentData())
        )
        self.size = QuietSpinBox()
        self.size.setRange(2, MOST_WORDS)
        self.size.setSingleStep(100)
        self.size.setKeyboardTracking(False)
        self.size.valueChanged.connect(lambda size: self.session.change_data(vocabulary=size))
        holder = QWidget()
        flow = FlowLayout(holder, gap=20, column_width=225)
        self._language = titled("Stop words", self.stop_words)
        flow.addWidget(self._language)
        flow.addWidget(titled("How many words count at most", self.size))
        return holder

    def show_documents(self, structured: Mapping[str, Any]) -> None:
        """Show the documents of a summary."""
        self.set_words("Words that count", rules(structured))
        data = self.session.data
        with QSignalBlocker(self.stop_words), QSignalBlocker(self.size):
            self.stop_words.setCurrentIndex(self.stop_words.findData(data.stop_words))
            self.size.setValue(data.vocabulary)
        self._language.setVisible(bool(structured["column"]))
        clear(self._facts)
        for what, count in facts(structured):
            self._facts.addWidget(_fact(what, count))
        self.words.show_words([(str(word), int(count)) for word, count in structured["words"]])


def _fact(what: str, count: str) -> QWidget:
    part = QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(label(count, "cardtitle"))
    column.addWidget(label(what, "caption"))
    return part


class CommonWords(QWidget):
    """Words with bars, the most frequent first, column by column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: list[tuple[str, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("The most frequent words")
        appearance.notifier.themed.connect(self._themed)

    def show_words(self, words: list[tuple[str, int]]) -> None:
        """Show words and how often each comes."""
        self._words = words
        told = (f"{word} {whole(count)}" for word, count in words)
        self.setAccessibleDescription(", ".join(told))
        self._fit()

    def _themed(self, _theme: object) -> None:
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The narrower, the higher."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        """As high as the longest column."""
        self.setFixedHeight(max(1, self._rows(self.width())) * self._row())
        self.update()

    def _row(self) -> int:
        return self.fontMetrics().height() + _BAR + 6

    def _columns(self, width: int) -> int:
        least = appearance.pixels(_COLUMN)
        return max(1, min(6, (width + _GAP) // (least + _GAP)))

    def _rows(self, width: int) -> int:
        return -(-len(self._words) // self._columns(width))

    def sizeHint(self) -> QSize:
        """One column, if need be."""
        return QSize(appearance.pixels(_COLUMN), self._row())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Words at the left, counts at the right, a bar under both."""
        if not self._words:
            return
        painter, theme = QPainter(self), appearance.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, row = self._columns(self.width()), self._row()
        width = (self.width() - _GAP * (columns - 1)) / columns
        rows = self._rows(self.width())
        most = max(count for _, count in self._words)
        for place, (word, count) in enumerate(self._words):
            x, y = (place // rows) * (width + _GAP), (place % rows) * row
            line = QRectF(x, y, width, self.fontMetrics().height())
            said = whole(count)
            painter.setPen(QPen(QColor(theme.muted)))
            painter.drawText(line, Qt.AlignmentFlag.AlignRight, said)
            room = int(width - self.fontMetrics().horizontalAdvance(said) - 8)
            painter.setPen(QPen(QColor(theme.ink)))
            shown = self.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, room)
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft, shown)
            bar = QRectF(x, line.bottom() + 1, width * count / most, _BAR)
            painter.fillRect(bar, QColor(theme.accent))
