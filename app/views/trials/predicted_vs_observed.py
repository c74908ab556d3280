"""Predicted against observed scores of trials."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.score_text import metric_in_short
from app.text.strategy_text import surrogate_of
from app.views.plot.bar_words import TopLabels
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Dots, Lines, pen, whiskers
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.surrogate.surrogate_view import WITH_HISTORY
from core.tuning.events import RunStarted, TrialExcluded, TrialFailed, TrialFinished
from core.tuning.runs.trial_table import Trial

NAMED = 5  # of the first trials with a prediction, by their numbers


class PredictedVsObserved(View):
    """A dot for each trial with a whisker of one deviation."""

    name = "predicted"
    title = "Predicted and observed score"
    question = "Do trials come out as predicted? On the line they do."
    of_history = "Do first trials come out as earlier datasets predict? On the line they do."
    waiting = "Trials appear here as soon as the strategy predicts their scores."
    listens = (TrialFinished, TrialFailed, TrialExcluded)
    late = True

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot()
        self.diagonal, self.whiskers = Lines(), Lines()
        self.first, self.dots, self.other_dots = (Dots("circle", size) for size in (10, 8, 6))
        self.highlight, self.words = Highlight(), TopLabels()
        self.plot.add_marks(
            self.diagonal,
            self.whiskers,
            self.other_dots,
            self.dots,
            self.first,
            self.highlight,
            self.words,
        )

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs whose strategy predicts scores."""
        return bool(surrogate_of(started))

    def start(self, started: RunStarted) -> None:
        """Choose the question."""
        earlier = surrogate_of(started) in WITH_HISTORY
        self.question = self.of_history if earlier else type(self).question
        self.set_words(self.title, self.question)

    def paint_theme(self) -> None:
        """Style the marks."""
        theme = appearance.current()
        self.diagonal.set_style(pen(theme.control, 1.4, dashed=True))
        self.whiskers.set_style(pen(theme.model, 1.4))
        self.first.set_style(theme.observed, theme.ink, 1.4)
        self.dots.set_style(theme.paper, theme.observed, 1.6)
        self.other_dots.set_style(None, theme.control, 1.0)

    def predicted_trials(self) -> list[tuple[Trial, float, float | None]]:
        """(trial, prediction, standard deviation) by trial number."""
        scored = ((t, self.run.prediction(t)) for t in self.run.trials if not t.failure)
        rows = [(t, *prediction) for t, prediction in scored if prediction is not None]
        return sorted(rows, key=lambda row: row[0].number)

    def has_content(self) -> bool:
        """From the first prediction."""
        run = self.run
        predictions = (run.prediction(trial) for trial in reversed(run.trials) if not trial.failure)
        return any(prediction is not None for prediction in predictions)

    def draw(self) -> None:
        """Draw dots at (predicted, observed)."""
        self.paint_theme()
        predictions, run = self.predicted_trials(), self.run
        trials = [trial for trial, _, _ in predictions]
        metric = metric_in_short(run.started.metric)
        self.plot.bottom.set_title(f"predicted {metric}", run.started.maximize)
        self.plot.left.set_title(f"observed {metric}", run.started.maximize)
        x = np.array([expected for _, expected, _ in predictions], float)
        y = np.array([trial.score for trial in trials], float)
        sd = np.array([deviation or 0.0 for _, _, deviation in predictions], float)
        rows = np.array([run.row_of[trial.number] for trial in trials])
        clear = (self.record.filtered() & ~run.is_excluded)[rows]
        first = np.arange(len(trials)) < NAMED
        self.first.set_data(x[clear & first], y[clear & first])
        self.dots.set_data(x[clear & ~first], y[clear & ~first])
        self.other_dots.set_data(x[~clear], y[~clear])
        self.whiskers.set_data(*reversed(whiskers(y, x - sd, x + sd)))
        names = [str(trial.number) for trial in trials[:NAMED]]
        self.words.set_data(list(zip(x, y, names, strict=False)))
        self._set_limits(x, y, sd)
        all_expected = np.full(len(run.numbers), np.nan)
        all_expected[rows] = x
        self.highlight.ring_selected(self.record, all_expected, run.scores)
        self.canvas.set_pickable(self.plot, all_expected, run.scores, run.numbers)

    def _set_limits(self, x: np.ndarray, y: np.ndarray, sd: np.ndarray) -> None:
        values = np.concatenate([x, y])
        low, high = float(values.min()), float(values.max())
        room = 0.1 * (high - low) or 0.05
        self.plot.hold_x(min(low, float((x - sd).min())), max(high, float((x + sd).max())))
        self.plot.hold_y(low - room, high + room)
        (left, right), (bottom, top) = self.plot.vb.viewRange()
        ends = [min(left, bottom), max(right, top)]
        self.diagonal.set_data(ends, ends)

    def describe(self) -> str:
        """How many trials are within one standard deviation."""
        predictions = self.predicted_trials()
        near = sum(abs(t.score - expected) <= (sd or 0.0) for t, expected, sd in predictions)
        first, expected, _ = predictions[0]
        words = "{} of {} trials came out within one standard deviation of the prediction. "
        words += "Trial {}: {} was predicted, {} observed."
        numbers = (first.number, format_number(expected), format_number(first.score))
        return words.format(near, len(predictions), *numbers)

    def table_data(self) -> Table:
        """Trial, predicted, standard deviation, observed."""
        headers = ["trial", "predicted", "standard deviation", "observed"]
        rows = [[t.number, expected, sd, t.score] for t, expected, sd in self.predicted_trials()]
        return headers, rows
