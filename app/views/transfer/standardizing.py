"""By what the scores of this dataset are made comparable with those of earlier ones."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.past.datasets import standard_in_words
from app.text.scores import metric_in_short
from app.text.strategies import surrogate_of
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.record import Record
from app.views.plot.scales import Scale
from app.views.plot.view import View
from core.tuning.events import (
    CommonSurfaceFitted,
    RunStarted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
)
from core.tuning.runs.state import Standard


class Standardizing(View):
    """The scores, and the mean ± one deviation by which each proposal judged them."""

    name = "standardizing"
    title = "What counts as good here"
    question = "Against which mean and deviation is a score of this dataset measured?"
    waiting = "They appear here with the first score."
    late = True
    listens = (CommonSurfaceFitted, TrialFinished, TrialFailed, TrialExcluded)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"))
        self.plot.bottom.set_title("trial")
        self.band, self.borrowed_band = Band(), Band()
        self.mean = Lines("mean of this dataset")
        self.borrowed_mean = Lines("mean of earlier datasets")
        self.dots, self.others, self.highlight = Dots("circle", 8), Dots("circle", 6), Highlight()
        for item in (self.band, self.borrowed_band, self.mean, self.borrowed_mean):
            self.plot.addItem(item)
        for item in (self.others, self.dots, self.highlight):
            self.plot.addItem(item)

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
        self.others.set_style(None, theme.control, 1.0)

    def has_content(self) -> bool:
        """From the first score and what it is measured against."""
        return bool(self._known()) and bool(np.isfinite(self.run.scores).any())

    def _known(self) -> list[tuple[int, Standard]]:
        """After how many scores which standard held, in order; before any there is no mean."""
        known = {standard.trials: standard for standard in self.run.standards if standard.trials}
        return sorted(known.items())

    def draw(self) -> None:
        """Steps of the mean with their band, and the scores."""
        run = self.run
        self.paint_theme()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        last = max(float(np.max(run.numbers)), float(self._known()[-1][0]))
        for settled, band, line in (
            (True, self.band, self.mean),
            (False, self.borrowed_band, self.borrowed_mean),
        ):
            x, mean, scale = self._steps(settled, last + 0.5)
            band.set_data(x, mean - scale, mean + scale)
            line.set_data(x, mean)
        clear = self.record.filtered() & ~run.out
        scored = np.isfinite(run.scores)
        self.dots.set_data(run.numbers[clear], run.scores[clear])
        self.others.set_data(run.numbers[scored & ~clear], run.scores[scored & ~clear])
        self.highlight.mark(self.record, run.numbers, run.scores)
        self.canvas.set_pickable(self.plot, run.numbers, run.scores, run.numbers)
        self._hold(last)
        said = f"{self.question} {self.describe()}"
        if said != self._caption.text():
            self._caption.setText(said)

    def _steps(self, settled: bool, end: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Corners of the standards of one kind: each holds from its trial to the next one."""
        known = self._known()
        until = [number - 0.5 for number, _ in known[1:]] + [end]
        steps = [
            (number - 0.5, stop, one.mean, one.scale)
            for (number, one), stop in zip(known, until, strict=True)
            if one.settled == settled
        ]
        begin, stop, mean, scale = np.array(steps, float).reshape(-1, 4).T
        return np.column_stack([begin, stop]).ravel(), np.repeat(mean, 2), np.repeat(scale, 2)

    def _hold(self, last: float) -> None:
        run = self.run
        end = max(last, float(run.total - 1)) if run.total else last
        self.plot.hold_x(-0.5 - 0.03 * end, end + 0.5 + 0.03 * end, exact=True)
        edges = [one.mean + by * one.scale for _, one in self._known() for by in (-1, 1)]
        values = np.concatenate([run.scores[np.isfinite(run.scores)], edges])
        self.plot.hold_y(float(values.min()), float(values.max()))

    def describe(self) -> str:
        """The current mean and deviation, and whose they are."""
        number, now = self._known()[-1]
        known = self.run.history is not None and bool(self.run.history.datasets)
        return standard_in_words(now.mean, now.scale, now.settled, number, known)

    def rows(self) -> Table:
        """The standard after each number of scores."""
        headers = ["scores seen", "mean", "standard deviation", "taken from"]
        own, borrowed = "this dataset", "earlier datasets"
        rows = [
            [at, one.mean, one.scale, own if one.settled else borrowed] for at, one in self._known()
        ]
        return headers, rows
