"""The views of learned penalties: their way over the steps, of each group, and the objective."""

import math
from typing import ClassVar

import numpy as np
from PySide6.QtGui import QFontMetricsF

from app.text.plan_text import learns_held_out
from app.views.plot.axes import small_font
from app.views.plot.canvas import EDGES, HoverText
from app.views.plot.plot import Plot
from app.views.plot.scrolled_views import ScrolledBars
from app.views.plot.view import View
from core.figures import penalty_figures as figures
from core.figures.figure import Bars, Figure, Lines
from core.tuning.events import HyperGradientStep, PenaltyStep, RunStarted
from core.wording import format_number

ALL_NAMED = 16  # groups up to which each has a colour and a name, if the height allows


class LearnerView(View):
    """Steps by a gradient of the loss on held-out rows, or without such rows."""

    listens = (PenaltyStep, HyperGradientStep)
    by_gradient: ClassVar[bool] = False

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return started.kind == "penalties" and learns_held_out(started) == cls.by_gradient

    def has_content(self) -> bool:
        return bool(self.run.steps or self.run.gradients)


class PenaltyTrajectory(LearnerView):
    """One line a group on a log axis, named at its end."""

    name = "trajectory"
    title = "Regularization trajectory"
    question = "Which groups are trusted? A high line means: mostly noise."
    of_one = (
        "How strongly are the weights held back? A high line means: the columns are mostly noise."
    )
    waiting = "The penalty of every group appears here at step 0."
    zooms = True
    wide = True

    def start(self, started: RunStarted) -> None:
        count = len(started.groups)
        self.set_question(self.question if count > 1 else self.of_one)
        named = count if count <= ALL_NAMED else figures.NAMED
        tall = (named + 0.5) * QFontMetricsF(small_font()).height()
        tall += self.plot.bottom.needed_thickness() + EDGES[1] + EDGES[3]
        self.canvas.setMinimumHeight(round(tall))

    def figure(self) -> Figure:
        step = self.run.last_step
        count = len(step.penalties) if step is not None else 0
        fit = int(self.plot.vb.height() / QFontMetricsF(small_font()).height())
        room = min(ALL_NAMED if count <= ALL_NAMED else figures.NAMED, fit)
        return figures.penalty_path_figure(self.run, max(2, room))


class LogPenaltyPath(PenaltyTrajectory):
    """The penalty of every group; dashed lines are bounds."""

    by_gradient = True
    name = "path"
    title = "Path of the penalties"
    question = "Where does each penalty go? Higher holds back more; dashed lines are bounds."
    of_one = "Where does the penalty go? Higher holds back more; dashed lines are bounds."
    waiting = "A line for every group appears here at step 0."


class Objective(LearnerView):
    """The objective over the steps."""

    name = "objective"
    title = "Objective"
    question = "Is it still falling? The run stops when it no longer moves."
    waiting = "A line appears here after the first step."
    zooms = True

    def figure(self) -> Figure:
        return figures.descent_figure(self.run)


class HoldoutLoss(Objective):
    """The held-out loss, which the gradient strategy minimizes."""

    by_gradient = True
    name = "holdout"
    title = "Held-out loss"
    question = "Do the penalties help on data that were not fitted? Lower is better."


class GroupPenalties(LearnerView, ScrolledBars):
    """A bar a group on a log axis, the smallest penalty on top; hatched where switched off."""

    name = "penalties"
    title = "Learned group penalties"
    question = "How strongly is each group penalized? Shorter is trusted more."
    of_folds = f"Shorter is trusted more. {figures.RANGES}"
    waiting = "A bar for every group appears here at step 0."
    listed = "Groups shown"

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return started.kind == "penalties" and len(started.groups) > 1

    def figure(self) -> Figure:
        figure = figures.penalties_figure(self.run)
        has_ranges = np.isfinite(figure.mark(Lines, "ranges").x).any()
        self.set_question(self.of_folds if has_ranges else self.question)
        return figure

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        row, state = round(y), figures.penalty_rows(self.run)
        if not 0 <= row < len(state):
            return None
        group = state[row]
        lines = [group.name, group.penalty_text]
        if math.isfinite(group.low):
            low, high = format_number(group.low), format_number(group.high)
            lines.append(f"single folds would choose {low} to {high}")
        norm = self.run.steps[-1].norms.get(group.name) if self.run.steps else None
        if norm is not None:
            lines.append(f"norm of its weights {format_number(norm)}")
        size = self.run.started.groups.get(group.name)
        if size:
            lines.append("1 parameter" if size == 1 else f"{size} parameters")
        bars = self.shown_figure().mark(Bars, "bars")
        bar_ends = dict(zip(bars.rows, bars.ends, strict=True))
        return HoverText("\n".join(lines), bar_ends.get(float(row), x), float(row))
