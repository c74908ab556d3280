"""The topics of the best setting: their shares and words."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.look import appearance
from app.text.number_format import percent
from app.views.generative.topic_cards import BAR, TopicCards
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.legend import LegendEntry
from app.views.plot.painted_page import PaintedView
from core.tuning.events import RunStarted, TopicsFound
from core.tuning.payloads import Topic

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
        """Runs that find topics."""
        return not started.dataset.task.has_target

    def make_drawing(self) -> TopicCards:
        """The cards."""
        self.cards = TopicCards()
        return self.cards

    @property
    def latest_topics(self) -> TopicsFound:
        """The latest topics; empty before the first."""
        return self.run.topics or TopicsFound()

    def has_content(self) -> bool:
        """From the first trial with topics."""
        return bool(self.shown_topics())

    def shown_topics(self) -> list[Topic]:
        """The shown topics, the largest first."""
        return self.latest_topics.topics

    def heading_text(self) -> str:
        """The trial and the number of topics."""
        count, seen = self.latest_topics.count, len(self.latest_topics.topics)
        trial = f"Trial {self.latest_topics.number}, the best so far"
        if seen == count:
            return f"{trial}: its topics, the largest first."
        return f"{trial}: the {seen} largest of {count} topics."

    def draw(self) -> None:
        """Draw cards and legend."""
        entries = [
            LegendEntry(_paint_bar, "share of all words"),
            LegendEntry(_paint_letters, "larger words are likelier in the topic"),
        ]
        self.cards.set_data(self.shown_topics(), self.heading_text(), entries)
        self.page.update_layout()

    def describe(self) -> str:
        """The number of topics, and the words of the largest."""
        topics = self.shown_topics()[:DESCRIBED]
        texts = [f"{', '.join(topic.words[:NAMED])} ({percent(topic.share)})" for topic in topics]
        shares = f"With their shares of all words in {self.latest_topics.documents:,} texts"
        return f"{self.heading_text()} {shares}: {'; '.join(texts)}; and so on."

    def table_data(self) -> Table:
        """Every shown word with its topic and probability."""
        return ["topic", "share of all words", "word", "probability in the topic"], [
            [number, topic.share, word, weight]
            for number, topic in enumerate(self.shown_topics(), start=1)
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
        font = QFont(small_font())
        font.setPointSizeF(font.pointSizeF() * size)
        painter.setFont(font)
        painter.drawText(QPointF(x, baseline), "a")
        x += QFontMetricsF(font).horizontalAdvance("a") + 3
