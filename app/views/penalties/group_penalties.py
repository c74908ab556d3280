"""The learned penalty of each group as sorted bars; groups at their cap are "switched off"."""

from __future__ import annotations

import math

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain
from app.views.penalties.group_colours import GroupColours
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.record import Record
from app.views.plot.scales import Scale
from app.views.plot.scrolled_bars import ScrolledBars
from core.tuning.events import HyperGradientStep, PenaltyStep, RunStarted


class GroupPenalties(ScrolledBars):
    """Bars on a log axis, the largest penalty on top; a long list scrolls."""

    name = "penalties"
    title = "Learned group penalties"
    question = "What do the data say of each group? A shorter bar is trusted more."
    waiting = "A bar for every group appears here at step 0."
    listed = "Groups shown"
    listens = (PenaltyStep, HyperGradientStep)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot.bottom.set_title("learned penalty C")
        self.colours = GroupColours()
        self._low, self._high = math.inf, -math.inf

    def bottom_scale(self) -> Scale:
        """Equal factors count the same."""
        return Scale("log")

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """All penalty learners."""
        return started.kind == "penalties"

    def start(self, started: RunStarted) -> None:
        """Other groups."""
        super().start(started)
        self.colours.start(list(started.groups))
        self._low, self._high = math.inf, -math.inf

    def count(self) -> int:
        """The groups."""
        return len(self.state())

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.run.steps or self.run.gradients)

    def state(self) -> list[tuple[str, float, bool]]:
        """(group, C, switched off) of the latest step, the largest C first."""
        if self.run.steps:
            step = self.run.steps[-1]
            off = set(step.switched_off)
            found = [(name, C, name in off) for name, C in step.penalties.items()]
        else:
            d = self.run.gradients[-1].d
            found = [(name, math.exp(min(value, 700.0)), False) for name, value in d.items()]
        return sorted(found, key=lambda row: (not row[2], -row[1] if row[1] == row[1] else 0.0))

    def draw(self) -> None:
        """Bars from the left edge to log C; hatched where a group is switched off."""
        theme, state = appearance.current(), self.state()
        self.name_rows([name for name, _, _ in state])
        places = [math.log10(C) if C > 0 else math.nan for _, C, _ in state]
        self._hold(places)
        edge = self._low
        shown = [(row, at) for row, at in enumerate(places) if math.isfinite(at)]
        self.bars.set_data(
            [(float(row), edge, at) for row, at in shown],
            [self.colours.of(state[row][0]) for row, _ in shown],
            [state[row][2] for row, _ in shown],
            theme.ink,
        )
        off, value = "switched off", "C = {}"
        self.words.set_data(
            [
                (at, row, off if state[row][2] else value.format(plain(state[row][1])))
                for row, at in shown
            ]
        )
        self.show_window()

    def _hold(self, places: list[float]) -> None:
        finite = [at for at in places if math.isfinite(at)] or [0.0]
        self._low = min(self._low, math.floor((min(finite) - 0.15) * 2) / 2)
        self._high = max(self._high, max(finite))
        words = QFontMetricsF(small_font()).horizontalAdvance("switched off") + 16
        pixels = self.canvas.inner_width(self.plot)
        room = min(0.5, words / pixels)
        span = (self._high - self._low) / (1 - room)
        self.plot.hold_x(self._low, self._low + max(span, 0.5), exact=True)

    def describe(self) -> str:
        """The groups with the largest and smallest penalty, and how many are switched off."""
        state = self.state()
        off = sum(1 for row in state if row[2])
        least, most = state[-1], state[0]
        said = f"{len(state)} groups; C from {plain(least[1])} ({least[0]}) to "
        said += f"{plain(most[1])} ({most[0]})."
        return said + (" " + f"{off} switched off." if off else "")

    def rows(self) -> Table:
        """Group, C, 1/C, weight norm, number of parameters, switched off."""
        last = self.run.steps[-1] if self.run.steps else None
        norms = last.norms if last else {}
        headers = ["group", "C", "1/C", "norm of weights", "parameters", "note"]
        groups = self.run.started.groups
        rows = [
            [
                name,
                C,
                1 / C if C else None,
                norms.get(name),
                groups.get(name),
                "switched off" if off else "",
            ]
            for name, C, off in self.state()
        ]
        return headers, rows
