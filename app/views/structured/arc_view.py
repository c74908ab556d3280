"""An arc diagram of one molecule, true pairs below."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.hover_text import HoverText
from app.views.plot.items import clear_colour, pen
from app.views.plot.legend import LegendEntry, line_sample
from app.views.plot.plot import Plot
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from app.views.structured.molecule_views import MoleculeView

BAND = 0.10  # half the height of the letters' band, where the highest arc is 1
TICKS = 10  # bases between two ticks where letters have no room


class Arcs(pg.UIGraphicsItem):
    """Half ellipses over pairs of bases; the widest reaches ±1."""

    def __init__(self, below: bool = False) -> None:
        super().__init__()
        self.below = below
        self.pairs: list[tuple[int, int]] = []
        self._highest, self._pen = 1, QPen()

    def set_style(self, arc_pen: QPen) -> None:
        """Set the pen."""
        self._pen = arc_pen
        self.update()

    def set_data(self, pairs: list[tuple[int, int]], highest: int) -> None:
        """Set the pairs, and the bases that the widest spans."""
        self.pairs, self._highest = pairs, highest
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels, where Qt's arcs are smooth."""
        transform = painter.transform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._pen)
        start, turn = (180 * 16, 180 * 16) if self.below else (0, 180 * 16)
        edge = -BAND if self.below else BAND
        for i, j in self.pairs:
            high = (j - i) / self._highest
            painter.drawArc(transform.mapRect(QRectF(i, edge - high, j - i, 2 * high)), start, turn)
        painter.restore()


class Strand(pg.UIGraphicsItem):
    """The letters of a molecule, or ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.words = "", ("", "")
        self.lettered = False  # whether the last painting had room for letters

    def set_data(self, letters: str, words: tuple[str, str]) -> None:
        """Set the letters, and the words above and below."""
        self.letters, self.words = letters, words
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw the visible part in device pixels."""
        theme, transform, shown = appearance.current(), painter.transform(), self.viewRect()
        metrics = QFontMetricsF(small_font())
        area = transform.mapRect(shown)
        step = area.width() / max(shown.width(), 1e-9)
        self.lettered = step >= metrics.horizontalAdvance("G") + 1
        first = max(1, int(np.floor(shown.left())))
        last = min(len(self.letters), int(np.ceil(shown.right())))
        painter.save()
        painter.resetTransform()
        painter.setFont(small_font())
        painter.setPen(QColor(theme.ink))
        for base in range(first, last + 1):
            middle = transform.map(QPointF(base, 0.0))
            if self.lettered:
                wide, tall = step + 4, metrics.height()
                box = QRectF(middle.x() - wide / 2, middle.y() - tall / 2, wide, tall)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.letters[base - 1])
            elif step >= 2.5 or base % TICKS == 0 or base in (1, len(self.letters)):
                half_length = 5.0 if base % TICKS == 0 else 2.5
                painter.drawLine(middle - QPointF(0, half_length), middle + QPointF(0, half_length))
        if not self.lettered:
            painter.drawLine(*(transform.map(QPointF(base, 0.0)) for base in (first, last)))
        self._draw_words(painter, area, metrics)
        painter.restore()

    def _draw_words(self, painter: QPainter, area: QRectF, metrics: QFontMetricsF) -> None:
        painter.setPen(QColor(appearance.current().muted))
        paper = clear_colour(appearance.current().paper, 0.8)
        tall = metrics.height()
        for word, top in zip(self.words, (area.top(), area.bottom() - tall), strict=True):
            box = QRectF(area.left() + 2, top, metrics.horizontalAdvance(word) + 2, tall)
            painter.fillRect(box, paper)
            painter.drawText(box, 0, word)


class ArcView(MoleculeView):
    """Arcs between paired bases: solid right, dashed wrong, dotted missed."""

    name = "arcs"
    title = "How one molecule folds"
    question = "Does the model pair the right bases? Then both halves are alike."
    waiting = "The base pairs of a few training molecules appear here at step 0."

    choosing = "Which molecule"

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("whole"), row=1)
        self.plot.hideAxis("left")
        self.plot.bottom.set_title("base")
        self.right, self.wrong = Arcs(), Arcs()
        self.found_arcs, self.missed = Arcs(below=True), Arcs(below=True)
        self.strand = Strand()
        self.plot.add_marks(self.missed, self.found_arcs, self.wrong, self.right, self.strand)
        self.paint_theme()

    def paint_theme(self) -> None:
        """Style the arcs."""
        theme = appearance.current()
        right, missed = pen(theme.model, 1.6), pen(theme.ink, 1.6)
        missed.setDashPattern([1.2, 2.2])
        self._pens = (right, pen(theme.observed, 1.8, dashed=True), missed)
        self.found_arcs.set_style(right)
        for arcs, arc_pen in zip((self.right, self.wrong, self.missed), self._pens, strict=True):
            arcs.set_style(arc_pen)

    def draw(self) -> None:
        """Draw the selected molecule."""
        called, true = self.base_pairs()
        letters = self.example().sequence
        highest = max((j - i for i, j in called | true), default=1)
        right, wrong, missed = sorted(called & true), sorted(called - true), sorted(true - called)
        self.right.set_data(right, highest)
        self.wrong.set_data(wrong, highest)
        self.found_arcs.set_data(right, highest)
        self.missed.set_data(missed, highest)
        self.strand.set_data(letters, ("model", "truth"))
        self._draw_legend(len(right), len(wrong), len(missed))
        self.plot.hold_x(0.4, len(letters) + 0.6, exact=True)
        self.plot.hold_y(-1.05 - BAND, 1.05 + BAND, exact=True)

    def _draw_legend(self, right: int, wrong: int, missed: int) -> None:
        words = (f"{right} rightly paired", f"{wrong} wrongly paired", f"{missed} missed")
        samples = zip(map(line_sample, self._pens), words, strict=True)
        entries = [LegendEntry(sample, text) for sample, text in samples]
        self.legend.set_entries(entries, self.canvas.full_width)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        """The base, and its predicted and true partners."""
        letters, base = self.example().sequence, round(x)
        if not 1 <= base <= len(letters):
            return None
        lines = [f"base {base}: {letters[base - 1]}"]
        for pairs, origin in zip(self.base_pairs(), ("model", "truth"), strict=True):
            partner = next((i + j - base for i, j in pairs if base in (i, j)), 0)
            pairing = f"paired with {partner}, {letters[partner - 1]}" if partner else "unpaired"
            lines.append(f"{origin}: {pairing}")
        return HoverText("\n".join(lines), float(base), y)

    def describe(self) -> str:
        """The numbers of right pairs."""
        return self.pair_count_text()

    def table_data(self) -> Table:
        """Every predicted or true pair."""
        called, true = self.base_pairs()
        letters = self.example().sequence
        rows = []
        for i, j in sorted(called | true):
            answers = ["yes" if (i, j) in pairs else "no" for pairs in (called, true)]
            rows.append([i, j, f"{letters[i - 1]}–{letters[j - 1]}", *answers])
        return ["from base", "to base", "letters", "model pairs them", "truly paired"], rows
