"""The objective of a penalty learner over its steps."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.strategy_text import learns_held_out
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.tuning.events import Event, HyperGradientStep, PenaltyStep, RunStarted

MARKED = 60  # steps up to which each has a dot


class Objective(View):
    """One line over steps."""

    name = "objective"
    title = "Objective"
    question = "Is it still falling? The run stops when it no longer moves."
    waiting = "A line appears here after the first step."
    zooms = True
    listens: ClassVar[tuple[type[Event], ...]] = (PenaltyStep,)
    quantity = "objective"

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"))
        self.plot.bottom.set_title("step")
        self.plot.left.set_title(self.quantity, maximize=False)
        self.line, self.dots = Lines(), Dots("circle", 6)
        self.plot.add_marks(self.line, self.dots)
        self.paint_theme()

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Penalty learners but the gradient one."""
        return started.kind == "penalties" and not learns_held_out(started)

    def paint_theme(self) -> None:
        """Style the marks."""
        theme = appearance.current()
        self.line.set_style(pen(theme.model, 2.2))
        self.dots.set_style(theme.model, theme.model)

    def curve_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and values."""
        steps = self.run.steps
        return np.array([s.step for s in steps], float), np.array([s.objective for s in steps])

    def has_content(self) -> bool:
        """From the first step."""
        return bool(self.run.steps)

    def draw(self) -> None:
        """Draw the line with its dots."""
        x, y = self.curve_points()
        self.line.set_data(x, y)
        marked = slice(None) if len(x) <= MARKED else slice(-1, None)
        self.dots.set_data(x[marked], y[marked])
        last = float(x[-1])
        self.plot.hold_x(-0.3, max(5.0, last) + 0.3, exact=self.run.ended is not None)
        if np.isfinite(y).any():
            self.plot.hold_y(float(np.nanmin(y)), float(np.nanmax(y)))

    def describe(self) -> str:
        """The first and the last value."""
        x, y = self.curve_points()
        value = f"{self.quantity.capitalize()} {format_number(y[-1], 4)}"
        return f"{value} at step {int(x[-1])}, from {format_number(y[0], 4)} at the start."

    def table_data(self) -> Table:
        """Step, objective, loss, solver iterations and fits."""
        headers = ["step", "objective", "loss", "solver iterations", "fits so far"]
        return headers, [
            [s.step, s.objective, s.loss, s.iterations, s.fits] for s in self.run.steps
        ]


class HoldoutLoss(Objective):
    """The loss on held-out data, which the gradient strategy minimizes."""

    name = "holdout"
    title = "Held-out loss"
    question = "Do the penalties help on data that were not fitted? Lower is better."
    waiting = "A line appears here after the first step."
    listens = (HyperGradientStep,)
    quantity = "held-out loss"

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs that learn penalties from held-out data."""
        return learns_held_out(started)

    def curve_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and losses."""
        steps = self.run.gradients
        return np.array([s.step for s in steps], float), np.array([s.holdout_loss for s in steps])

    def has_content(self) -> bool:
        """From the first step."""
        return bool(self.run.gradients)

    def table_data(self) -> Table:
        """Step, loss, gradient norm, solver iterations and fits."""
        headers = ["step", "held-out loss", "gradient norm", "solver iterations", "fits so far"]
        steps = self.run.gradients
        return headers, [
            [s.step, s.holdout_loss, s.gradient_norm, s.iterations, s.fits] for s in steps
        ]
