"""The effective number of candidates for the next setting."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.views.ensemble.ensemble_view import EnsembleView
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from core.tuning.events import RunResumed, RunStarted, TrialFailed, TrialFinished
from core.tuning.runs.trial_table import tunes_several

ANYWHERE = 4096  # candidates of a draw
MARKED = 150  # trials up to which each has a dot


class EffectiveCandidates(EnsembleView):
    """The number for every trial, on a log scale."""

    name = "focus"
    title = "Effective number of candidates"
    question = (
        "Among how many settings is the next one drawn? 1: it is certain. 4,096: it could be "
        "anywhere."
    )
    waiting = "It appears here when the first even spread of trials is done."
    zooms = True
    late = True
    listens = (TrialFinished, TrialFailed, RunResumed)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs that average and draw their settings."""
        return super().wants(started) and not tunes_several(started)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"), Scale("log"))
        self.plot.bottom.set_title("trial")
        self.plot.left.set_title("effective candidates")
        self.line, self.dots, self.highlight = Lines(), Dots("circle", 7), Highlight()
        self.plot.add_marks(self.line, self.dots, self.highlight)

    def paint_theme(self) -> None:
        """Style the marks."""
        theme = appearance.current()
        self.line.set_style(pen(theme.model, 1.6))
        self.dots.set_style(theme.model, theme.paper, 1.0)

    def drawn_trials(self) -> list[tuple[int, float]]:
        """(trial, candidates) of the trials that were drawn, in order."""
        pairs = ((t.number, t.candidates) for t in self.run.trials)
        return sorted((number, float(c)) for number, c in pairs if c)

    def has_content(self) -> bool:
        """From the first draw."""
        return any(trial.candidates for trial in self.run.trials)

    def draw(self) -> None:
        """Draw a dot a trial, joined."""
        self.paint_theme()
        run = self.run
        counts = np.array([trial.candidates or np.nan for trial in run.trials], dtype=float)
        numbers, heights = run.numbers.astype(float), np.log10(counts)
        order = np.argsort(numbers, kind="stable")
        order = order[np.isfinite(heights[order])]
        x, y = numbers[order], heights[order]
        self.line.set_data(x, y)
        self.dots.set_data(*(x, y) if len(x) <= MARKED else (x[-1:], y[-1:]))
        end = max(float(run.total - 1), x[-1])
        room = 0.03 * end + 0.5
        self.plot.hold_x(-room, end + room, exact=True)
        self.plot.hold_y(-0.1, max(float(np.log10(ANYWHERE)), float(y.max())) + 0.1, exact=True)
        self.highlight.ring_selected(self.record, numbers, heights)
        self.canvas.set_pickable(self.plot, numbers, heights, run.numbers)

    def describe(self) -> str:
        """The last and the first number."""
        drawn = self.drawn_trials()
        (first, before), (last, now) = drawn[0], drawn[-1]
        sentence = f"Trial {last} was drawn among {format_number(now, 2)} settings in effect."
        if len(drawn) > 1:
            sentence += f" At trial {first} it was {format_number(before, 2)}."
        return sentence

    def table_data(self) -> Table:
        """Trials and candidates."""
        headers = ["trial", "effective number of candidates"]
        return headers, [[number, count] for number, count in self.drawn_trials()]
