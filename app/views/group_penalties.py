"""The learned penalty of each group as sorted bars; groups at their cap are "switched off"."""

from __future__ import annotations

import math

from PySide6.QtCore import QT_TRANSLATE_NOOP, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from app import appearance
from app.views.axes import small_font
from app.views.bar_words import BarWords
from app.views.group_colours import GroupColours
from app.views.items import Bars
from app.views.numbers import plain
from app.views.record import Record
from app.views.scales import Scale
from app.views.twin import Table
from app.views.view import View
from core.tuning.events import HyperGradientStep, PenaltyStep, RunStarted

NAMES = 0.6  # share of the width that the groups' names may take before they are cut


class GroupPenalties(View):
    """Bars on a log axis, the largest penalty on top; a long list scrolls."""

    name = "penalties"
    title = QT_TRANSLATE_NOOP("GroupPenalties", "Learned group penalties")
    question = QT_TRANSLATE_NOOP(
        "GroupPenalties", "What do the data say of each group? A shorter bar is trusted more."
    )
    waiting = QT_TRANSLATE_NOOP("GroupPenalties", "A bar for every group appears here at step 0.")
    listens = (PenaltyStep, HyperGradientStep)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("log"), Scale("choice"))
        self.plot.vb.invertY(True)
        self.plot.bottom.set_title(self.tr("learned penalty C"))
        self.bars, self.words = Bars(), BarWords()
        self.plot.addItem(self.bars)
        self.plot.addItem(self.words)
        self.colours = GroupColours()
        self._low, self._high = math.inf, -math.inf

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """All penalty learners."""
        return started.kind == "penalties"

    def make_content(self) -> QWidget:
        """The canvas and a scroll bar for many groups."""
        canvas = super().make_content()
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(canvas, 1)
        self.scroll = QScrollBar(Qt.Orientation.Vertical)
        self.scroll.setAccessibleName(self.tr("Groups shown"))
        self.scroll.valueChanged.connect(lambda _at: self._show_window())
        self.scroll.hide()
        row.addWidget(self.scroll)
        canvas.wheeled.connect(lambda by: self.scroll.setValue(self.scroll.value() + by))
        canvas.setAccessibleName(self.tr(self.title))
        return whole

    def start(self, started: RunStarted) -> None:
        """Other groups."""
        self.colours.start(list(started.groups))
        self._low, self._high = math.inf, -math.inf
        self.scroll.setValue(0)

    def has_content(self) -> bool:
        """From step 0."""
        return bool(self.record.steps or self.record.gradients)

    def state(self) -> list[tuple[str, float, bool]]:
        """(group, C, switched off) of the latest step, the largest C first."""
        if self.record.steps:
            step = self.record.steps[-1]
            off = set(step.switched_off)
            found = [(name, C, name in off) for name, C in step.penalties.items()]
        else:
            d = self.record.gradients[-1].d
            found = [(name, math.exp(min(value, 700.0)), False) for name, value in d.items()]
        return sorted(found, key=lambda row: (not row[2], -row[1] if row[1] == row[1] else 0.0))

    def draw(self) -> None:
        """Bars from the left edge to log C; hatched where a group is switched off."""
        theme, state = appearance.current(), self.state()
        self.plot.left.set_scale(Scale("choice", _unique(self._cut(state))))
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
        off, value = self.tr("switched off"), "C = {}"
        self.words.set_data(
            [(at, row, off if state[row][2] else value.format(plain(state[row][1])))
             for row, at in shown]
        )  # fmt: skip
        self._show_window()

    def _cut(self, state: list[tuple[str, float, bool]]) -> list[str]:
        # Long names of one table tend to differ at their ends.
        metrics, most = QFontMetricsF(small_font()), NAMES * self.canvas.width()
        middle = Qt.TextElideMode.ElideMiddle
        return [metrics.elidedText(name, middle, most) for name, _, _ in state]

    def _hold(self, places: list[float]) -> None:
        finite = [at for at in places if math.isfinite(at)] or [0.0]
        self._low = min(self._low, math.floor((min(finite) - 0.15) * 2) / 2)
        self._high = max(self._high, max(finite))
        words = QFontMetricsF(small_font()).horizontalAdvance(self.tr("switched off")) + 16
        pixels = self.canvas.inner_width(self.plot)
        room = min(0.5, words / pixels)
        span = (self._high - self._low) / (1 - room)
        self.plot.hold_x(self._low, self._low + max(span, 0.5), exact=True)

    def _show_window(self) -> None:
        if not self.has_content():
            return
        count = len(self.state())
        tall = QFontMetricsF(small_font()).height() + 5
        fit = max(3, int(self.plot.vb.height() / tall))
        self.scroll.setVisible(count > fit)
        self.canvas.keeps_wheel = count > fit
        self.scroll.setMaximum(max(0, count - fit))
        self.scroll.setPageStep(fit)
        first = self.scroll.value() if count > fit else 0
        rows = min(count, fit)
        # Few groups keep bars of a pleasant thickness instead of filling the card.
        self.plot.hold_y(first - 0.6, first + max(rows, min(4, fit)) - 0.4, exact=True)

    def describe(self) -> str:
        """The groups with the largest and smallest penalty, and how many are switched off."""
        state = self.state()
        off = sum(1 for row in state if row[2])
        said = self.tr("{} groups; C from {} ({}) to {} ({}).").format(
            len(state), plain(state[-1][1]), state[-1][0], plain(state[0][1]), state[0][0]
        )
        return said + (" " + self.tr("{} switched off.").format(off) if off else "")

    def rows(self) -> Table:
        """Group, C, 1/C, weight norm, number of parameters, switched off."""
        last = self.record.steps[-1] if self.record.steps else None
        norms = last.norms if last else {}
        headers = ["group", "C", "1/C", "norm of weights", "parameters", "note"]
        groups = self.record.started.groups
        rows = [
            [name, C, 1 / C if C else None, norms.get(name), groups.get(name),
             self.tr("switched off") if off else ""]
            for name, C, off in self.state()
        ]  # fmt: skip
        return [self.tr(header) for header in headers], rows


def _unique(names: list[str]) -> tuple[str, ...]:
    # A scale tells its labels apart by text; invisible joiners keep equal short forms apart.
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        made.append(name + "\u2060" * seen[name])
    return tuple(made)
