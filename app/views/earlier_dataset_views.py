"""The earlier datasets that a strategy learns from: how near, and on which scale."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.history_text import (
    best_setting,
    dataset_size_text,
    datasets_used,
    known_datasets_text,
    short_setting_text,
    similarity,
    size_counts,
    standardization_text,
)
from app.text.plan_text import surrogate_of
from app.views.plot.axes import small_font
from app.views.plot.canvas import HoverText
from app.views.plot.items import Band, Dots, HorizontalBars, Lines, clear_colour, pen
from app.views.plot.labels import BarLabels
from app.views.plot.plot import Plot
from app.views.plot.scrolled_views import ScrolledBars
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.surrogate_view import WITH_HISTORY
from core.figures.figure import Table
from core.figures.scales import Scale
from core.tuning.events import (
    HistoryDataset,
    HistoryRead,
    JointSurfaceFitted,
    RunStarted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
)
from core.tuning.runs.state import ScoreStandardization
from core.tuning.scores.score import metric_in_short
from core.wording import format_number

NAMES = 0.42  # share of the width that the sizes may take
WORDS = 0.6  # share of the rest that the words beside the longest bar may take


class NearestDatasets(ScrolledBars):
    """A bar for each dataset in use; hatched if shipped."""

    name = "nearest"
    title = "Datasets like this one"
    question = (
        "Which earlier datasets count, and how similar are they to this one? Hatched: shipped with "
        "Tunescope."
    )
    waiting = "The earlier datasets that are most like this one appear here at once."
    listed = "Datasets shown"
    late = True
    listens = (HistoryRead, JointSurfaceFitted)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot.hideAxis("bottom")  # every bar says its own length
        self.bars, self.words = HorizontalBars(), BarLabels()
        self.plot.add_marks(self.bars, self.words)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return surrogate_of(started) in WITH_HISTORY

    @property
    def history(self) -> HistoryRead:
        """The history, once it was read."""
        assert self.run.history is not None
        return self.run.history

    def datasets(self) -> list[HistoryDataset]:
        """The datasets in use, nearest first."""
        return datasets_used(self.run.history, self.run.common)

    def has_content(self) -> bool:
        return bool(self.datasets())

    def waiting_reason(self) -> str:
        if self.run.history is None:
            return super().waiting_reason()
        return (
            "The history holds no other dataset with this model yet. When this run has "
            "ended, its trials will be there for the next dataset."
        )

    def draw(self) -> None:
        theme, datasets = appearance.current(), self.datasets()
        self._label_rows(datasets)
        ends = [100 * similarity(dataset.distance) for dataset in datasets]
        starters = [bool(dataset.starter) for dataset in datasets]
        colours = [theme.control if starter else theme.model for starter in starters]
        bars = [(float(row), 0.0, end) for row, end in enumerate(ends)]
        self.bars.set_data(bars, colours, starters, theme.ink)
        pixels = self.canvas.inner_width(self.plot)
        words, wide = self._fitting_words(datasets, ends, WORDS * pixels)
        self.words.set_data(list(zip(ends, range(len(ends)), words, strict=True)))
        room = min(WORDS, (wide + 14) / pixels)
        self.plot.hold_x(0.0, max(ends) / (1 - room), exact=True)
        self.show_rows(len(datasets))

    def _label_rows(self, datasets: list[HistoryDataset]) -> None:
        metrics, max_width = QFontMetricsF(small_font()), NAMES * self.canvas.width()
        for short in (False, True):
            names = [dataset_size_text(dataset.statistics, short) for dataset in datasets]
            if max(map(metrics.horizontalAdvance, names)) <= max_width:
                break
        self.name_rows(names, NAMES)

    def _fitting_words(
        self, datasets: list[HistoryDataset], ends: list[float], room: float
    ) -> tuple[list[str], float]:
        """The longest fitting texts, and their width in pixels."""
        metrics = QFontMetricsF(small_font())
        for part_count in (4, 3, 2, 1):
            texts = map(self._bar_texts, datasets, ends)
            words = [" · ".join(bar_texts[:part_count]) for bar_texts in texts]
            wide = max(metrics.horizontalAdvance(text) for text in words)
            if wide <= room:
                break
        return words, wide

    def _bar_texts(self, dataset: HistoryDataset, end: float) -> list[str]:
        """The texts beside a bar, the most important first."""
        count = len(dataset.scores)
        texts = [f"{round(end)} % similar", "1 trial" if count == 1 else f"{count} trials"]
        if dataset.starter:
            texts.append("shipped with Tunescope")
        if setting := best_setting(dataset, self.history.axes):
            texts.append(f"best at {short_setting_text(setting, 2)}")
        return texts

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        row, datasets = round(y), self.datasets()
        if not 0 <= row < len(datasets):
            return None
        end = 100 * similarity(datasets[row].distance)
        lines = [dataset_size_text(datasets[row].statistics), *self._bar_texts(datasets[row], end)]
        return HoverText("\n".join(lines), end, float(row))

    def describe(self) -> str:
        sentence = known_datasets_text(self.history, self.run.common)
        nearest = self.datasets()[0]
        percent = round(100 * similarity(nearest.distance))
        words = f"{percent} % similar, distance {format_number(nearest.distance)}."
        return f"{sentence} The nearest has {dataset_size_text(nearest.statistics)}; {words}"

    def table_data(self) -> Table:
        headers = ["rows", "columns", "classes", "similarity, %", "distance", "trials"]
        rows, axes = [], self.history.axes
        for dataset in self.datasets():
            best = short_setting_text(best_setting(dataset, axes), len(axes))
            near = [100 * similarity(dataset.distance), dataset.distance, len(dataset.scores)]
            origin = "shipped with Tunescope" if dataset.starter else "from here"
            rows.append([*size_counts(dataset.statistics), *near, best, origin])
        return [*headers, "best setting", "origin"], rows


class StandardizationView(View):
    """The scores, and mean ± one deviation."""

    name = "standardizing"
    title = "How scores are standardized"
    question = "Against which mean and deviation is a score of this dataset measured?"
    waiting = "They appear here with the first score."
    late = True
    listens = (JointSurfaceFitted, TrialFinished, TrialFailed, TrialExcluded)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(Scale("whole"))
        self.plot.bottom.set_title("trial")
        self.band, self.borrowed_band = Band(), Band()
        self.mean = Lines("mean of this dataset")
        self.borrowed_mean = Lines("mean of earlier datasets")
        self.dots, self.other_dots = Dots("circle", 8), Dots("circle", 6)
        self.plot.add_marks(
            self.band, self.borrowed_band, self.mean, self.borrowed_mean, self.other_dots, self.dots
        )

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return surrogate_of(started) == "common"

    def paint_theme(self) -> None:
        theme = appearance.current()
        self.band.set_style(clear_colour(theme.model, 0.24))
        self.borrowed_band.set_style(clear_colour(theme.control, 0.18))
        self.mean.set_style(pen(theme.model, 2.2))
        self.borrowed_mean.set_style(pen(theme.control, 1.8, dashed=True))
        self.dots.set_style(theme.observed, theme.ink, 1.0)
        self.other_dots.set_style(None, theme.control, 1.0)

    def has_content(self) -> bool:
        return bool(self._known_standards()) and bool(np.isfinite(self.run.scores).any())

    def _known_standards(self) -> list[tuple[int, ScoreStandardization]]:
        """(number of scores, standard) in order."""
        return sorted({s.trials: s for s in self.run.standards if s.trials}.items())

    def draw(self) -> None:
        run = self.run
        self.paint_theme()
        self.plot.left.set_title(metric_in_short(run.started.metric), run.started.maximize)
        last = max(float(np.max(run.numbers)), float(self._known_standards()[-1][0]))
        borrowed = (False, self.borrowed_band, self.borrowed_mean)
        for settled, band, line in ((True, self.band, self.mean), borrowed):
            x, mean, scale = self._step_corners(settled, last + 0.5)
            band.set_data(x, mean - scale, mean + scale)
            line.set_data(x, mean)
        clear = self.record.filtered() & ~run.is_excluded
        scored = np.isfinite(run.scores)
        self.dots.set_data(run.numbers[clear], run.scores[clear])
        self.other_dots.set_data(run.numbers[scored & ~clear], run.scores[scored & ~clear])
        self.mark_trials(run.numbers, run.scores)
        self._set_limits(last)
        caption = f"{self.question} {self.describe()}"
        if caption != self._caption.text():
            self._caption.setText(caption)

    def _step_corners(self, settled: bool, end: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, mean and scale at the corners."""
        standards = self._known_standards()
        until = [number - 0.5 for number, _ in standards[1:]] + [end]
        steps = [
            (number - 0.5, stop, standard.mean, standard.scale)
            for (number, standard), stop in zip(standards, until, strict=True)
            if standard.settled == settled
        ]
        begin, stop, mean, scale = np.array(steps, float).reshape(-1, 4).T
        return np.column_stack([begin, stop]).ravel(), np.repeat(mean, 2), np.repeat(scale, 2)

    def _set_limits(self, last: float) -> None:
        run = self.run
        end = max(last, float(run.total - 1)) if run.total else last
        self.plot.hold_x(-0.5 - 0.03 * end, end + 0.5 + 0.03 * end, exact=True)
        edges = [s.mean + sign * s.scale for _, s in self._known_standards() for sign in (-1, 1)]
        values = np.concatenate([run.scores[np.isfinite(run.scores)], edges])
        self.plot.hold_y(float(values.min()), float(values.max()))

    def describe(self) -> str:
        number, now = self._known_standards()[-1]
        has_history = self.run.history is not None and bool(self.run.history.datasets)
        return standardization_text(now.mean, now.scale, now.settled, number, has_history)

    def table_data(self) -> Table:
        headers = ["scores seen", "mean", "standard deviation", "taken from"]
        return headers, [
            [number, s.mean, s.scale, "this dataset" if s.settled else "earlier datasets"]
            for number, s in self._known_standards()
        ]
