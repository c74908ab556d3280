"""The path of d = log λ of every group, with bounds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.strategy_text import learns_held_out
from app.views.penalties.trajectory import PenaltyTrajectory
from app.views.plot.data_table import Table
from app.views.plot.items import pen
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from core.penalties.learner_options import GradientOptions
from core.tuning.events import HyperGradientStep, RunStarted

NEAR = 2.0  # of d: closer than this to a bound, the bound is drawn


class LogPenaltyPath(PenaltyTrajectory):
    """One line a group; dashed lines are bounds."""

    name = "path"
    title = "Path of the penalties"
    question = "Where does each penalty go? Higher holds back more; dashed lines are bounds."
    of_one = "Where does the penalty go? Higher holds back more; dashed lines are bounds."
    waiting = "A line for every group appears here at step 0."
    listens = (HyperGradientStep,)
    quantity = "log λ"

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot.left.set_scale(Scale())
        self.plot.left.set_title("log of the penalty (λ)")
        self.bounds = [pg.InfiniteLine(angle=0, movable=False) for _ in range(2)]
        for line in self.bounds:
            line.hide()
            line.setZValue(-10)
            self.plot.addItem(line)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs that learn penalties from held-out data."""
        return learns_held_out(started)

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.run.gradients)

    def group_values(self) -> list[tuple[int, dict[str, float]]]:
        """D of every group at each step."""
        return [(step.step, step.d) for step in self.run.gradients]

    def switched_off(self) -> Iterable[str]:
        """None: d is bounded instead."""
        return ()

    def d_limits(self) -> tuple[float, float]:
        """The bounds of d."""
        options = GradientOptions.from_values(self.run.started.run_plan.options)
        return options.low, options.high

    def draw(self) -> None:
        """Draw the lines, and a bound once a group is near."""
        super().draw()
        _, _, values = self.penalty_table()
        finite = values[np.isfinite(values)]
        if not len(finite):
            return
        low, high = self.d_limits()
        nears = (finite.min() < low + NEAR, finite.max() > high - NEAR)
        for line, bound, near in zip(self.bounds, (low, high), nears, strict=True):
            line.setValue(bound)
            line.setPen(pen(appearance.current().muted, 1.4, dashed=True))
            line.setVisible(bool(near))
            if near:
                self.plot.hold_y(min(bound, finite.min()), max(bound, finite.max()))

    def describe(self) -> str:
        """As the trajectory, with the groups at a bound."""
        at_bound = self.run.gradients[-1].at_bound
        return super().describe() + (f" At a bound: {', '.join(at_bound)}." if at_bound else "")

    def table_data(self) -> Table:
        """As the trajectory, with the groups at a bound."""
        headers, rows = super().table_data()
        steps = zip(rows, self.run.gradients, strict=True)
        return [*headers, "at a bound"], [[*row, ", ".join(step.at_bound)] for row, step in steps]
