"""The best score of each model against time."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_duration, format_number
from app.text.score_text import metric_in_short, score_text
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.end_labels import EndLabels, LineEnd
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from core.estimators.model_settings import title_of
from core.estimators.multi_model import split_model_setting
from core.tuning import events
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial, tunes_several

Curves = dict[str, tuple[np.ndarray, np.ndarray]]  # {model: (seconds, best score)}
REACH = 25.0  # how far from the best the picture goes at most, in gaps from it to the middle model
NAME = 0.45  # of the width that a name takes at most
CLOSEST = 0.02  # of the best score's size: the picture spans at least so much


class BestSoFarByModel(View):
    """A staircase for every model, labelled at its right end."""

    name = "model-course"
    title = "Best score over time"
    question = "When did each model find its best, and what has it cost?"
    waiting = "A line for every model begins here with its first trial."
    zooms = True
    listens = (
        *(events.TrialFinished, events.TrialExcluded, events.Progress),
        *(events.RunFinished, events.RunStopped),
    )
    of_all = True

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale())
        self.plot.bottom.set_title("seconds of the run")
        self.baseline, self.ends = Lines("baseline"), EndLabels()
        self.plot.addItem(self.baseline)
        self.lines: dict[str, Lines] = {}
        self.dots: dict[str, Dots] = {}

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        """Runs of several models."""
        return started.kind == "trials" and tunes_several(started)

    @property
    def run(self) -> RunState:
        """The run of all models."""
        return self.record.whole_run

    def start(self, started: events.RunStarted) -> None:
        """Make lines for the models of the run."""
        names = models_of(self.run.started) if tunes_several(self.run.started) else ()
        if list(names) == list(self.lines):
            return
        for mark in self._marks():
            if mark.scene() is not None:
                self.plot.removeItem(mark)
        self.lines = {name: Lines(title_of(name)) for name in names}
        self.dots = {name: Dots("circle", 7, title_of(name)) for name in names}
        for mark in self._marks():
            self.plot.addItem(mark)

    def _marks(self) -> list[Lines | Dots | EndLabels]:
        return [*self.lines.values(), *self.dots.values(), self.ends]

    def has_content(self) -> bool:
        """From the first score."""
        return bool(self.best_curves())

    def best_curves(self) -> Curves:
        """The improvements of each model, the best model first."""
        maximize = self.run.started.maximize
        improvements: dict[str, list[tuple[float, float]]] = {}
        for row in np.flatnonzero(self.run.competing):
            trial = self.run.trials[row]
            name = split_model_setting(trial.setting)[0]
            steps = improvements.setdefault(name, [])
            if not steps or _is_better(trial, steps[-1][1], maximize):
                steps.append((trial.ended, trial.score))
        ranked = sorted(improvements, key=lambda n: improvements[n][-1][1], reverse=maximize)
        return {name: (*np.array(improvements[name]).T,) for name in ranked}

    def draw(self) -> None:
        """Draw the staircases until now."""
        run, theme, curves = self.run, appearance.current(), self.best_curves()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        now = max(run.seconds, *(float(x[-1]) for x, _ in curves.values()))
        ends = []
        for name in self.lines:
            if name not in curves:
                self.lines[name].set_data([], [])
                self.dots[name].set_data([], [])
                continue
            colour, strong = self._model_colour(name), self.record.model in ("", name)
            self._style_model(name, colour, strong)
            x, y = curves[name]
            self.lines[name].set_data(np.append(np.repeat(x, 2)[1:], now), np.repeat(y, 2))
            self.dots[name].set_data(x, y)
            ends.append((now, float(y[-1]), title_of(name), theme.ink if strong else theme.muted))
        self._hold_ranges(curves, now, ends)
        self._draw_baseline(now)

    def _model_colour(self, name: str) -> str:
        series = appearance.current().series
        return series[list(self.lines).index(name) % len(series)]

    def _style_model(self, name: str, colour: str, strong: bool) -> None:
        theme = appearance.current()
        is_repeated = list(self.lines).index(name) >= len(theme.series)
        width = 2.4 if strong else 1.2
        under = pen(theme.ink, width + 1.6) if colour in theme.outlined and strong else None
        self.lines[name].set_style(pen(colour, width, dashed=is_repeated), under)
        self.dots[name].set_style(colour, theme.ink if colour in theme.outlined else colour)

    def _draw_baseline(self, now: float) -> None:
        baseline, theme = self.run.started.baseline, appearance.current()
        self.baseline.set_style(pen(theme.muted, 1.4, dashed=True))
        low, high = self.plot.vb.viewRange()[1]
        inside = baseline is not None and low <= baseline <= high
        self.baseline.set_data([0.0, now] if inside else [], [baseline] * 2 if inside else [])

    def _hold_ranges(self, curves: Curves, now: float, ends: list[LineEnd]) -> None:
        low, high = shown_scores([y for _, y in curves.values()], self.run.started.maximize)
        self.plot.hold_y(low, high)
        low, high = self.plot.vb.viewRange()[1]
        # The names stand right of the lines' ends: their pixels belong to the range.
        pixels = self.canvas.inner_width(self.plot)
        metrics, middle = QFontMetricsF(small_font()), Qt.TextElideMode.ElideMiddle
        elided = ((x, y, metrics.elidedText(t, middle, NAME * pixels), c) for x, y, t, c in ends)
        self.ends.set_data([end for end in elided if low <= end[1] <= high])
        far = [title for _, y, title, _ in ends if not low <= y <= high]
        question = f"{self.question} Far below: {', '.join(far)}." if far else self.question
        if question != self._caption.text():
            self._caption.setText(question)
        share = min(0.6, (self.ends.needed_width() + 6) / pixels)
        self.plot.hold_x(-0.02 * now, now / (1 - share), exact=True)

    def describe(self) -> str:
        """Every model's best, and when it was reached."""
        model_texts = []
        for name, (x, y) in self.best_curves().items():
            score = score_text(float(y[-1]), self.run.started.metric)
            model_texts.append(f"{title_of(name)} {score} after {format_duration(float(x[-1]))}")
        return "; ".join(model_texts) + "."

    def table_data(self) -> Table:
        """Every improvement of every model."""
        rows = [
            [title_of(name), float(time), float(score)]
            for name, (x, y) in self.best_curves().items()
            for time, score in zip(x, y, strict=True)
        ]
        return ["model", "seconds", metric_in_short(self.run.started.metric)], rows

    def _trial_text(self, number: int) -> str:
        return format_number(number)


def _is_better(trial: Trial, best: float, maximize: bool) -> bool:
    return trial.score > best if maximize else trial.score < best


def shown_scores(curves: list[np.ndarray], maximize: bool) -> tuple[float, float]:
    """The shown range, without hopeless models; `curves` has the best first."""
    last = np.array([float(y[-1]) for y in curves])
    best = last[0]
    gaps = np.abs(last - best)
    middle = float(np.median(gaps)) if len(gaps) > 2 else float(gaps.max(initial=0.0))
    first = float(np.abs(curves[0][0] - best))
    farthest = max(float(np.abs(np.concatenate(curves) - best).max()), 1e-9)
    reach = min(max(REACH * middle, first, CLOSEST * abs(best), 1e-9), farthest)
    return (best - reach, best) if maximize else (best, best + reach)
