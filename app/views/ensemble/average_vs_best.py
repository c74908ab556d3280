"""The average against the single best, after every trial, on rows that did not choose either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_aligned, format_number
from app.views.ensemble.ensemble_view import EnsembleView, average_colour, near_the_best
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.end_labels import EndLabels
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.legend import Legend, LegendEntry, line_sample
from app.views.plot.marker import Marker
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from core.tuning.events import EnsembleUpdated, RunFinished, RunResumed, RunStopped
from core.tuning.runs.trial_table import tunes_several

MARKED = 60  # points beyond which only the last of a line has a symbol


@dataclass(frozen=True)
class ScoredAverage:
    """What is known of the average after a trial."""

    finished: int
    weights: list[float]
    average: float
    single: float


class DivergenceMarker(Marker):
    """The line from where on both can differ, quieter than the lines themselves."""

    def line_colour(self) -> str:
        """Grey."""
        return appearance.current().control


class AverageAgainstBest(EnsembleView):
    """A solid green line with circles for the average, a dashed one with diamonds for the best."""

    name = "average"
    title = "Average against single best"
    question = "Does the average beat the one best setting, on validation data that chose neither?"
    waiting = (
        "Both appear here when the first trial has a score. They differ as soon as the average has "
        "two members, after 20 trials."
    )
    zooms = True
    late = True
    listens = (EnsembleUpdated, RunFinished, RunStopped, RunResumed)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.plot = self.canvas.add_plot(Scale("whole"), row=1)
        self.plot.bottom.set_title("trials with a score")
        average, single = "average", "single best"
        self.average_line, self.single_line = Lines(average), Lines(single)
        self.average_dots = Dots("circle", 8, average)
        self.single_dots = Dots("diamond", 8, single)
        self.ends, self.divergence = EndLabels(), DivergenceMarker()
        for mark in (self.divergence, self.average_line, self.single_line, self.single_dots):
            self.plot.addItem(mark)
        for mark in (self.average_dots, self.ends):
            self.plot.addItem(mark)

    def paint_theme(self) -> None:
        """The average in green, what was observed of the single best in vermilion."""
        theme, green = appearance.current(), average_colour()
        self.average_line.set_style(pen(green, 2.4))
        self.single_line.set_style(pen(theme.observed, 2.0, dashed=True))
        self.average_dots.set_style(green, theme.paper, 1.0)
        self.single_dots.set_style(theme.paper, theme.observed, 1.6)

    def updates(self) -> list[ScoredAverage]:
        """Those that say how good both are, in the order of trials."""
        updates = {update.finished: update for update in self.run.ensembles}
        return [
            ScoredAverage(count, update.weights, update.average, update.single)
            for count, update in sorted(updates.items())
            if update.average is not None and update.single is not None
        ]

    def has_content(self) -> bool:
        """From the first of them."""
        return bool(self.updates())

    def waiting_reason(self) -> str:
        """What will appear, or why there is nothing fair to show."""
        if not self.run.ensembles and tunes_several(self.run.started):
            return "Both appear here as soon as two trials have a score on all folds."
        if not self.run.ensembles:
            return super().waiting_reason()
        if self.run.started.judged == "training":
            return (
                "No rows are held out here that could say which is better: settings are judged by "
                "the training rows. The Results page compares both on test data when the run has "
                "ended."
            )
        return (
            "The members' predictions of held-out rows are not at hand: the run was resumed, or "
            "this score can only be had of a whole model. The Results page compares both on test "
            "data when the run has ended."
        )

    def draw(self) -> None:
        """Both lines, their ends named, and from where on they can differ."""
        self.paint_theme()
        updates = self.updates()
        x = np.array([update.finished for update in updates], dtype=float)
        average = np.array([update.average for update in updates], dtype=float)
        single = np.array([update.single for update in updates], dtype=float)
        self.plot.left.set_title(self.measured(), self.run.started.maximize)
        self.average_line.set_data(x, average)
        self.single_line.set_data(x, single)
        marked = slice(None) if len(x) <= MARKED else slice(-1, None)
        self.average_dots.set_data(x[marked], average[marked])
        self.single_dots.set_data(x[marked], single[marked])
        self._name_ends(updates[-1])
        first = next((u.finished for u in updates if len(u.weights) > 1), None)
        self.divergence.set_value(first, "")
        self._set_limits(np.concatenate([average, single]), average[-1], single[-1])
        self._draw_legend(x, np.stack([average, single]))
        self._make_room(float(x[0]), float(x[-1]))

    def _name_ends(self, last: ScoredAverage) -> None:
        ink, x = appearance.current().ink, float(last.finished)
        if len(last.weights) == 1:
            words = f"one model so far {format_number(last.average)}"
            self.ends.set_data([(x, last.average, words, ink)])
            return
        shown = format_aligned([last.average, last.single])
        average = f"average {shown[0]}"
        single = f"single best {shown[1]}"
        self.ends.set_data([(x, last.average, average, ink), (x, last.single, single, ink)])

    def _set_limits(self, values: np.ndarray, *ends: float) -> None:
        low, high = near_the_best(values, self.run.started.maximize)
        low, high = min(low, *ends), max(high, *ends)
        self.plot.hold_y(low, high)

    def _draw_legend(self, x: np.ndarray, lines: np.ndarray) -> None:
        """The parting, and the bad first trials that would press the rest together."""
        low, high = self.plot.vb.viewRange()[1]
        outside = ((lines < low) | (lines > high)).any(axis=0)
        entries = []
        if self.divergence.value is not None:
            grey = pen(self.divergence.line_colour(), 1.8, dashed=True)
            entries.append(LegendEntry(line_sample(grey), "two members or more from here on"))
        if outside.any():
            far = lines.min() if self.run.started.maximize else lines.max()
            words = "not shown: worse scores until trial {}, up to {}"
            entries.append(
                LegendEntry(_nothing, words.format(int(x[outside].max()), format_number(far)))
            )
        self.legend.set_entries(entries, self.canvas.width() - EDGES[0] - EDGES[2])

    def _make_room(self, first: float, last: float) -> None:
        # The names stand right of the last trial: their pixels belong to the range.
        share = min(0.6, (self.ends.needed_width() + 6) / self.canvas.inner_width(self.plot))
        end = max(float(self.run.total), last, first + 4)
        needed = first + (last - first) / (1 - share)
        if last == first:
            needed = end
        self.plot.hold_x(first - 0.03 * (end - first), max(end, needed), exact=True)

    def describe(self) -> str:
        """Both after the last trial, and which is ahead."""
        last = self.updates()[-1]
        if len(last.weights) == 1:
            words = "After {} trials there is one member, with {} {} on held-out rows."
            return words.format(last.finished, self.measured(), format_number(last.average))
        words = "After {} trials the average of {} has {} {}, the single best {}."
        sentence = words.format(
            last.finished,
            sum(weight > 0 for weight in last.weights),
            self.measured(),
            format_number(last.average),
            format_number(last.single),
        )
        ahead = self.better_by(last.average, last.single)
        if ahead == 0:
            return f"{sentence} Neither is ahead."
        leads = "The average is ahead by {}."
        trails = "The single best is ahead by {}."
        return f"{sentence} {(leads if ahead > 0 else trails).format(format_number(abs(ahead), 2))}"

    def table_data(self) -> Table:
        """After each trial: members, the average's score, the single best's."""
        rows = [[u.finished, len(u.weights), u.average, u.single] for u in self.updates()]
        headers = ["trials with a score", "members"]
        return [*headers, "average", "single best"], rows


def _nothing(*_args: object) -> None:
    """A line of the legend that has words only."""
