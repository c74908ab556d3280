"""Partial dependence on one column."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.views.plot.data_table import Table
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen, whiskers
from app.views.plot.scales import Scale
from app.views.results.result_view import hidden_chooser
from app.views.why.why_view import WhyView, of_rows
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, Dependence

HISTOGRAM = 0.16  # share of the height


class DependenceView(WhyView[Dependence]):
    """The mean, single rows, and a histogram of the column."""

    name = "dependence"
    title = "What does a column do?"
    question = (
        "What the model predicts if only this column changes. Thick: the mean over test rows with "
        "its 95\u00a0% confidence interval; thin: single rows; bottom: how many rows have the "
        "value."
    )
    waiting = "Choose a column at “Which columns matter?”."
    asks = "dependence"
    answer_type = Dependence
    wide = True

    column_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.histogram, self.band = Band(), Band()
        self.singles, self.mean, self.spans = Lines(), Lines(), Lines()
        self.dots = Dots("circle", 9)
        self.plot.add_marks(self.histogram, self.singles, self.band, self.mean, self.spans)
        self.plot.addItem(self.dots)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def controls(self) -> list[QWidget]:
        """The columns."""
        wanted = self.column_wanted
        self.which = hidden_chooser("Column", lambda: wanted.emit(self.which.currentText()))
        return [self.which, *super().controls()]

    def set_columns(self, names: list[str]) -> None:
        """Offer the columns, the most important first."""
        self.which.clear()
        self.which.addItems(names)
        self.which.setVisible(bool(names))

    def show_answer(self, answer: Answer) -> None:
        """Show the curves, or why there are none."""
        assert isinstance(answer, Dependence)
        index = self.which.findText(answer.name)
        if index >= 0:
            self.which.setCurrentIndex(index)
        if answer.problem:
            self.show_refusal(answer.problem)
        else:
            super().show_answer(answer)

    def show_refusal(self, sentence: str) -> None:
        """Show why there is no answer."""
        self._answer = None
        self._show_message(sentence, offers=False)

    def _answer_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, mean, and the ends of its interval."""
        answer = self.answer
        x, mean = np.array(answer.grid, dtype=float), np.array(answer.mean, dtype=float)
        return x, mean, np.array(answer.low, dtype=float), np.array(answer.high, dtype=float)

    def draw(self) -> None:
        """Draw curves over numbers, dots over words."""
        theme, answer = appearance.current(), self.answer
        x, mean, low, high = self._answer_arrays()
        numbers = answer.numbers and not answer.words
        self.plot.bottom.set_scale(Scale() if numbers else Scale("choice", tuple(answer.words)))
        self.plot.bottom.set_title(answer.title)
        self.plot.left.set_title(answer.answer)
        rows = np.array(answer.rows, dtype=float)
        every = np.concatenate([rows.ravel(), low, high, mean])
        bottom, top = float(np.nanmin(every)), float(np.nanmax(every))
        span = (top - bottom) or abs(top) or 1.0
        floor = bottom - (HISTOGRAM + 0.06) * span
        gap = np.full((len(rows), 1), np.nan)
        self.singles.set_style(pen(clear_colour(theme.muted, 0.35), 1.0))
        repeated = np.tile(np.append(x, np.nan), len(rows))
        self.singles.set_data(repeated, np.hstack([rows, gap]).ravel())
        self.band.set_style(clear_colour(theme.model, 0.25))
        self.mean.set_style(pen(theme.model, 3.0))
        self.spans.set_style(pen(theme.model, 3.0))
        self.dots.set_style(theme.model, theme.paper, 1.0)
        nothing = np.empty(0)
        if numbers:
            self.band.set_data(x, low, high)
            self.mean.set_data(x, mean)
            self.spans.set_data(nothing, nothing)
        else:
            self.band.set_data(nothing, nothing, nothing)
            self.mean.set_data(nothing, nothing)
            self.spans.set_data(*whiskers(x, low, high))
        self.dots.set_data(*((nothing, nothing) if numbers and len(x) > 2 else (x, mean)))
        left, right = self._draw_histogram(x, floor, HISTOGRAM * span)
        self.plot.hold_x(left, right, exact=True)
        self.plot.hold_y(floor, top + 0.05 * span, exact=True)

    def _draw_histogram(self, x: np.ndarray, floor: float, tall: float) -> tuple[float, float]:
        """Returns the ends of the axis."""
        counts = np.array(self.answer.counts, dtype=float)
        edges = np.array(self.answer.edges, dtype=float)
        if not len(edges):
            corners = np.ravel(x[:, None] + [-0.3, -0.3, 0.3, 0.3])
            heights = np.ravel(counts[:, None] * [0.0, 1.0, 1.0, 0.0])
            ends = (-0.5, len(x) - 0.5)
        else:
            corners, heights = np.repeat(edges, 2)[1:-1], np.repeat(counts, 2)
            air = 0.03 * ((edges[-1] - edges[0]) or 1.0)
            ends = (float(edges[0]) - air, float(edges[-1]) + air)
        heights = floor + tall * heights / max(float(counts.max(initial=0.0)), 1.0)
        self.histogram.set_style(clear_colour(appearance.current().muted, 0.45))
        self.histogram.set_data(corners, np.full(len(corners), floor), heights)
        return ends

    def describe(self) -> str:
        """The ends of the mean."""
        _, mean, _, _ = self._answer_arrays()
        low, high = format_number(float(mean.min())), format_number(float(mean.max()))
        return (
            f"{self.answer.name}: the mean goes from {low} to {high} between its lowest and "
            f"highest; {self.answer.used} test rows."
        )

    def table_data(self) -> Table:
        """Value, mean, low, high."""
        x, mean, low, high = self._answer_arrays()
        values: list[Any] = self.answer.words or x.tolist()
        triples = zip(values, mean.tolist(), low.tolist(), high.tolist(), strict=True)
        return [self.answer.name, "mean", "low", "high"], [list(row) for row in triples]
