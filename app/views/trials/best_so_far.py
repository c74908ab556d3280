"""The best score over trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.score_text import metric_in_short
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.trials.default_line import DefaultLine
from core.tuning import events

MIN_TRIAL_SHARE = 0.2  # of the picture that the trials take, the baseline beside them or not
CROWD = 600  # trials beyond which the dots are small and without an outline


class BestSoFar(View):
    """Dots for trials, crosses for failures, a staircase for the best."""

    name = "best"
    title = "Best so far"
    question = "Is it still getting better?"
    waiting = "Scores appear here when the first trial is done."
    zooms = True
    listens = (
        *(events.TrialFinished, events.TrialFailed, events.TrialExcluded),
        *(events.Progress, events.RunResumed),
    )

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"))
        self.plot.bottom.set_title("trial")
        self.default_line = DefaultLine()
        self.baseline = DefaultLine(self.default_line)
        self.stairs = Lines("best so far")
        self.other_dots, self.dots = Dots("circle", 6), Dots("circle", 8)
        self.failed = Dots("cross", 8)
        self.highlight = Highlight()
        self.plot.add_marks(
            self.other_dots,
            self.dots,
            self.stairs,
            self.failed,
            self.default_line,
            self.baseline,
            self.highlight,
        )

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        """Every run of trials."""
        return started.kind == "trials"

    def paint_theme(self) -> None:
        """Style the marks; smaller where trials are many."""
        theme = appearance.current()
        crowded = len(self.run.trials) > CROWD
        self.dots.set_style(theme.observed, None if crowded else theme.ink, 1.0)
        self.dots.set_size(4 if crowded else 8)
        self.other_dots.set_size(3 if crowded else 6)
        self.failed.set_size(5 if crowded else 8)
        self.other_dots.set_style(None, theme.control, 1.0)
        self.failed.set_style(None, theme.bad, 2.0)
        self.stairs.set_style(pen(theme.ink, 2.2), pen(theme.paper, 5.0) if crowded else None)

    def has_content(self) -> bool:
        """From the first trial that ended."""
        return bool(self.run.trials)

    def draw(self) -> None:
        """Draw dots, staircase and lines."""
        run = self.run
        self.paint_theme()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        numbers, best = run.staircase()
        x, y = steps_of(numbers, best)
        self.stairs.set_data(x, y)
        # Trials that were ended early have estimates, which are hollow.
        clear = self.record.filtered() & ~run.is_excluded & ~run.is_ended_early
        scored = np.isfinite(run.scores)
        self.dots.set_data(run.numbers[clear], run.scores[clear])
        self.other_dots.set_data(run.numbers[scored & ~clear], run.scores[scored & ~clear])
        self._hold_ranges(numbers, run.scores[scored])
        floor = self.plot.vb.viewRange()[1][0]
        up = floor + 8 * abs(self.plot.vb.viewPixelSize()[1])
        lost = run.numbers[~scored]
        self.failed.set_data(lost, np.full(len(lost), up))
        drawn = np.column_stack([run.numbers[scored], run.scores[scored]])
        default = None if run.default_trial is None else run.default_trial.score
        self.default_line.set_value(default, "default setting", drawn, (x, y))
        shown = self._shown_baseline(run.scores[scored])
        self.baseline.set_value(shown, "baseline", drawn, (x, y))
        self._say_baseline(shown)
        heights = np.where(scored, run.scores, up)
        self.canvas.set_pickable(self.plot, run.numbers, heights, run.numbers)
        self.highlight.ring_selected(self.record, run.numbers, heights)

    def _shown_baseline(self, scores: np.ndarray) -> float | None:
        value = self.run.started.baseline
        if value is None or not len(scores):
            return None
        low, high = float(scores.min()), float(scores.max())
        span = max(high, value) - min(low, value)
        # A baseline far off would press the trials into a line.
        return value if high == low or high - low >= MIN_TRIAL_SHARE * span else None

    def _say_baseline(self, shown: float | None) -> None:
        value, question = self.run.started.baseline, self.question
        if value is not None and shown is None:
            question = f"{question} The baseline is far off: {format_number(value)}."
        if not self.record.model and question != self._caption.text():  # else it names the model
            self._caption.setText(question)

    def _hold_ranges(self, numbers: np.ndarray, scores: np.ndarray) -> None:
        first, last = float(numbers[0]), float(numbers[-1])
        end = first + self.run.total - 1 if self.run.total else last
        room = 0.03 * max(end, last) + 0.5
        self.plot.hold_x(first - room, max(end, last) + room, exact=bool(self.run.total))
        default = self.run.default_trial
        lines = [] if default is None else [default.score]
        if (baseline := self._shown_baseline(scores)) is not None:
            lines.append(baseline)
        values = np.append(scores, lines)
        if len(values):
            # Failed trials and the words at the default line need a little room of their own.
            low, high = float(values.min()), float(values.max())
            self.plot.hold_y(low - 0.06 * (high - low), high + 0.04 * (high - low))

    def describe(self) -> str:
        """The best, the default and the baseline."""
        run, best = self.run, self.run.best_trial
        done = len(run.trials)
        if best is None:
            return f"No score after {done} trials."
        total_text = f" of {run.total}" if run.total else ""
        sentence = f"Best {format_number(best.score)} after {done}{total_text} trials."
        if run.default_trial is not None:
            sentence += f" The default setting has {format_number(run.default_trial.score)}."
        if run.started.baseline is not None:
            sentence += f" The baseline has {format_number(run.started.baseline)}."
        failed = int(np.sum(~np.isfinite(run.scores)))
        return sentence + (f" {failed} trials failed." if failed else "")

    def table_data(self) -> Table:
        """Each trial's score and the best until then."""
        run = self.run
        order = np.argsort(run.numbers, kind="stable")
        _, best = run.staircase()
        rows: list[list[Any]] = []
        for trial, high in zip((run.trials[i] for i in order), best.tolist(), strict=True):
            scores = [_finite_or_none(score) for score in (trial.score, high)]
            rows.append([trial.number, *scores, "failed" if trial.failure else ""])
        return ["trial", metric_in_short(run.started.metric), "best so far", "note"], rows


def steps_of(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the staircase that is y[i] from x[i] on."""
    is_finite = np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if not len(x):
        return x.astype(float), y
    starts = np.concatenate([[0], np.flatnonzero(np.diff(y)) + 1])
    corners_x = np.append(np.repeat(x[starts], 2)[1:], x[-1]).astype(float)
    return corners_x, np.repeat(y[starts], 2)


def _finite_or_none(score: float) -> float | None:
    return score if np.isfinite(score) else None
