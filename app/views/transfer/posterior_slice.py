"""The joint surrogate along one hyperparameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.past.earlier_dataset_text import dataset_size_text
from app.text.setting_text import setting_title
from app.text.strategy_text import surrogate_of
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, clear_colour, pen
from app.views.plot.legend import LegendEntry, line_sample, symbol_sample
from app.views.plot.scales import Scale, axis_position
from app.views.plot.view_state import ViewState
from app.views.surrogate.slice_view import SliceView
from app.views.surrogate.surrogate_view import RANKING
from app.views.transfer.posterior_view import PosteriorView
from core.tuning.events import RunStarted

if TYPE_CHECKING:
    from core.gp.evaluations import JointSlice

PALE = 0.55  # opacity of earlier datasets


class PosteriorSlice(PosteriorView, SliceView):
    """The posterior along one axis; triangles for earlier datasets."""

    answer: JointSlice
    name = "common slice"
    title = "What all datasets predict"
    question = (
        "What did earlier datasets find, and this one? 0 is a dataset's own mean score, 1 is one "
        "standard deviation better."
    )
    of_ranks = (
        "What did earlier datasets find, and this one? The higher a setting lies, the more of the "
        "others it beats."
    )
    waiting = (
        "What earlier datasets found appears here before the first trial; this dataset's trials "
        "join it."
    )
    top = 1

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.legend = self.canvas.add_legend()
        self.paint_theme()

    def start(self, started: RunStarted) -> None:
        """Choose the question."""
        super().start(started)
        ranks = surrogate_of(started) == RANKING
        self.question = self.of_ranks if ranks else type(self).question
        self.set_words(self.title, self.question)

    def behind_trials(self) -> list[Dots]:
        """The trials of earlier datasets."""
        self.earlier = Dots("triangle", 8)
        return [self.earlier]

    def paint_theme(self) -> None:
        """Style earlier datasets."""
        super().paint_theme()
        theme = appearance.current()
        self.earlier.set_style(clear_colour(theme.observed, PALE), theme.observed, 0.8)

    def height_title(self) -> str:
        """The response."""
        return self.response_text()

    def higher_is_better(self) -> bool:
        """Always, whatever the metric."""
        return True

    def heights(self) -> np.ndarray:
        """The responses."""
        return self.responses()

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        """Draw earlier trials and the legend."""
        earlier = self.answer.earlier
        heights = np.array([trial.response for trial in earlier], dtype=float)
        self.earlier.set_data([axis_position(trial.x, scale) for trial in earlier], heights)
        theme = appearance.current()
        circle = symbol_sample("circle", 9, pen(theme.ink, 1.6))
        entries = [LegendEntry(circle, "this dataset"), LegendEntry(_paint_band, "expected")]
        if len(heights):
            pale = clear_colour(theme.observed, PALE)
            triangle = symbol_sample("triangle", 8, pen(theme.observed, 0.8), pale)
            entries.insert(0, LegendEntry(triangle, "earlier datasets"))
        self.legend.set_entries(entries, self.canvas.full_width)
        return heights

    def describe(self) -> str:
        """The origin, the maximum, and the next trial."""
        answer = self.answer
        top = self.value_text(answer.x[int(np.argmax(answer.mean))])
        words = "Joint surface along {} through the best setting. {} Highest at {}."
        sentence = words.format(setting_title(self.shown_axis), self.origin_text(), top)
        ahead = self.expected_next(answer.score_mean, answer.score_sd) if answer.settled else ""
        return f"{sentence} {ahead}".rstrip()

    def table_data(self) -> Table:
        """Position, mean, standard deviation; then every trial, this dataset's first."""
        answer = self.answer
        rows: list[list[Any]] = [
            [self.value_text(x) if answer.labels else x, mean, sd, None, None]
            for x, mean, sd in zip(answer.x, answer.mean, answer.sd, strict=True)
        ]
        for trial, response in zip(self.run.trials, self.responses(), strict=True):
            if np.isfinite(response):
                value = trial.setting.get(answer.axis)
                rows.append([value, None, None, float(response), "this dataset"])
        assert self.run.history is not None
        for earlier in answer.earlier:
            value = self.value_text(earlier.x) if answer.labels else earlier.x
            name = dataset_size_text(self.run.history.datasets[earlier.dataset].statistics)
            rows.append([value, None, None, earlier.response, name])
        headers = ["expected", "standard deviation", "found", "dataset"]
        return [setting_title(self.shown_axis), *headers], rows


def _paint_band(painter: QPainter, box: QRectF) -> None:
    theme = appearance.current()
    band = QRectF(box.left(), box.center().y() - 5, box.width(), 10)
    painter.fillRect(band, clear_colour(theme.model, 0.3))
    line_sample(pen(theme.model, 2.2))(painter, box)
