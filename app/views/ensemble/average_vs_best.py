"""The score of the average against that of the single best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_aligned, format_number
from app.views.ensemble.ensemble_view import EnsembleView, average_colour, near_the_best
from app.views.plot.data_table import Table
from app.views.plot.end_labels import EndLabels
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.legend import LegendEntry, line_sample
from app.views.plot.marker import Marker
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from core.tuning.events import EnsembleUpdated, RunFinished, RunResumed, RunStopped
from core.tuning.runs.trial_table import tunes_several

MARKED = 60  # points beyond which only the last of a line has a symbol


@dataclass(frozen=True)
class ScoredAverage:
    """The average after a trial."""

    finished: int
    weights: list[float]
    average: float
    single: float


class DivergenceMarker(Marker):
    """The line from which on both can differ."""

    def line_colour(self) -> str:
        """Grey."""
        return appearance.current().control


class AverageAgainstBest(EnsembleView):
    """Solid with circles: the average; dashed with diamonds: the best."""

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
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("whole"), row=1)
        self.plot.bottom.set_title("trials with a score")
        self.average_line, self.single_line = Lines("average"), Lines("single best")
        self.average_dots = Dots("circle", 8, "average")
        self.single_dots = Dots("diamond", 8, "single best")
        self.ends, self.divergence = EndLabels(), DivergenceMarker()
        self.plot.add_marks(
            self.divergence,
            self.average_line,
            self.single_line,
            self.single_dots,
            self.average_dots,
            self.ends,
        )

    def paint_theme(self) -> None:
        """Style both lines."""
        theme, green = appearance.current(), average_colour()
        self.average_line.set_style(pen(green, 2.4))
        self.single_line.set_style(pen(theme.observed, 2.0, dashed=True))
        self.average_dots.set_style(green, theme.paper, 1.0)
        self.single_dots.set_style(theme.paper, theme.observed, 1.6)

    def updates(self) -> list[ScoredAverage]:
        """The updates that have both scores, in order."""
        updates = {update.finished: update for update in self.run.ensembles}
        return [
            ScoredAverage(count, update.weights, update.average, update.single)
            for count, update in sorted(updates.items())
            if update.average is not None and update.single is not None
        ]

    def has_content(self) -> bool:
        """Once both have a score."""
        return bool(self.updates())

    def waiting_reason(self) -> str:
        """What will appear, or why nothing can be compared."""
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
        """Draw both lines, their labels and the divergence."""
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
        average, single = format_aligned([last.average, last.single])
        ends = [(x, last.average, f"average {average}", ink)]
        self.ends.set_data([*ends, (x, last.single, f"single best {single}", ink)])

    def _set_limits(self, values: np.ndarray, *ends: float) -> None:
        low, high = near_the_best(values, self.run.started.maximize)
        self.plot.hold_y(min(low, *ends), max(high, *ends))

    def _draw_legend(self, x: np.ndarray, lines: np.ndarray) -> None:
        low, high = self.plot.vb.viewRange()[1]
        outside = ((lines < low) | (lines > high)).any(axis=0)
        entries = []
        if self.divergence.value is not None:
            grey = pen(self.divergence.line_colour(), 1.8, dashed=True)
            entries.append(LegendEntry(line_sample(grey), "two members or more from here on"))
        if outside.any():
            far = lines.min() if self.run.started.maximize else lines.max()
            last, worst = int(x[outside].max()), format_number(far)
            words = f"not shown: worse scores until trial {last}, up to {worst}"
            entries.append(LegendEntry(lambda *_arguments: None, words))
        self.legend.set_entries(entries, self.canvas.full_width)

    def _make_room(self, first: float, last: float) -> None:
        # The names stand right of the last trial: their pixels belong to the range.
        share = min(0.6, (self.ends.needed_width() + 6) / self.canvas.inner_width(self.plot))
        end = max(float(self.run.total), last, first + 4)
        needed = first + (last - first) / (1 - share)
        self.plot.hold_x(first - 0.03 * (end - first), max(end, needed), exact=True)

    def describe(self) -> str:
        """Both last scores, and which is ahead."""
        last = self.updates()[-1]
        if len(last.weights) == 1:
            words = "After {} trials there is one member, with {} {} on held-out rows."
            return words.format(last.finished, self.measured(), format_number(last.average))
        count = sum(weight > 0 for weight in last.weights)
        average, single = format_number(last.average), format_number(last.single)
        sentence = f"After {last.finished} trials the average of {count} has {self.measured()} "
        sentence += f"{average}, the single best {single}."
        ahead = self.better_by(last.average, last.single)
        if ahead == 0:
            return f"{sentence} Neither is ahead."
        leader = "average" if ahead > 0 else "single best"
        return f"{sentence} The {leader} is ahead by {format_number(abs(ahead), 2)}."

    def table_data(self) -> Table:
        """Members and both scores after each trial."""
        headers = ["trials with a score", "members", "average", "single best"]
        return headers, [[u.finished, len(u.weights), u.average, u.single] for u in self.updates()]
