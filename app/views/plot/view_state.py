"""What all views share: the run, the person's choices, and the ring around a chosen trial."""

from typing import Any

import numpy as np

from app.look import appearance
from app.views.plot.items import Dots
from core.figures.run_figures import exploring_rows
from core.figures.scales import Scale, scale_of
from core.space import Setting
from core.tuning.events import Event, RunStarted
from core.tuning.runs.model_runs import ModelRunState
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import GrowingArray


class ViewState:
    """The shown run, and what a person chose."""

    def __init__(self) -> None:
        self.best_k: int | None = None  # how many of the best trials are shown; None for all
        self.example = 0  # index of the sequence or molecule
        self.selected: int | None = None  # number of the selected trial
        self.has_other_writer = False  # a process that takes no wishes from here
        self._owns_run, self.model = True, ""  # one of several models; "" for all
        self.whole_run = self.run = RunState()  # run: that of the model alone, or of all
        self._model_state: ModelRunState | None = None
        self._start_run()

    def show_run(self, run: RunState) -> None:
        before, self.whole_run, self._owns_run = self.whole_run.started, run, False
        if run.started is not before:
            self.look_at("")
        else:
            self._follow_run()

    def consume(self, event: Event) -> None:
        if self._owns_run:
            self.whole_run.consume(event)
        if isinstance(event, RunStarted):
            self.look_at("")
        else:
            self._follow_run()

    def look_at(self, model: str) -> None:
        self.model = model
        self._model_state = ModelRunState(model, self.whole_run) if model else None
        self._follow_run()
        self._start_run()

    def _follow_run(self) -> None:
        before = self.run.started
        if self._model_state is None:
            self.run = self.whole_run
            return
        self._model_state.follow_run(self.whole_run)
        self.run = self._model_state.state
        if self.run.started is not before:
            self._start_run()

    def _start_run(self) -> None:
        self.selected, self.example = None, 0
        self.axes = list(self.run.started.space)
        self.scales: list[Scale] = [scale_of(axis) for axis in self.axes]
        self._forget_positions()

    # What the views ask -------------------------------------------------------------------------

    @property
    def positions(self) -> np.ndarray:
        """Positions on the scales, shape (n, axes)."""
        # A resumed run tells trials anew, with other settings perhaps; else only those of new
        # trials are looked up.
        trials, replaced = self.run.trials, (self.run, len(self.run.replaced))
        if replaced != self._replaced:
            self._forget_positions()
        for trial in trials[len(self._positions.rows) :]:
            self._positions.append(self._positions_of(trial.setting))
        return self._positions.rows[: len(trials)]

    def positions_of_rows(self, rows: np.ndarray) -> np.ndarray:
        """`positions` of some trials, shape (rows, axes)."""
        positions = [self._positions_of(self.run.trials[row].setting) for row in rows.tolist()]
        return np.array(positions, dtype=float).reshape(len(rows), len(self.axes))

    def _forget_positions(self) -> None:
        self._positions = GrowingArray(float, len(self.axes))
        self._replaced = (self.run, len(self.run.replaced))

    def _positions_of(self, setting: Setting) -> list[float]:
        pairs = zip(self.axes, self.scales, strict=True)
        return [scale.position_of(setting.get(axis.name)) for axis, scale in pairs]

    @property
    def exploring(self) -> np.ndarray:
        """Trials tried because little is known there, boolean (n,)."""
        return exploring_rows(self.run)

    def filtered(self) -> np.ndarray:
        """Scored trials that pass the best-k filter, boolean (n,)."""
        if self.best_k is None:
            return np.isfinite(self.run.scores)
        mask = np.zeros(len(self.run.scores), dtype=bool)
        mask[self.run.best_rows(self.best_k)] = True
        return mask


class TrialDots:
    """Clear trials, those that explored, the others, and a star for the best."""

    def __init__(self, size: float) -> None:
        self.clear, self.hollow = Dots("circle", size), Dots("circle", size - 3)
        self.exploring, self.best = Dots("square", size), Dots("star", 19)
        self.marks = self.hollow, self.clear, self.exploring, self.best

    def set_styles(self, fill: str | None, ink: str, hollow: str) -> None:
        for dots in (self.clear, self.exploring):
            dots.set_style(fill, ink, 1.5)
        self.hollow.set_style(None, hollow, 1.0)
        self.best.set_style("#F2B632", ink, 1.4)

    def show_trials(self, record: ViewState, x: np.ndarray, y: np.ndarray) -> None:
        """Trials with a NaN are not drawn."""
        clear, explores = record.filtered() & ~record.run.is_excluded, record.exploring
        groups = (np.isfinite(record.run.scores) & ~clear, clear & ~explores, clear & explores)
        for dots, rows in zip(self.marks, (*groups, record.run.best_rows(1)), strict=True):
            dots.set_data(x[rows], y[rows])


class Highlight(Dots):
    """A ring larger than any dot, in the focus colour."""

    def __init__(self) -> None:
        super().__init__("circle", 17)
        self.setZValue(20)

    def ring_selected(self, record: ViewState, x: Any, y: Any) -> None:
        row = record.run.row_of.get(-1 if record.selected is None else record.selected)
        self.set_style(None, appearance.current().focus, 2.6)
        if row is None or row >= len(x):
            self.set_data(np.empty(0), np.empty(0))
        else:
            self.set_data([x[row]], [y[row]])
