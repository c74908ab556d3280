"""Predicted probabilities against what happened, with counts and bands."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.scores import score_in_words
from app.text.units import task_of
from app.views.plot.data_table import Table
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView
from app.widgets.quiet_controls import QuietComboBox

FLOOR, TALL, BAR = -0.2, 0.14, 0.02  # of the bars of counts: where, how high, half their width


class Calibration(ResultView):
    """A dot a bin of probabilities, with Wilson's interval and the count of its test rows."""

    name = "calibration"
    title = "Can its probabilities be trusted?"
    question = "On the dashed line, 70\u00a0% means 70\u00a0%."
    waiting = "A curve appears here when the test rows have been looked at."
    explained = "Bars: 95\u00a0% confidence interval; at the bottom: how many test rows."

    def __init__(self, parent: QWidget | None = None) -> None:
        self.of: dict[str, list[dict[str, Any]]] = {}  # {class: bins}
        super().__init__(parent)
        self.plot = self.canvas.add_plot(left=Scale(least=0.0))
        self.plot.bottom.set_title("predicted probability")
        self.plot.left.set_title("share that has it")
        self.diagonal, self.curve, self.bands = Lines(), Lines(), Lines()
        self.dots, self.counts = Dots("circle", 8), Band()
        for item in (self.counts, self.diagonal, self.bands, self.curve, self.dots):
            self.plot.addItem(item)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Classes with probabilities, of rows of a table or two of anything."""
        if (results.get("calibration") or {}).get("predicted"):
            return True
        labels = (results.get("confusion") or {}).get("labels") or ()
        sure = "log_loss" in (results.get("test") or {})
        return len(labels) > 2 and sure and not task_of(results)

    def controls(self) -> list[QWidget]:
        """The class that is told from the rest."""
        self.which = QuietComboBox()
        self.which.setAccessibleName("Class")
        self.which.activated.connect(lambda _at: self.redraw())
        self.which.hide()
        return [self.which]

    def show_results(self, results: dict[str, Any]) -> None:
        """What the results alone tell; `show_answer` adds bands and other classes."""
        self.of = {}
        self.which.clear()
        self.which.hide()
        super().show_results(results)

    def show_answer(self, answer: dict[str, Any]) -> None:
        """Bins with intervals, of every class."""
        of = answer.get("of") or {}
        self.of = {label: of[label]["calibration"] for label in answer.get("labels", [])}
        self.of = {label: bins for label, bins in self.of.items() if bins}
        self.which.clear()
        self.which.addItems(list(self.of))
        self.which.setVisible(bool(self.of))
        self.redraw()

    def has_content(self) -> bool:
        """From the results, or once the test rows have been looked at."""
        return bool(self.of) or bool((self.results.get("calibration") or {}).get("predicted"))

    def bins(self) -> list[dict[str, Any]]:
        """{predicted, observed, rows, low, high} of every bin; an old run has no band."""
        if self.of:
            return self.of[self.which.currentText()]
        curve = self.results["calibration"]
        counts = curve.get("counts") or [None] * len(curve["predicted"])
        triples = zip(curve["predicted"], curve["observed"], counts, strict=True)
        return [
            {"predicted": p, "observed": o, "rows": n, "low": None, "high": None}
            for p, o, n in triples
        ]

    def draw(self) -> None:
        """The curve with its bands, the counts, and the diagonal."""
        theme, bins = appearance.current(), self.bins()
        said = [one["predicted"] for one in bins]
        seen = [one["observed"] for one in bins]
        self.diagonal.set_style(pen(theme.muted, 1.4, dashed=True))
        self.diagonal.set_data([0.0, 1.0], [0.0, 1.0])
        self.curve.set_style(pen(theme.model, 1.4))
        self.dots.set_style(theme.model, theme.paper, 1.0)
        self.bands.set_style(pen(theme.model, 2.4))
        self.curve.set_data(said, seen)
        self.dots.set_data(said, seen)
        ends = [np.nan if v is None else v for one in bins for v in (one["low"], one["high"], None)]
        self.bands.set_data(np.repeat(np.array(said, dtype=float), 3), ends)
        self._draw_counts(bins)
        what = f"share that is “{self.which.currentText()}”" if self.of else "share that has it"
        self.plot.left.set_title(what)
        self._caption.setText(f"{self.question} {self.explained}" if self.of else self.question)
        self.plot.hold_x(-0.03, 1.03, exact=True)
        self.plot.hold_y(FLOOR, 1.03, exact=True)

    def _draw_counts(self, bins: list[dict[str, Any]]) -> None:
        """A bar at the bottom for the rows of every bin; without counts none."""
        rows = np.array([one["rows"] or 0 for one in bins], dtype=float)
        at = np.array([one["predicted"] for one in bins], dtype=float)
        heights = TALL * rows / max(float(rows.max(initial=0.0)), 1.0)
        places = np.column_stack([at - BAR, at - BAR, at + BAR, at + BAR]).ravel()
        tops = np.column_stack([0 * rows, heights, heights, 0 * rows]).ravel()
        self.counts.set_style(clear_colour(appearance.current().muted, 0.45))
        self.counts.set_data(places, np.full(len(places), FLOOR), FLOOR + tops)

    def describe(self) -> str:
        """The largest distance from the diagonal."""
        worst = max(self.bins(), key=lambda one: abs(one["predicted"] - one["observed"]))
        said = "Furthest off where it says {}: there {} have it."
        return said.format(
            score_in_words(worst["predicted"], "accuracy"),
            score_in_words(worst["observed"], "accuracy"),
        )

    def rows(self) -> Table:
        """Predicted, observed, rows, and the interval where it is known."""
        headers = ["predicted", "observed", "rows"]
        keys = ["predicted", "observed", "rows"]
        if self.of:
            headers, keys = [*headers, "low", "high"], [*keys, "low", "high"]
        return headers, [[one[key] for key in keys] for one in self.bins()]
