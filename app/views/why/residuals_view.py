"""Residuals of a regression against its predictions or any column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, clear_colour, pen, whiskers
from app.views.plot.scales import Scale
from app.views.results.result_view import hidden_chooser
from app.views.why.why_view import WhyView, has_numbers, of_rows
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, RegressionDiagnostics, ResidualBin

PREDICTION = "prediction"


class ResidualsView(WhyView[RegressionDiagnostics]):
    """A dot a test row; binned means with intervals."""

    name = "residuals"
    title = "Where is it too high or too low?"
    question = (
        "Residuals: above the line the prediction is too high. Thick: the mean of an eighth of the "
        "test rows, with its 95\u00a0% confidence interval."
    )
    waiting = "A dot for every test row appears here."
    asks = "rows"
    answer_type = RegressionDiagnostics

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.plot.left.set_title("predicted − actual")
        self.zero, self.dots = Lines(), Dots("circle", 6)
        self.spans, self.means = Lines(), Dots("diamond", 11)
        self.plot.add_marks(self.dots, self.zero, self.spans, self.means)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Regressions."""
        return of_rows(results) and has_numbers(results)

    def controls(self) -> list[QWidget]:
        """The x axis: the prediction or a column."""
        self.along = hidden_chooser("Over", self.draw_afresh)
        return [self.along, *super().controls()]

    def show_answer(self, answer: Answer) -> None:
        """Offer the columns of the answer."""
        self.along.clear()
        self.along.addItem(PREDICTION, "")
        self.along.setVisible(isinstance(answer, RegressionDiagnostics))
        if isinstance(answer, RegressionDiagnostics):
            for name in answer.residuals.along:
                self.along.addItem(answer.residuals.title_of(name), name)
        super().show_answer(answer)

    def _shown_values(self) -> Sequence[str | float | None]:
        residuals, name = self.answer.residuals, self.along.currentData()
        return residuals.along[name] if name else residuals.predicted

    def _shown_bins(self) -> list[ResidualBin]:
        return self.answer.residuals.bins.get(self.along.currentData(), [])

    def _residual_points(self) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """Positions, residuals, and words of a column without numbers."""
        values = self._shown_values()
        residual = np.array(self.answer.residuals.residual, dtype=float)
        if any(isinstance(value, str) for value in values):
            words = tuple(str(entry.at) for entry in self._shown_bins())
            positions: dict[object, int] = {word: row for row, word in enumerate(words)}
            return np.array([positions.get(v, np.nan) for v in values], float), residual, words
        numbers = [np.nan if value is None else value for value in values]
        return np.array(numbers, dtype=float), residual, ()

    def draw(self) -> None:
        """Draw dots, the zero line and the means."""
        theme, bins = appearance.current(), self._shown_bins()
        x, residual, words = self._residual_points()
        self.plot.bottom.set_scale(Scale("choice", words) if words else Scale())
        self.plot.bottom.set_title(self.along.currentText())
        centres = [position if words else entry.at for position, entry in enumerate(bins)]
        self.dots.set_style(clear_colour(theme.observed, 0.7), theme.ink, 0.6)
        self.dots.set_data(x, residual)
        low, high = (float(np.nanmin(x)), float(np.nanmax(x))) if len(x) else (0.0, 1.0)
        if words:
            low, high = -0.5, len(words) - 0.5
        self.zero.set_style(pen(theme.ink, 1.4, dashed=True))
        self.zero.set_data([low, high], [0.0, 0.0])
        self.spans.set_style(pen(theme.model, 3.0))
        ends = [entry.low for entry in bins], [entry.high for entry in bins]
        self.spans.set_data(*whiskers(centres, *ends))
        self.means.set_style(theme.model, theme.paper, 1.2)
        self.means.set_data(centres, [entry.mean for entry in bins])
        self.plot.hold_x(low, high, exact=bool(words))
        self.plot.hold_y(float(np.nanmin(residual)), float(np.nanmax(residual)))

    def describe(self) -> str:
        """The bin whose mean is furthest from 0."""
        bins = self._shown_bins()
        if not bins:
            return "The column has no value in the test rows."
        worst = max(bins, key=lambda entry: abs(entry.mean))
        where = worst.at if isinstance(worst.at, str) else format_number(worst.at)
        low, high = format_number(worst.low), format_number(worst.high)
        return (
            f"Furthest off near {self.along.currentText()} {where}: {format_number(worst.mean)} "
            f"on average (95\u00a0% confidence interval {low} to {high})."
        )

    def table_data(self) -> Table:
        """Every dot."""
        pairs = zip(self._shown_values(), self.answer.residuals.residual, strict=True)
        return [self.along.currentText(), "predicted − actual"], [list(pair) for pair in pairs]
