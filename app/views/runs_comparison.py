"""Several runs side by side: scores, fits and time, and the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.items import Bar, Dots, HorizontalBars, Lines, pen, symbol_path
from app.views.plot.labels import BarLabels
from app.views.plot.legend import LegendEntry
from app.views.plot.plot import Plot
from app.views.result_views import ResultView
from app.widgets.quiet_controls import QuietComboBox
from core.figures.figure import Table, whiskers
from core.figures.scales import Scale
from core.tuning.scores.score import metric_in_short, score_text
from core.wording import duration_text, format_number

if TYPE_CHECKING:
    from core.tuning.runs.run_comparison import BestSoFarCurve


@dataclass(frozen=True)
class ComparedRun:
    """A run; without a name it is called by its strategy."""

    strategy: str
    fits: float | None
    seconds: float | None
    test: float | None
    name: str = ""
    interval: Sequence[float | None] | None = None
    gain: float | None = None
    metric: str = ""


class RunsComparison(ResultView):
    """One row a run: test score, fits and seconds."""

    name = "comparison"
    title = "Which strategy was worth its time?"
    question = "Test score, models fitted, and time of every run of this dataset."
    waiting = "Runs of one dataset are compared here."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs: list[ComparedRun] = []
        self.score = self.canvas.add_plot(Scale(), Scale("choice"), column=0)
        self.fits = self.canvas.add_plot(Scale("log"), Scale("choice"), column=1)
        self.time = self.canvas.add_plot(Scale("log"), Scale("choice"), column=2)
        titles = ("test score", "models fitted", "seconds")
        for plot, title in zip(self.canvas.plots, titles, strict=True):
            plot.vb.invertY(True)
            plot.bottom.set_title(title)
        self.canvas.ci.layout.setHorizontalSpacing(24)
        self.fits.left.hide_labels()
        self.time.left.hide_labels()
        self.dots, self.whiskers = Dots("circle", 11), Lines()
        self.score.add_marks(self.whiskers, self.dots)
        self.bars = {plot: (HorizontalBars(), BarLabels()) for plot in (self.fits, self.time)}
        for plot, marks in self.bars.items():
            plot.add_marks(*marks)

    def has_content(self) -> bool:
        return bool(self.runs)

    def show_runs(self, runs: Sequence[ComparedRun]) -> None:
        """Compare runs, the best on top."""
        self.runs = sorted(runs, key=lambda run: -(_finite_or_none(run.test) or -math.inf))
        self.draw_afresh()

    def run_names(self) -> list[str]:
        """The name of each row; equal names are numbered."""
        seen: dict[str, int] = {}
        names = []
        for run in self.runs:
            name = run.name or run.strategy
            seen[name] = seen.get(name, 0) + 1
            names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
        return names

    def draw(self) -> None:
        theme, rows = appearance.current(), np.arange(len(self.runs), dtype=float)
        scale = Scale("choice", tuple(name.replace(" · ", "\n") for name in self.run_names()))
        for plot in self.canvas.plots:
            plot.left.set_scale(scale)
            plot.hold_y(-0.6, max(len(rows), 3) - 0.4, exact=True)
        scores = np.array([_finite_or_none(run.test) for run in self.runs], float)
        ends = np.array([run.interval or (np.nan, np.nan) for run in self.runs], float)
        self.dots.set_style(theme.model, theme.paper, 1.2)
        self.whiskers.set_style(pen(theme.model, 2.4))
        self.dots.set_data(scores, rows)
        self.whiskers.set_data(*reversed(whiskers(rows, *ends.reshape(-1, 2).T)))
        values = np.concatenate([scores, ends.ravel()])
        if np.isfinite(values).any():
            self.score.hold_x(float(np.nanmin(values)), float(np.nanmax(values)))
        self._draw_bars(self.fits, [run.fits for run in self.runs], format_number)
        self._draw_bars(self.time, [run.seconds for run in self.runs], duration_text)

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
        low = math.floor(min(length for _, length, _ in lengths) - 0.2)
        high = max(length for _, length, _ in lengths)
        plot.hold_x(low, low + (high - low) * 1.5, exact=True)
        count = len(lengths)
        rectangles: list[Bar] = [(row, low, length) for row, length, _ in lengths]
        bars.set_data(rectangles, [theme.control] * count, [False] * count, theme.ink)
        texts.set_data([(length, row, words(value)) for row, length, value in lengths])

    def describe(self) -> str:
        names = self.run_names()
        best = score_text(_finite_or_none(self.runs[0].test), self.runs[0].metric)
        times = [_finite_or_none(run.seconds) for run in self.runs]
        fastest = min(range(len(times)), key=lambda index: times[index] or math.inf)
        quick = f"fastest {names[fastest]} with {duration_text(times[fastest] or 0.0)}"
        return f"{len(names)} runs; best {names[0]} with {best}, {quick}."

    def table_data(self) -> Table:
        named = zip(self.run_names(), self.runs, strict=True)
        rows = [[name, run.test, run.gain, run.fits, run.seconds] for name, run in named]
        return ["run", "score", "gain", "fits", "seconds"], rows


def _finite_or_none(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


MAX_RUNS = 8  # runs: so many colours there are
SYMBOLS = ("circle", "diamond", "triangle", "star")
OVER = {"trials": "over trials", "seconds": "over time"}


class RunCurves(ResultView):
    """A staircase a run, each with its colour and mark."""

    name = "run-curves"
    title = "Best score so far"
    question = "Which run got where, and when? Scores are those of validation, during tuning."
    waiting = "The curves of the chosen runs appear here."
    zooms = True

    def __init__(self, parent: QWidget | None = None) -> None:
        self.over = "trials"
        self._curves: list[tuple[BestSoFarCurve, str]] = []  # with their names
        super().__init__(parent)
        self.plot = self.canvas.add_plot(Scale(), row=1)
        self.legend = self.canvas.add_legend()
        self.lines = [Lines() for _ in range(MAX_RUNS)]
        self.dots = [Dots(SYMBOLS[index % len(SYMBOLS)], 9) for index in range(MAX_RUNS)]
        self.plot.add_marks(*self.lines, *self.dots)

    def controls(self) -> list[QWidget]:
        self.chooser = QuietComboBox()
        self.chooser.setAccessibleName("Draw the curves over")
        for key, words in OVER.items():
            self.chooser.addItem(words, key)
        self.chooser.currentIndexChanged.connect(self._on_axis_chosen)
        return [self.chooser]

    def _on_axis_chosen(self) -> None:
        self.over = str(self.chooser.currentData())
        self.draw_afresh()

    def has_content(self) -> bool:
        return any(curve.best for curve, _ in self._curves)

    def waiting_reason(self) -> str:
        if not self._curves:
            return self.waiting
        return "None of these runs has scores of trials: penalty learners make steps instead."

    def show_curves(self, curves: Sequence[BestSoFarCurve], names: Sequence[str]) -> None:
        """Draw these curves, each under its name."""
        self._curves = list(zip(curves, names, strict=True))[:MAX_RUNS]
        without = [name for curve, name in self._curves if curve.steps and not curve.best]
        question, makes = self.question, "makes" if len(without) == 1 else "make"
        if without:
            question += f" {', '.join(without)} {makes} steps instead of trials: no curve."
        self.set_words(self.title, question)
        self.draw_afresh()

    def _drawn_curves(self) -> list[tuple[int, BestSoFarCurve, str]]:
        """(colour, curve, name) of the runs that have a curve."""
        curves = enumerate(self._curves)
        return [(index, curve, name) for index, (curve, name) in curves if curve.best]

    def _curve_x(self, curve: BestSoFarCurve) -> np.ndarray:
        return np.array(curve.trials if self.over == "trials" else curve.seconds, float)

    def draw(self) -> None:
        drawn_curves = self._drawn_curves()
        self.plot.bottom.set_title("trials" if self.over == "trials" else "seconds of the run")
        first = drawn_curves[0][1]
        self.plot.left.set_title(f"{metric_in_short(first.metric)}, validation", first.maximize)
        for line, dots in zip(self.lines, self.dots, strict=True):
            line.set_data([], [])
            dots.set_data([], [])
        theme, entries = appearance.current(), []
        for index, curve, name in drawn_curves:
            colour = theme.series[index % len(theme.series)]
            dark = colour in theme.outlined
            x, y = self._curve_x(curve), np.array(curve.best)
            self.lines[index].set_style(pen(colour, 2.4), pen(theme.ink, 4.0) if dark else None)
            self.lines[index].set_data(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1])
            self.dots[index].set_style(colour, theme.ink if dark else theme.paper)
            marked = slice(-1) if len(x) > 1 and y[-1] == y[-2] else slice(None)
            self.dots[index].set_data(x[marked], y[marked])
            sample = _curve_sample(colour, dark, self.dots[index].symbol)
            best = score_text(float(y[-1]), curve.metric)
            entries.append(LegendEntry(sample, f"{name}: {best}"))
        self.legend.set_entries(entries, self.canvas.full_width)
        self._hold_ranges(drawn_curves)

    def _hold_ranges(self, named: list[tuple[int, BestSoFarCurve, str]]) -> None:
        last = max(float(self._curve_x(curve)[-1]) for _, curve, _ in named)
        first = 1.0 if self.over == "trials" else 0.0
        room = 0.02 * max(last - first, 1.0)
        self.plot.hold_x(first - room, max(last, first) + room, exact=True)
        # Bad first scores would press what matters into one line: the later ones decide.
        scores = np.concatenate([np.array(curve.best) for _, curve, _ in named])
        self.plot.hold_y(float(scores.min()), float(scores.max()))

    def describe(self) -> str:
        run_texts = [
            f"{name}: {score_text(curve.best[-1], curve.metric)} after {curve.trials[-1]} "
            f"trials, {duration_text(curve.seconds[-1])}"
            for _, curve, name in self._drawn_curves()
        ]
        return f"Best validation scores. {'; '.join(run_texts)}."

    def table_data(self) -> Table:
        return ["run", "trials", "seconds", "best score"], [
            [name, trial, format_number(time, 4), score]
            for _, curve, name in self._drawn_curves()
            for trial, time, score in zip(curve.trials, curve.seconds, curve.best, strict=True)
        ]


def _curve_sample(colour: str, outlined: bool, symbol: str) -> Callable[[QPainter, QRectF], None]:
    def draw(painter: QPainter, box: QRectF) -> None:
        theme, middle = appearance.current(), box.center()
        painter.setPen(pen(colour, 2.4))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
        painter.setPen(pen(theme.ink if outlined else theme.paper, 1.2))
        painter.setBrush(QColor(colour))
        painter.drawPath(symbol_path(symbol, 9).translated(middle))

    return draw
