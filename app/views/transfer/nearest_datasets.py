"""The earlier datasets most similar to this one."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.past.earlier_dataset_text import (
    best_setting,
    dataset_size_text,
    datasets_used,
    known_datasets_text,
    short_setting_text,
    similarity,
    size_counts,
)
from app.text.strategy_text import surrogate_of
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.hover_text import HoverText
from app.views.plot.plot import Plot
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.plot.view_state import ViewState
from app.views.surrogate.surrogate_view import WITH_HISTORY
from core.tuning.events import HistoryRead, JointSurfaceFitted, RunStarted
from core.tuning.payloads import HistoryDataset

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

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs whose strategy learns from earlier datasets."""
        return surrogate_of(started) in WITH_HISTORY

    @property
    def history(self) -> HistoryRead:
        """The history, once it was read."""
        assert self.run.history is not None
        return self.run.history

    def datasets(self) -> list[HistoryDataset]:
        """The datasets in use, nearest first."""
        return datasets_used(self.run.history, self.run.common)

    def row_count(self) -> int:
        """The number of datasets."""
        return len(self.datasets())

    def has_content(self) -> bool:
        """Where the history has datasets."""
        return bool(self.datasets())

    def waiting_reason(self) -> str:
        """Why there is nothing."""
        if self.run.history is None:
            return super().waiting_reason()
        return (
            "The history holds no other dataset with this model yet. When this run has "
            "ended, its trials will be there for the next dataset."
        )

    def draw(self) -> None:
        """Draw bars to the similarity in percent."""
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
        self.show_window()

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
        """Everything about the dataset of a row."""
        row, datasets = round(y), self.datasets()
        if not 0 <= row < len(datasets):
            return None
        end = 100 * similarity(datasets[row].distance)
        lines = [dataset_size_text(datasets[row].statistics), *self._bar_texts(datasets[row], end)]
        return HoverText("\n".join(lines), end, float(row))

    def describe(self) -> str:
        """How many are stored and used, and the nearest."""
        sentence = known_datasets_text(self.history, self.run.common)
        nearest = self.datasets()[0]
        percent = round(100 * similarity(nearest.distance))
        words = f"{percent} % similar, distance {format_number(nearest.distance)}."
        return f"{sentence} The nearest has {dataset_size_text(nearest.statistics)}; {words}"

    def table_data(self) -> Table:
        """Rows, columns, classes, similarity, distance, trials, best setting, origin."""
        headers = ["rows", "columns", "classes", "similarity, %", "distance", "trials"]
        rows, axes = [], self.history.axes
        for dataset in self.datasets():
            best = short_setting_text(best_setting(dataset, axes), len(axes))
            near = [100 * similarity(dataset.distance), dataset.distance, len(dataset.scores)]
            origin = "shipped with Tunescope" if dataset.starter else "from here"
            rows.append([*size_counts(dataset.statistics), *near, best, origin])
        return [*headers, "best setting", "origin"], rows
