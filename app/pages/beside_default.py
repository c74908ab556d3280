"""A table of the tuned model beside the default one: its setting, or all its scores."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QHeaderView, QWidget

from app import appearance
from app.scores import metric_title
from app.units import units
from app.views.numbers import shown
from app.views.result_view import score_in_words
from app.views.twin import Twin
from app.widgets.card import Card

ROWS = 6  # of the table that are seen without scrolling
TWO_LINES = 40  # pixels of a row, for names that have to be broken


class BesideDefault(Card):
    """One row a thing: what it is, for the tuned model, for the default one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.table = Twin("")
        self.table.setWordWrap(True)
        self.table.verticalHeader().sectionResized.connect(self._fit_height)
        self.body.addWidget(self.table, 1)

    def show_settings(
        self, space: list[dict[str, Any]], tuned: dict[str, Any], default: dict[str, Any]
    ) -> None:
        """Both settings in the order of the search space, under the words a person knows."""
        self.set_words(self.tr("What did tuning change?"), self.tr("The settings of the model."))
        labels = {axis["name"]: f"{axis['label']} ({axis['name']})" for axis in space}
        names = [name for name in labels if name in tuned] or list(tuned)
        rows = [
            [labels.get(name, name), shown(tuned[name]), shown(default.get(name, "–"))]
            for name in names
        ]
        self._show(self.tr("setting"), rows)

    def show_scores(
        self, tuned: dict[str, float], default: dict[str, float], task: str = ""
    ) -> None:
        """Every score of both on unseen rows."""
        words = self.tr("Several ways of measuring the same predictions on unseen {units}.")
        caption = words.format(units=units(task))
        self.set_words(self.tr("How good is it by other measures?"), caption)
        rows = [
            [
                metric_title(metric),
                score_in_words(score, metric),
                score_in_words(default.get(metric), metric),
            ]
            for metric, score in tuned.items()
        ]
        self._show(self.tr("measure"), rows)

    def _show(self, what: str, rows: list[list[str]]) -> None:
        self.table.setAccessibleName(self.accessibleName())
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table(([what, self.tr("tuned"), self.tr("default")], rows))
        header, size = self.table.horizontalHeader(), QHeaderView.ResizeMode
        header.setStretchLastSection(False)
        for column, mode in enumerate((size.Stretch, size.ResizeToContents, size.ResizeToContents)):
            header.setSectionResizeMode(column, mode)
        tall = appearance.pixels(TWO_LINES)
        rows_of = self.table.verticalHeader()
        rows_of.setMinimumSectionSize(tall)
        rows_of.setSectionResizeMode(size.ResizeToContents)  # a narrow card breaks names often
        self._fit_height()

    def _fit_height(self, *_section: int) -> None:
        """The first rows are seen whole, of as many lines as their names need."""
        header, rows_of = self.table.horizontalHeader(), self.table.verticalHeader()
        rows = range(min(rows_of.count(), ROWS))
        seen = sum(rows_of.sectionSize(row) for row in rows)
        self.table.setMinimumHeight(header.sizeHint().height() + seen + 6)
