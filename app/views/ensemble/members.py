"""Who is in the average: a bar a trial, the best first, as high as its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import alike, percent, plain
from app.views.ensemble.ensemble_view import EnsembleView, average_colour
from app.views.plot.axes import small_font
from app.views.plot.canvas import EDGES
from app.views.plot.columns import Columns, ColumnWords
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import clear_colour, pen
from app.views.plot.legend import Entry, Legend
from app.views.plot.record import Record
from app.views.plot.scales import Scale, Ticks
from core.tuning.events import (
    EnsembleUpdated,
    RunFinished,
    RunStopped,
    TrialExcluded,
    TrialFinished,
)

ROOM = 17.0  # pixels a bar at least, as long as others can be left away for it
OTHERS = 6  # trials that are shown beside the members at least
UPRIGHT = 9.0  # pixels a bar below which not even upright words have room
SLOTS = 10  # bars that the width has room for at least, so that one alone is no wall
HEADROOM = 1.04
NAMED = 6  # members that are named in a sentence
TARGETS = 9  # places of a bar that can be clicked


@dataclass(frozen=True)
class SomeNamed(Scale):
    """Choices of which only those with a name have a tick."""

    def ticks(self, low: float, high: float, most: int) -> Ticks:
        """All ticks that have a name."""
        return [(at, name) for at, name in super().ticks(low, high, most) if name]


class Members(EnsembleView):
    """Filled bars for members, pale stubs for the others, which count nothing."""

    name = "members"
    title = "Who is in the average"
    question = "Which models predict together, and how much does each count? Best first."
    waiting = "The first model joins the average when the first trial has a score."
    listens = (EnsembleUpdated, TrialFinished, TrialExcluded, RunFinished, RunStopped)
    late = True

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.plot = self.canvas.add_plot(Scale("choice"), row=1)
        self.plot.left.set_title("weight in %")
        self.plot.bottom.set_title("trial, best first")
        self.columns, self.words, self.highlight = Columns(), ColumnWords(), Highlight()
        for item in (self.columns, self.words, self.highlight):
            self.plot.addItem(item)

    def has_content(self) -> bool:
        """From the first member."""
        return bool(self.run.weights)

    def is_needed(self) -> bool:
        """Whether two members share the average: one bar alone says nothing."""
        return len(self.run.weights) > 1

    def ranked(self) -> list[int]:
        """The trials that compete, the best first; members in any case."""
        run = self.run
        rows = run.best_rows(self.record.best_k or len(run.trials))
        numbers = run.numbers[rows].tolist()
        there = set(numbers)
        return [*numbers, *(n for n in run.weights if n not in there)]

    def left_out(self) -> dict[int, str]:
        """Trials good enough for the average that are not in it, and why."""
        there = self.run.ensemble
        return {one.number: one.reason for one in there.left_out} if there else {}

    def shown(self, ranked: list[int]) -> list[int]:
        """The trials that have a bar: of many others only those for which there is room."""
        weights = self.run.weights
        last = max(at for at, number in enumerate(ranked) if number in weights)
        wide = self.plot.bottom.metrics.horizontalAdvance(str(max(weights))) + 6
        fit = int(self.canvas.inner_width(self.plot) // max(ROOM, wide))
        return ranked[: max(last + 1 + OTHERS, fit)]

    def draw(self) -> None:
        """The bars, the members' scores above them, and what is not shown in words."""
        run, ranked = self.run, self.ranked()
        numbers = self.shown(ranked)
        weights, out = run.weights, self.left_out()
        heights = [100 * weights.get(number, 0.0) for number in numbers]
        member = [number in weights for number in numbers]
        crossed = [number in out for number in numbers]
        self.columns.set_data(heights, member, crossed, average_colour())
        slots = max(SLOTS, len(numbers))
        room = self.canvas.inner_width(self.plot) / slots
        over = self.words.set_data(self._scores(numbers, heights) if room >= UPRIGHT else [], room)
        self._label(numbers, member, room)
        self.plot.hold_x(-0.6, slots - 0.4, exact=True)
        tall = max(60.0, self.plot.vb.height())
        top = HEADROOM * max(heights) / (1 - min(0.6, over / tall))
        self.plot.hold_y(0.0, top, exact=True)
        self._draw_legend(len(numbers), len(ranked))
        self._make_pickable(numbers, heights)

    def _scores(self, numbers: list[int], heights: list[float]) -> list[tuple[float, float, str]]:
        ensemble = self.run.ensemble
        said = dict(zip(ensemble.members, alike(ensemble.scores), strict=True))
        return [(at, heights[at], said[n]) for at, n in enumerate(numbers) if n in said]

    def _label(self, numbers: list[int], member: list[bool], room: float) -> None:
        """Trial numbers below all bars where they have room, else below members, evenly thinned."""
        wide = self.plot.bottom.metrics.horizontalAdvance(str(max(numbers))) + 5
        every = max(1, math.ceil(wide / room))
        texts = [
            str(number) if at % every == 0 and (inside or room >= wide) else ""
            for at, (number, inside) in enumerate(zip(numbers, member, strict=True))
        ]
        self.plot.bottom.set_scale(SomeNamed("choice", tuple(texts)))

    def _draw_legend(self, shown: int, count: int) -> None:
        weights = list(self.run.weights.values())
        inside, idle = sum(w > 0 for w in weights), sum(w == 0 for w in weights)
        rest = count - len(weights)
        words = "{} in the average, score above" if self.words.words else ""
        words = words or "{} in the average"
        entries = [Entry(_filled, words.format(inside))]
        if idle:
            entries.append(Entry(_empty, f"{idle} without weight"))
        if rest:
            others = "1 other" if rest == 1 else f"{rest} others"
            hidden = rest + inside + idle - shown
            more = f"{others}, {rest - hidden} of them shown"
            entries.append(Entry(_pale, more if hidden else others))
        self.legend.set_entries(entries, self.canvas.width() - EDGES[0] - EDGES[2])

    def _make_pickable(self, numbers: list[int], heights: list[float]) -> None:
        run = self.run
        x, y = (np.full(len(run.numbers), np.nan) for _ in range(2))
        for at, number in enumerate(numbers):
            if number in run.row_of:
                x[run.row_of[number]], y[run.row_of[number]] = at, heights[at]
        self.highlight.mark(self.record, x, y)
        shares = np.linspace(0.0, 1.0, TARGETS)  # a bar is met anywhere, not at its top alone
        self.canvas.set_pickable(
            self.plot,
            np.repeat(np.arange(len(numbers), dtype=float), TARGETS),
            np.outer(heights, shares).ravel(),
            np.repeat(np.array(numbers), TARGETS),
        )

    def _tell(self, number: int) -> str:
        words = f"weight {percent(self.run.weights.get(number, 0.0))} of the average"
        reason = self.left_out().get(number, "")
        return "\n".join(part for part in (super()._tell(number), words, reason) if part)

    def describe(self) -> str:
        """How many of how many, and what the first of them weigh."""
        ensemble = self.run.ensemble
        members = list(zip(ensemble.members, ensemble.weights, ensemble.scores, strict=True))
        if len(members) == 1:
            words = "After {} trials the average has one member: trial {} with {} {}."
            return words.format(
                ensemble.finished, members[0][0], self.measured(), plain(members[0][2])
            )
        each = [
            f"trial {number} counts {percent(weight)} and has {self.measured()} {plain(score)}"
            for number, weight, score in members[:NAMED]
        ]
        rest = "; …" if len(members) > NAMED else ""
        words = "{} of {} models are averaged: {}{}."
        count = sum(weight > 0 for _, weight, _ in members)
        said = words.format(count, ensemble.finished, "; ".join(each), rest)
        return " ".join([said, *self.left_out().values()])

    def rows(self) -> Table:
        """Every trial, the best first, with its weight and score."""
        run, weights, out = self.run, self.run.weights, self.left_out()
        said = dict(zip(run.ensemble.members, run.ensemble.scores, strict=True))
        rows = []
        for place, number in enumerate(self.ranked(), start=1):
            trial = run.trial(number)
            score = said.get(number, trial.score if trial is not None else None)
            note = "in the average" if number in weights else out.get(number, "")
            rows.append([place, number, 100 * weights.get(number, 0.0), score, note])
        headers = ["place", "trial", "weight in %", self.measured()]
        return [*headers, "note"], rows


def _filled(painter: QPainter, box: QRectF) -> None:
    painter.fillRect(_bar(box, 0.9), clear_colour(average_colour(), 1.0))


def _empty(painter: QPainter, box: QRectF) -> None:
    painter.setPen(pen(average_colour(), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(_bar(box, 0.4))


def _pale(painter: QPainter, box: QRectF) -> None:
    theme = appearance.current()
    painter.setPen(pen(theme.control, 1.0))
    painter.setBrush(clear_colour(theme.control, 0.3))
    painter.drawRect(_bar(box, 0.4))


def _bar(box: QRectF, share: float) -> QRectF:
    tall = share * 0.7 * small_font().pointSizeF() * 1.4
    foot = box.center().y() + 0.35 * small_font().pointSizeF() * 1.4
    return QRectF(box.center().x() - 4, foot - tall, 8, tall)
