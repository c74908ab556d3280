"""Validation against test: did the setting that validation chose deserve it?

Shown only once the run has ended: until then nobody may see test data, so that nothing is chosen
by them (McInerney 2017, figure 1).
"""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import appearance
from app.scores import metric_in_short
from app.views.canvas import EDGES
from app.views.default_line import DefaultLine
from app.views.ensemble_view import EnsembleView, average_colour, near_the_best
from app.views.highlight import Highlight
from app.views.items import Dots, Lines, pen, symbol_path
from app.views.legend import Entry, Legend
from app.views.numbers import plain
from app.views.record import Record, Trial
from app.views.twin import Table
from app.widgets.labels import label
from core.tuning.events import RunFinished, RunResumed, RunStarted, RunStopped, TrialExcluded

NEAR = 1.5  # of the better settings, to tell them apart: how far from the best they may lie


class AverageLine(DefaultLine):
    """The same line in the colour of the average."""

    def colour(self) -> str:
        """Green, as everywhere."""
        return average_colour()


class ValidationTest(EnsembleView):
    """A dot a setting; a star for validation's choice, a triangle for the best on test data."""

    name = "validation"
    title = QT_TRANSLATE_NOOP("ValidationTest", "Validation against test")
    question = QT_TRANSLATE_NOOP(
        "ValidationTest",
        "Does the best in validation stay the best on unseen data? On the dashed line both scores "
        "are the same.",
    )
    # Of runs whose settings are judged by the rows that they were fitted to.
    of_training = (
        QT_TRANSLATE_NOOP("ValidationTest", "Training against test"),
        QT_TRANSLATE_NOOP(
            "ValidationTest",
            "Does the setting that explains the training data best also do best on unseen data?",
        ),
    )
    waiting = QT_TRANSLATE_NOOP(
        "ValidationTest",
        "Test data stay out of sight until the run has ended, so that nothing is chosen by them. "
        "Then every setting appears here with both scores.",
    )
    zooms = True
    listens = (RunFinished, RunStopped, RunResumed, TrialExcluded)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.plot = self.canvas.add_plot(row=1)
        self.diagonal, self.average = Lines(), AverageLine()
        self.dots, self.members = Dots("circle", 7), Dots("circle", 9)
        self.chosen, self.luckiest = Dots("star", 19), Dots("triangle", 12)
        self.highlight = Highlight()
        for item in (self.diagonal, self.average, self.dots, self.members, self.luckiest):
            self.plot.addItem(item)
        for item in (self.chosen, self.highlight):
            self.plot.addItem(item)

    def make_content(self) -> QWidget:
        """The plot, and the verdict in words below it."""
        canvas = super().make_content()
        self.verdict = label("", "caption")
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(canvas, 1)
        column.addWidget(self.verdict)
        canvas.setAccessibleName(self.tr(self.title))
        return whole

    def start(self, started: RunStarted) -> None:
        """What the settings are judged by."""
        usual = (type(self).title, type(self).question)
        self.title, self.question = self.of_training if self._trained(started) else usual
        self.set_words(self.tr(self.title), self.tr(self.question))

    def _trained(self, started: RunStarted) -> bool:
        return started.judged == "training"

    def paint_theme(self) -> None:
        """Settings hollow, members filled in the average's green."""
        theme = appearance.current()
        self.diagonal.set_style(pen(theme.control, 1.4, dashed=True))
        self.dots.set_style(theme.paper, theme.observed, 1.4)
        self.members.set_style(average_colour(), theme.paper, 1.0)
        self.chosen.set_style("#F2B632", theme.ink, 1.4)
        self.luckiest.set_style(theme.paper, theme.ink, 1.6)

    # -- what is known -------------------------------------------------------------------------

    def tested(self) -> list[Trial]:
        """Settings that compete and have both scores; none before the end of the run."""
        if self.record.results is None:
            return []
        trials = (self.record.trials[row] for row in self.record.best_rows(len(self.record.trials)))
        return [trial for trial in trials if trial.test is not None and math.isfinite(trial.test)]

    def average_score(self) -> float | None:
        """The average's score on the test data; None where that is no fair comparison.

        With cross-validation each setting is tested by models of the folds, which learned from
        fewer rows than the members of the average.
        """
        if self.record.started.judged == "cv":
            return None
        results = self.record.results or {}
        return results.get("test", {}).get(results.get("metric"))

    def ahead(self) -> list[Trial]:
        """Settings that do better on the test data than the one that validation chose."""
        first, *others = self.tested()
        sign = self._sign_on_test()
        return [trial for trial in others if sign * trial.test > sign * first.test]

    def has_content(self) -> bool:
        """Once the run has ended."""
        return bool(self.tested())

    def waits_for(self) -> str:
        """When it will appear, or that it never will."""
        if self.record.results is None:
            return super().waits_for()
        return self.tr("No test scores of single settings were kept in this run.")

    # -- drawing -------------------------------------------------------------------------------

    def draw(self) -> None:
        """Dots at (validation, test)."""
        self.paint_theme()
        record, trials = self.record, self.tested()
        room = 0.8 * self.canvas.inner_width(self.plot)
        words = self.measured_with_direction(room)
        axis = self.tr("validation: {}")
        if self._trained(record.started):
            axis = self.tr("training: {}")
        self.plot.bottom.set_title(axis.format(words))
        measured = metric_in_short((record.results or {}).get("metric", record.started.metric))
        whole, metrics = self.tr("test: {}").format(measured), self.plot.left.metrics
        fits = metrics.horizontalAdvance(whole) <= self.plot.vb.height()
        self.plot.left.set_title(whole if fits else self.tr("test"))
        x, y = (np.full(len(record.numbers), np.nan) for _ in range(2))
        for trial in trials:
            row = record.row_of[trial.number]
            x[row], y[row] = trial.score, trial.test
        inside = np.isin(record.numbers, list(record.weights))
        self.dots.set_data(x[~inside], y[~inside])
        self.members.set_data(x[inside], y[inside])
        first, best = trials[0], self._best_on_test()
        self.chosen.set_data([first.score], [first.test])
        self.luckiest.set_data([best.score], [best.test])
        self._hold(x, y, [first, best])
        self._draw_average(x, y)
        self.legend.set_entries(self._entries(), self.canvas.width() - EDGES[0] - EDGES[2])
        self.verdict.setText(" ".join([self.verdict_in_words(), self._outside_in_words(x, y)]))
        self.highlight.mark(record, x, y)
        self.canvas.set_pickable(self.plot, x, y, record.numbers)

    def _chosen_in_words(self) -> str:
        if self._trained(self.record.started):
            return self.tr("best in training")
        return self.tr("best in validation")

    def _best_on_test(self) -> Trial:
        sign = self._sign_on_test()
        return max(self.tested(), key=lambda trial: sign * trial.test)

    def _sign_on_test(self) -> float:
        results = self.record.results or {}
        return 1.0 if results.get("maximize", self.record.started.maximize) else -1.0

    def _same_measure(self) -> bool:
        """Whether both scores are measured alike, so that they can be compared."""
        results = self.record.results or {}
        return results.get("metric", self.record.started.metric) == self.record.started.metric

    def _hold(self, x: np.ndarray, y: np.ndarray, always: list[Trial]) -> None:
        """The better settings; where both axes measure the same, with the diagonal among them."""
        self.plot.forget_ranges()
        ranges = []
        average = self.average_score()
        for values, maximize, seen in (
            (x, self.record.started.maximize, [trial.score for trial in always]),
            (
                y,
                self._sign_on_test() > 0,
                [trial.test for trial in always] + ([] if average is None else [average]),
            ),
        ):
            low, high = near_the_best(values, maximize, NEAR)
            ranges.append((min(low, *seen), max(high, *seen)))
        (left, right), (bottom, top) = ranges
        comparable = self._same_measure()
        if comparable:  # then the diagonal means something, and is in sight
            bottom, top = min(left, bottom), max(right, top)
        room = 0.06 * (right - left) or 1e-3, 0.1 * (top - bottom) or 1e-3
        self.plot.hold_x(left - room[0], right + room[0], exact=True)
        self.plot.hold_y(bottom - room[1], top + room[1], exact=True)
        ends = [left - room[0], right + room[0]] if comparable else []
        self.diagonal.set_data(ends, ends)

    def _draw_average(self, x: np.ndarray, y: np.ndarray) -> None:
        average = self.average_score()
        there = np.isfinite(x)
        words = self.tr("average {}").format(plain(average, 4))
        busy = np.column_stack([x[there], y[there]])
        self.average.set_value(average, words, busy, (np.empty(0), np.empty(0)))

    def _entries(self) -> list[Entry]:
        return [
            Entry(_drawn("circle", 8, hollow=True), self.tr("setting")),
            Entry(_drawn("circle", 9), self.tr("in the average")),
            Entry(_drawn("star", 15), self._chosen_in_words()),
            Entry(_drawn("triangle", 11, hollow=True), self.tr("best on test")),
        ]

    def _outside_in_words(self, x: np.ndarray, y: np.ndarray) -> str:
        (left, right), (bottom, top) = self.plot.vb.viewRange()
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
        outside = int(np.sum(np.isfinite(x) & ~inside))
        return self.tr("{} worse ones lie outside.").format(outside) if outside else ""

    # -- in words ------------------------------------------------------------------------------

    def verdict_in_words(self) -> str:
        """How many settings did better on the test data than the one that validation chose."""
        trials, ahead = self.tested(), len(self.ahead())
        if not ahead:
            words = self.tr("None of the other {} settings beats trial {}, the chosen one, on the "
                            "test data.")  # fmt: skip
            return words.format(len(trials) - 1, trials[0].number)
        words = self.tr("{} of {} settings beat trial {}, the chosen one, on the test data.")
        if ahead == 1:
            words = self.tr("{} of {} settings beats trial {}, the chosen one, on the test data.")
        return words.format(ahead, len(trials), trials[0].number)

    def describe(self) -> str:
        """The verdict, and the scores of the chosen, the best, and the average."""
        first, best = self.tested()[0], self._best_on_test()
        words = self.tr("Trial {} has {} in the run and {} on the test data; the best there is "
                        "trial {} with {}.")  # fmt: skip
        said = words.format(
            first.number, plain(first.score), plain(first.test), best.number, plain(best.test)
        )
        average = self.average_score()
        if average is not None:
            said += " " + self.tr("The average has {}.").format(plain(average))
        return f"{self.verdict_in_words()} {said}"

    def rows(self) -> Table:
        """Every setting, the best in validation first."""
        ahead = {trial.number for trial in self.ahead()}
        rows = [
            [
                trial.number,
                trial.score,
                trial.test,
                100 * self.record.weights.get(trial.number, 0.0),
                self.tr("yes") if trial.number in ahead else "",
            ]
            for trial in self.tested()
        ]
        headers = [self.tr("trial"), self.tr("score in the run"), self.tr("test")]
        better = self.tr("better on test data than the chosen one")
        return [*headers, self.tr("weight in %"), better], rows


def _drawn(symbol: str, size: float, hollow: bool = False):
    def draw(painter: QPainter, box: QRectF) -> None:
        theme = appearance.current()
        edge = theme.ink if symbol != "circle" else theme.observed if hollow else average_colour()
        fill = theme.paper if hollow else "#F2B632" if symbol == "star" else average_colour()
        painter.setPen(pen(edge, 1.4))
        painter.setBrush(QColor(fill))
        painter.drawPath(symbol_path(symbol, size).translated(box.center()))

    return draw
