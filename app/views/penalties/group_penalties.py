"""The learned penalty of each group as bars."""

from __future__ import annotations

import math
from operator import itemgetter

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


class GroupPenalties(ScrolledBars):
    """Bars on a log axis, the smallest penalty on top."""

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
        """A log scale."""
        return Scale("log")

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Penalty learners of two groups or more."""
        return started.kind == "penalties" and len(started.groups) > 1

    def start(self, started: RunStarted) -> None:
        """Reset groups and limits."""
        super().start(started)
        self.colours.set_groups(list(started.groups))
        self._low, self._high = math.inf, -math.inf

    def row_count(self) -> int:
        """The number of groups."""
        return len(self.penalty_rows())

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.run.steps or self.run.gradients)

    def penalty_rows(self) -> list[tuple[str, float, bool]]:
        """(group, λ, switched off) of the latest step, the most important first."""
        if self.run.steps:
            step = self.run.steps[-1]
            off = set(step.switched_off)
            groups = [(name, penalty, name in off) for name, penalty in step.penalties.items()]
        else:
            d = self.run.gradients[-1].d
            # 700: the exponential of more is infinite
            groups = [(name, math.exp(min(value, 700.0)), False) for name, value in d.items()]
        rank = {name: position for position, name in enumerate(by_importance(groups))}
        return sorted(groups, key=lambda row: rank[row[0]])

    def draw(self) -> None:
        """Draw bars; hatched where a group is switched off."""
        theme, state = appearance.current(), self.penalty_rows()
        self.name_rows([name for name, _, _ in state])
        # Those without a bar have an infinite or unknown logarithm.
        ends = {row: math.log10(p) for row, (_, p, _) in enumerate(state) if 0 < p < math.inf}
        self._set_limits(list(ends.values()) or [0.0])
        shown = [state[row] for row in ends]
        colours = [self.colours.colour_of(name) for name, _, _ in shown]
        bars = [(float(row), self._low, end) for row, end in ends.items()]
        self.bars.set_data(bars, colours, [off for _, _, off in shown], theme.ink)
        words = ["switched off" if off else f"λ = {format_number(p)}" for _, p, off in shown]
        self.words.set_data(list(zip(ends.values(), ends, words, strict=True)))
        self.show_window()

    def _set_limits(self, finite: list[float]) -> None:
        self._low = min(self._low, math.floor((min(finite) - 0.15) * 2) / 2)
        self._high = max(self._high, max(finite))
        words = QFontMetricsF(small_font()).horizontalAdvance("switched off") + 16
        pixels = self.canvas.inner_width(self.plot)
        room = min(0.5, words / pixels)
        span = (self._high - self._low) / (1 - room)
        self.plot.hold_x(self._low, self._low + max(span, 0.5), exact=True)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        """The group of a row with its numbers."""
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
        """The extreme penalties, and the number switched off."""
        state = self.penalty_rows()
        off = sum(row[2] for row in state)
        smallest, largest = min(state, key=itemgetter(1)), max(state, key=itemgetter(1))
        sentence = f"{len(state)} groups; λ from {format_number(smallest[1])} ({smallest[0]}) to "
        sentence += f"{format_number(largest[1])} ({largest[0]})."
        return sentence + (f" {off} switched off." if off else "")

    def table_data(self) -> Table:
        """Group, λ, weight norm, number of parameters, switched off."""
        last = self.run.steps[-1] if self.run.steps else None
        norms = last.norms if last else {}
        groups = self.run.started.groups
        return ["group", PENALTY, "norm of weights", "parameters", "note"], [
            [name, penalty, norms.get(name), groups.get(name), "switched off" if off else ""]
            for name, penalty, off in self.penalty_rows()
        ]
