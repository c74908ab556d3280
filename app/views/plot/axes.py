"""Axes with few ticks and a thickness known before drawing."""

import itertools
import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QApplication

from app.look import appearance
from core.figures.scales import Scale, Ticks
from resources.theme import FONT_SMALL, Theme

Placed = tuple[QPointF, QRectF]  # the foot of a tick, and its label
TICK = 4  # pixels
GAP = 3  # between tick and label
APART = 8  # between two labels side by side
REACH_LEFT, REACH_RIGHT = 40, 14  # how far a label may stand out at the ends of a bottom axis
ONE_LINE = Qt.AlignmentFlag.AlignCenter
SEVERAL_LINES = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def small_font(*, bold: bool = False) -> QFont:
    """The font of ticks and labels."""
    font = QFont(QApplication.font())
    font.setBold(bold)
    font.setPointSizeF(appearance.points(FONT_SMALL))
    return font


class ScaleAxis(pg.AxisItem):
    """One axis of a plot, drawn from a Scale."""

    def __init__(self, orientation: str, scale: Scale | None = None) -> None:
        self.position_scale, self.is_flat = scale or Scale(), orientation == "bottom"
        self.title = ""
        self.maximize: bool | None = None  # of a score: whether more is better
        self.labelled = True
        # Where plots share a left edge, all of them are fitted.
        self.refit = self.fit_thickness
        self.drawn: list[tuple[QRectF, str]] = []
        self.tick_font = small_font()
        self.metrics = QFontMetricsF(self.tick_font)
        super().__init__(orientation)
        # pyqtgraph would write 0.001 as 1, with an “m” beside the title.
        self.enableAutoSIPrefix(False)
        self.showLabel(False)
        self.paint_theme(appearance.current())

    def set_scale(self, scale: Scale) -> None:
        if scale != self.position_scale:
            self.position_scale = scale
            self.fit_thickness()

    def set_title(self, title: str, maximize: bool | None = None) -> None:
        """`maximize` adds an arrow to better scores."""
        if (title, maximize) != (self.title, self.maximize):
            self.title, self.maximize = title, maximize
            self.fit_thickness()

    @property
    def direction(self) -> str:
        if self.maximize is None or not self.title:
            return ""
        named = self.title[:1].upper() + self.title[1:]
        return f"{named}: {'higher' if self.maximize else 'lower'} is better."

    def label_at(self, position: float) -> str:
        return self.position_scale.label_at(position)

    def value_text(self, position: float) -> str:
        return f"{self.title} {self.label_at(position)}" if self.title else self.label_at(position)

    def set_labelled(self, labelled: bool) -> None:
        """False for ticks alone, where a linked axis below has the labels."""
        self.labelled = labelled
        self.fit_thickness()

    def paint_theme(self, theme: Theme) -> None:
        self._ink, self._line = QColor(theme.muted), QColor(theme.control)
        self.tick_font = small_font()
        self.metrics = QFontMetricsF(self.tick_font)
        self.fit_thickness()

    def needed_thickness(self) -> float:
        """Pixels across of ticks, longest label and title."""
        if not self.labelled:
            return TICK + 2
        across = TICK + GAP + (self.metrics.height() + 2 if self.title else 0)
        if self.is_flat:
            return math.ceil(across + self.metrics.height() + 1)
        widest = max((self._label_size(text)[0] for _, text in self.shown_ticks()), default=0.0)
        return math.ceil(across + widest + 3)

    def fit_thickness(self) -> None:
        self.picture = None
        if self.is_flat:
            self.setHeight(self.needed_thickness())
        else:
            self.set_thickness(self.needed_thickness())
        self.update()

    def set_thickness(self, width: float) -> None:
        if self.fixedWidth != width:
            self.setWidth(width)

    def resizeEvent(self, event: Any = None) -> None:
        super().resizeEvent(event)
        self.picture = None
        if not self.is_flat:
            self.refit()

    def shown_ticks(self) -> Ticks:
        low, high = sorted(self.range)
        if self.is_flat and self.position_scale.kind == "choice":
            return self._elided_ticks(low, high)
        if self.is_flat:
            return self._sparse_ticks(low, high)
        # Estimates before the first layout would be of a very small plot.
        max_ticks = int(max(self.size().height(), 60.0) / (self.metrics.height() * 2.2))
        return self.position_scale.ticks_between(low, high, min(7, max_ticks))

    def _elided_ticks(self, low: float, high: float) -> Ticks:
        """All names, cut to the room between two; where that is little, whole ones that have it."""
        ticks = self.position_scale.ticks_between(low, high, len(self.position_scale.choices))
        room = max(self.size().width(), 80.0) / ((high - low) or 1.0) - APART
        if room < 6 * self.metrics.height():
            return self._sparse_ticks(low, high)
        cut = Qt.TextElideMode.ElideMiddle
        return [(at, self.metrics.elidedText(name, cut, room)) for at, name in ticks]

    def _sparse_ticks(self, low: float, high: float) -> Ticks:
        box = QRectF(0.0, 0.0, max(self.size().width(), 80.0), 20.0)
        ticks: Ticks = []
        for max_ticks in (9, 7, 6, 5, 4, 3, 2):
            ticks = self.position_scale.ticks_between(low, high, max_ticks)
            span = (high - low) or 1.0
            shares = [((position - low) / span, text) for position, text in ticks]
            rects = [self._place_label(box, share, text)[1] for share, text in shares]
            if all(a.right() + APART <= b.left() for a, b in itertools.pairwise(rects)):
                return ticks
        return ticks

    def generateDrawSpecs(self, p: QPainter) -> tuple[Any, list[Any], list[Any]]:
        p.setFont(self.tick_font)
        box = self.mapRectFromParent(self.geometry())
        low, high = self.range
        pen = QPen(self._line)
        start = box.topLeft() if self.is_flat else box.topRight()
        end = box.topRight() if self.is_flat else box.bottomRight()
        outwards = QPointF(0, TICK) if self.is_flat else QPointF(-TICK, 0)
        lines, texts, last = [], [], -math.inf
        for position, text in self.shown_ticks():
            share = (position - low) / ((high - low) or 1.0)
            tick_start, label = self._place_label(box, share, text)
            lines.append((pen, tick_start, tick_start + outwards))
            if not self.labelled or (self.is_flat and label.left() < last + 2):
                # A tick stays where its label has no room.
                continue
            last = label.right() if self.is_flat else last
            texts.append((label, SEVERAL_LINES if "\n" in text else ONE_LINE, text))
        self.drawn = [(rect, text) for rect, _, text in texts]
        return (pen, start, end), lines, texts

    def _place_label(self, box: QRectF, share: float, text: str) -> Placed:
        wide, tall = self._label_size(text)
        wide += 2
        if self.is_flat:
            x = box.left() + share * box.width()
            # Labels at the ends may stand out, but not into the plot beside.
            left = min(max(x - wide / 2, box.left() - REACH_LEFT), box.right() + REACH_RIGHT - wide)
            return QPointF(x, box.top()), QRectF(left, box.top() + TICK + GAP - 1, wide, tall)
        y = box.bottom() - share * box.height()
        label_box = QRectF(box.right() - TICK - GAP - wide, y - tall / 2, wide, tall)
        return QPointF(box.right(), y), label_box

    def _label_size(self, text: str) -> tuple[float, float]:
        lines = text.split("\n")
        wide = max(self.metrics.horizontalAdvance(line) for line in lines)
        return wide, len(lines) * self.metrics.height()

    def drawPicture(self, p: QPainter, axis: Any, ticks: list[Any], texts: list[Any]) -> None:
        p.setFont(self.tick_font)
        # Lines of one pixel stay sharp.
        p.setRenderHint(p.RenderHint.Antialiasing, False)
        for pen, start, end in (axis, *ticks):
            p.setPen(pen)
            p.drawLine(start, end)
        p.setPen(self._ink)
        for rect, flags, text in texts:
            p.drawText(rect, int(flags), text)
        if self.title:
            self._draw_title(p)

    def elided_title(self, room: float) -> str:
        right, cut = Qt.TextElideMode.ElideRight, self.metrics.elidedText
        if self.maximize is None:
            return cut(self.title, right, room)
        arrow = "→" if self.maximize else "←"
        for end in (f"  {arrow} better", f" {arrow}"):
            title_room = room - self.metrics.horizontalAdvance(end)
            if self.metrics.horizontalAdvance(self.title) <= title_room:
                break
        return f"{cut(self.title, right, title_room)}{end}"

    def _draw_title(self, p: QPainter) -> None:
        box = self.mapRectFromParent(self.geometry())
        tall = self.metrics.height()
        along = box.width() if self.is_flat else box.height()
        text = self.elided_title(along + 20)
        centre = Qt.AlignmentFlag.AlignCenter
        if self.is_flat:
            title_box = QRectF(box.left() - 10, box.bottom() - tall - 1, box.width() + 20, tall)
            p.drawText(title_box, int(centre), text)
            return
        p.save()
        p.translate(box.left() + tall / 2, box.center().y())
        p.rotate(-90)
        p.drawText(QRectF(-along / 2 - 10, -tall / 2, along + 20, tall), int(centre), text)
        p.restore()

    def boundingRect(self) -> QRectF:
        box = self.mapRectFromParent(self.geometry())
        return box.adjusted(-REACH_LEFT, -10, REACH_RIGHT + 1, 10)

    def wheelEvent(self, event: Any) -> None:
        event.ignore()
