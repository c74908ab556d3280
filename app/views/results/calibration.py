"""The calibration of predicted probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.score_text import score_text
from app.text.unit_names import task_of
from app.views.plot.data_table import Table
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen, whiskers
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView, hidden_chooser
from core.evaluation.calibration_bin import CalibrationBin
from core.tuning.run_results import Results
from core.tuning.why.answer_types import ClassDiagnostics, RowDiagnostics

FLOOR, TALL, BAR = -0.2, 0.14, 0.02  # of the bars of counts: where, how high, half their width


class Calibration(ResultView):
    """A dot a bin, with Wilson's interval and the count."""

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
        self.plot.add_marks(self.counts, self.diagonal, self.bands, self.curve, self.dots)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Classifications with probabilities, of rows of a table."""
        if results.calibration is not None and results.calibration.predicted:
            return True
        labels = results.confusion.labels if results.confusion is not None else ()
        return len(labels) > 2 and "log_loss" in results.test and not task_of(results)

    def controls(self) -> list[QWidget]:
        """The class against the rest."""
        self.which = hidden_chooser("Class", self.redraw)
        return [self.which]

    def show_results(self, results: Results) -> None:
        """Show the bins of the results, without intervals."""
        self.bins_by_class = {}
        self.which.clear()
        self.which.hide()
        super().show_results(results)

    def show_answer(self, answer: RowDiagnostics) -> None:
        """Show bins with intervals, of every class."""
        self.bins_by_class = {}
        if isinstance(answer, ClassDiagnostics):
            bins = {label: answer.of[label].calibration for label in answer.labels}
            self.bins_by_class = {label: entries for label, entries in bins.items() if entries}
        self.which.clear()
        self.which.addItems(list(self.bins_by_class))
        self.which.setVisible(bool(self.bins_by_class))
        self.redraw()

    def has_content(self) -> bool:
        """Whether there are bins."""
        return bool(self.shown_bins())

    def shown_bins(self) -> list[CalibrationBin]:
        """The bins; without intervals before there is an answer."""
        if self.bins_by_class:
            return self.bins_by_class[self.which.currentText()]
        curve = self.results.calibration
        if curve is None:
            return []
        counts: Sequence[int | None] = curve.counts or [None] * len(curve.predicted)
        triples = zip(curve.predicted, curve.observed, counts, strict=True)
        return [CalibrationBin(p, o, n, None, None) for p, o, n in triples]

    def draw(self) -> None:
        """Draw curve, bands, counts and diagonal."""
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
        ends = [entry.low for entry in bins], [entry.high for entry in bins]
        self.bands.set_data(*whiskers(probabilities, *ends))
        self._draw_counts(bins)
        title, caption = "share that has it", self.question
        if self.bins_by_class:
            title, caption = (
                f"share that is “{self.which.currentText()}”",
                f"{caption} {self.explained}",
            )
        self.plot.left.set_title(title)
        self._caption.setText(caption)
        self.plot.hold_x(-0.03, 1.03, exact=True)
        self.plot.hold_y(FLOOR, 1.03, exact=True)

    def _draw_counts(self, bins: list[CalibrationBin]) -> None:
        rows = np.array([entry.rows or 0 for entry in bins], dtype=float)
        centres = np.array([entry.predicted for entry in bins], dtype=float)
        heights = TALL * rows / max(float(rows.max(initial=0.0)), 1.0)
        corners = np.ravel(centres[:, None] + [-BAR, -BAR, BAR, BAR])
        tops = np.ravel(heights[:, None] * [0.0, 1.0, 1.0, 0.0])
        self.counts.set_style(clear_colour(appearance.current().muted, 0.45))
        self.counts.set_data(corners, np.full(len(corners), FLOOR), FLOOR + tops)

    def describe(self) -> str:
        """The largest distance from the diagonal."""
        worst = max(self.shown_bins(), key=lambda entry: abs(entry.predicted - entry.observed))
        shares = [score_text(share, "accuracy") for share in (worst.predicted, worst.observed)]
        return "Furthest off where it says {}: there {} have it.".format(*shares)

    def table_data(self) -> Table:
        """Predicted, observed, rows, and the interval where it is known."""
        headers = ["predicted", "observed", "rows", "low", "high"]
        rows = [[b.predicted, b.observed, b.rows, b.low, b.high] for b in self.shown_bins()]
        if self.bins_by_class:
            return headers, rows
        return headers[:3], [row[:3] for row in rows]
