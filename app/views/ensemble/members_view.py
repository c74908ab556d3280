"""The weight of each trial in the average."""

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
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import clear_colour, pen
from app.views.plot.legend import LegendEntry
from app.views.plot.scales import Scale, Ticks
from app.views.plot.vertical_bars import BarLabel, VerticalBarLabels, VerticalBars
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
    """A choice scale whose unnamed choices have no tick."""

    def ticks_between(self, low: float, high: float, max_ticks: int) -> Ticks:
        """The ticks with a name."""
        return [tick for tick in super().ticks_between(low, high, max_ticks) if tick[1]]


class MemberWeights(EnsembleView):
    """Filled bars for members, pale stubs for other trials."""

    name = "members"
    title = "Who is in the average"
    question = "Which models predict together, and how much does each count? Best first."
    waiting = "The first model joins the average when the first trial has a score."
    listens = (EnsembleUpdated, TrialFinished, TrialExcluded, RunFinished, RunStopped)
    late = True

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(Scale("choice"), row=1)
        self.plot.left.set_title("weight in %")
        self.plot.bottom.set_title("trial, best first")
        self.columns, self.words, self.highlight = VerticalBars(), VerticalBarLabels(), Highlight()
        self.plot.add_marks(self.columns, self.words, self.highlight)

    def has_content(self) -> bool:
        """From the first member."""
        return bool(self.run.weights)

    def is_needed(self) -> bool:
        """Whether two members share the average."""
        return len(self.run.weights) > 1

    def ranked_trials(self) -> list[int]:
        """The competing trials and all members, the best first."""
        run = self.run
        rows = run.best_rows(self.record.best_k or len(run.trials))
        numbers = run.numbers[rows].tolist()
        ranked_numbers = set(numbers)
        return [*numbers, *(n for n in run.weights if n not in ranked_numbers)]

    @property
    def ensemble(self) -> EnsembleUpdated:
        """The latest average; empty before its first member."""
        return self.run.ensemble or EnsembleUpdated()

    def omission_reasons(self) -> dict[int, str]:
        """Why good trials are not in the average."""
        return {trial.number: trial.reason for trial in self.ensemble.left_out}

    def shown_trials(self, ranked: list[int]) -> list[int]:
        """All members, and others where there is room."""
        weights = self.run.weights
        last = max(position for position, number in enumerate(ranked) if number in weights)
        wide = self.plot.bottom.metrics.horizontalAdvance(str(max(weights))) + 6
        fit = int(self.canvas.inner_width(self.plot) // max(ROOM, wide))
        return ranked[: max(last + 1 + OTHERS, fit)]

    def draw(self) -> None:
        """Draw the bars with the members' scores above."""
        run, ranked = self.run, self.ranked_trials()
        numbers = self.shown_trials(ranked)
        weights, omission_reasons = run.weights, self.omission_reasons()
        heights = [100 * weights.get(number, 0.0) for number in numbers]
        member = [number in weights for number in numbers]
        crossed = [number in omission_reasons for number in numbers]
        self.columns.set_data(heights, member, crossed, average_colour())
        slots = max(SLOTS, len(numbers))
        room = self.canvas.inner_width(self.plot) / slots
        labels = self._score_labels(numbers, heights) if room >= UPRIGHT else []
        over = self.words.set_data(labels, room)
        self._label_bars(numbers, member, room)
        self.plot.hold_x(-0.6, slots - 0.4, exact=True)
        tall = max(60.0, self.plot.vb.height())
        top = HEADROOM * max(heights) / (1 - min(0.6, over / tall))
        self.plot.hold_y(0.0, top, exact=True)
        self._draw_legend(len(numbers), len(ranked))
        self._make_pickable(numbers, heights)

    def _score_labels(self, numbers: list[int], heights: list[float]) -> list[BarLabel]:
        ensemble = self.ensemble
        texts = dict(zip(ensemble.members, format_aligned(ensemble.scores), strict=True))
        bars = enumerate(zip(numbers, heights, strict=True))
        return [(position, height, texts[n]) for position, (n, height) in bars if n in texts]

    def _label_bars(self, numbers: list[int], member: list[bool], room: float) -> None:
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
        words = f"{inside} in the average" + (", score above" if self.words.words else "")
        entries = [LegendEntry(_paint_filled_bar, words)]
        if idle:
            entries.append(LegendEntry(_paint_empty_bar, f"{idle} without weight"))
        if other_count:
            other_text = "1 other" if other_count == 1 else f"{other_count} others"
            hidden = other_count + inside + idle - shown
            more = f"{other_text}, {other_count - hidden} of them shown"
            entries.append(LegendEntry(_paint_pale_bar, more if hidden else other_text))
        self.legend.set_entries(entries, self.canvas.full_width)

    def _make_pickable(self, numbers: list[int], heights: list[float]) -> None:
        run = self.run
        x, y = (np.full(len(run.numbers), np.nan) for _ in range(2))
        for position, number in enumerate(numbers):
            if number in run.row_of:
                x[run.row_of[number]], y[run.row_of[number]] = position, heights[position]
        self.highlight.ring_selected(self.record, x, y)
        shares = np.linspace(0.0, 1.0, TARGETS)  # a bar is met anywhere, not at its top alone
        positions = np.repeat(np.arange(len(numbers), dtype=float), TARGETS)
        targets = np.outer(heights, shares).ravel(), np.repeat(np.array(numbers), TARGETS)
        self.canvas.set_pickable(self.plot, positions, *targets)

    def _trial_text(self, number: int) -> str:
        words = f"weight {percent(self.run.weights.get(number, 0.0))} of the average"
        reason = self.omission_reasons().get(number, "")
        return "\n".join(line for line in (super()._trial_text(number), words, reason) if line)

    def describe(self) -> str:
        """The number of members and the first weights."""
        ensemble = self.ensemble
        members = list(zip(ensemble.members, ensemble.weights, ensemble.scores, strict=True))
        if len(members) == 1:
            only = f"trial {members[0][0]} with {self.measured()} {format_number(members[0][2])}"
            return f"After {ensemble.finished} trials the average has one member: {only}."
        words = "trial {} counts {} and has {} {}"
        member_texts = [
            words.format(number, percent(weight), self.measured(), format_number(score))
            for number, weight, score in members[:NAMED]
        ]
        member_texts += ["…"] if len(members) > NAMED else []
        count = sum(weight > 0 for _, weight, _ in members)
        sentence = f"{count} of {ensemble.finished} models are averaged: {'; '.join(member_texts)}."
        return " ".join([sentence, *self.omission_reasons().values()])

    def table_data(self) -> Table:
        """Every trial, the best first, with weight and score."""
        run, weights, omission_reasons = self.run, self.run.weights, self.omission_reasons()
        scores = dict(zip(self.ensemble.members, self.ensemble.scores, strict=True))
        rows = []
        for rank, number in enumerate(self.ranked_trials(), start=1):
            trial = run.find_trial(number)
            score = scores.get(number, trial.score if trial is not None else None)
            note = "in the average" if number in weights else omission_reasons.get(number, "")
            rows.append([rank, number, 100 * weights.get(number, 0.0), score, note])
        return ["place", "trial", "weight in %", self.measured(), "note"], rows


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
