"""The Gaussian process and its acquisition along one hyperparameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number, format_value
from app.text.score_text import metric_in_short
from app.text.setting_text import setting_title
from app.views.plot.data_table import Table
from app.views.plot.items import Band, Lines, clear_colour, pen
from app.views.plot.marker import Marker
from app.views.plot.scales import Scale
from app.views.plot.view_state import ViewState
from app.views.surrogate.slice_view import SliceView

if TYPE_CHECKING:
    from core.gp.evaluations import ScoreSlice

ACQUISITIONS = {"ei": "gain", "pi": "chance", "mean": "score"}


class GpSlice(SliceView):
    """Mean with bands of one and two deviations, and acquisition."""

    answer: ScoreSlice
    name = "slice"
    title = "What the surrogate expects"
    question = "Where might better settings be? Bands: one and two standard deviations."
    waiting = "Its expectation appears here after the first few trials."

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.below = self.canvas.add_plot(row=1)
        self.below.setXLink(self.plot)
        self.plot.bottom.hide_labels()
        for row, share in ((0, 7), (1, 3)):
            self.canvas.ci.layout.setRowStretchFactor(row, share)
        self.area, self.promise, self.next_below = Band(), Lines(), Marker()
        self.markers.append(self.next_below)
        self.below.add_marks(self.area, self.promise, self.next_below)
        self.paint_theme()

    def paint_theme(self) -> None:
        """Style the acquisition."""
        super().paint_theme()
        theme = appearance.current()
        self.area.set_style(clear_colour(theme.observed, 0.2))
        self.promise.set_style(pen(theme.observed, 1.8))

    def height_title(self) -> str:
        """The metric."""
        return metric_in_short(self.run.started.metric)

    def heights(self) -> np.ndarray:
        """The scores."""
        return self.run.scores

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        """Draw the acquisition."""
        kind = self.run.surrogate.acquisition if self.run.surrogate else "ei"
        self._show_below(kind != "mean", setting_title(self.shown_axis))
        self.below.left.set_title(ACQUISITIONS.get(kind, ""), maximize=True)
        promise = self.curve_of(self.answer.acquisition)
        self.promise.set_data(x, promise)
        floor = 0.0 if kind != "mean" else float(np.nanmin(promise))
        self.area.set_data(x, np.full(len(x), floor), promise)
        top = float(np.nanmax(promise))
        self.below.forget_ranges()  # its height says nothing; its shape does
        self.below.hold_y(floor, top if top > floor else floor + 1e-9)
        return np.empty(0)

    def extra_lines(self, index: int) -> list[str]:
        """The acquisition."""
        kind = self.run.surrogate.acquisition if self.run.surrogate else "ei"
        word = {"ei": "expected improvement", "pi": "probability of improvement"}.get(kind)
        return [f"{word} {format_number(self.answer.acquisition[index])}"] if word else []

    def _show_below(self, shown: bool, label: str) -> None:
        """Show the lower plot unless the acquisition is the mean."""
        upper = self.plot.bottom
        upper.set_title("" if shown else label)
        if shown != upper.labelled:
            return
        if shown:
            self.canvas.addItem(self.below, row=1, col=0)
            self.canvas.plots.append(self.below)
            upper.hide_labels()
        else:
            self.canvas.removeItem(self.below)
            self.canvas.plots.remove(self.below)
            upper.show_labels()

    def describe(self) -> str:
        """The best, and the next trial with its expected score."""
        best, answer = self.run.best_trial, self.answer
        sentence = f"Slice along {setting_title(self.shown_axis)} through the best setting."
        if best is not None:
            best_value = format_value(best.setting.get(answer.axis))
            sentence += f" Best {format_number(best.score)} at {best_value}."
        return f"{sentence} {self.expected_next(answer.mean, answer.sd)}".rstrip()

    def table_data(self) -> Table:
        """Position, mean, standard deviation, acquisition; then the trials."""
        answer = self.answer
        headers = [setting_title(self.shown_axis), "expected", "standard deviation", "promise"]
        values = map(self.value_text, answer.x) if answer.labels else answer.x
        curves = zip(values, answer.mean, answer.sd, answer.acquisition, strict=True)
        rows: list[list[Any]] = [[*numbers, None] for numbers in curves]
        for trial in self.run.trials:
            if not trial.failure:
                rows.append([trial.setting.get(answer.axis), None, None, None, trial.score])
        return [*headers, "score of a trial"], rows
