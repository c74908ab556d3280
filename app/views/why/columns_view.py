"""Permutation importance of columns."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.results.explanation_text import columns_text
from app.text.score_text import difference_text, metric_in_short
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.items import Lines, clear_colour, pen, whiskers
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.results.result_view import hidden_chooser
from app.views.why.why_view import WhyView, of_rows
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, ColumnImportance, ColumnLoss, ScoreLoss

WEIGHT = "weight {}"


class ColumnsView(WhyView[ColumnImportance], ScrolledBars):
    """A bar for each column with its interval."""

    name = "columns"
    title = "Which columns matter?"
    question = (
        "Permutation importance: how much worse the score on test rows becomes if the column is "
        "shuffled; line: its 95\u00a0% confidence interval. Click a column, or Enter, for what it "
        "does."
    )
    waiting = "A bar for every column appears here."
    listed = "Columns shown"
    asks = "importance"
    answer_type = ColumnImportance
    wide = True

    column_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.row = 0  # that the keys are on
        super().__init__(parent)
        self.intervals, self.zero, self.row_mark = Lines(), Lines(), Lines()
        self.plot.add_marks(self.zero, self.intervals, self.row_mark)
        self.canvas.installEventFilter(self)
        self.canvas.viewport().installEventFilter(self)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def controls(self) -> list[QWidget]:
        """Columns alone, or correlated ones together."""
        self.grouping = hidden_chooser("Columns alone or together", self._regroup)
        self.grouping.addItem("each column alone", "columns")
        self.grouping.addItem("correlated columns together", "groups")
        return [self.grouping, *super().controls()]

    def losses(self) -> Sequence[ScoreLoss]:
        """The bars, the most important first."""
        if self._answer is None:
            return []
        alone = self.grouping.currentData() == "columns"
        return self._answer.columns if alone else self._answer.groups

    def row_count(self) -> int:
        """The number of bars."""
        return len(self.losses())

    def show_answer(self, answer: Answer) -> None:
        """Show other bars; the first is selected."""
        self.row = 0
        has_groups = isinstance(answer, ColumnImportance) and bool(answer.alike)
        self.grouping.setVisible(has_groups)
        if not has_groups:
            self.grouping.setCurrentIndex(0)
        super().show_answer(answer)

    def choose_row(self, row: int) -> None:
        """Select a column and announce it."""
        losses = self.losses()
        if 0 <= row < len(losses):
            self.row = row
            self.redraw()
            self.column_chosen.emit(losses[row].names[0])

    def draw(self) -> None:
        """Draw the means with their intervals."""
        theme, losses = appearance.current(), self.losses()
        self.row = min(self.row, len(losses) - 1)
        self.name_rows([self.answer.title_of(loss) for loss in losses], 0.4)
        self.plot.bottom.set_title(f"loss of {metric_in_short(self.answer.metric)} if shuffled")
        means = [loss.mean for loss in losses]
        ends = [v for loss in losses for v in (loss.low, loss.high) if v is not None]
        low, high = min([0.0, *means, *ends]), max([0.0, *means, *ends])
        self.bars.set_data(
            [(float(row), 0.0, mean) for row, mean in enumerate(means)],
            [clear_colour(theme.model, 0.55).name() for _ in means],
            [False] * len(means),
            theme.muted,
        )
        lows, highs = [loss.low for loss in losses], [loss.high for loss in losses]
        y, x = whiskers(range(len(losses)), lows, highs)
        self.intervals.set_style(pen(theme.ink, 2.0))
        self.intervals.set_data(x, y)
        self.zero.set_style(pen(theme.muted, 1.2, dashed=True))
        self.zero.set_data([0.0, 0.0], [-1.0, len(losses) + 1.0])
        words = [self._bar_text(loss) for loss in losses]
        bar_ends = [max(loss.mean, loss.high or 0.0) for loss in losses]
        self.words.set_data(list(zip(bar_ends, map(float, range(len(losses))), words, strict=True)))
        self._draw_cursor(low, high)
        metrics = QFontMetricsF(small_font())
        longest = max((metrics.horizontalAdvance(word) for word in words), default=0.0) + 16
        room = min(0.5, longest / max(self.canvas.inner_width(self.plot), 1.0))
        span = (high - low) or 1e-3
        self.plot.hold_x(low - 0.04 * span, low + span / (1 - room), exact=True)
        sentences = (self.question, columns_text(self.answer), self.of_folds())
        self._caption.setText(" ".join(filter(None, sentences)))
        self.show_window()

    def _draw_cursor(self, low: float, high: float) -> None:
        theme = appearance.current()
        self.row_mark.set_style(pen(theme.accent, 3.0))
        x = low - 0.03 * ((high - low) or 1e-3)
        self.row_mark.set_data([x, x], [self.row - 0.4, self.row + 0.4])

    def _bar_text(self, loss: ScoreLoss) -> str:
        text, weight = difference_text(self.answer.metric, loss.mean), _column_weight(loss)
        return text if weight is None else f"{text}, {WEIGHT.format(format_number(weight))}"

    def describe(self) -> str:
        """The most important column, and caveats."""
        first, metric = self.losses()[0], self.answer.metric
        names, loss = self.answer.title_of(first), difference_text(metric, first.mean)
        sentence = f"{names} matters most: {loss} of {metric_in_short(metric)}."
        return f"{sentence} {columns_text(self.answer)}".strip()

    def table_data(self) -> Table:
        """Columns, mean, low, high, weight."""
        headers = ["column", "loss of score", "low", "high", "weight on scaled column"]
        return headers, [
            [self.answer.title_of(loss), loss.mean, loss.low, loss.high, _column_weight(loss)]
            for loss in self.losses()
        ]

    def _regroup(self) -> None:
        self.row = 0
        self.scroll_bar.setValue(0)
        self.redraw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click, or the arrows and Enter, select a column."""
        if self._answer is None:
            return super().eventFilter(watched, event)
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            scene_point = self.canvas.mapToScene(event.position().toPoint())
            row = round(self.plot.vb.mapSceneToView(scene_point).y())
            self.canvas.setFocus(Qt.FocusReason.MouseFocusReason)
            self.choose_row(row)
        elif event.type() == QEvent.Type.KeyPress and watched is self.canvas:
            assert isinstance(event, QKeyEvent)
            moves: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
            if event.key() in moves:
                self.row = max(0, min(self.row_count() - 1, self.row + moves[event.key()]))
                self._keep_in_sight()
                self.redraw()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.choose_row(self.row)
                return True
        return super().eventFilter(watched, event)

    def _keep_in_sight(self) -> None:
        first, fit = self.scroll_bar.value(), self.scroll_bar.pageStep()
        if self.row < first:
            self.scroll_bar.setValue(self.row)
        elif self.row >= first + fit:
            self.scroll_bar.setValue(self.row - fit + 1)


def _column_weight(loss: ScoreLoss) -> float | None:
    return loss.weight if isinstance(loss, ColumnLoss) else None
