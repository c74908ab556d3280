"""The standardization of this dataset's scores."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.past.earlier_dataset_text import standardization_text
from app.text.score_text import metric_in_short
from app.text.strategy_text import surrogate_of
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.scales import Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.tuning.events import (
    JointSurfaceFitted,
    RunStarted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
)
from core.tuning.runs.state import ScoreStandardization


class StandardizationView(View):
    """The scores, and mean ± one deviation."""

    name = "standardizing"
    title = "How scores are standardized"
    question = "Against which mean and deviation is a score of this dataset measured?"
    waiting = "They appear here with the first score."
    late = True
    listens = (JointSurfaceFitted, TrialFinished, TrialFailed, TrialExcluded)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"))
        self.plot.bottom.set_title("trial")
        self.band, self.borrowed_band = Band(), Band()
        self.mean = Lines("mean of this dataset")
        self.borrowed_mean = Lines("mean of earlier datasets")
        self.dots, self.other_dots = Dots("circle", 8), Dots("circle", 6)
        self.highlight = Highlight()
        self.plot.add_marks(
            self.band,
            self.borrowed_band,
            self.mean,
            self.borrowed_mean,
            self.other_dots,
            self.dots,
            self.highlight,
        )

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs whose strategy standardizes scores by dataset."""
        return surrogate_of(started) == "common"

    def paint_theme(self) -> None:
        """Style the marks; borrowed means are pale and dashed."""
        theme = appearance.current()
        self.band.set_style(clear_colour(theme.model, 0.24))
        self.borrowed_band.set_style(clear_colour(theme.control, 0.18))
        self.mean.set_style(pen(theme.model, 2.2))
        self.borrowed_mean.set_style(pen(theme.control, 1.8, dashed=True))
        self.dots.set_style(theme.observed, theme.ink, 1.0)
        self.other_dots.set_style(None, theme.control, 1.0)

    def has_content(self) -> bool:
        """From the first standardized score."""
        return bool(self._known_standards()) and bool(np.isfinite(self.run.scores).any())

    def _known_standards(self) -> list[tuple[int, ScoreStandardization]]:
        """(number of scores, standard) in order."""
        return sorted({s.trials: s for s in self.run.standards if s.trials}.items())

    def draw(self) -> None:
        """Draw the mean with its band, and the scores."""
        run = self.run
        self.paint_theme()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        last = max(float(np.max(run.numbers)), float(self._known_standards()[-1][0]))
        borrowed = (False, self.borrowed_band, self.borrowed_mean)
        for settled, band, line in ((True, self.band, self.mean), borrowed):
            x, mean, scale = self._step_corners(settled, last + 0.5)
            band.set_data(x, mean - scale, mean + scale)
            line.set_data(x, mean)
        clear = self.record.filtered() & ~run.is_excluded
        scored = np.isfinite(run.scores)
        self.dots.set_data(run.numbers[clear], run.scores[clear])
        self.other_dots.set_data(run.numbers[scored & ~clear], run.scores[scored & ~clear])
        self.highlight.ring_selected(self.record, run.numbers, run.scores)
        self.canvas.set_pickable(self.plot, run.numbers, run.scores, run.numbers)
        self._set_limits(last)
        caption = f"{self.question} {self.describe()}"
        if caption != self._caption.text():
            self._caption.setText(caption)

    def _step_corners(self, settled: bool, end: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, mean and scale at the corners."""
        standards = self._known_standards()
        until = [number - 0.5 for number, _ in standards[1:]] + [end]
        steps = [
            (number - 0.5, stop, standard.mean, standard.scale)
            for (number, standard), stop in zip(standards, until, strict=True)
            if standard.settled == settled
        ]
        begin, stop, mean, scale = np.array(steps, float).reshape(-1, 4).T
        return np.column_stack([begin, stop]).ravel(), np.repeat(mean, 2), np.repeat(scale, 2)

    def _set_limits(self, last: float) -> None:
        run = self.run
        end = max(last, float(run.total - 1)) if run.total else last
        self.plot.hold_x(-0.5 - 0.03 * end, end + 0.5 + 0.03 * end, exact=True)
        edges = [s.mean + sign * s.scale for _, s in self._known_standards() for sign in (-1, 1)]
        values = np.concatenate([run.scores[np.isfinite(run.scores)], edges])
        self.plot.hold_y(float(values.min()), float(values.max()))

    def describe(self) -> str:
        """The current mean and deviation, and their origin."""
        number, now = self._known_standards()[-1]
        has_history = self.run.history is not None and bool(self.run.history.datasets)
        return standardization_text(now.mean, now.scale, now.settled, number, has_history)

    def table_data(self) -> Table:
        """The standard after each number of scores."""
        headers = ["scores seen", "mean", "standard deviation", "taken from"]
        return headers, [
            [number, s.mean, s.scale, "this dataset" if s.settled else "earlier datasets"]
            for number, s in self._known_standards()
        ]
