"""One folded molecule: its pairs as arcs and as a dot plot."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.examples_view import ExamplesView
from app.views.plot.canvas import HoverText
from app.views.plot.items import Lines, PixelItem, clear_colour, draw_words, pen
from app.views.plot.legend import LegendEntry, line_sample
from app.views.plot.plot import Plot
from core.datasets.task import Task
from core.figures.example_figures import PairPicture
from core.figures.figure import Table
from core.figures.scales import Scale
from core.tuning.events import FoldedMolecule, MoleculesFolded
from core.wording import percent

LOWEST = 225  # pixels of the canvas


class MoleculeView(ExamplesView[FoldedMolecule]):
    """A view of a molecule; pairs count from 1."""

    listens = (MoleculesFolded,)
    task = Task.STRUCTURE
    zooms = True
    interval = 0.06

    def make_content(self) -> QWidget:
        content = super().make_content()
        self.canvas.setMinimumHeight(appearance.pixels(LOWEST))
        return content

    def examples(self) -> list[FoldedMolecule]:
        return self.run.folded.molecules

    def example_title(self, example: FoldedMolecule) -> str:
        return example.name

    def pair_picture(self) -> PairPicture:
        return PairPicture(self.example())


BAND = 0.10  # half the height of the letters' band, where the highest arc is 1
TICKS = 10  # bases between two ticks where letters have no room


class Arcs(PixelItem):
    """Half ellipses; the widest reaches ±1."""

    def __init__(self, below: bool = False) -> None:
        super().__init__()
        self.below = below
        self.pairs: list[tuple[int, int]] = []
        self._highest, self._pen = 1, QPen()

    def set_style(self, arc_pen: QPen) -> None:
        self._pen = arc_pen
        self.update()

    def set_data(self, pairs: list[tuple[int, int]], highest: int) -> None:
        """`highest` is what the widest spans."""
        self.pairs, self._highest = pairs, highest
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        painter.setPen(self._pen)
        start, turn = (180 * 16, 180 * 16) if self.below else (0, 180 * 16)
        edge = -BAND if self.below else BAND
        for i, j in self.pairs:
            high = (j - i) / self._highest
            painter.drawArc(transform.mapRect(QRectF(i, edge - high, j - i, 2 * high)), start, turn)


class Strand(PixelItem):
    """The letters of a molecule, or ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.words = "", ("", "")
        self.lettered = False  # whether the last painting had room for letters

    def set_data(self, letters: str, words: tuple[str, str]) -> None:
        """`words` go above and below."""
        self.letters, self.words = letters, words
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        shown, metrics = self.viewRect(), QFontMetricsF(painter.font())
        step = area.width() / max(shown.width(), 1e-9)
        self.lettered = step >= metrics.horizontalAdvance("G") + 1
        first = max(1, int(np.floor(shown.left())))
        last = min(len(self.letters), int(np.ceil(shown.right())))
        painter.setPen(QColor(appearance.current().ink))
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
        tall = metrics.height()
        for word, top in zip(self.words, (area.top(), area.bottom() - tall), strict=True):
            box = QRectF(area.left() + 2, top, metrics.horizontalAdvance(word) + 2, tall)
            draw_words(painter, box, word, appearance.current().muted)


class ArcView(MoleculeView):
    """Arcs between pairs: solid right, dashed wrong, dotted missed."""

    name = "arcs"
    title = "How one molecule folds"
    question = "Does the model pair the right bases? Then both halves are alike."
    waiting = "The base pairs of a few training molecules appear here at step 0."

    choosing = "Which molecule"

    def make_plots(self) -> None:
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("whole"), row=1)
        self.plot.left.hide()
        self.plot.bottom.set_title("base")
        self.right, self.wrong = Arcs(), Arcs()
        self.found_arcs, self.missed = Arcs(below=True), Arcs(below=True)
        self.strand = Strand()
        self.plot.add_marks(self.missed, self.found_arcs, self.wrong, self.right, self.strand)

    def draw(self) -> None:
        theme = appearance.current()
        right_pen, missed_pen = pen(theme.model, 1.6), pen(theme.ink, 1.6)
        # Dots beside dashes: wrong and missed pairs are told apart without their colours.
        missed_pen.setDashPattern([1.2, 2.2])
        pens = (right_pen, pen(theme.observed, 1.8, dashed=True), missed_pen)
        self.found_arcs.set_style(right_pen)
        for arcs, arc_pen in zip((self.right, self.wrong, self.missed), pens, strict=True):
            arcs.set_style(arc_pen)
        pair_picture, letters = self.pair_picture(), self.example().sequence
        called, true = pair_picture.predicted_pairs, pair_picture.true_pairs
        right, wrong, missed = called & true, called - true, true - called
        shown = {self.right: right, self.wrong: wrong, self.found_arcs: right, self.missed: missed}
        for arcs, pairs in shown.items():
            arcs.set_data(sorted(pairs), pair_picture.longest_span)
        self.strand.set_data(letters, ("model", "truth"))
        counts = {"rightly paired": right, "wrongly paired": wrong, "missed": missed}
        words = (f"{len(pairs)} {outcome}" for outcome, pairs in counts.items())
        entries = list(map(LegendEntry, map(line_sample, pens), words))
        self.legend.set_entries(entries, self.canvas.full_width)
        self.plot.hold_x(0.4, len(letters) + 0.6, exact=True)
        self.plot.hold_y(-1.05 - BAND, 1.05 + BAND, exact=True)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        letters, base = self.example().sequence, round(x)
        if not 1 <= base <= len(letters):
            return None
        lines = [f"base {base}: {letters[base - 1]}"]
        pair_picture = self.pair_picture()
        pairs_of = {"model": pair_picture.predicted_pairs, "truth": pair_picture.true_pairs}
        for origin, pairs in pairs_of.items():
            partner = next((i + j - base for i, j in pairs if base in (i, j)), 0)
            pairing = f"paired with {partner}, {letters[partner - 1]}" if partner else "unpaired"
            lines.append(f"{origin}: {pairing}")
        return HoverText("\n".join(lines), float(base), y)

    def describe(self) -> str:
        return f"Step {self.run.folded.step}, {self.pair_picture().pair_text()}"

    def table_data(self) -> Table:
        return self.pair_picture().pair_table()


SMALLEST = 2.6  # pixels of the side of a square
FAINTEST = 0.25  # opacity of the least likely pair


class Squares(PixelItem):
    """Squares filled by shares, or frames of one size."""

    def __init__(self, framed: bool) -> None:
        super().__init__()
        self.framed = framed
        self.x, self.y, self.shares = np.empty(0), np.empty(0), np.empty(0)

    def set_data(self, x: np.ndarray, y: np.ndarray, shares: np.ndarray) -> None:
        self.x, self.y, self.shares = x, y, shares
        self.update()

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        theme, cell = appearance.current(), transform.mapRect(QRectF(0, 0, 1, 1))
        positions = pg.functions.transformCoordinates(transform, np.vstack([self.x, self.y])).T
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.observed, 1.4) if self.framed else Qt.PenStyle.NoPen)
        for (x, y), share in zip(positions, self.shares, strict=True):
            # The eye compares areas: that of a square is its probability.
            side = 1.0 if self.framed else float(np.sqrt(share))
            sides = (side * cell.width(), side * cell.height())
            wide, tall = (max(SMALLEST + self.framed, pixels) for pixels in sides)
            box = QRectF(x - wide / 2, y - tall / 2, wide, tall)
            if self.framed:
                painter.drawRect(box)
            else:
                shade = FAINTEST + (1 - FAINTEST) * float(share)
                painter.fillRect(box, clear_colour(theme.model, shade))


class DotPlotView(MoleculeView):
    """Probable pairs above the diagonal, true pairs below."""

    name = "dots"
    title = "Likely base pairs"
    question = "Which bases may pair? Above the line: model. Below: truth."
    waiting = "The likely base pairs of a training molecule appear here at step 0."

    def make_plots(self) -> None:
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("whole"), Scale("whole"), row=1)
        self.plot.vb.invertY(True)
        self.plot.left.set_title("base")
        self.diagonal, self.likely, self.true = Lines(), Squares(False), Squares(True)
        self.plot.add_marks(self.diagonal, self.likely, self.true)

    def draw(self) -> None:
        theme, example = appearance.current(), self.example()
        length = len(example.sequence)
        self.plot.bottom.set_title(f"base of {example.name}")
        pairs = np.array(example.pairs, dtype=float).reshape(-1, 3)
        self.likely.set_data(pairs[:, 1] + 1, pairs[:, 0] + 1, pairs[:, 2])
        true = np.array(sorted(self.pair_picture().true_pairs), dtype=float).reshape(-1, 2)
        self.true.set_data(true[:, 0], true[:, 1], np.ones(len(true)))
        self.diagonal.set_style(pen(theme.control, 1.0))
        self.diagonal.set_data([0.5, length + 0.5], [0.5, length + 0.5])
        entries = [LegendEntry(_paint_squares, "more likely")]
        entries.append(LegendEntry(_paint_frame, "true pair"))
        self.legend.set_entries(entries, self.canvas.full_width)
        self.plot.hold_x(0.5, length + 0.5, exact=True)
        self.plot.hold_y(0.5, length + 0.5, exact=True)
        self.canvas.align_left()

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        letters, (i, j) = self.example().sequence, sorted((round(x), round(y)))
        if not 1 <= i <= j <= len(letters):
            return None
        pair_picture = self.pair_picture()
        truth = "truly paired" if (i, j) in pair_picture.true_pairs else "not truly paired"
        bases = f"bases {i} ({letters[i - 1]}) and {j} ({letters[j - 1]})"
        share = f"probability of a pair: {percent(pair_picture.pair_shares.get((i, j), 0.0))}"
        return HoverText(f"{bases}\n{share}\n{truth}", float(round(x)), float(round(y)))

    def describe(self) -> str:
        return f"Step {self.run.folded.step}, {self.pair_picture().share_text()}"

    def table_data(self) -> Table:
        return self.pair_picture().share_table()


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
