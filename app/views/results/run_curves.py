"""The best score so far of several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_duration, format_number
from app.text.score_text import metric_in_short, score_text
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen, symbol_path
from app.views.plot.legend import LegendEntry
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView
from app.widgets.quiet_controls import QuietComboBox

if TYPE_CHECKING:
    from core.tuning.runs.run_comparison import BestSoFarCurve

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
        """Over trials or over time."""
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
        """Whether any run has a curve."""
        return any(curve.best for curve, _ in self._curves)

    def waiting_reason(self) -> str:
        """Why there is no curve."""
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
        """Draw staircases, with marks at improvements."""
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
        """The best of every run."""
        run_texts = [
            f"{name}: {score_text(curve.best[-1], curve.metric)} after {curve.trials[-1]} "
            f"trials, {format_duration(curve.seconds[-1])}"
            for _, curve, name in self._drawn_curves()
        ]
        return f"Best validation scores. {'; '.join(run_texts)}."

    def table_data(self) -> Table:
        """Every improvement of every run."""
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
