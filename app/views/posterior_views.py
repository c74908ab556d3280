"""What trials and earlier datasets together believe: along one axis, and over two."""

from typing import Any

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app.look import appearance
from app.text.history_text import dataset_size_text, datasets_used
from app.text.plan_text import setting_title, surrogate_of
from app.views.plot.items import Dots, clear_colour, pen
from app.views.plot.legend import LegendEntry, line_sample, symbol_sample
from app.views.slice_views import SliceView
from app.views.surface_view import SurfaceView
from app.views.surrogate_view import RANKING, WITH_HISTORY, SurrogateView
from core.figures.figure import Table
from core.figures.scales import Scale, axis_position, near_range
from core.gp.evaluations import JointImage, JointSlice
from core.tuning import events
from core.wording import format_number


class PosteriorView(SurrogateView):
    """The surrogate of all datasets; responses are standardized scores, or ranks."""

    listens = (
        *(events.JointSurfaceFitted, events.HistoryRead, events.TrialExcluded),
        *(events.RunFinished, events.RunStopped),
    )
    surrogates = WITH_HISTORY

    @property
    def joint_fit(self) -> events.JointSurfaceFitted:
        assert self.run.common is not None
        return self.run.common

    @property
    def height_limits(self) -> tuple[float, float]:
        return -np.inf, np.inf  # responses, which the evaluator has limited

    def height_scale(self) -> Scale:
        return Scale()

    def maximize(self) -> bool:
        return True

    def near_heights(self, heights: np.ndarray) -> tuple[float, float]:
        return near_range(heights, maximize=True)

    def waiting_reason(self) -> str:
        history = self.run.history
        if history is None or history.datasets or self.latest_fit() is not None:
            return super().waiting_reason()
        return (
            "The history holds no other dataset with this model yet. This dataset's own "
            "trials appear here after the first one."
        )

    def latest_fit(self) -> events.JointSurfaceFitted | None:
        return self.run.common if self.run.history is not None else None

    def heights(self) -> np.ndarray:
        run, common = self.run, self.joint_fit
        responses = np.full(len(run.numbers), np.nan)
        for number, response in zip(common.numbers, common.responses, strict=True):
            row = run.row_of.get(number)
            if row is not None and np.isfinite(run.scores[row]):
                responses[row] = response
        return responses

    def datasets_used(self) -> list[events.HistoryDataset]:
        # Without neighbours nothing earlier was fitted, whatever the history holds.
        return datasets_used(self.run.history, self.joint_fit) if self.joint_fit.neighbours else []

    def origin_text(self) -> str:
        trials, dataset_count = self.joint_fit.trials, len(self.datasets_used())
        if not dataset_count:
            return f"The history is empty: this comes from this dataset's {trials} trials."
        past = sum(len(responses) for responses in self.joint_fit.past_responses)
        return f"From {trials} trials of this dataset and {past} of {dataset_count} earlier ones."


PALE = 0.55  # opacity of earlier datasets


class PosteriorSlice(PosteriorView, SliceView):
    """The posterior along one axis; triangles for earlier datasets."""

    answer: JointSlice
    name = "common slice"
    title = "What all datasets predict"
    question = (
        "What did earlier datasets find, and this one? 0 is a dataset's usual score, 1 is one "
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

    def make_plots(self) -> None:
        super().make_plots()
        self.legend = self.canvas.add_legend()

    def start(self, started: events.RunStarted) -> None:
        super().start(started)
        self.question = self.of_ranks if surrogate_of(started) == RANKING else type(self).question
        self.set_words(self.title, self.question)

    def behind_trials(self) -> list[Dots]:
        self.earlier = Dots("triangle", 8)
        return [self.earlier]

    def height_title(self) -> str:
        return "rank" if surrogate_of(self.run.started) == RANKING else "better than usual"

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        earlier = self.answer.earlier
        heights = np.array([trial.response for trial in earlier], dtype=float)
        self.earlier.set_data([axis_position(trial.x, scale) for trial in earlier], heights)
        theme = appearance.current()
        pale = clear_colour(theme.observed, PALE)
        self.earlier.set_style(pale, theme.observed, 0.8)
        circle = symbol_sample("circle", 9, pen(theme.ink, 1.6))
        entries = [LegendEntry(circle, "this dataset"), LegendEntry(_paint_band, "expected")]
        if len(heights):
            triangle = symbol_sample("triangle", 8, pen(theme.observed, 0.8), pale)
            entries.insert(0, LegendEntry(triangle, "earlier datasets"))
        self.legend.set_entries(entries, self.canvas.full_width)
        return heights

    def describe(self) -> str:
        answer = self.answer
        top = self.value_text(answer.x[int(np.argmax(answer.mean))])
        words = "Joint surface along {} through the best setting. {} Highest at {}."
        sentence = words.format(setting_title(self.shown_axis), self.origin_text(), top)
        # Before two scores differ, nobody knows which score a response stands for.
        ahead = self.expected_next(answer.score_mean, answer.score_sd) if answer.settled else ""
        return f"{sentence} {ahead}".rstrip()

    def table_data(self) -> Table:
        answer = self.answer
        rows: list[list[Any]] = [
            [self.value_text(x) if answer.labels else x, mean, sd, None, None]
            for x, mean, sd in zip(answer.x, answer.mean, answer.sd, strict=True)
        ]
        for trial, response in zip(self.run.trials, self.heights(), strict=True):
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


class PosteriorSurface(PosteriorView, SurfaceView):
    """The mean over two axes; small triangles for earlier datasets."""

    answer: JointImage
    name = "common surface"
    title = "Pairs of settings"
    question = "Which pairs did well earlier (triangles), and here (circles)?"
    waiting = "What earlier datasets found appears here before the first trial."

    def behind_trials(self) -> list[Dots]:
        self.earlier = Dots("triangle", 7)
        return [self.earlier]

    def height_title(self) -> str:
        return "response"

    def heights(self) -> np.ndarray:
        return np.append(super().heights(), [trial.response for trial in self.answer.earlier])

    def draw_more(self) -> None:
        (x_scale, y_scale), earlier = self.axis_scales, self.answer.earlier
        self.earlier.set_style(clear_colour("#FFFFFF", 0.45), "#1F2933", 0.7)
        x = [axis_position(trial.x, x_scale) for trial in earlier]
        self.earlier.set_data(x, [axis_position(trial.y, y_scale) for trial in earlier])

    def describe(self) -> str:
        answer = self.answer
        mean = np.array(answer.mean)
        row, column = np.unravel_index(int(np.argmax(mean)), mean.shape)
        x, y = answer.x_labels or answer.x, answer.y_labels or answer.y
        words = "Joint surface over {} and {}. {} Highest at {} and {}."
        pair = [p if isinstance(p, str) else format_number(p) for p in (x[column], y[row])]
        names = map(setting_title, self.shown_axes())
        return words.format(*names, self.origin_text(), *pair) + " Bright is better."
