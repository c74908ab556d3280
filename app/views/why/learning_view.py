"""The learning curve: scores after fitting on fewer training rows."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.results.explanation_text import learning_text
from app.text.score_text import metric_in_short
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen, whiskers
from app.views.why.why_view import WhyView, of_rows
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, LearningCurve


class LearningView(WhyView[LearningCurve]):
    """A dot with its interval for each size."""

    name = "learning"
    title = "Would more rows help?"
    question = (
        "Learning curve: the same setting, fitted on fewer training rows. Dot: mean score on the "
        "test set over parts drawn at random; line: its 95\u00a0% confidence interval."
    )
    waiting = "A curve appears here."
    asks = "learning"
    answer_type = LearningCurve
    button_words = "Try fewer rows"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.plot.bottom.set_title("training rows")
        self.curve, self.spans, self.dots = Lines(), Lines(), Dots("circle", 10)
        self.plot.add_marks(self.curve, self.spans, self.dots)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def has_content(self) -> bool:
        """From the first size on."""
        return self._answer is not None and bool(self._answer.sizes)

    def show_answer(self, answer: Answer) -> None:
        """Show one more size."""
        super().show_answer(answer)
        self._caption.setText(f"{learning_text(self.answer)} {self.question}")

    def draw(self) -> None:
        """Draw dots, intervals and a line."""
        theme = appearance.current()
        entries = [(size.rows, size.mean, size.low, size.high) for size in self.answer.sizes]
        x, mean, low, high = np.array(entries, dtype=float).T
        self.plot.left.set_title(metric_in_short(self.answer.metric), self.results.maximize)
        self.curve.set_style(pen(theme.model, 2.0))
        self.spans.set_style(pen(theme.model, 3.0))
        self.dots.set_style(theme.model, theme.paper, 1.5)
        self.curve.set_data(x, mean)
        self.spans.set_data(*whiskers(x, low, high))
        self.dots.set_data(x, mean)
        self.plot.hold_x(0.0, float(x.max()))
        every = np.concatenate([mean, low, high])
        self.plot.hold_y(float(np.nanmin(every)), float(np.nanmax(every)))

    def describe(self) -> str:
        """The answer."""
        return learning_text(self.answer)

    def table_data(self) -> Table:
        """Rows, mean, low, high, fits."""
        headers = ["training rows", "mean score", "low", "high", "fits"]
        return headers, [[s.rows, s.mean, s.low, s.high, s.repeats] for s in self.answer.sizes]
