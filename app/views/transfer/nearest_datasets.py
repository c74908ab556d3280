"""The earlier datasets that decide trials, nearest first: how large, how alike, what they found."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain
from app.text.past.datasets import (
    best_setting,
    counts,
    datasets_used,
    history_in_words,
    likeness,
    setting_in_words,
    size_in_words,
)
from app.text.strategies import surrogate_of
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.plot import Plot
from app.views.plot.pointer import Reading
from app.views.plot.record import Record
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.surrogate.surrogate_view import WITH_HISTORY
from core.tuning.events import CommonSurfaceFitted, HistoryRead, RunStarted
from core.tuning.payloads import HistoryDataset

NAMES = 0.42  # share of the width that the sizes may take
WORDS = 0.6  # share of the rest that the words beside the longest bar may take


class NearestDatasets(ScrolledBars):
    """A bar for each dataset that is used, the longer the more alike; hatched if it came along."""

    name = "nearest"
    title = "Datasets like this one"
    question = (
        "Which earlier datasets count, and how similar are they to this one? Hatched: shipped with "
        "Tunescope."
    )
    waiting = "The earlier datasets that are most like this one appear here at once."
    listed = "Datasets shown"
    late = True
    listens = (HistoryRead, CommonSurfaceFitted)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot.hideAxis("bottom")  # every bar says its own length

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs whose strategy learns from earlier datasets."""
        return surrogate_of(started) in WITH_HISTORY

    def datasets(self) -> list[HistoryDataset]:
        """Those that are used, nearest first."""
        return datasets_used(self.run.history, self.run.common)

    def count(self) -> int:
        """The datasets."""
        return len(self.datasets())

    def has_content(self) -> bool:
        """Where the history holds something."""
        return bool(self.datasets())

    def waits_for(self) -> str:
        """Why there is nothing."""
        if self.run.history is None:
            return super().waits_for()
        return (
            "The history holds no other dataset with this model yet. When this run has "
            "ended, its trials will be there for the next dataset."
        )

    def draw(self) -> None:
        """Bars from 0 to the likeness in percent."""
        theme, datasets = appearance.current(), self.datasets()
        self._name(datasets)
        ends = [100 * likeness(one.distance) for one in datasets]
        starters = [bool(one.starter) for one in datasets]
        self.bars.set_data(
            [(float(row), 0.0, end) for row, end in enumerate(ends)],
            [theme.control if starter else theme.model for starter in starters],
            starters,
            theme.ink,
        )
        pixels = self.canvas.inner_width(self.plot)
        words, wide = self._fitting_words(datasets, ends, WORDS * pixels)
        self.words.set_data(
            [(end, row, text) for row, (end, text) in enumerate(zip(ends, words, strict=True))]
        )
        room = min(WORDS, (wide + 14) / pixels)
        self.plot.hold_x(0.0, max(ends) / (1 - room), exact=True)
        self.show_window()

    def _name(self, datasets: list[HistoryDataset]) -> None:
        metrics, most = QFontMetricsF(small_font()), NAMES * self.canvas.width()
        for short in (False, True):
            names = [size_in_words(one.statistics, short) for one in datasets]
            if max(map(metrics.horizontalAdvance, names)) <= most:
                break
        self.name_rows(names, NAMES)

    def _fitting_words(
        self, datasets: list[HistoryDataset], ends: list[float], room: float
    ) -> tuple[list[str], float]:
        """The most that can be said beside the bars, and its width in pixels."""
        metrics = QFontMetricsF(small_font())
        for parts in (4, 3, 2, 1):
            words = [
                " · ".join(self._said_of(one, end)[:parts])
                for one, end in zip(datasets, ends, strict=True)
            ]
            wide = max(metrics.horizontalAdvance(text) for text in words)
            if wide <= room:
                break
        return words, wide

    def _said_of(self, dataset: HistoryDataset, end: float) -> list[str]:
        """What is said beside a bar, the most important first."""
        number = len(dataset.scores)
        trials = "1 trial" if number == 1 else f"{number} trials"
        said = [f"{round(end)} % alike", trials]
        if dataset.starter:
            said.append("shipped with Tunescope")
        if setting := best_setting(dataset, self.run.history.axes):
            said.append(f"best at {setting_in_words(setting, 2)}")
        return said

    def reading(self, plot: Plot, x: float, y: float) -> Reading | None:
        """Everything that is known of the dataset whose row it is."""
        row, datasets = round(y), self.datasets()
        if not 0 <= row < len(datasets):
            return None
        end = 100 * likeness(datasets[row].distance)
        said = [size_in_words(datasets[row].statistics), *self._said_of(datasets[row], end)]
        return Reading("\n".join(said), end, float(row))

    def describe(self) -> str:
        """How many are known and used, and the nearest."""
        said = history_in_words(self.run.history, self.run.common)
        nearest = self.datasets()[0]
        alike = f"{round(100 * likeness(nearest.distance))} % alike"
        words = f"{alike}, distance {plain(nearest.distance)}."
        return f"{said} The nearest has {size_in_words(nearest.statistics)}; {words}"

    def rows(self) -> Table:
        """Rows, columns, classes, likeness, distance, trials, best setting, where it came from."""
        headers = ["rows", "columns", "classes", "alike, %", "distance", "trials", "best setting"]
        axes = self.run.history.axes
        rows = [
            [
                *counts(one.statistics),
                100 * likeness(one.distance),
                one.distance,
                len(one.scores),
                setting_in_words(best_setting(one, axes), len(axes)),
                "shipped with Tunescope" if one.starter else "from here",
            ]
            for one in self.datasets()
        ]
        return [*(header for header in headers), "origin"], rows
