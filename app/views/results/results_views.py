"""The views of the Results page."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.results.average_result_text import members_of
from app.text.score_text import metric_in_short, score_text, score_texts
from app.text.unit_names import task_of
from app.views.plot.bar_words import TopLabels
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen, whiskers
from app.views.plot.scales import Scale
from app.views.results.calibration import Calibration
from app.views.results.confusion import ConfusionMatrix
from app.views.results.pairs_curve import PairsCurve
from app.views.results.result_view import ResultView
from core.tuning.run_results import PredictionPairs, Results

ROOM = 0.06  # of what is shown, on both sides: half the width of a score's words


class ScoreComparison(ResultView):
    """Tuned, default and baseline model on test rows."""

    name = "scores"
    title = "Was tuning worth it?"
    question = "Dot: score on the test set. Line: its 95\u00a0% confidence interval."
    waiting = "Scores on test rows appear here when a run has ended."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot(Scale(), Scale("choice"))
        self.plot.vb.invertY(True)
        self.tuned_line, self.other_lines = Lines(), Lines()
        self.tuned, self.other_dots = Dots("circle", 13), Dots("diamond", 13)
        self.words = TopLabels()
        self.plot.add_marks(
            self.other_lines, self.tuned_line, self.other_dots, self.tuned, self.words
        )

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Results with a test score."""
        return results.metric in results.test

    def entries(self) -> list[tuple[str, float, float, float]]:
        """(who, score, low, high) from top to bottom, NaN without interval."""
        entries, results = [], self.results
        for who, scores, interval in (
            (self._tuned_label(), results.test, results.test_interval),
            ("default setting", results.default_test, results.default_interval),
            ("baseline", results.baseline_test, results.baseline_interval),
        ):
            score = scores.get(results.metric)
            ends = interval or (None, None)
            low, high = (math.nan if end is None else float(end) for end in ends)
            if score is not None:
                entries.append((who, float(score), low, high))
        return entries

    def _tuned_label(self) -> str:
        count = members_of(self.results)
        return "tuned" if count < 2 else f"average of {count}"

    def draw(self) -> None:
        """Draw one row each."""
        theme, entries, metric = appearance.current(), self.entries(), self.results.metric
        self.plot.left.set_scale(Scale("choice", tuple(who for who, *_ in entries)))
        measured = f"{metric_in_short(metric)} on test {task_of(self.results).units}"
        self.plot.bottom.set_title(measured, self.results.maximize)
        self.tuned_line.set_style(pen(theme.model, 3.0))
        self.other_lines.set_style(pen(theme.muted, 3.0))
        self.tuned.set_style(theme.model, theme.paper, 1.5)
        self.other_dots.set_style(theme.muted, theme.paper, 1.5)
        rows = np.arange(len(entries), dtype=float)
        scores = np.array([score for _, score, _, _ in entries])
        lows, highs = (np.array([entry[column] for entry in entries]) for column in (2, 3))
        self.tuned_line.set_data([lows[0], highs[0]], [0.0, 0.0])
        self.other_lines.set_data(*reversed(whiskers(rows[1:], lows[1:], highs[1:])))
        self.tuned.set_data(scores[:1], rows[:1])
        self.other_dots.set_data(scores[1:], rows[1:])
        texts = score_texts(scores.tolist(), metric)
        self.words.set_data(list(zip(scores, rows, texts, strict=True)))
        ends = np.concatenate([scores, lows, highs])
        low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
        room = ROOM * (high - low)
        self.plot.hold_x(low - room, high + room)
        self.plot.hold_y(-0.8, len(entries) - 0.4, exact=True)

    def describe(self) -> str:
        """Every score with its interval."""
        sentences = []
        for who, *numbers in self.entries():
            score, low, high = (score_text(number, self.results.metric) for number in numbers)
            between = f" (between {low} and {high})" if math.isfinite(numbers[1]) else ""
            sentences.append(f"{who} {score}{between}")
        return "; ".join(sentences) + "."

    def table_data(self) -> Table:
        """Who, score, low, high."""
        return ["setting", "score", "low", "high"], [list(entry) for entry in self.entries()]


class PredictedVsActual(ResultView):
    """Predicted against actual values of test rows."""

    name = "predicted"
    title = "How near are its predictions?"
    question = "On the dashed line, a prediction is exact."
    waiting = "Predictions for test rows appear here when a run has ended."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = self.canvas.add_plot()
        self.plot.bottom.set_title("actual")
        self.plot.left.set_title("predicted")
        self.diagonal, self.dots = Lines(), Dots("circle", 7)
        self.plot.add_marks(self.dots, self.diagonal)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Regressions."""
        return results.predictions is not None and bool(results.predictions.actual)

    def _value_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        predictions = self.results.predictions or PredictionPairs()
        return np.array(predictions.actual, float), np.array(predictions.tuned, float)

    def draw(self) -> None:
        """Draw a dot a row, and the diagonal."""
        theme = appearance.current()
        actual, tuned = self._value_pairs()
        values = np.concatenate([actual, tuned])
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        self.diagonal.set_style(pen(theme.ink, 1.6, dashed=True))
        self.diagonal.set_data([low, high], [low, high])
        self.dots.set_style(theme.observed, theme.ink, 0.8)
        self.dots.set_data(actual, tuned)
        self.plot.hold_x(low, high)
        self.plot.hold_y(low, high)

    def describe(self) -> str:
        """The number of rows, and the median absolute error."""
        actual, tuned = self._value_pairs()
        middle = float(np.nanmedian(np.abs(actual - tuned)))
        off_by = score_text(middle, "")
        return f"{len(actual)} rows; half of the predictions are off by less than {off_by}."

    def table_data(self) -> Table:
        """Actual and predicted."""
        actual, tuned = self._value_pairs()
        rows = [[float(a), float(t)] for a, t in zip(actual, tuned, strict=True)]
        return ["actual", "predicted"], rows


RESULT_VIEWS: tuple[type[ResultView], ...] = (
    ScoreComparison,
    PairsCurve,
    Calibration,
    ConfusionMatrix,
    PredictedVsActual,
)


def views_for(results: Results) -> list[type[ResultView]]:
    """The views that suit the results, in order."""
    return [view for view in RESULT_VIEWS if view.is_suitable(results)]
