"""Several runs side by side: scores, fits and time, and the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.items import Bar, Dots, HorizontalBars, Lines, pen
from app.views.plot.labels import BarLabels
from app.views.plot.plot import Plot
from app.views.result_views import ResultView
from app.widgets.quiet_controls import chooser
from core.figures.figure import Figure, Table, range_of, whiskers
from core.figures.run_figures import MAX_RUNS, RUN_CURVES, run_curves_figure
from core.figures.scales import Scale, score_scale
from core.tuning.scores.score import score_text
from core.wording import duration_text, format_number

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary
    from core.tuning.runs.run_comparison import BestSoFarCurve


class RunsComparison(ResultView):
    """One row a run: test score, fits and seconds."""

    name = "comparison"
    title = "Which strategy was worth its time?"
    question = "Test score, models fitted, and time of every run of this dataset."
    waiting = "Runs of one dataset are compared here."

    def make_plots(self) -> None:
        self.runs: dict[str, RunSummary] = {}  # by name, the best first
        self.score = self.canvas.add_plot(Scale(), Scale("choice"), column=0)
        self.fits = self.canvas.add_plot(Scale("log"), Scale("choice"), column=1)
        self.time = self.canvas.add_plot(Scale("log"), Scale("choice"), column=2)
        titles = ("test score", "models fitted", "seconds")
        for plot, title in zip(self.canvas.plots, titles, strict=True):
            plot.vb.invertY(True)
            plot.bottom.set_title(title)
        self.canvas.ci.layout.setHorizontalSpacing(24)
        self.fits.left.set_labelled(False)
        self.time.left.set_labelled(False)
        self.dots, self.whiskers = Dots("circle", 11), Lines()
        self.score.add_marks(self.whiskers, self.dots)
        self.bars = {plot: (HorizontalBars(), BarLabels()) for plot in (self.fits, self.time)}
        for plot, marks in self.bars.items():
            plot.add_marks(*marks)

    def has_content(self) -> bool:
        return bool(self.runs)

    def show_runs(self, runs: Mapping[str, RunSummary]) -> None:
        self.runs = dict(sorted(runs.items(), key=lambda pair: _rank_key(pair[1])))
        self.draw_afresh()

    def draw(self) -> None:
        theme, runs = appearance.current(), list(self.runs.values())
        rows = np.arange(len(runs), dtype=float)
        scale = Scale("choice", tuple(name.replace(" · ", "\n") for name in self.runs))
        for plot in self.canvas.plots:
            plot.left.set_scale(scale)
            # One row or two alone would be as thick as the plot is high.
            plot.hold_y(-0.6, max(len(rows), 3) - 0.4, exact=True)
        scores = np.array([_finite_or_none(run.test) for run in runs], float)
        ends = np.array([run.interval or (np.nan, np.nan) for run in runs], float)
        self.dots.set_style(theme.model, theme.paper, 1.2)
        self.whiskers.set_style(pen(theme.model, 2.4))
        self.dots.set_data(scores, rows)
        self.whiskers.set_data(*reversed(whiskers(rows, *ends.reshape(-1, 2).T)))
        self.score.hold_x(*range_of(scores, ends.ravel()))
        # Runs of several measures share an axis, on which only a number has a meaning.
        metrics = {run.metric for run in runs}
        self.score.bottom.set_scale(score_scale(metrics.pop() if len(metrics) == 1 else ""))
        self._draw_bars(self.fits, [run.fits for run in runs], format_number)
        self._draw_bars(self.time, [run.seconds for run in runs], duration_text)

    def _draw_bars(
        self, plot: Plot, amounts: Sequence[float | None], words: Callable[[float], str]
    ) -> None:
        theme = appearance.current()
        values = [(row, _finite_or_none(amount)) for row, amount in enumerate(amounts)]
        lengths = [(row, math.log10(v), v) for row, v in values if v is not None and v > 0]
        bars, texts = self.bars[plot]
        if not lengths:
            bars.set_data([], [], [], theme.ink)
            texts.set_data([])
            return
        # Bars on a log axis have no zero to begin at.
        low = math.floor(min(length for _, length, _ in lengths) - 0.2)
        high = max(length for _, length, _ in lengths)
        plot.hold_x(low, low + (high - low) * 1.5, exact=True)
        count = len(lengths)
        rectangles: list[Bar] = [(row, low, length) for row, length, _ in lengths]
        bars.set_data(rectangles, [theme.control] * count, [False] * count, theme.ink)
        texts.set_data([(length, row, words(value)) for row, length, value in lengths])

    def describe(self) -> str:
        name, best = next(iter(self.runs.items()))
        score = score_text(_finite_or_none(best.test), best.metric)
        seconds = {name: run.seconds for name, run in self.runs.items()}
        fastest = min(seconds, key=lambda name: seconds[name] or math.inf)
        quick = f"fastest {fastest} with {duration_text(seconds[fastest])}"
        return f"{len(self.runs)} runs; best {name} with {score}, {quick}."

    def table_data(self) -> Table:
        named = self.runs.items()
        rows = [[name, run.test, run.gain, run.fits, run.seconds] for name, run in named]
        return ["run", "score", "gain", "fits", "seconds"], rows


def _rank_key(run: RunSummary) -> float:
    score = _finite_or_none(run.test)
    return math.inf if score is None else -score if run.maximize else score


def _finite_or_none(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


OVER = {"trials": "over trials", "seconds": "over time"}


class RunCurves(ResultView):
    """A staircase a run."""

    name = "run-curves"
    title = RUN_CURVES
    question = "Which run got where, and when? Scores are those of validation, during tuning."
    waiting = "The curves of the chosen runs appear here."
    zooms = True
    has_legend = True

    def controls(self) -> list[QWidget]:
        self._curves: dict[str, BestSoFarCurve] = {}
        self.chooser = chooser("Draw the curves over", self.draw_afresh, OVER)
        return [self.chooser]

    def has_content(self) -> bool:
        return any(curve.best for curve in self._curves.values())

    def waiting_reason(self) -> str:
        if not self._curves:
            return self.waiting
        return "None of these runs has scores of trials: penalty learners make steps instead."

    def show_curves(self, curves: Sequence[BestSoFarCurve], names: Sequence[str]) -> None:
        self._curves = dict(list(zip(names, curves, strict=True))[:MAX_RUNS])
        without = [name for name, curve in self._curves.items() if curve.steps and not curve.best]
        question, makes = self.question, "makes" if len(without) == 1 else "make"
        if without:
            question += f" {', '.join(without)} {makes} steps instead of trials: no curve."
        self.set_words(self.title, question)
        self.draw_afresh()

    def figure(self) -> Figure:
        return run_curves_figure(self._curves, is_over_time=self.chooser.currentData() != "trials")
