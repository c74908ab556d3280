"""The earlier datasets that a strategy learns from: how near, and on which scale."""

import numpy as np
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.text import history_text as texts
from app.text.plan_text import surrogate_of
from app.views.plot.axes import small_font
from app.views.plot.canvas import HoverText
from app.views.plot.figure_painter import BESIDE, MOST_WORDS
from app.views.plot.plot import Plot
from app.views.plot.scrolled_views import ScrolledBars
from app.views.plot.view import View
from app.views.surrogate_view import WITH_HISTORY
from core.figures import figure as data
from core.figures.scales import Scale
from core.tuning import events
from core.tuning.runs.state import ScoreStandardization
from core.tuning.scores.score import score_limits
from core.wording import format_number

NAMES = 0.42  # share of the width that the sizes may take


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
    names_share = NAMES
    late = True
    listens = (events.HistoryRead, events.JointSurfaceFitted)

    def make_content(self) -> QWidget:
        content = super().make_content()
        # Every bar says its own length.
        self.plot.bottom.hide()
        return content

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return surrogate_of(started) in WITH_HISTORY

    @property
    def shown_moment(self) -> int:
        return self.moment_of(self.run.common)

    @property
    def history(self) -> events.HistoryRead:
        assert self.run.history is not None
        return self.run.history

    def datasets(self) -> list[events.HistoryDataset]:
        return texts.datasets_used(self.run.history, self.run.common)

    def has_content(self) -> bool:
        return bool(self.datasets())

    def waiting_reason(self) -> str:
        if self.run.history is None:
            return super().waiting_reason()
        return (
            "The history holds no other dataset with this model yet. When this run has "
            "ended, its trials will be there for the next dataset."
        )

    def figure(self) -> data.Figure:
        datasets, rows = self.datasets(), np.arange(len(self.datasets()), dtype=float)
        ends = [100 * texts.similarity(dataset.distance) for dataset in datasets]
        starters = [bool(dataset.starter) for dataset in datasets]
        colours = ["control" if starter else "model" for starter in starters]
        names, words = self._fitting_texts(datasets, ends)
        counts_text = texts.known_datasets_text(self.history, self.run.common)
        size, distance = texts.dataset_size_text(datasets[0].statistics), datasets[0].distance
        closeness = f"{round(ends[0])} % similar, distance {format_number(distance)}"
        return data.Figure(
            self.title,
            data.FigureAxis("", low=0.0, high=max(ends), exact=True),
            data.FigureAxis("", Scale("choice", names)),
            (
                data.Bars("bars", rows, 0.0, ends, colours, starters, "ink"),
                data.Labels("words", ends, rows, words),
            ),
            f"{counts_text} The nearest has {size}; {closeness}.",
            self._datasets_table,
        )

    def _fitting_texts(
        self, datasets: list[events.HistoryDataset], ends: list[float]
    ) -> tuple[tuple[str, ...], list[str]]:
        """Names and words, each the longest that fit."""
        metrics, width = QFontMetricsF(small_font()), self.canvas.full_width
        for is_short in (False, True):
            names = [texts.dataset_size_text(dataset.statistics, is_short) for dataset in datasets]
            widest = max(map(metrics.horizontalAdvance, names))
            if widest <= NAMES * width:
                break
        phrases = list(map(self._bar_texts, datasets, ends))
        # What has no room is left out from the end, where it matters least.
        for phrase_count in (4, 3, 2, 1):
            words = [" · ".join(bar_phrases[:phrase_count]) for bar_phrases in phrases]
            longest = max(map(metrics.horizontalAdvance, words)) + BESIDE
            if longest <= MOST_WORDS * (width - widest):
                break
        return tuple(names), words

    def _bar_texts(self, dataset: events.HistoryDataset, end: float) -> list[str]:
        count = len(dataset.scores)
        phrases = [f"{round(end)} % similar", "1 trial" if count == 1 else f"{count} trials"]
        if dataset.starter:
            phrases.append("shipped with Tunescope")
        if setting := texts.best_setting(dataset, self.history.axes):
            phrases.append(f"best at {texts.short_setting_text(setting, 2)}")
        return phrases

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        row, datasets = round(y), self.datasets()
        if not 0 <= row < len(datasets):
            return None
        end, size = 100 * texts.similarity(datasets[row].distance), datasets[row].statistics
        lines = [texts.dataset_size_text(size), *self._bar_texts(datasets[row], end)]
        return HoverText("\n".join(lines), end, float(row))

    def _datasets_table(self) -> data.Table:
        headers = ["rows", "columns", "classes", "similarity, %", "distance", "trials"]
        rows, axes = [], self.history.axes
        for dataset in self.datasets():
            best = texts.short_setting_text(texts.best_setting(dataset, axes), len(axes))
            near = [100 * texts.similarity(dataset.distance), dataset.distance, len(dataset.scores)]
            origin = "shipped with Tunescope" if dataset.starter else "from here"
            rows.append([*texts.size_counts(dataset.statistics), *near, best, origin])
        return [*headers, "best setting", "origin"], rows


class StandardizationView(View):
    """The scores, and mean ± one deviation."""

    name = "standardizing"
    title = "How scores are standardized"
    question = "Against which mean and deviation is a score of this dataset measured?"
    waiting = "They appear here with the first score."
    late = True
    listens = (
        *(events.TrialFinished, events.TrialFailed, events.TrialExcluded),
        events.JointSurfaceFitted,
    )

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return surrogate_of(started) == "common"

    def has_content(self) -> bool:
        return bool(self._known_standards()) and bool(np.isfinite(self.run.scores).any())

    def _known_standards(self) -> list[tuple[int, ScoreStandardization]]:
        return sorted({s.trials: s for s in self.run.standards if s.trials}.items())

    def figure(self) -> data.Figure:
        run, standards = self.run, self._known_standards()
        last = max(float(np.max(run.numbers)), float(standards[-1][0]))
        end = max(last, run.total - 1.0)
        settled, own_low, own_high = self._standard_lines(True, last + 0.5)
        borrowed, borrowed_low, borrowed_high = self._standard_lines(False, last + 0.5)
        clear = self.record.filtered() & ~run.is_excluded
        hollow = np.isfinite(run.scores) & ~clear
        low, high = data.range_of(run.scores, own_low, own_high, borrowed_low, borrowed_high)
        metric, maximize = run.started.metric, run.started.maximize
        return data.Figure(
            self.title,
            data.FigureAxis(
                "trial", Scale("whole"), None, -0.5 - 0.03 * end, end + 0.5 + 0.03 * end, exact=True
            ),
            data.score_axis(metric, maximize, low, high),
            (
                data.Band("band", settled.x, own_low, own_high, opacity=0.24),
                data.Band("earlier", borrowed.x, borrowed_low, borrowed_high, "control", 0.18),
                settled,
                borrowed,
                data.Dots("others", run.numbers[hollow], run.scores[hollow], None, "control", 6),
                data.Dots("dots", run.numbers[clear], run.scores[clear], "observed", "ink", 8),
            ),
            texts.standardization_text(
                standards[-1][1], bool(run.history and run.history.datasets), metric
            ),
            self._standards_table,
        )

    def draw(self) -> None:
        super().draw()
        self.mark_trials(self.run.numbers, self.run.scores)
        self.set_question(f"{self.question} {self.describe()}")

    def _standard_lines(
        self, settled: bool, end: float
    ) -> tuple[data.Lines, np.ndarray, np.ndarray]:
        standards = self._known_standards()
        until = [number - 0.5 for number, _ in standards[1:]] + [end]
        steps = [
            (number - 0.5, stop, standard.mean, standard.scale)
            for (number, standard), stop in zip(standards, until, strict=True)
            if standard.settled == settled
        ]
        begin, stop, mean, scale = np.array(steps, float).reshape(-1, 4).T
        x, mean, scale = np.column_stack([begin, stop]).ravel(), mean.repeat(2), scale.repeat(2)
        line = data.Lines("mean", x, mean, width=2.2, label="usual score of this dataset")
        if not settled:
            label = "deviation of earlier datasets"
            line = data.Lines("borrowed mean", x, mean, "control", 1.8, dashed=True, label=label)
        limits = score_limits(self.run.started.metric)
        return line, np.clip(mean - scale, *limits), np.clip(mean + scale, *limits)

    def _standards_table(self) -> data.Table:
        return ["scores seen", "mean", "standard deviation", "taken from"], [
            [number, s.mean, s.scale, _source_of(s)] for number, s in self._known_standards()
        ]


def _source_of(standard: ScoreStandardization) -> str:
    if not standard.settled:
        return "earlier datasets"
    return "both" if standard.is_shared else "this dataset"
