"""Which columns matter: how much worse the score becomes where a column is shuffled."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain
from app.text.results.why import columns_in_words
from app.text.scores import difference_in_words, metric_in_short
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.items import Lines, clear_colour, pen
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.why.why_view import WhyView, of_rows
from app.widgets.quiet_controls import QuietComboBox

WEIGHT = "weight {}"


class ColumnsView(WhyView, ScrolledBars):
    """A bar for each column with its interval, the most important on top."""

    name = "columns"
    title = "Which columns matter?"
    question = (
        "How much worse the score becomes on test rows if the column is shuffled; line: its "
        "95\u00a0% confidence interval. Click a column, or Enter, for what it does."
    )
    waiting = "A bar for every column appears here."
    listed = "Columns shown"
    asks = "importance"
    wide = True

    column_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.row = 0  # that the keys are on
        super().__init__(parent)
        self.intervals, self.zero, self.cursor = Lines(), Lines(), Lines()
        for item in (self.zero, self.intervals, self.cursor):
            self.plot.addItem(item)
        self.canvas.installEventFilter(self)
        self.canvas.viewport().installEventFilter(self)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def controls(self) -> list[QWidget]:
        """Columns alone, or those that say the same together."""
        self.how = QuietComboBox()
        self.how.setAccessibleName("Columns alone or together")
        self.how.addItem("each column alone", "columns")
        self.how.addItem("alike columns together", "groups")
        self.how.activated.connect(lambda _at: self._regroup())
        self.how.hide()
        return [self.how, *super().controls()]

    def entries(self) -> list[dict[str, Any]]:
        """What is shown, the most important first."""
        return list(self.answer.get(self.how.currentData()) or [])

    def count(self) -> int:
        """How many bars."""
        return len(self.entries())

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """Other bars; the first is chosen."""
        self.row = 0
        self.how.setVisible(bool(answer.get("alike")))
        if not answer.get("alike"):
            self.how.setCurrentIndex(0)
        super().show_answer(answer, done)

    def choose(self, row: int) -> None:
        """Show what a column does."""
        entries = self.entries()
        if 0 <= row < len(entries):
            self.row = row
            self.redraw()
            self.column_chosen.emit(entries[row]["names"][0])

    def draw(self) -> None:
        """Bars from 0 to the mean; the interval on top."""
        theme, entries = appearance.current(), self.entries()
        self.row = min(self.row, len(entries) - 1)
        self.name_rows([" + ".join(one["names"]) for one in entries], 0.4)
        metric = self.answer["metric"]
        self.plot.bottom.set_title(f"loss of {metric_in_short(metric)} if shuffled")
        means = [float(one["mean"]) for one in entries]
        ends = [v for one in entries for v in (one["low"], one["high"]) if v is not None]
        low, high = min([0.0, *means, *ends]), max([0.0, *means, *ends])
        self.bars.set_data(
            [(float(row), 0.0, mean) for row, mean in enumerate(means)],
            [clear_colour(theme.model, 0.55).name() for _ in means],
            [False] * len(means),
            theme.muted,
        )
        x, y = [], []
        for row, one in enumerate(entries):
            if one["low"] is not None and one["high"] is not None:
                x += [one["low"], one["high"], float("nan")]
                y += [float(row), float(row), float("nan")]
        self.intervals.set_style(pen(theme.ink, 2.0))
        self.intervals.set_data(x, y)
        self.zero.set_style(pen(theme.muted, 1.2, dashed=True))
        self.zero.set_data([0.0, 0.0], [-1.0, len(entries) + 1.0])
        words = [self._words(one) for one in entries]
        self.words.set_data(
            [
                (max(one["mean"], one["high"] or 0.0), float(row), word)
                for row, (one, word) in enumerate(zip(entries, words, strict=True))
            ]
        )
        self._mark(low, high)
        metrics = QFontMetricsF(small_font())
        longest = max((metrics.horizontalAdvance(word) for word in words), default=0.0) + 16
        room = min(0.5, longest / max(self.canvas.inner_width(self.plot), 1.0))
        span = (high - low) or 1e-3
        self.plot.hold_x(low - 0.04 * span, low + span / (1 - room), exact=True)
        self._caption.setText(
            " ".join(filter(None, (self.question, columns_in_words(self.answer), self.of_folds())))
        )
        self.show_window()

    def _mark(self, low: float, high: float) -> None:
        """A line at the left of the row that the keys are on."""
        theme = appearance.current()
        self.cursor.set_style(pen(theme.accent, 3.0))
        at = low - 0.03 * ((high - low) or 1e-3)
        self.cursor.set_data([at, at], [self.row - 0.4, self.row + 0.4])

    def _words(self, one: dict[str, Any]) -> str:
        said = difference_in_words(self.answer["metric"], one["mean"])
        weight = one.get("weight")
        return said if weight is None else f"{said}, {WEIGHT.format(plain(weight))}"

    def describe(self) -> str:
        """The most important column, and what must be known of the others."""
        first = self.entries()[0]
        metric = self.answer["metric"]
        said = "{} matters most: {} of {}.".format(
            " + ".join(first["names"]),
            difference_in_words(metric, first["mean"]),
            metric_in_short(metric),
        )
        return f"{said} {columns_in_words(self.answer)}".strip()

    def rows(self) -> Table:
        """Columns, mean, low, high, weight."""
        headers = ["column", "loss of score", "low", "high", "weight on scaled column"]
        return headers, [
            [" + ".join(one["names"]), one["mean"], one["low"], one["high"], one.get("weight")]
            for one in self.entries()
        ]

    def _regroup(self) -> None:
        self.row = 0
        self.scroll.setValue(0)
        self.redraw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click, or the arrows and Enter, choose a column."""
        if self.answer and event.type() == QEvent.Type.MouseButtonPress:
            place = self.canvas.mapToScene(event.position().toPoint())
            row = round(self.plot.vb.mapSceneToView(place).y())
            self.canvas.setFocus(Qt.FocusReason.MouseFocusReason)
            self.choose(row)
        elif self.answer and event.type() == QEvent.Type.KeyPress and watched is self.canvas:
            moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
            if event.key() in moves:
                self.row = max(0, min(self.count() - 1, self.row + moves[event.key()]))
                self._keep_in_sight()
                self.redraw()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.choose(self.row)
                return True
        return super().eventFilter(watched, event)

    def _keep_in_sight(self) -> None:
        first, fit = self.scroll.value(), self.scroll.pageStep()
        if self.row < first:
            self.scroll.setValue(self.row)
        elif self.row >= first + fit:
            self.scroll.setValue(self.row - fit + 1)
