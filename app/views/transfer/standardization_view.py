"""By what the scores of this dataset are made comparable with those of earlier ones."""

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
    """The scores, and the mean ± one deviation by which each proposal judged them."""

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
        self.dots, self.other_dots, self.highlight = (
            Dots("circle", 8),
            Dots("circle", 6),
            Highlight(),
        )
        for mark in (self.band, self.borrowed_band, self.mean, self.borrowed_mean):
            self.plot.addItem(mark)
        for mark in (self.other_dots, self.dots, self.highlight):
            self.plot.addItem(mark)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs whose strategy compares scores by their datasets' means."""
        return surrogate_of(started) == "common"

    def paint_theme(self) -> None:
        """Borrowed numbers pale and dashed, the dataset's own in the model's blue."""
        theme = appearance.current()
        self.band.set_style(clear_colour(theme.model, 0.24))
        self.borrowed_band.set_style(clear_colour(theme.control, 0.18))
        self.mean.set_style(pen(theme.model, 2.2))
        self.borrowed_mean.set_style(pen(theme.control, 1.8, dashed=True))
        self.dots.set_style(theme.observed, theme.ink, 1.0)
        self.other_dots.set_style(None, theme.control, 1.0)

    def has_content(self) -> bool:
        """From the first score and what it is measured against."""
        return bool(self._known_standards()) and bool(np.isfinite(self.run.scores).any())

    def _known_standards(self) -> list[tuple[int, ScoreStandardization]]:
        """After how many scores which standard held, in order; before any there is no mean."""
        standards = {
            standard.trials: standard for standard in self.run.standards if standard.trials
        }
        return sorted(standards.items())

    def draw(self) -> None:
        """Steps of the mean with their band, and the scores."""
        run = self.run
        self.paint_theme()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        last = max(float(np.max(run.numbers)), float(self._known_standards()[-1][0]))
        for settled, band, line in (
            (True, self.band, self.mean),
            (False, self.borrowed_band, self.borrowed_mean),
        ):
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
        """Corners of the standards of one kind: each holds from its trial to the next one."""
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
        edges = [
            standard.mean + sign * standard.scale
            for _, standard in self._known_standards()
            for sign in (-1, 1)
        ]
        values = np.concatenate([run.scores[np.isfinite(run.scores)], edges])
        self.plot.hold_y(float(values.min()), float(values.max()))

    def describe(self) -> str:
        """The current mean and deviation, and whose they are."""
        number, now = self._known_standards()[-1]
        has_history = self.run.history is not None and bool(self.run.history.datasets)
        return standardization_text(now.mean, now.scale, now.settled, number, has_history)

    def table_data(self) -> Table:
        """The standard after each number of scores."""
        headers = ["scores seen", "mean", "standard deviation", "taken from"]
        this_dataset, borrowed = "this dataset", "earlier datasets"
        rows = [
            [number, standard.mean, standard.scale, this_dataset if standard.settled else borrowed]
            for number, standard in self._known_standards()
        ]
        return headers, rows
