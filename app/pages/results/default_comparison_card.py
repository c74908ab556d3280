"""A table of the tuned model beside the default one and the baseline: setting, or scores."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look import appearance
from app.text.number_format import format_value
from app.text.score_text import metric_title, score_text
from app.views.plot.data_table import DataTable
from app.widgets.card import Card
from core.estimators.model_settings import compare_settings, labels_of
from core.space import Setting, axis_title
from core.tuning.events import RunStarted
from core.tuning.run_results import Scores
from core.tuning.runs.trial_table import tunes_several

ROWS = 6  # of the table that are seen without scrolling
UNBOUNDED = 16777215  # Qt's QWIDGETSIZE_MAX
TWO_LINES = 40  # pixels of a row, for names that have to be broken
PADDING, LINE_GAP = 28, 10  # pixels left and right of a name, and above and below it


class DefaultComparisonCard(Card):
    """One row a thing: what it is, for the tuned model, and for the others."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.wide = self._alone = False  # alone: it takes no more height than its rows need
        self.table = DataTable("")
        self.table.setWordWrap(True)
        self.body.addWidget(self.table, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Names break elsewhere in another width, which the table's columns take a moment later."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_rows)

    def show_settings(self, started: RunStarted, tuned: Setting, default: Setting) -> None:
        """Both settings in the order of the search space, under the words a person knows.

        Of several models each setting stands under the words of its own model.
        """
        self._alone = False
        self.set_words("What did tuning change?", "The settings of the model.")

        def labels_by_name(model: str) -> dict[str, str]:
            if tunes_several(started):
                return labels_of(model, started.dataset.task)
            return {axis.name: axis.label for axis in started.space}

        model = started.run_plan.model
        rows = [
            [
                axis_title(comparison.label, comparison.name),
                *(
                    "–" if value is None else format_value(value)
                    for value in (comparison.tuned, comparison.default)
                ),
            ]
            for comparison in compare_settings(model, tuned, default, labels_by_name)
        ]
        self._show_table(["setting", "tuned", "default"], rows)

    def show_penalty(
        self, learned_penalty: float, start_penalty: float | None, *, off: bool
    ) -> None:
        """The one penalty of all weights, beside where learning began.

        Args:
            learned_penalty: what was found.
            start_penalty: that of the first step; None where it is not known.
            off: whether all columns are switched off.
        """
        self._alone = True
        self.set_words(
            "Which penalty was learned?",
            "One for all weights: the larger it is, the less the columns are trusted.",
        )
        words = "switched off" if off else format_value(learned_penalty)
        start_value = "–" if start_penalty is None else format_value(start_penalty)
        self._show_table(
            ["setting", "learned", "at the start"],
            [["Penalty on large weights (λ)", words, start_value]],
        )

    def show_scores(
        self, scores: dict[str, Scores], units: str = "rows", baseline: str = ""
    ) -> None:
        """Every score of every model that has any, on test rows.

        Args:
            scores: {model: {metric: score}}, the tuned one first.
            units: what test rows are called.
            baseline: what that says.
        """
        caption = f"Several ways of measuring the same predictions on test {units}."
        if baseline:
            caption += " " + f"Baseline: {baseline}."
        self.set_words("How good is it by other measures?", caption)
        models = {model: model_scores for model, model_scores in scores.items() if model_scores}
        metrics = next(iter(models.values()))
        rows = [
            [
                metric_title(metric),
                *(score_text(model_scores.get(metric), metric) for model_scores in models.values()),
            ]
            for metric in metrics
        ]
        self._show_table(["measure", *models], rows)

    def _show_table(self, headers: list[str], rows: list[list[str]]) -> None:
        self.wide = len(headers) > 3  # three scores beside their measure
        self.table.setAccessibleName(self.accessibleName())
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table((headers, rows))
        header, size = self.table.horizontalHeader(), QHeaderView.ResizeMode
        header.setStretchLastSection(False)
        for column in range(len(headers)):
            header.setSectionResizeMode(column, size.ResizeToContents if column else size.Stretch)
        is_short = len(rows) <= ROWS
        bars = Qt.ScrollBarPolicy
        self.table.setVerticalScrollBarPolicy(
            bars.ScrollBarAlwaysOff if is_short else bars.ScrollBarAsNeeded
        )
        self._fit_rows()

    def _fit_rows(self) -> None:
        """As many lines a row as its name needs; the first rows are seen without scrolling."""
        header, rows_of = self.table.horizontalHeader(), self.table.verticalHeader()
        metrics, min_height = self.table.fontMetrics(), appearance.pixels(TWO_LINES)
        room = QRect(0, 0, header.sectionSize(0) - PADDING, 1000)
        for row in range(rows_of.count()):
            name = str(self.table.model().index(row, 0).data())
            needed = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, name).height()
            rows_of.resizeSection(row, max(min_height, needed + LINE_GAP))
        seen = sum(rows_of.sectionSize(row) for row in range(min(rows_of.count(), ROWS)))
        tall = header.sizeHint().height() + seen + 6
        self.table.setMinimumHeight(tall)
        self.table.setMaximumHeight(tall if self._alone else UNBOUNDED)
