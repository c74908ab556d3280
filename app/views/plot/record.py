"""What all views share: the state of the run that they show, and the person's choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.views.plot.scales import Scale, scale_of
from core.tuning.events import Event, RunStarted
from core.tuning.runs.competition import Growing
from core.tuning.runs.one_model import OneModel
from core.tuning.runs.state import RunState


class Record:
    """The state of a run that is shown, the scales of its settings, and what a person chose.

    Attributes:
        whole: the state of the run; `consume` folds events into it unless somebody else keeps it up
            (`show`).
        model: which of several models a person looks at; "" for all.
        run: the state that views draw: of the whole run, or that model's part of it.
        axes, scales: of every hyperparameter.
        best_k: how many of the best trials are shown; None for all.
        selected: number of the trial that a person looks at.
        example: which of the sequences or molecules.
    """

    def __init__(self) -> None:
        self.best_k: int | None = None
        self.example = 0
        self.selected: int | None = None
        self._own, self.model = True, ""
        self.whole = self.run = RunState()
        self._one: OneModel | None = None
        self._start()

    def show(self, run: RunState) -> None:
        """Show a state that somebody else keeps up: of another run, or another moment of this."""
        before, self.whole, self._own = self.whole.started, run, False
        if run.started is not before:
            self.look_at("")
        else:
            self._follow()

    def consume(self, event: Event) -> None:
        """Keep what the event says."""
        if self._own:
            self.whole.consume(event)
        if isinstance(event, RunStarted):
            self.look_at("")
        else:
            self._follow()

    def look_at(self, model: str) -> None:
        """Show the trials of one of several models alone; "" for those of all."""
        self.model, self._one = model, OneModel(model, self.whole) if model else None
        self._follow()
        self._start()

    def _follow(self) -> None:
        before = self.run.started
        if self._one is None:
            self.run = self.whole
            return
        self._one.follow(self.whole)
        self.run = self._one.state
        if self.run.started is not before:
            self._start()

    def _start(self) -> None:
        self.selected, self.example = None, 0
        self.axes: list[dict[str, Any]] = list(self.run.started.space)
        self.scales: list[Scale] = [scale_of(axis) for axis in self.axes]
        self._forget_places()

    # What the views ask -------------------------------------------------------------------------

    @property
    def places(self) -> np.ndarray:
        """Places of the settings on the scales, shape (n, axes)."""
        trials, replaced = self.run.trials, (self.run, len(self.run.replaced))
        if replaced != self._replaced:
            self._forget_places()
        for trial in trials[len(self._places.rows) :]:
            self._places.append(self._places_of(trial.setting))
        return self._places.rows[: len(trials)]

    def places_of_rows(self, rows: np.ndarray) -> np.ndarray:
        """The same of some trials, shape (rows, axes), without those of all the others."""
        found = [self._places_of(self.run.trials[row].setting) for row in rows.tolist()]
        return np.array(found, dtype=float).reshape(len(rows), len(self.axes))

    def _forget_places(self) -> None:
        self._places = Growing(float, len(self.axes))
        self._replaced = (self.run, len(self.run.replaced))

    def _places_of(self, setting: dict[str, Any]) -> list[float]:
        pairs = zip(self.axes, self.scales, strict=True)
        return [scale.place(setting.get(axis["name"])) for axis, scale in pairs]

    def filtered(self) -> np.ndarray:
        """Rows with a score that the best-k filter lets through, boolean, shape (n,)."""
        if self.best_k is None:
            return np.isfinite(self.run.scores)
        mask = np.zeros(len(self.run.scores), dtype=bool)
        mask[self.run.best_rows(self.best_k)] = True
        return mask
