"""The learned penalty of each group as bars, the most important group first."""

from __future__ import annotations

import math

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.views.penalties.group_colours import GroupColours
from app.views.penalties.penalty_order import PENALTY, by_importance
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.hover_text import HoverText
from app.views.plot.plot import Plot
from app.views.plot.scales import Scale
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.plot.view_state import ViewState
from core.tuning.events import HyperGradientStep, PenaltyStep, RunStarted


def _row_penalty(row: tuple[str, float, bool]) -> float:
    return row[1]


class GroupPenalties(ScrolledBars):
    """Bars on a log axis, the smallest penalty on top; a long list scrolls.

    A group at its cap is "switched off".
    """

    name = "penalties"
    title = "Learned group penalties"
    question = (
        "How strongly is each group penalized? Most important first: shorter is trusted more."
    )
    waiting = "A bar for every group appears here at step 0."
    listed = "Groups shown"
    listens = (PenaltyStep, HyperGradientStep)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot.bottom.set_title(PENALTY)
        self.colours = GroupColours()
        self._low, self._high = math.inf, -math.inf

    def bottom_scale(self) -> Scale:
        """Equal factors count the same."""
        return Scale("log")

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Penalty learners of two groups or more: one bar alone says nothing."""
        return started.kind == "penalties" and len(started.groups) > 1

    def start(self, started: RunStarted) -> None:
        """Other groups."""
        super().start(started)
        self.colours.set_groups(list(started.groups))
        self._low, self._high = math.inf, -math.inf

    def row_count(self) -> int:
        """The groups."""
        return len(self.penalty_rows())

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.run.steps or self.run.gradients)

    def penalty_rows(self) -> list[tuple[str, float, bool]]:
        """(group, λ, switched off) of the latest step, the most important group first."""
        if self.run.steps:
            step = self.run.steps[-1]
            off = set(step.switched_off)
            groups = [(name, penalty, name in off) for name, penalty in step.penalties.items()]
        else:
            d = self.run.gradients[-1].d
            groups = [(name, math.exp(min(value, 700.0)), False) for name, value in d.items()]
        rank = {name: position for position, name in enumerate(by_importance(groups))}
        return sorted(groups, key=lambda row: rank[row[0]])

    def draw(self) -> None:
        """Bars from the left edge to log λ; hatched where a group is switched off."""
        theme, state = appearance.current(), self.penalty_rows()
        self.name_rows([name for name, _, _ in state])
        log_penalties = [
            math.log10(penalty) if penalty > 0 else math.nan for _, penalty, _ in state
        ]
        self._set_limits(log_penalties)
        edge = self._low
        shown = [
            (row, log_penalty)
            for row, log_penalty in enumerate(log_penalties)
            if math.isfinite(log_penalty)
        ]
        self.bars.set_data(
            [(float(row), edge, log_penalty) for row, log_penalty in shown],
            [self.colours.colour_of(state[row][0]) for row, _ in shown],
            [state[row][2] for row, _ in shown],
            theme.ink,
        )
        off, value = "switched off", "λ = {}"
        self.words.set_data(
            [
                (
                    log_penalty,
                    row,
                    off if state[row][2] else value.format(format_number(state[row][1])),
                )
                for row, log_penalty in shown
            ]
        )
        self.show_window()

    def _set_limits(self, log_penalties: list[float]) -> None:
        finite = [log_penalty for log_penalty in log_penalties if math.isfinite(log_penalty)] or [
            0.0
        ]
        self._low = min(self._low, math.floor((min(finite) - 0.15) * 2) / 2)
        self._high = max(self._high, max(finite))
        words = QFontMetricsF(small_font()).horizontalAdvance("switched off") + 16
        pixels = self.canvas.inner_width(self.plot)
        room = min(0.5, words / pixels)
        span = (self._high - self._low) / (1 - room)
        self.plot.hold_x(self._low, self._low + max(span, 0.5), exact=True)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        """The group whose row it is, with all its numbers."""
        row, state = round(y), self.penalty_rows()
        if not 0 <= row < len(state):
            return None
        name, penalty, off = state[row]
        lines = [name, "switched off" if off else f"{PENALTY} {format_number(penalty)}"]
        norm = self.run.steps[-1].norms.get(name) if self.run.steps else None
        if norm is not None:
            lines.append(f"norm of its weights {format_number(norm)}")
        size = self.run.started.groups.get(name)
        if size:
            lines.append("1 parameter" if size == 1 else f"{size} parameters")
        bar_end = math.log10(penalty) if penalty > 0 else x
        return HoverText("\n".join(lines), bar_end, float(row))

    def describe(self) -> str:
        """The groups with the largest and smallest penalty, and how many are switched off."""
        state = self.penalty_rows()
        off = sum(1 for row in state if row[2])
        smallest, largest = min(state, key=_row_penalty), max(state, key=_row_penalty)
        sentence = f"{len(state)} groups; λ from {format_number(smallest[1])} ({smallest[0]}) to "
        sentence += f"{format_number(largest[1])} ({largest[0]})."
        return sentence + (" " + f"{off} switched off." if off else "")

    def table_data(self) -> Table:
        """Group, λ, weight norm, number of parameters, switched off."""
        last = self.run.steps[-1] if self.run.steps else None
        norms = last.norms if last else {}
        headers = ["group", PENALTY, "norm of weights", "parameters", "note"]
        groups = self.run.started.groups
        rows = [
            [name, penalty, norms.get(name), groups.get(name), "switched off" if off else ""]
            for name, penalty, off in self.penalty_rows()
        ]
        return headers, rows
