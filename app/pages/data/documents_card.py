"""The card about documents: how many, how long, and their words."""

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look import appearance
from app.session.session import Session
from app.text.data_text import document_facts, stop_word_choices, word_rules_text
from app.widgets.cards import Card
from app.widgets.layouts import FlowLayout, add_to, clear_layout, in_column, in_lines
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox
from app.widgets.text_labels import titled_control, wrapping_label
from core.datasets.dataset_summary import DocumentSummary
from core.datasets.texts.stop_words import MAX_WORDS
from core.wording import format_integer

_COLUMN = 190  # pixels of a column of words, at least
_BAR = 4  # pixels: how high the bar under a word is
_GAP = 22  # pixels between columns


class DocumentsCard(Card):
    """Figures, frequent words, and the counting rules."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        holder = QWidget()
        self._facts = FlowLayout(holder, gap=16, column_width=150)
        title = wrapping_label("The most frequent, and how often they come", "small")
        self.words = CommonWords()
        add_to(self.body, self._make_rules(), holder, title, self.words)

    def _make_rules(self) -> QWidget:
        self.stop_words = QuietComboBox()
        self.stop_words.set_choices(dict(stop_word_choices()))
        self.stop_words.currentIndexChanged.connect(
            lambda: self.session.change_data(stop_words=self.stop_words.currentData())
        )
        self.vocabulary = QuietSpinBox(minimum=2, maximum=MAX_WORDS, singleStep=100)
        self.vocabulary.valueChanged.connect(lambda size: self.session.change_data(vocabulary=size))
        self._language = titled_control("Stop words", self.stop_words)
        size = titled_control("How many words count at most", self.vocabulary)
        return in_lines(self._language, size, gap=20, column_width=225)

    def show_documents(self, documents: DocumentSummary) -> None:
        self.set_words("Words that count", word_rules_text(documents))
        data = self.session.current_data
        with QSignalBlocker(self.stop_words), QSignalBlocker(self.vocabulary):
            self.stop_words.setCurrentIndex(self.stop_words.findData(data.stop_words))
            self.vocabulary.setValue(data.vocabulary)
        # Counts of a sparse file have no letters, and so no language.
        self._language.setVisible(bool(documents.column))
        clear_layout(self._facts)
        for title, count in document_facts(documents):
            fact = QWidget()
            words = wrapping_label(count, "cardtitle"), wrapping_label(title, "caption")
            in_column(*words, on=fact, gap=0)
            self._facts.addWidget(fact)
        self.words.show_words(documents.words)


class CommonWords(QWidget):
    """Words with bars, the most frequent first, column by column."""

    def __init__(self) -> None:
        super().__init__()
        self._words: list[tuple[str, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("The most frequent words")
        appearance.notifier.themed.connect(self._fit_height)

    def show_words(self, words: list[tuple[str, int]]) -> None:
        self._words = words
        count_texts = (f"{word} {format_integer(count)}" for word, count in words)
        self.setAccessibleDescription(", ".join(count_texts))
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Setting the height comes back here.
        if event.size().width() != event.oldSize().width():
            self._fit_height()

    def _fit_height(self, _theme: object = None) -> None:
        self.setFixedHeight(max(1, self._row_count()) * self._row_height())
        self.update()

    def _row_height(self) -> int:
        return self.fontMetrics().height() + _BAR + 6

    def _column_count(self) -> int:
        return max(1, min(6, (self.width() + _GAP) // (appearance.pixels(_COLUMN) + _GAP)))

    def _row_count(self) -> int:
        # Column by column, so that the most frequent stand below each other.
        return -(-len(self._words) // self._column_count())

    def sizeHint(self) -> QSize:
        return QSize(appearance.pixels(_COLUMN), self._row_height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._words:
            return
        painter, theme = QPainter(self), appearance.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, row = self._column_count(), self._row_height()
        width = (self.width() - _GAP * (columns - 1)) / columns
        rows = self._row_count()
        max_count = max(count for _, count in self._words)
        for position, (word, count) in enumerate(self._words):
            x, y = (position // rows) * (width + _GAP), (position % rows) * row
            line = QRectF(x, y, width, self.fontMetrics().height())
            count_text = format_integer(count)
            painter.setPen(QPen(QColor(theme.muted)))
            painter.drawText(line, Qt.AlignmentFlag.AlignRight, count_text)
            room = int(width - self.fontMetrics().horizontalAdvance(count_text) - 8)
            painter.setPen(QPen(QColor(theme.ink)))
            shown = self.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, room)
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft, shown)
            bar = QRectF(x, line.bottom() + 1, width * count / max_count, _BAR)
            painter.fillRect(bar, QColor(theme.accent))
