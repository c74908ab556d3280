"""The regularization trajectory: every group's penalty over the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.strategy_text import learns_held_out
from app.views.penalties.group_colours import GroupColours, pens_of
from app.views.penalties.penalty_order import PENALTY, by_importance
from app.views.plot.axes import small_font
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.end_labels import EndLabels
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.tuning.events import Event, PenaltyStep, RunStarted

ALL_NAMED = 16  # groups up to which each has a colour and a name, if the height allows
NAMED = 12  # of more groups, only so many of the most extreme have them
MIN_SPAN = 0.4  # of the values: all alike at step 0, they still get ticks that mean something
MARKED = 40  # steps up to which each has a dot


class PenaltyTrajectory(View):
    """One line a group on a log axis, named at its end."""

    name = "trajectory"
    title = "Regularization trajectory"
    question = "Which groups are trusted? A high line means: mostly noise."
    of_one = (
        "How strongly are the weights held back? A high line means: the columns are mostly noise."
    )
    waiting = "The penalty of every group appears here at step 0."
    zooms = True
    listens: ClassVar[tuple[type[Event], ...]] = (PenaltyStep,)
    wide = True
    quantity = "λ"

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"), Scale("log"))
        self.plot.bottom.set_title("step")
        self.plot.left.set_title(PENALTY)
        self.muted, self.ends = Lines(), EndLabels()
        self.lines: dict[str, Lines] = {}
        self.dots: dict[str, Dots] = {}
        self.plot.add_marks(self.muted, self.ends)
        self.colours = GroupColours()

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Penalty learners but the gradient one."""
        return started.kind == "penalties" and not learns_held_out(started)

    def start(self, started: RunStarted) -> None:
        """Reset the lines for the groups of the run."""
        asks = self.question if len(started.groups) > 1 else self.of_one
        if asks != self._caption.text():
            self._caption.setText(asks)
        for mark in (*self.lines.values(), *self.dots.values()):
            self.plot.removeItem(mark)
        self.lines, self.dots = {}, {}
        self.colours.set_groups(list(started.groups))
        self.canvas.setMinimumHeight(self._height_for_names(len(started.groups)))

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.run.steps)

    def group_values(self) -> list[tuple[int, dict[str, float]]]:
        """The number of each step with every group's value."""
        return [(step.step, step.penalties) for step in self.run.steps]

    def switched_off(self) -> Iterable[str]:
        """The groups that are switched off now."""
        return self.run.steps[-1].switched_off

    def penalty_table(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Groups, steps, and values (steps, groups), NaN where unknown."""
        steps = self.group_values()
        names = list(steps[-1][1])
        values = [_in_order(step_values, names) for _, step_values in steps]
        numbers = np.array([number for number, _ in steps], dtype=float)
        return names, numbers, np.array(values, dtype=float)

    def draw(self) -> None:
        """Name few groups; of many, only the most extreme."""
        names, numbers, values = self.penalty_table()
        heights = self.plot.left.position_scale.positions_of(values.ravel()).reshape(values.shape)
        max_names = self._room_for_names(len(names))
        chosen = list(range(len(names)))
        if len(names) > max_names:
            chosen = [int(column) for column in most_extreme(heights[-1], max_names)]
        other_columns = [column for column in range(len(names)) if column not in set(chosen)]
        self._draw_others(numbers, heights[:, other_columns])
        self._draw_chosen(numbers, heights, {names[column]: column for column in chosen})
        if np.isfinite(heights).any():
            low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
            alike = max(0.0, MIN_SPAN - (high - low)) / 2
            self.plot.hold_y(low - alike, high + alike)
        self._make_room(float(numbers[-1]))

    def _height_for_names(self, count: int) -> int:
        named = count if count <= ALL_NAMED else NAMED
        names = (named + 0.5) * QFontMetricsF(small_font()).height()
        return round(names + self.plot.bottom.needed_thickness() + EDGES[1] + EDGES[3])

    def _room_for_names(self, count: int) -> int:
        tall = self.plot.vb.height() / QFontMetricsF(small_font()).height()
        return max(2, min(ALL_NAMED if count <= ALL_NAMED else NAMED, int(tall)))

    def _draw_others(self, numbers: np.ndarray, heights: np.ndarray) -> None:
        self.muted.set_style(pen(appearance.current().control, 1.0))
        gap = np.full((1, heights.shape[1]), np.nan)
        x = np.tile(np.append(numbers, np.nan), heights.shape[1])
        self.muted.set_data(x, np.vstack([heights, gap]).T.ravel())

    def _draw_chosen(
        self, numbers: np.ndarray, heights: np.ndarray, chosen: dict[str, int]
    ) -> None:
        theme = appearance.current()
        self._keep_items(list(chosen))
        ends = []
        for name, column in chosen.items():
            colour = self.colours.colour_of(name)
            self.lines[name].set_style(*pens_of(colour, dashed=self.colours.is_repeated(name)))
            self.lines[name].set_data(numbers, heights[:, column])
            self.dots[name].set_style(colour, theme.ink if colour in theme.outlined else colour)
            marked = heights[:, column] if len(numbers) <= MARKED else heights[-1:, column]
            self.dots[name].set_data(numbers[-len(marked) :], marked)
            if np.isfinite(heights[-1, column]):
                ends.append((float(numbers[-1]), float(heights[-1, column]), name, theme.ink))
        self.ends.set_data(ends)

    def _keep_items(self, names: list[str]) -> None:
        for name in set(self.lines) - set(names):
            self.plot.removeItem(self.lines.pop(name))
            self.plot.removeItem(self.dots.pop(name))
        for name in names:
            if name not in self.lines:
                self.lines[name], self.dots[name] = Lines(name), Dots("circle", 6, name)
                self.plot.add_marks(self.lines[name], self.dots[name])

    def _make_room(self, last: float) -> None:
        # The names stand right of the last step: their pixels belong to the range.
        pixels = self.canvas.inner_width(self.plot)
        share = min(0.6, (self.ends.needed_width() + 6) / pixels)
        shown = max(5.0, last if self.run.ended else 1.25 * last)
        high = max(shown, last / (1 - share) if share < 1 else shown)
        held = self.plot.vb.viewRange()[0]
        fits = held[1] - held[0] > 0 and (held[1] - last) / (held[1] - held[0]) >= share
        if not (fits and held[0] < 0 <= last <= held[1]) or self.run.ended:
            self.plot.hold_x(-0.02 * high - 0.1, high, exact=True)

    def describe(self) -> str:
        """The step, and the groups with the extreme values."""
        names, numbers, values = self.penalty_table()
        last = values[-1]
        if not np.isfinite(last).any():
            return f"Step {int(numbers[-1])}."
        low, high = int(np.nanargmin(last)), int(np.nanargmax(last))
        step, quantity = int(numbers[-1]), self.quantity
        if len(names) == 1:
            return f"Step {step}: {quantity} {format_number(last[0])}."
        largest = f"largest {quantity} {format_number(last[high])} for {names[high]}"
        return f"Step {step}: {largest}, smallest {format_number(last[low])} for {names[low]}."

    def table_data(self) -> Table:
        """One row a step, one column a group."""
        names, numbers, values = self.penalty_table()
        off = set(self.switched_off())
        last = [(name, float(values[-1, column]), name in off) for column, name in enumerate(names)]
        ranked = by_importance(last)
        order = [names.index(name) for name in ranked]
        rows = [[int(n), *map(float, row[order])] for n, row in zip(numbers, values, strict=True)]
        return ["step", *ranked], rows


def most_extreme(last: np.ndarray, count: int) -> np.ndarray:
    """The columns of the largest and smallest values, half each."""
    order = np.argsort(np.where(np.isfinite(last), last, np.nanmedian(last)), kind="stable")
    top_count = count // 2
    return np.sort(np.concatenate([order[: count - top_count], order[-top_count:]]))


def _in_order(values: dict[str, float], names: list[str]) -> list[float]:
    if list(values) == names:
        return list(values.values())
    return [values.get(name, np.nan) for name in names]
