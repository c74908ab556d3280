"""The heads of the table: name, distribution and missing values of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look import appearance
from app.text.data.column_text import missing_text

if TYPE_CHECKING:
    from core.datasets.dataset_summary import ColumnSummary, Distribution

HEIGHT = 26  # pixels of a picture at the usual text size
MIN_WIDTH = 84  # pixels of a column, so that its bars are distinct
_LEFT, _RIGHT, _ABOVE, _BELOW = 11, 8, 5, 5  # as the stylesheet pads the name


class SpreadHeader(QHeaderView):
    """Draws the bars of the columns in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._columns: Sequence[ColumnSummary | None] = ()
        self._rows = 0
        self._pictures = False
        self.keys = Qt.KeyboardModifier.NoModifier  # of the last click

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember the modifier keys."""
        self.keys = event.modifiers()
        super().mousePressEvent(event)

    def show_columns(self, columns: Sequence[ColumnSummary | None], rows: int) -> None:
        """Set the columns of the sections, None for one without a description, of so many rows."""
        self._columns, self._rows = columns, rows
        self._pictures = any(c and (c.distribution or c.missing) for c in columns)
        if columns:  # another height, perhaps
            self.headerDataChanged(Qt.Orientation.Horizontal, 0, len(columns) - 1)

    def _small_font(self) -> QFont:
        font = QFont(self.font())
        font.setBold(False)
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    def _missing_text(self, section: int) -> str:
        if section >= len(self._columns):
            return ""
        return missing_text(self._columns[section], self._rows)

    def sectionSizeFromContents(self, section: int) -> QSize:
        """Room for the name, the bars and the missing values."""
        size = super().sectionSizeFromContents(section)
        if not self._pictures:
            return size
        small = QFontMetrics(self._small_font())
        width = small.horizontalAdvance(self._missing_text(section)) + _LEFT + _RIGHT + 2
        min_width = max(width, appearance.pixels(MIN_WIDTH))
        height = size.height() + appearance.pixels(HEIGHT) + small.height() + 4
        return QSize(max(size.width(), min_width), height)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw the name, then the bars, then how many values are missing."""
        super().paintSection(painter, rect, section)
        if not self._pictures or section >= len(self._columns):
            return
        painter.save()
        small = self._small_font()
        caption = QFontMetrics(small).height()
        inner = rect.adjusted(_LEFT, _ABOVE, -_RIGHT, -_BELOW)
        words = QRect(inner.left(), inner.bottom() - caption + 1, inner.width(), caption)
        height = appearance.pixels(HEIGHT)
        bars = QRect(inner.left(), words.top() - 2 - height, inner.width(), height)
        if (column := self._columns[section]) and column.distribution:
            draw_bars(painter, QRectF(bars), column.distribution)
        painter.setFont(small)
        painter.setPen(QColor(appearance.current().warning))
        text, elide = self._missing_text(section), Qt.TextElideMode.ElideRight
        text = QFontMetrics(small).elidedText(text, elide, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


def draw_bars(painter: QPainter, area: QRectF, spread: Distribution) -> None:
    """Draw a distribution: bins of numbers touch, single values do not, the others are hollow."""
    theme = appearance.current()
    counts, single = spread.counts, spread.kind == "values"
    heights = (*counts, spread.other) if spread.other else counts
    max_count = max(heights, default=0)
    if not max_count:
        return
    max_step = appearance.pixels(14 if single else 200)
    step = min(area.width() / max(len(heights), 6 if single else 1), max_step)
    gap = min(3.0, step / 3) if single else min(1.0, step / 5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    base = QColor(theme.line)
    painter.fillRect(QRectF(area.left(), area.bottom(), step * len(heights), 1), base)
    colour = QColor(theme.model)
    for index, count in enumerate(heights):
        if not count:
            continue
        tall = max(1.0, area.height() * count / max_count)
        bar = QRectF(area.left() + index * step, area.bottom() - tall, max(1.0, step - gap), tall)
        if index < len(counts):
            painter.fillRect(bar, colour)
        else:
            painter.setPen(colour)
            painter.drawRect(bar.adjusted(0, 0, -1, -1))
