"""Lists of bars with names and a scroll bar."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from app.views.plot.axes import small_font
from app.views.plot.bar_words import BarLabels
from app.views.plot.items import HorizontalBars
from app.views.plot.scales import JOINER, Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.tuning.events import RunStarted

NAMES = 0.6  # share of the width that the names may take before they are cut


class ScrolledBars(View):
    """Horizontal bars, one a row; `draw` ends with `show_window`."""

    listed = ""  # what the rows are, for the scroll bar's name
    min_rows = 4  # rows that take the full height where there are fewer

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(self.bottom_scale(), Scale("choice"))
        self.plot.vb.invertY(True)
        self.bars, self.words = HorizontalBars(), BarLabels()
        self.plot.add_marks(self.bars, self.words)

    def bottom_scale(self) -> Scale:
        """The scale of the bars' lengths."""
        return Scale()

    def make_content(self) -> QWidget:
        """The canvas and a scroll bar."""
        super().make_content()
        canvas = self.canvas
        container = QWidget()
        row = QHBoxLayout(container)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(canvas, 1)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        self.scroll_bar.setAccessibleName(self.listed)
        self.scroll_bar.valueChanged.connect(lambda _position: self.show_window())
        self.scroll_bar.hide()
        row.addWidget(self.scroll_bar)
        canvas.wheeled.connect(self._scroll_rows)
        canvas.setAccessibleName(self.title)
        return container

    def _scroll_rows(self, rows: int) -> None:
        self.scroll_bar.setValue(self.scroll_bar.value() + rows)

    def start(self, started: RunStarted) -> None:
        """Scroll to the top."""
        self.scroll_bar.setValue(0)

    def row_count(self) -> int:
        """The number of rows."""
        raise NotImplementedError

    def name_rows(self, names: list[str], share: float = NAMES) -> None:
        """Set row names, elided beyond a share of the width."""
        # Long names of one table tend to differ at their ends.
        metrics, max_width = QFontMetricsF(small_font()), share * self.canvas.width()
        middle = Qt.TextElideMode.ElideMiddle
        cut = [metrics.elidedText(name, middle, max_width) for name in names]
        self.plot.left.set_scale(Scale("choice", _unique_names(cut)))

    def show_window(self) -> None:
        """Show the rows that fit."""
        if not self.has_content():
            return
        count = self.row_count()
        tall = QFontMetricsF(small_font()).height() + 5
        fit = max(3, int(self.plot.vb.height() / tall))
        self.scroll_bar.setVisible(count > fit)
        self.canvas.keeps_wheel = count > fit
        self.scroll_bar.setMaximum(max(0, count - fit))
        self.scroll_bar.setPageStep(fit)
        first = self.scroll_bar.value() if count > fit else 0
        rows = min(count, fit)
        # A few rows keep bars of a pleasant thickness instead of filling the card.
        self.plot.hold_y(first - 0.6, first + max(rows, min(self.min_rows, fit)) - 0.4, exact=True)


def _unique_names(names: list[str]) -> tuple[str, ...]:
    # A scale tells its labels apart by text; invisible joiners keep equal short forms apart.
    seen: dict[str, int] = {}
    unique_names = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        unique_names.append(name + JOINER * seen[name])
    return tuple(unique_names)
