"""The table of the members of the average: weight, score and setting."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_aligned, format_value, percent
from app.text.score_text import metric_in_short
from app.text.setting_text import setting_cells
from app.views.plot.data_table import DataTable
from app.widgets.card import Card
from core.space import Setting
from core.tuning.events import RunStarted
from core.tuning.run_results import EnsembleResults
from core.tuning.runs.trial_table import tunes_several
from resources.theme import TARGET

MAX_ROWS = 7  # seen without scrolling


class MembersCard(Card):
    """A row for each member, the best first; the default setting below."""

    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.table = DataTable("")
        self.body.addWidget(self.table, 1)

    def show_members(
        self, ensemble: EnsembleResults, default: Setting, started: RunStarted
    ) -> None:
        """Show the members with their scores, and the default setting."""
        count = len(ensemble.members)
        title = "The one model of the average" if count == 1 else f"The average of {count} models"
        words = (
            "Which settings predict together, and how much does each count? Score: {} when it was "
            "tried."
        )
        self.set_words(title, words.format(metric_in_short(started.metric)))
        several = tunes_several(started)
        names = [axis.name for axis in started.space] or list(ensemble.settings[0])

        def cells_of_setting(setting: Setting) -> list[str]:
            if several:
                return list(setting_cells(started, setting))
            return [format_value(setting.get(name, "–")) for name in names]

        headers = ["trial", "weight", "score", *(["model", "setting"] if several else names)]
        rows = [
            [str(number), percent(weight), f, *cells_of_setting(setting)]
            for number, weight, f, setting in zip(
                ensemble.members,
                ensemble.weights,
                format_aligned(ensemble.scores),
                ensemble.settings,
                strict=True,
            )
        ]
        if default or not several:
            rows.append(["default", "–", "–", *cells_of_setting(default)])
        self.table.setAccessibleName(title)
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table((headers, rows))
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        visible_rows = min(len(rows), MAX_ROWS)
        row = appearance.pixels(TARGET)
        self.table.verticalHeader().setDefaultSectionSize(row)
        policies = Qt.ScrollBarPolicy
        bar = policies.ScrollBarAlwaysOff if len(rows) <= MAX_ROWS else policies.ScrollBarAsNeeded
        self.table.setVerticalScrollBarPolicy(bar)
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(head + visible_rows * row + 22)
