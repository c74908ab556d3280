"""The dot plot of one molecule."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_decimals, percent
from app.views.plot.data_table import Table
from app.views.plot.hover_text import HoverText
from app.views.plot.items import Lines, clear_colour, pen
from app.views.plot.legend import LegendEntry
from app.views.plot.plot import Plot
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from app.views.structured.molecule_views import MoleculeView

SMALLEST = 2.6  # pixels of the side of a square
FAINTEST = 0.25  # opacity of the least likely pair


class Squares(pg.UIGraphicsItem):
    """Squares filled by their shares, or frames of one size."""

    def __init__(self, framed: bool) -> None:
        super().__init__()
        self.framed = framed
        self.x, self.y, self.shares = np.empty(0), np.empty(0), np.empty(0)

    def set_data(self, x: np.ndarray, y: np.ndarray, shares: np.ndarray) -> None:
        """Set positions and shares in [0, 1]."""
        self.x, self.y, self.shares = x, y, shares
        self.update()

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Draw in device pixels; areas are shares of a cell."""
        theme, transform = appearance.current(), painter.transform()
        cell = transform.mapRect(QRectF(0, 0, 1, 1))
        positions = pg.functions.transformCoordinates(transform, np.vstack([self.x, self.y])).T
        painter.save()
        painter.resetTransform()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.observed, 1.4) if self.framed else Qt.PenStyle.NoPen)
        for (x, y), share in zip(positions, self.shares, strict=True):
            side = 1.0 if self.framed else float(np.sqrt(share))
            sides = (side * cell.width(), side * cell.height())
            wide, tall = (max(SMALLEST + self.framed, pixels) for pixels in sides)
            box = QRectF(x - wide / 2, y - tall / 2, wide, tall)
            if self.framed:
                painter.drawRect(box)
            else:
                shade = FAINTEST + (1 - FAINTEST) * float(share)
                painter.fillRect(box, clear_colour(theme.model, shade))
        painter.restore()


class DotPlotView(MoleculeView):
    """Probable pairs above the diagonal, true pairs below."""

    name = "dots"
    title = "Likely base pairs"
    question = "Which bases may pair? Above the line: model. Below: truth."
    waiting = "The likely base pairs of a training molecule appear here at step 0."

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("whole"), Scale("whole"), row=1)
        self.plot.vb.invertY(True)
        self.plot.left.set_title("base")
        self.diagonal, self.likely, self.true = Lines(), Squares(False), Squares(True)
        self.plot.add_marks(self.diagonal, self.likely, self.true)

    def draw(self) -> None:
        """Draw the selected molecule."""
        theme, example = appearance.current(), self.example()
        length = len(example.sequence)
        self.plot.bottom.set_title(f"base of {example.name}")
        pairs = np.array(example.pairs, dtype=float).reshape(-1, 3)
        self.likely.set_data(pairs[:, 1] + 1, pairs[:, 0] + 1, pairs[:, 2])
        true = np.array(sorted(self.base_pairs()[1]), dtype=float).reshape(-1, 2)
        self.true.set_data(true[:, 0], true[:, 1], np.ones(len(true)))
        self.diagonal.set_style(pen(theme.control, 1.0))
        self.diagonal.set_data([0.5, length + 0.5], [0.5, length + 0.5])
        samples = {"more likely": _paint_squares, "true pair": _paint_frame}
        entries = [LegendEntry(sample, words) for words, sample in samples.items()]
        self.legend.set_entries(entries, self.canvas.full_width)
        self.plot.hold_x(0.5, length + 0.5, exact=True)
        self.plot.hold_y(0.5, length + 0.5, exact=True)
        self.canvas.align_left()

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        """Two bases, the probability of their pair, and the truth."""
        letters, (i, j) = self.example().sequence, sorted((round(x), round(y)))
        if not 1 <= i <= j <= len(letters):
            return None
        shares = {(int(a) + 1, int(b) + 1): float(p) for a, b, p in self.example().pairs}
        truth = "truly paired" if (i, j) in self.base_pairs()[1] else "not truly paired"
        text = f"bases {i} ({letters[i - 1]}) and {j} ({letters[j - 1]})\n"
        text += f"probability of a pair: {percent(shares.get((i, j), 0.0))}\n{truth}"
        return HoverText(text, float(round(x)), float(round(y)))

    def describe(self) -> str:
        """The probabilities of true pairs and the likeliest false one."""
        shares = {(int(i) + 1, int(j) + 1): p for i, j, p in self.example().pairs}
        true = self.base_pairs()[1]
        mean = sum(shares.get(pair, 0.0) for pair in true) / max(1, len(true))
        false_pairs = {pair: p for pair, p in shares.items() if pair not in true}
        sentence = f"Step {self.latest_step()}, {self.example().name}: the {len(true)} true base "
        sentence += f"pairs have a probability of {format_decimals(100 * mean, 0)} % on average."
        if false_pairs:
            pair = max(false_pairs, key=false_pairs.__getitem__)
            more = " Of the others, {} and {} is likeliest with {} %."
            sentence += more.format(*pair, format_decimals(100 * false_pairs[pair], 0))
        return sentence

    def table_data(self) -> Table:
        """Every likely or true pair with its probability."""
        example, (_, true) = self.example(), self.base_pairs()
        shares = {(int(i) + 1, int(j) + 1): float(p) for i, j, p in example.pairs}
        letters, rows = example.sequence, []
        for i, j in sorted(shares.keys() | true):
            cells = [shares.get((i, j)), "yes" if (i, j) in true else "no"]
            rows.append([i, j, f"{letters[i - 1]}–{letters[j - 1]}", *cells])
        return ["from base", "to base", "letters", "probability", "truly paired"], rows


def _paint_squares(painter: QPainter, box: QRectF) -> None:
    x = box.left()
    for share in (0.1, 0.4, 1.0):
        side = 9.0 * share**0.5
        square = QRectF(x, box.center().y() - side / 2, side, side)
        shade = FAINTEST + (1 - FAINTEST) * share
        painter.fillRect(square, clear_colour(appearance.current().model, shade))
        x += side + 2


def _paint_frame(painter: QPainter, box: QRectF) -> None:
    painter.setPen(pen(QColor(appearance.current().observed).name(), 1.4))
    middle = box.center()
    painter.drawRect(QRectF(middle - QPointF(4, 4), middle + QPointF(4, 4)))
