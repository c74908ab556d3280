"""Predicted probabilities against what happened, with counts and bands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.score_text import score_text
from app.text.unit_names import task_of
from app.views.plot.data_table import Table
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView
from app.widgets.quiet_controls import QuietComboBox
from core.evaluation.calibration_bin import CalibrationBin
from core.tuning.run_results import Results
from core.tuning.why.answer_types import ClassDiagnostics, RowDiagnostics

FLOOR, TALL, BAR = -0.2, 0.14, 0.02  # of the bars of counts: where, how high, half their width


class Calibration(ResultView):
    """A dot a bin of probabilities, with Wilson's interval and the count of its test rows."""

    name = "calibration"
    title = "Can its probabilities be trusted?"
    question = "Calibration: on the dashed line, 70\u00a0% means 70\u00a0%."
    waiting = "A curve appears here when the test rows have been predicted."
    explained = "Bars: 95\u00a0% confidence interval; at the bottom: how many test rows."

    def __init__(self, parent: QWidget | None = None) -> None:
        self.bins_by_class: dict[str, list[CalibrationBin]] = {}
        super().__init__(parent)
        self.plot = self.canvas.add_plot(left=Scale(min_tick=0.0))
        self.plot.bottom.set_title("predicted probability")
        self.plot.left.set_title("share that has it")
        self.diagonal, self.curve, self.bands = Lines(), Lines(), Lines()
        self.dots, self.counts = Dots("circle", 8), Band()
        for mark in (self.counts, self.diagonal, self.bands, self.curve, self.dots):
            self.plot.addItem(mark)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Classes with probabilities, of rows of a table or two of anything."""
        if results.calibration is not None and results.calibration.predicted:
            return True
        labels = results.confusion.labels if results.confusion is not None else ()
        return len(labels) > 2 and "log_loss" in results.test and not task_of(results)

    def controls(self) -> list[QWidget]:
        """The class that is told from the rest."""
        self.which = QuietComboBox()
        self.which.setAccessibleName("Class")
        self.which.activated.connect(lambda _index: self.redraw())
        self.which.hide()
        return [self.which]

    def show_results(self, results: Results) -> None:
        """What the results alone tell; `show_answer` adds bands and other classes."""
        self.bins_by_class = {}
        self.which.clear()
        self.which.hide()
        super().show_results(results)

    def show_answer(self, answer: RowDiagnostics) -> None:
        """Bins with intervals, of every class."""
        self.bins_by_class = {}
        if isinstance(answer, ClassDiagnostics):
            bins = {label: answer.of[label].calibration for label in answer.labels}
            self.bins_by_class = {label: entries for label, entries in bins.items() if entries}
        self.which.clear()
        self.which.addItems(list(self.bins_by_class))
        self.which.setVisible(bool(self.bins_by_class))
        self.redraw()

    def has_content(self) -> bool:
        """From the results, or once the test rows have been looked at."""
        return bool(self.shown_bins())

    def shown_bins(self) -> list[CalibrationBin]:
        """Every bin; without a band where the answer is not there yet."""
        if self.bins_by_class:
            return self.bins_by_class[self.which.currentText()]
        curve = self.results.calibration
        if curve is None:
            return []
        counts: Sequence[int | None] = curve.counts or [None] * len(curve.predicted)
        triples = zip(curve.predicted, curve.observed, counts, strict=True)
        return [CalibrationBin(p, o, n, None, None) for p, o, n in triples]

    def draw(self) -> None:
        """The curve with its bands, the counts, and the diagonal."""
        theme, bins = appearance.current(), self.shown_bins()
        probabilities = [entry.predicted for entry in bins]
        frequencies = [entry.observed for entry in bins]
        self.diagonal.set_style(pen(theme.muted, 1.4, dashed=True))
        self.diagonal.set_data([0.0, 1.0], [0.0, 1.0])
        self.curve.set_style(pen(theme.model, 1.4))
        self.dots.set_style(theme.model, theme.paper, 1.0)
        self.bands.set_style(pen(theme.model, 2.4))
        self.curve.set_data(probabilities, frequencies)
        self.dots.set_data(probabilities, frequencies)
        ends = [np.nan if v is None else v for entry in bins for v in (entry.low, entry.high, None)]
        self.bands.set_data(np.repeat(np.array(probabilities, dtype=float), 3), ends)
        self._draw_counts(bins)
        title = (
            f"share that is “{self.which.currentText()}”"
            if self.bins_by_class
            else "share that has it"
        )
        self.plot.left.set_title(title)
        self._caption.setText(
            f"{self.question} {self.explained}" if self.bins_by_class else self.question
        )
        self.plot.hold_x(-0.03, 1.03, exact=True)
        self.plot.hold_y(FLOOR, 1.03, exact=True)

    def _draw_counts(self, bins: list[CalibrationBin]) -> None:
        """A bar at the bottom for the rows of every bin; without counts none."""
        rows = np.array([entry.rows or 0 for entry in bins], dtype=float)
        centres = np.array([entry.predicted for entry in bins], dtype=float)
        heights = TALL * rows / max(float(rows.max(initial=0.0)), 1.0)
        corners = np.column_stack(
            [centres - BAR, centres - BAR, centres + BAR, centres + BAR]
        ).ravel()
        tops = np.column_stack([0 * rows, heights, heights, 0 * rows]).ravel()
        self.counts.set_style(clear_colour(appearance.current().muted, 0.45))
        self.counts.set_data(corners, np.full(len(corners), FLOOR), FLOOR + tops)

    def describe(self) -> str:
        """The largest distance from the diagonal."""
        worst = max(self.shown_bins(), key=lambda entry: abs(entry.predicted - entry.observed))
        template = "Furthest off where it says {}: there {} have it."
        return template.format(
            score_text(worst.predicted, "accuracy"), score_text(worst.observed, "accuracy")
        )

    def table_data(self) -> Table:
        """Predicted, observed, rows, and the interval where it is known."""
        rows: list[list[float | None]] = [
            [entry.predicted, entry.observed, entry.rows, entry.low, entry.high]
            for entry in self.shown_bins()
        ]
        headers = ["predicted", "observed", "rows", "low", "high"]
        if self.bins_by_class:
            return headers, rows
        return headers[:3], [row[:3] for row in rows]
