"""Residuals of a regression against its predictions or any column."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, clear_colour, pen
from app.views.plot.scales import Scale
from app.views.why.why_view import WhyView, of_rows
from app.widgets.quiet_controls import QuietComboBox

PREDICTION = "prediction"


class ResidualsView(WhyView):
    """A dot a test row; the mean of its neighbours with an interval."""

    name = "residuals"
    title = "Where is it too high or too low?"
    question = (
        "Above the line it says too much. Thick: the mean of an eighth of the test rows, with its "
        "95\u00a0% confidence interval."
    )
    waiting = "A dot for every test row appears here."
    asks = "rows"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.plot.left.set_title("predicted − actual")
        self.zero, self.dots = Lines(), Dots("circle", 6)
        self.spans, self.means = Lines(), Dots("diamond", 11)
        for item in (self.dots, self.zero, self.spans, self.means):
            self.plot.addItem(item)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Regressions."""
        return of_rows(results) and bool((results.get("predictions") or {}).get("actual"))

    def controls(self) -> list[QWidget]:
        """What the residuals are drawn over."""
        self.along = QuietComboBox()
        self.along.setAccessibleName("Over")
        self.along.activated.connect(lambda _at: self._restart())
        self.along.hide()
        return [self.along, *super().controls()]

    def _restart(self) -> None:
        self.plot.forget_ranges()
        self.redraw()

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """Other columns to choose from."""
        found = answer.get("residuals") or {}
        self.along.clear()
        self.along.addItem(PREDICTION, "")
        for name in found.get("along", {}):
            self.along.addItem(name, name)
        self.along.setVisible(bool(found))
        super().show_answer(answer if found else {}, done)

    def _points(self) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """Places, residuals, and the words where the column has no numbers."""
        found, name = self.answer["residuals"], self.along.currentData()
        values = found["predicted"] if not name else found["along"][name]
        residual = np.array(found["residual"], dtype=float)
        if any(isinstance(value, str) for value in values):
            words = tuple(str(one["at"]) for one in found["bins"][name])
            place = {word: at for at, word in enumerate(words)}
            return np.array([place.get(v, np.nan) for v in values], float), residual, words
        numbers = [np.nan if value is None else value for value in values]
        return np.array(numbers, dtype=float), residual, ()

    def draw(self) -> None:
        """Dots, the line at 0, and the means."""
        theme, name = appearance.current(), self.along.currentData()
        x, residual, words = self._points()
        bins = self.answer["residuals"]["bins"].get(name, [])
        self.plot.bottom.set_scale(Scale("choice", words) if words else Scale())
        self.plot.bottom.set_title(self.along.currentText())
        at = [place if words else one["at"] for place, one in enumerate(bins)]
        ends = [(one["low"], one["high"]) for one in bins]
        self.dots.set_style(clear_colour(theme.observed, 0.7), theme.ink, 0.6)
        self.dots.set_data(x, residual)
        low, high = (float(np.nanmin(x)), float(np.nanmax(x))) if len(x) else (0.0, 1.0)
        if words:
            low, high = -0.5, len(words) - 0.5
        self.zero.set_style(pen(theme.ink, 1.4, dashed=True))
        self.zero.set_data([low, high], [0.0, 0.0])
        self.spans.set_style(pen(theme.model, 3.0))
        spans = [np.nan if end is None else end for pair in ends for end in (*pair, np.nan)]
        self.spans.set_data(np.repeat(np.array(at, dtype=float), 3), spans)
        self.means.set_style(theme.model, theme.paper, 1.2)
        self.means.set_data(at, [one["mean"] for one in bins])
        self.plot.hold_x(low, high, exact=bool(words))
        self.plot.hold_y(float(np.nanmin(residual)), float(np.nanmax(residual)))

    def describe(self) -> str:
        """The mean, and where it is furthest from 0."""
        bins = self.answer["residuals"]["bins"].get(self.along.currentData(), [])
        if not bins:
            return "The column has no value in the test rows."
        worst = max(bins, key=lambda one: abs(one["mean"]))
        where = worst["at"] if isinstance(worst["at"], str) else plain(worst["at"])
        low, high = plain(worst["low"]), plain(worst["high"])
        return (
            f"Furthest off near {self.along.currentText()} {where}: {plain(worst['mean'])} on "
            f"average (95\u00a0% confidence interval {low} to {high})."
        )

    def rows(self) -> Table:
        """Every dot."""
        found, name = self.answer["residuals"], self.along.currentData()
        values = found["predicted"] if not name else found["along"][name]
        headers = [self.along.currentText(), "predicted − actual"]
        return headers, [list(pair) for pair in zip(values, found["residual"], strict=True)]
