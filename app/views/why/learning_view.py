"""Would more rows help: the score after fitting on parts of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.results.why import learning_in_words
from app.text.scores import metric_in_short
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen
from app.views.why.why_view import WhyView, of_rows


class LearningView(WhyView):
    """A dot with its interval for each of five sizes."""

    name = "learning"
    title = "Would more rows help?"
    question = (
        "The same setting, fitted on fewer training rows. Dot: mean score on the test set over "
        "parts drawn at random; line: its 95\u00a0% confidence interval."
    )
    waiting = "A curve appears here."
    asks = "learning"
    button_words = "Try fewer rows"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.plot.bottom.set_title("training rows")
        self.curve, self.spans, self.dots = Lines(), Lines(), Dots("circle", 10)
        for item in (self.curve, self.spans, self.dots):
            self.plot.addItem(item)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def has_content(self) -> bool:
        """From the first size on."""
        return bool(self.answer.get("sizes"))

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """One more size."""
        super().show_answer(answer, done)
        self._caption.setText(f"{learning_in_words(self.answer)} {self.question}")

    def _arrays(self) -> tuple[np.ndarray, ...]:
        sizes = self.answer["sizes"]
        return tuple(
            np.array([np.nan if one[key] is None else one[key] for one in sizes], dtype=float)
            for key in ("rows", "mean", "low", "high")
        )

    def draw(self) -> None:
        """Dots, their intervals, and a line between them."""
        theme = appearance.current()
        x, mean, low, high = self._arrays()
        metric = metric_in_short(self.answer["metric"])
        self.plot.left.set_title(metric, self.results.get("maximize"))
        self.curve.set_style(pen(theme.model, 2.0))
        self.spans.set_style(pen(theme.model, 3.0))
        self.dots.set_style(theme.model, theme.paper, 1.5)
        self.curve.set_data(x, mean)
        gaps = np.full(len(x), np.nan)
        self.spans.set_data(np.repeat(x, 3), np.column_stack([low, high, gaps]).ravel())
        self.dots.set_data(x, mean)
        self.plot.hold_x(0.0, float(x.max()))
        every = np.concatenate([mean, low, high])
        self.plot.hold_y(float(np.nanmin(every)), float(np.nanmax(every)))

    def describe(self) -> str:
        """The answer."""
        return learning_in_words(self.answer)

    def rows(self) -> Table:
        """Rows, mean, low, high, fits."""
        headers = ["training rows", "mean score", "low", "high", "fits"]
        keys = ("rows", "mean", "low", "high", "repeats")
        return headers, [[one[key] for key in keys] for one in self.answer["sizes"]]
