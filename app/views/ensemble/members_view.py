"""Who is in the average: a bar a trial, the best first, as high as its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_aligned, format_number, percent
from app.views.ensemble.ensemble_view import EnsembleView, average_colour
from app.views.plot.axes import small_font
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import clear_colour, pen
from app.views.plot.legend import Legend, LegendEntry
from app.views.plot.scales import Scale, Ticks
from app.views.plot.vertical_bars import VerticalBarLabels, VerticalBars
from app.views.plot.view_state import ViewState
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
class SparseCategoryScale(Scale):
    """Choices of which only those with a name have a tick."""

    def ticks_between(self, low: float, high: float, max_ticks: int) -> Ticks:
        """All ticks that have a name."""
        return [
            (position, name)
            for position, name in super().ticks_between(low, high, max_ticks)
            if name
        ]


class MemberWeights(EnsembleView):
    """Filled bars for members, pale stubs for the others, which count nothing."""

    name = "members"
    title = "Who is in the average"
    question = "Which models predict together, and how much does each count? Best first."
    waiting = "The first model joins the average when the first trial has a score."
    listens = (EnsembleUpdated, TrialFinished, TrialExcluded, RunFinished, RunStopped)
    late = True

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.plot = self.canvas.add_plot(Scale("choice"), row=1)
        self.plot.left.set_title("weight in %")
        self.plot.bottom.set_title("trial, best first")
        self.columns, self.words, self.highlight = VerticalBars(), VerticalBarLabels(), Highlight()
        for mark in (self.columns, self.words, self.highlight):
            self.plot.addItem(mark)

    def has_content(self) -> bool:
        """From the first member."""
        return bool(self.run.weights)

    def is_needed(self) -> bool:
        """Whether two members share the average: one bar alone says nothing."""
        return len(self.run.weights) > 1

    def ranked_trials(self) -> list[int]:
        """The trials that compete, the best first; members in any case."""
        run = self.run
        rows = run.best_rows(self.record.best_k or len(run.trials))
        numbers = run.numbers[rows].tolist()
        ranked_numbers = set(numbers)
        return [*numbers, *(n for n in run.weights if n not in ranked_numbers)]

    @property
    def ensemble(self) -> EnsembleUpdated:
        """The average as it is; empty before its first member."""
        return self.run.ensemble or EnsembleUpdated()

    def omission_reasons(self) -> dict[int, str]:
        """Trials good enough for the average that are not in it, and why."""
        return {trial.number: trial.reason for trial in self.ensemble.left_out}

    def shown_trials(self, ranked: list[int]) -> list[int]:
        """The trials that have a bar: of many others only those for which there is room."""
        weights = self.run.weights
        last = max(position for position, number in enumerate(ranked) if number in weights)
        wide = self.plot.bottom.metrics.horizontalAdvance(str(max(weights))) + 6
        fit = int(self.canvas.inner_width(self.plot) // max(ROOM, wide))
        return ranked[: max(last + 1 + OTHERS, fit)]

    def draw(self) -> None:
        """The bars, the members' scores above them, and what is not shown in words."""
        run, ranked = self.run, self.ranked_trials()
        numbers = self.shown_trials(ranked)
        weights, omission_reasons = run.weights, self.omission_reasons()
        heights = [100 * weights.get(number, 0.0) for number in numbers]
        member = [number in weights for number in numbers]
        crossed = [number in omission_reasons for number in numbers]
        self.columns.set_data(heights, member, crossed, average_colour())
        slots = max(SLOTS, len(numbers))
        room = self.canvas.inner_width(self.plot) / slots
        over = self.words.set_data(
            self._score_labels(numbers, heights) if room >= UPRIGHT else [], room
        )
        self._label_bars(numbers, member, room)
        self.plot.hold_x(-0.6, slots - 0.4, exact=True)
        tall = max(60.0, self.plot.vb.height())
        top = HEADROOM * max(heights) / (1 - min(0.6, over / tall))
        self.plot.hold_y(0.0, top, exact=True)
        self._draw_legend(len(numbers), len(ranked))
        self._make_pickable(numbers, heights)

    def _score_labels(
        self, numbers: list[int], heights: list[float]
    ) -> list[tuple[float, float, str]]:
        ensemble = self.ensemble
        score_texts = dict(zip(ensemble.members, format_aligned(ensemble.scores), strict=True))
        return [
            (position, heights[position], score_texts[n])
            for position, n in enumerate(numbers)
            if n in score_texts
        ]

    def _label_bars(self, numbers: list[int], member: list[bool], room: float) -> None:
        """Trial numbers below all bars where they have room, else below members, evenly thinned."""
        wide = self.plot.bottom.metrics.horizontalAdvance(str(max(numbers))) + 5
        every = max(1, math.ceil(wide / room))
        texts = [
            str(number) if position % every == 0 and (inside or room >= wide) else ""
            for position, (number, inside) in enumerate(zip(numbers, member, strict=True))
        ]
        self.plot.bottom.set_scale(SparseCategoryScale("choice", tuple(texts)))

    def _draw_legend(self, shown: int, count: int) -> None:
        weights = list(self.run.weights.values())
        inside, idle = sum(w > 0 for w in weights), sum(w == 0 for w in weights)
        other_count = count - len(weights)
        words = "{} in the average, score above" if self.words.words else ""
        words = words or "{} in the average"
        entries = [LegendEntry(_paint_filled_bar, words.format(inside))]
        if idle:
            entries.append(LegendEntry(_paint_empty_bar, f"{idle} without weight"))
        if other_count:
            other_text = "1 other" if other_count == 1 else f"{other_count} others"
            hidden = other_count + inside + idle - shown
            more = f"{other_text}, {other_count - hidden} of them shown"
            entries.append(LegendEntry(_paint_pale_bar, more if hidden else other_text))
        self.legend.set_entries(entries, self.canvas.width() - EDGES[0] - EDGES[2])

    def _make_pickable(self, numbers: list[int], heights: list[float]) -> None:
        run = self.run
        x, y = (np.full(len(run.numbers), np.nan) for _ in range(2))
        for position, number in enumerate(numbers):
            if number in run.row_of:
                x[run.row_of[number]], y[run.row_of[number]] = position, heights[position]
        self.highlight.ring_selected(self.record, x, y)
        shares = np.linspace(0.0, 1.0, TARGETS)  # a bar is met anywhere, not at its top alone
        self.canvas.set_pickable(
            self.plot,
            np.repeat(np.arange(len(numbers), dtype=float), TARGETS),
            np.outer(heights, shares).ravel(),
            np.repeat(np.array(numbers), TARGETS),
        )

    def _trial_text(self, number: int) -> str:
        words = f"weight {percent(self.run.weights.get(number, 0.0))} of the average"
        reason = self.omission_reasons().get(number, "")
        return "\n".join(line for line in (super()._trial_text(number), words, reason) if line)

    def describe(self) -> str:
        """How many of how many, and what the first of them weigh."""
        ensemble = self.ensemble
        members = list(zip(ensemble.members, ensemble.weights, ensemble.scores, strict=True))
        if len(members) == 1:
            words = "After {} trials the average has one member: trial {} with {} {}."
            return words.format(
                ensemble.finished, members[0][0], self.measured(), format_number(members[0][2])
            )
        words = "trial {} counts {} and has {} {}"
        member_texts = [
            words.format(number, percent(weight), self.measured(), format_number(score))
            for number, weight, score in members[:NAMED]
        ]
        ending = "; …" if len(members) > NAMED else ""
        words = "{} of {} models are averaged: {}{}."
        count = sum(weight > 0 for _, weight, _ in members)
        sentence = words.format(count, ensemble.finished, "; ".join(member_texts), ending)
        return " ".join([sentence, *self.omission_reasons().values()])

    def table_data(self) -> Table:
        """Every trial, the best first, with its weight and score."""
        run, weights, omission_reasons = self.run, self.run.weights, self.omission_reasons()
        scores = dict(zip(self.ensemble.members, self.ensemble.scores, strict=True))
        rows = []
        for rank, number in enumerate(self.ranked_trials(), start=1):
            trial = run.find_trial(number)
            score = scores.get(number, trial.score if trial is not None else None)
            note = "in the average" if number in weights else omission_reasons.get(number, "")
            rows.append([rank, number, 100 * weights.get(number, 0.0), score, note])
        headers = ["place", "trial", "weight in %", self.measured()]
        return [*headers, "note"], rows


def _paint_filled_bar(painter: QPainter, box: QRectF) -> None:
    painter.fillRect(_bar_rect(box, 0.9), clear_colour(average_colour(), 1.0))


def _paint_empty_bar(painter: QPainter, box: QRectF) -> None:
    painter.setPen(pen(average_colour(), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(_bar_rect(box, 0.4))


def _paint_pale_bar(painter: QPainter, box: QRectF) -> None:
    theme = appearance.current()
    painter.setPen(pen(theme.control, 1.0))
    painter.setBrush(clear_colour(theme.control, 0.3))
    painter.drawRect(_bar_rect(box, 0.4))


def _bar_rect(box: QRectF, share: float) -> QRectF:
    tall = share * 0.7 * small_font().pointSizeF() * 1.4
    foot = box.center().y() + 0.35 * small_font().pointSizeF() * 1.4
    return QRectF(box.center().x() - 4, foot - tall, 8, tall)
