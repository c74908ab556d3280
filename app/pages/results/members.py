"""The members of the average in a table: how much each counts, its score, and its setting."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import alike, percent, shown
from app.text.scores import metric_in_short
from app.text.settings import in_a_cell
from app.views.plot.data_table import DataTable
from app.widgets.card import Card
from core.tuning.events import RunStarted
from core.tuning.runs.competition import tunes_several
from resources.theme import TARGET

SEEN = 7  # rows that are seen without scrolling


class MembersCard(Card):
    """One row a member, the best first; the default setting below for comparison."""

    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.table = DataTable("")
        self.body.addWidget(self.table, 1)

    def show_members(self, results: dict[str, Any], started: RunStarted) -> None:
        """The members of these results, with their scores by the metric of the run."""
        ensemble = results["ensemble"]
        count = len(ensemble["members"])
        title = f"The average of {count} models"
        if count == 1:
            title = "The one model of the average"
        words = (
            "Which settings predict together, and how much does each count? Score: {} when it was "
            "tried."
        )
        self.set_words(title, words.format(metric_in_short(started.metric)))
        several = tunes_several(started)
        names = [axis["name"] for axis in started.space] or list(ensemble["settings"][0])

        def told(setting: dict[str, Any]) -> list[str]:
            if several:
                return list(in_a_cell(started, setting))
            return [shown(setting.get(name, "–")) for name in names]

        headers = ["trial", "weight", "score", *(["model", "setting"] if several else names)]
        rows = [
            [str(number), percent(weight), f, *told(setting)]
            for number, weight, f, setting in zip(
                ensemble["members"],
                ensemble["weights"],
                alike(ensemble["scores"]),
                ensemble["settings"],
                strict=True,
            )
        ]
        default = results.get("default_setting") or {}
        if default or not several:
            rows.append(["default", "–", "–", *told(default)])
        self.table.setAccessibleName(title)
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table((headers, rows))
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        seen = min(len(rows), SEEN)
        row = appearance.pixels(TARGET)
        self.table.verticalHeader().setDefaultSectionSize(row)
        few = len(rows) <= SEEN
        bars = Qt.ScrollBarPolicy
        self.table.setVerticalScrollBarPolicy(
            bars.ScrollBarAlwaysOff if few else bars.ScrollBarAsNeeded
        )
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(head + seen * row + 22)
