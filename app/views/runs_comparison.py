"""Several runs side by side: scores, fits and time, and the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from PySide6.QtWidgets import QWidget

from app.views.plot.figure_painter import FigurePainter
from app.views.result_views import ResultView
from app.widgets.quiet_controls import chooser
from core.figures import figure as data
from core.figures.run_figures import MAX_RUNS, RUN_CURVES, run_curves_figure
from core.figures.scales import Scale, score_scale
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_comparison import BestSoFarCurve
from core.tuning.scores.score import score_text
from core.wording import duration_text, format_number


class RunsComparison(ResultView):
    """One row a run: test score, fits and seconds."""

    name = "comparison"
    title = "Which strategy was worth its time?"
    question = "Test score, models fitted, and time of every run of this dataset."
    waiting = "Runs of one dataset are compared here."

    def make_plots(self) -> None:
        self.runs: dict[str, RunSummary] = {}  # by name, the best first
        self.run_painters = [FigurePainter(self.canvas, column=column) for column in range(3)]
        self.canvas.ci.layout.setHorizontalSpacing(24)
        for painter in self.run_painters[1:]:
            painter.plot.left.set_labelled(False)

    def has_content(self) -> bool:
        return bool(self.runs)

    def show_runs(self, runs: Mapping[str, RunSummary]) -> None:
        self.runs = dict(sorted(runs.items(), key=lambda pair: _rank_key(pair[1])))
        self.draw_afresh()

    def draw(self) -> None:
        runs = list(self.runs.values())
        rows = np.arange(len(runs), dtype=float)
        scores = np.array([_finite_or_none(run.test) for run in runs], float)
        ends = np.array([run.interval or (np.nan, np.nan) for run in runs], float).reshape(-1, 2)
        # Runs of several measures share an axis, on which only a number has a meaning.
        metrics = {run.metric for run in runs}
        scale = score_scale(metrics.pop() if len(metrics) == 1 else "")
        low, high = data.range_of(scores, ends)
        y, x = data.whiskers(rows, *ends.T)
        plots: tuple[tuple[data.FigureAxis, data.Mark, data.Mark], ...] = (
            (
                data.FigureAxis("test score", scale, low=low, high=high),
                data.Lines("whiskers", x, y, width=2.4),
                data.Dots("dots", scores, rows, size=11, width=1.2),
            ),
            _log_bars("models fitted", [run.fits for run in runs], format_number),
            _log_bars("seconds", [run.seconds for run in runs], duration_text),
        )
        names = Scale("choice", tuple(name.replace(" · ", "\n") for name in self.runs))
        # One row or two alone would be as thick as the plot is high.
        left = data.FigureAxis("", names, low=-0.6, high=max(len(runs), 3) - 0.4, exact=True)
        for painter, (axis, lower, upper) in zip(self.run_painters, plots, strict=True):
            painter.paint(data.Figure("", axis, left, (lower, upper), "", self.table_data))

    def describe(self) -> str:
        name, best = next(iter(self.runs.items()))
        score = score_text(_finite_or_none(best.test), best.metric)
        seconds = {name: run.seconds for name, run in self.runs.items()}
        fastest = min(seconds, key=lambda name: seconds[name] or math.inf)
        quick = f"fastest {fastest} with {duration_text(seconds[fastest])}"
        return f"{len(self.runs)} runs; best {name} with {score}, {quick}."

    def table_data(self) -> data.Table:
        named = self.runs.items()
        rows = [[name, run.test, run.gain, run.fits, run.seconds] for name, run in named]
        return ["run", "score", "gain", "fits", "seconds"], rows


def _log_bars(
    title: str, amounts: Sequence[float | None], words: Callable[[float], str]
) -> tuple[data.FigureAxis, data.Bars, data.Labels]:
    """Bars on a log axis, which have no zero to begin at."""
    finite = enumerate(map(_finite_or_none, amounts))
    lengths = {row: math.log10(amount) for row, amount in finite if amount and amount > 0}
    rows, ends = list(map(float, lengths)), list(lengths.values())
    low = math.floor(min(ends, default=0.0) - 0.2)
    axis = data.FigureAxis(title, Scale("log"), low=low, high=max(ends, default=0.0), exact=True)
    colours, hatched = ["control"] * len(rows), [False] * len(rows)
    texts = [words(amounts[row] or 0.0) for row in lengths]
    bars = data.Bars("bars", rows, low, ends, colours, hatched, "ink")
    return axis, bars, data.Labels("amounts", ends, rows, texts)


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

    def figure(self) -> data.Figure:
        return run_curves_figure(self._curves, is_over_time=self.chooser.currentData() != "trials")
