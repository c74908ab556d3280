"""Several runs side by side: the best score so far of each, over its trials or its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain, seconds
from app.text.scores import metric_in_short, score_in_words
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen, symbol_path
from app.views.plot.legend import Entry, Legend
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView
from app.widgets.quiet_controls import QuietComboBox

if TYPE_CHECKING:
    from core.tuning.runs.side_by_side import Curve

MOST = 8  # runs: so many colours there are
SYMBOLS = ("circle", "diamond", "triangle", "star")
OVER = {"trials": "over trials", "seconds": "over time"}


class RunCurves(ResultView):
    """A staircase a run, in a colour and with a mark of its own; the legend names them."""

    name = "run-curves"
    title = "Best score so far"
    question = "Which run got where, and when? Scores are those of validation, during tuning."
    waiting = "The curves of the chosen runs appear here."
    zooms = True

    def __init__(self, parent: QWidget | None = None) -> None:
        self.over = "trials"
        super().__init__(parent)
        self.plot = self.canvas.add_plot(Scale(), row=1)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.lines = [Lines() for _ in range(MOST)]
        self.dots = [Dots(SYMBOLS[at % len(SYMBOLS)], 9) for at in range(MOST)]
        for item in (*self.lines, *self.dots):
            self.plot.addItem(item)

    def controls(self) -> list[QWidget]:
        """Over trials or over time."""
        self.chooser = QuietComboBox()
        self.chooser.setAccessibleName("Draw the curves over")
        for key, words in OVER.items():
            self.chooser.addItem(words, key)
        self.chooser.currentIndexChanged.connect(self._choose)
        return [self.chooser]

    def _choose(self) -> None:
        self.over = str(self.chooser.currentData())
        self.show_results(self.results)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Whether any run has a curve."""
        return any(curve.best for curve in results.get("curves", ()))

    def waits_for(self) -> str:
        """Why there is no curve."""
        if not self.results:
            return self.waiting
        return "None of these runs has scores of trials: penalty learners make steps instead."

    def show_curves(self, curves: Sequence[Curve], names: Sequence[str]) -> None:
        """Draw these, each under its name."""
        both = list(zip(curves, names, strict=True))[:MOST]
        without = [name for curve, name in both if curve.steps and not curve.best]
        makes = "makes" if len(without) == 1 else "make"
        said = (
            f" {', '.join(without)} {makes} steps instead of trials: no curve." if without else ""
        )
        self.set_words(self.title, self.question + said)
        self.show_results({"curves": [c for c, _ in both], "names": [n for _, n in both]})

    def _named(self) -> list[tuple[int, Curve, str]]:
        """(colour, curve, name) of the runs that have one."""
        both = zip(self.results["curves"], self.results["names"], strict=True)
        return [(at, curve, name) for at, (curve, name) in enumerate(both) if curve.best]

    def _places(self, curve: Curve) -> np.ndarray:
        return np.array(curve.trials if self.over == "trials" else curve.seconds, float)

    def draw(self) -> None:
        """Staircases; the marks are where a run improved."""
        named = self._named()
        self.plot.bottom.set_title("trials" if self.over == "trials" else "seconds of the run")
        first = named[0][1]
        self.plot.left.set_title(f"{metric_in_short(first.metric)}, validation", first.maximize)
        for line, dots in zip(self.lines, self.dots, strict=True):
            line.set_data([], [])
            dots.set_data([], [])
        theme, entries = appearance.current(), []
        for at, curve, name in named:
            colour = theme.series[at % len(theme.series)]
            dark = colour in theme.outlined
            x, y = self._places(curve), np.array(curve.best)
            self.lines[at].set_style(pen(colour, 2.4), pen(theme.ink, 4.0) if dark else None)
            self.lines[at].set_data(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1])
            self.dots[at].set_style(colour, theme.ink if dark else theme.paper)
            self.dots[at].set_data(x[:-1] if len(x) > 1 and y[-1] == y[-2] else x,
                                   y[:-1] if len(x) > 1 and y[-1] == y[-2] else y)  # fmt: skip
            best = score_in_words(float(y[-1]), curve.metric)
            entries.append(Entry(_sample(colour, dark, self.dots[at].symbol), f"{name}: {best}"))
        width = self.canvas.width() - EDGES[0] - EDGES[2]
        self.legend.set_entries(entries, width)
        self._hold_ranges(named)

    def _hold_ranges(self, named: list[tuple[int, Curve, str]]) -> None:
        last = max(float(self._places(curve)[-1]) for _, curve, _ in named)
        first = 1.0 if self.over == "trials" else 0.0
        room = 0.02 * max(last - first, 1.0)
        self.plot.hold_x(first - room, max(last, first) + room, exact=True)
        # Bad first scores would press what matters into one line: the later ones decide.
        scores = np.concatenate([np.array(curve.best) for _, curve, _ in named])
        self.plot.hold_y(float(scores.min()), float(scores.max()))

    def describe(self) -> str:
        """The best of every run."""
        said = [
            f"{name}: {score_in_words(curve.best[-1], curve.metric)} after {curve.trials[-1]} "
            f"trials, {seconds(curve.seconds[-1])}"
            for _, curve, name in self._named()
        ]
        return f"Best validation scores. {'; '.join(said)}."

    def rows(self) -> Table:
        """Every improvement of every run."""
        rows = [
            [name, trial, plain(time, 4), score]
            for _, curve, name in self._named()
            for trial, time, score in zip(curve.trials, curve.seconds, curve.best, strict=True)
        ]
        return ["run", "trials", "seconds", "best score"], rows


def _sample(colour: str, outlined: bool, symbol: str) -> Any:
    """Draws a piece of a run's line with its mark."""

    def draw(painter: QPainter, box: QRectF) -> None:
        theme, middle = appearance.current(), box.center()
        painter.setPen(pen(colour, 2.4))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
        painter.setPen(pen(theme.ink if outlined else theme.paper, 1.2))
        painter.setBrush(QColor(colour))
        painter.drawPath(symbol_path(symbol, 9).translated(middle))

    return draw
