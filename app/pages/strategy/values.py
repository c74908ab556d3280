"""The values that a grid will try, shown before the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.text.data.naming import whole
from app.text.numbers import shown
from app.widgets.card import Card, clear
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.session.session import Session

MOST_SHOWN = 40  # values of one setting


class ValuesCard(Card):
    """A short table: each setting of the model and its values; there for the grid only."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self._shown_for: tuple[str, str] | None = None
        self.table = QGridLayout()
        self.table.setHorizontalSpacing(20)
        self.table.setVerticalSpacing(6)
        self.table.setColumnStretch(1, 1)
        self.body.addLayout(self.table)
        self.hide()

    def refresh(self) -> None:
        """Show the values of the estimate; while it is worked out anew, those of the one before."""
        plan, estimate = self.session.plan, self.session.estimate
        if plan is None or (plan.model, plan.strategy) != self._shown_for:
            self._shown_for = None
        if estimate and "values" in estimate:
            self._shown_for = (plan.model, plan.strategy)
            self._show(estimate)
        elif estimate:
            self._shown_for = None
        self.setVisible(self._shown_for is not None)

    def _show(self, estimate: dict[str, Any]) -> None:
        settings, trials = estimate["settings"], estimate["trials"]
        if trials < settings:
            words = (
                "Combined, these make {all} settings. {some} of them are tried, the "
                "coarse ones first."
            )
        else:
            words = "Combined, these make {all} settings. All are tried."
        self.set_words(
            "Values that will be tried",
            words.format(all=whole(settings), some=whole(trials)),
        )
        clear(self.table)
        for row, (setting, values) in enumerate(estimate["values"].items()):
            self.table.addWidget(label(setting), row, 0, Qt.AlignmentFlag.AlignTop)
            self.table.addWidget(label(_listed(values)), row, 1)


def _listed(values: list[Any]) -> str:
    """The values side by side; of very many, the first and the last ones."""
    if len(values) <= MOST_SHOWN:
        return "   ".join(shown(value) for value in values)
    half = MOST_SHOWN // 2
    return f"{_listed(values[:half])}   …   {_listed(values[-half:])}"
