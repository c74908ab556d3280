"""The topics of the best setting, a card each with their shares and words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.legend import LegendEntry, height_of, paint_entries
from app.views.plot.scrolled_views import PaintedView
from core.figures.figure import Table
from core.tuning.events import RunStarted, Topic, TopicsFound
from core.wording import percent
from resources.theme import FONT_SMALL, RADIUS

EDGE, GAP = 6, 8  # pixels around everything, and between cards
INSIDE = 8  # pixels between a card's outline and its words
NARROWEST = 205  # pixels of a card at the usual text size
SEEN = 2  # rows of cards that are seen without scrolling
LARGEST = 14.0  # points of the likeliest word; the least likely have FONT_SMALL
BAR = 6  # pixels of the bar
BETWEEN = 8  # pixels between two words


@dataclass
class _Card:
    topic: Topic
    outline: QRectF = field(default_factory=QRectF)
    words: list[tuple[str, QFont, QRectF]] = field(default_factory=list)


class TopicCards:
    """The largest topic comes first."""

    def __init__(self) -> None:
        self.cards: list[_Card] = []
        self.min_height = 0.0
        self._heading = ""
        self._entries: list[LegendEntry] = []

    def set_data(self, topics: Sequence[Topic], heading: str, entries: list[LegendEntry]) -> None:
        self.cards = [_Card(topic) for topic in topics]
        self._heading, self._entries = heading, entries

    def lay_out(self, width: float, height: float) -> QSizeF:
        room, line = width - 2 * EDGE, QFontMetricsF(small_font()).height() + 2
        top = EDGE + line + height_of(self._entries, room) + 6
        across = max(1, int((room + GAP) // (appearance.pixels(NARROWEST) + GAP)))
        across = min(across, max(1, len(self.cards)))
        wide = (room - GAP * (across - 1)) / across
        for first in range(0, len(self.cards), across):
            row = self.cards[first : first + across]
            for column, card in enumerate(row):
                _place_words(card, EDGE + column * (wide + GAP), top, wide)
            tall = max(card.outline.height() for card in row)
            for card in row:
                card.outline.setHeight(tall)
            top += tall + GAP
            if first < SEEN * across:
                self.min_height = top - GAP + EDGE
        return QSizeF(width, top - GAP + EDGE)

    def paint(self, painter: QPainter, seen: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, room = QFontMetricsF(small_font()), seen.width() - 2 * EDGE
        painter.setFont(small_font())
        painter.setPen(QColor(appearance.current().ink))
        heading = metrics.elidedText(self._heading, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(EDGE, EDGE + metrics.ascent()), heading)
        paint_entries(painter, self._entries, QRectF(EDGE, EDGE + metrics.height() + 2, room, 0))
        largest_share = max((card.topic.share for card in self.cards), default=0.0)
        for card in self.cards:
            _paint_card(painter, card, largest_share)

    def tooltip_at(self, position: QPointF) -> str:
        for card in self.cards:
            for (word, _, box), weight in zip(card.words, card.topic.weights, strict=True):
                if box.contains(position):
                    return f"{word}: {percent(weight)}"
        return ""


def _place_words(card: _Card, left: float, top: float, width: float) -> None:
    x, y = left + INSIDE, top + INSIDE + QFontMetricsF(small_font()).height() + 5
    right = left + width - INSIDE
    card.words, line = [], list[tuple[str, QFont, float]]()
    strongest = max(card.topic.weights, default=1.0) or 1.0
    for word, weight in zip(card.topic.words, card.topic.weights, strict=True):
        font = _word_font(weight / strongest)
        metrics = QFontMetricsF(font)
        shown_word = metrics.elidedText(word, Qt.TextElideMode.ElideRight, right - left - INSIDE)
        wide = metrics.horizontalAdvance(shown_word)
        if line and x + wide > right:
            y = _end_line(card, line, y)
            x, line = left + INSIDE, []
        line.append((shown_word, font, x))
        x += wide + BETWEEN
    y = _end_line(card, line, y)
    card.outline = QRectF(left, top, width, y + INSIDE - 2 - top)


def _end_line(card: _Card, line: list[tuple[str, QFont, float]], top: float) -> float:
    fonts = [QFontMetricsF(font) for _, font, _ in line]
    above = max((metrics.ascent() for metrics in fonts), default=0.0)
    below = max((metrics.descent() for metrics in fonts), default=0.0)
    for word, font, x in line:
        metrics = QFontMetricsF(font)
        wide, tall = metrics.horizontalAdvance(word) + 1, metrics.height()
        card.words.append((word, font, QRectF(x, top + above - metrics.ascent(), wide, tall)))
    return top + above + below


def _word_font(strength: float) -> QFont:
    font = small_font()
    # The eye compares areas, which grow with the square of the size.
    font.setPointSizeF(appearance.points(FONT_SMALL + (LARGEST - FONT_SMALL) * strength**0.5))
    return font


def _paint_card(painter: QPainter, card: _Card, largest_share: float) -> None:
    theme, outline = appearance.current(), card.outline
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(theme.line), 1))
    painter.drawRoundedRect(outline.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    bold = small_font(bold=True)
    metrics, share_text = QFontMetricsF(bold), percent(card.topic.share)
    wide = max(metrics.horizontalAdvance(share_text), metrics.horizontalAdvance(percent(0.055)))
    head = QRectF(outline.left() + INSIDE, outline.top() + INSIDE - 2, wide, metrics.height())
    painter.setFont(bold)
    painter.setPen(QColor(theme.ink))
    painter.drawText(head, int(Qt.AlignmentFlag.AlignVCenter), share_text)
    room = outline.right() - INSIDE - head.right() - 6
    share = card.topic.share / largest_share if largest_share > 0 else 0.0
    bar = QRectF(head.right() + 6, head.center().y() - BAR / 2, max(1.0, room * share), BAR)
    painter.fillRect(bar, QColor(theme.model))
    for word, font, box in card.words:
        painter.setFont(font)
        painter.drawText(QPointF(box.left(), box.top() + QFontMetricsF(font).ascent()), word)


DESCRIBED, NAMED = 3, 4  # topics in the description, and words of each


class TopicsView(PaintedView):
    """A card for each of the largest topics."""

    name = "topics"
    title = "Topics found"
    question = "What are the texts about?"
    waiting = "The topics of the best setting so far appear here after the first trial."
    listens = (TopicsFound,)
    late = True

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return not started.dataset.task.has_target

    def make_drawing(self) -> TopicCards:
        self.cards = TopicCards()
        return self.cards

    def has_content(self) -> bool:
        return bool(self.run.topics.topics)

    def heading_text(self) -> str:
        count, seen = self.run.topics.count, len(self.run.topics.topics)
        trial = f"Trial {self.run.topics.number}, the best so far"
        if seen == count:
            return f"{trial}: its topics, the largest first."
        return f"{trial}: the {seen} largest of {count} topics."

    def draw(self) -> None:
        entries = [
            LegendEntry(_paint_bar, "share of all words"),
            LegendEntry(_paint_letters, "larger words are likelier in the topic"),
        ]
        self.cards.set_data(self.run.topics.topics, self.heading_text(), entries)
        self.page.update_layout()

    def describe(self) -> str:
        topics = self.run.topics.topics[:DESCRIBED]
        texts = [f"{', '.join(topic.words[:NAMED])} ({percent(topic.share)})" for topic in topics]
        shares = f"With their shares of all words in {self.run.topics.documents:,} texts"
        return f"{self.heading_text()} {shares}: {'; '.join(texts)}; and so on."

    def table_data(self) -> Table:
        return ["topic", "share of all words", "word", "probability in the topic"], [
            [number, topic.share, word, weight]
            for number, topic in enumerate(self.run.topics.topics, start=1)
            for word, weight in zip(topic.words, topic.weights, strict=True)
        ]


def _paint_bar(painter: QPainter, box: QRectF) -> None:
    bar = QRectF(box.left(), box.center().y() - BAR / 2, box.width(), BAR)
    painter.fillRect(bar, QColor(appearance.current().model))


def _paint_letters(painter: QPainter, box: QRectF) -> None:
    painter.setPen(QColor(appearance.current().ink))
    x = box.left()
    baseline = box.top() + QFontMetricsF(small_font()).ascent()
    for size in (1.3, 0.8):
        font = small_font()
        font.setPointSizeF(font.pointSizeF() * size)
        painter.setFont(font)
        painter.drawText(QPointF(x, baseline), "a")
        x += QFontMetricsF(font).horizontalAdvance("a") + 3
