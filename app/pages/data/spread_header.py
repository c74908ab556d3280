"""The heads of the table: a column's name, under it how its values are spread and how many lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look import appearance
from app.text.data.columns import missing_words

HEIGHT = 26  # pixels of a picture at the usual text size
LEAST_WIDTH = 84  # pixels of a column, so that its bars can be told apart
_LEFT, _RIGHT, _ABOVE, _BELOW = 11, 8, 5, 5  # as the stylesheet pads the name


class SpreadHeader(QHeaderView):
    """Draws the bars of those columns that are in view.

    Attributes:
        keys: that were held as it was clicked last.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._columns: Sequence[Mapping[str, Any]] = ()
        self._pictures = False
        self.keys = Qt.KeyboardModifier.NoModifier

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember with which keys."""
        self.keys = event.modifiers()
        super().mousePressEvent(event)

    def show_columns(self, columns: Sequence[Mapping[str, Any]]) -> None:
        """What the sections show: a column of a summary each, {} for one that is not described."""
        self._columns = columns
        self._pictures = any(one.get("distribution") or one.get("missing") for one in columns)
        if columns:  # another height, perhaps
            self.headerDataChanged(Qt.Orientation.Horizontal, 0, len(columns) - 1)

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setBold(False)
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    def _missing(self, section: int) -> str:
        return missing_words(self._columns[section]) if section < len(self._columns) else ""

    def sectionSizeFromContents(self, section: int) -> QSize:
        """Room for the name and what stands under it."""
        size = super().sectionSizeFromContents(section)
        if not self._pictures:
            return size
        small = QFontMetrics(self._small())
        width = small.horizontalAdvance(self._missing(section)) + _LEFT + _RIGHT + 2
        least = max(width, appearance.pixels(LEAST_WIDTH))
        height = size.height() + appearance.pixels(HEIGHT) + small.height() + 4
        return QSize(max(size.width(), least), height)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """The name at the top, then the bars, then how many values are missing."""
        super().paintSection(painter, rect, section)
        if not self._pictures or section >= len(self._columns):
            return
        painter.save()
        small = self._small()
        caption = QFontMetrics(small).height()
        inner = rect.adjusted(_LEFT, _ABOVE, -_RIGHT, -_BELOW)
        words = QRect(inner.left(), inner.bottom() - caption + 1, inner.width(), caption)
        height = appearance.pixels(HEIGHT)
        bars = QRect(inner.left(), words.top() - 2 - height, inner.width(), height)
        if spread := self._columns[section].get("distribution"):
            draw_bars(painter, QRectF(bars), spread)
        painter.setFont(small)
        painter.setPen(QColor(appearance.current().muted))
        shown = QFontMetrics(small).elidedText(
            self._missing(section), Qt.TextElideMode.ElideRight, words.width()
        )
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()


def draw_bars(painter: QPainter, place: QRectF, spread: Mapping[str, Any]) -> None:
    """The bars of a distribution, as wide as the place lets them be, up to a limit.

    Bins of numbers and dates touch; single values stand apart, and all others together at the end
    are hollow.
    """
    theme = appearance.current()
    counts = list(spread["counts"])
    single = spread["kind"] == "values"
    other = [spread["other"]] if spread["other"] else []
    heights = counts + other
    most = max(heights, default=0)
    if not most:
        return
    most_wide = appearance.pixels(14 if single else 200)
    step = min(place.width() / max(len(heights), 6 if single else 1), most_wide)
    gap = min(3.0, step / 3) if single else min(1.0, step / 5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    base = QColor(theme.line)
    painter.fillRect(QRectF(place.left(), place.bottom(), step * len(heights), 1), base)
    colour = QColor(theme.model)
    for at, count in enumerate(heights):
        if not count:
            continue
        tall = max(1.0, place.height() * count / most)
        bar = QRectF(place.left() + at * step, place.bottom() - tall, max(1.0, step - gap), tall)
        if at < len(counts):
            painter.fillRect(bar, colour)
        else:
            painter.setPen(colour)
            painter.drawRect(bar.adjusted(0, 0, -1, -1))
