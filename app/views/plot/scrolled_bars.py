"""What lists of bars share: a name at the left, words at the end, and a scroll bar."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from app.views.plot.axes import small_font
from app.views.plot.bar_words import BarWords
from app.views.plot.items import Bars
from app.views.plot.record import Record
from app.views.plot.scales import JOINER, Scale
from app.views.plot.view import View
from core.tuning.events import RunStarted

NAMES = 0.6  # share of the width that the names may take before they are cut


class ScrolledBars(View):
    """Horizontal bars, one a row; a long list scrolls.

    A subclass says how many rows there are (`count`), and ends its drawing with `show_window`.

    Attributes:
        listed: what the rows are, for the scroll bar's name.
        least: rows that take the whole height where there are fewer.
    """

    listed = ""
    least = 4

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(self.bottom_scale(), Scale("choice"))
        self.plot.vb.invertY(True)
        self.bars, self.words = Bars(), BarWords()
        self.plot.addItem(self.bars)
        self.plot.addItem(self.words)

    def bottom_scale(self) -> Scale:
        """The scale of the bars' lengths."""
        return Scale()

    def make_content(self) -> QWidget:
        """The canvas and a scroll bar for many rows."""
        canvas = super().make_content()
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(canvas, 1)
        self.scroll = QScrollBar(Qt.Orientation.Vertical)
        self.scroll.setAccessibleName(self.listed)
        self.scroll.valueChanged.connect(lambda _at: self.show_window())
        self.scroll.hide()
        row.addWidget(self.scroll)
        canvas.wheeled.connect(lambda by: self.scroll.setValue(self.scroll.value() + by))
        canvas.setAccessibleName(self.title)
        return whole

    def start(self, started: RunStarted) -> None:
        """Other rows."""
        self.scroll.setValue(0)

    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def name_rows(self, names: list[str], share: float = NAMES) -> None:
        """Write the names at the left, cut in the middle where they take more than a share."""
        # Long names of one table tend to differ at their ends.
        metrics, most = QFontMetricsF(small_font()), share * self.canvas.width()
        middle = Qt.TextElideMode.ElideMiddle
        cut = [metrics.elidedText(name, middle, most) for name in names]
        self.plot.left.set_scale(Scale("choice", _unique(cut)))

    def show_window(self) -> None:
        """Show the rows that fit, from the scroll bar's place on."""
        if not self.has_content():
            return
        count = self.count()
        tall = QFontMetricsF(small_font()).height() + 5
        fit = max(3, int(self.plot.vb.height() / tall))
        self.scroll.setVisible(count > fit)
        self.canvas.keeps_wheel = count > fit
        self.scroll.setMaximum(max(0, count - fit))
        self.scroll.setPageStep(fit)
        first = self.scroll.value() if count > fit else 0
        rows = min(count, fit)
        # A few rows keep bars of a pleasant thickness instead of filling the card.
        self.plot.hold_y(first - 0.6, first + max(rows, min(self.least, fit)) - 0.4, exact=True)


def _unique(names: list[str]) -> tuple[str, ...]:
    # A scale tells its labels apart by text; invisible joiners keep equal short forms apart.
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        made.append(name + JOINER * seen[name])
    return tuple(made)
