"""The values that a grid will try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.text.data.document_text import format_integer
from app.text.number_format import format_value
from app.widgets.card import Card, clear_layout
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.session.session import Session
    from core.tuning.guidance.guidance_records import RunEstimate

MAX_VALUES = 40  # of one setting


class ValuesCard(Card):
    """A table of each setting and its values, for a grid only."""

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
        """Show the values of the latest estimate."""
        plan, estimate = self.session.plan, self.session.estimate
        if plan is None or (plan.model, plan.strategy) != self._shown_for:
            self._shown_for = None
        if plan is not None and estimate and estimate.values:
            self._shown_for = (plan.model, plan.strategy)
            self._show_values(estimate)
        elif estimate:
            self._shown_for = None
        self.setVisible(self._shown_for is not None)

    def _show_values(self, estimate: RunEstimate) -> None:
        settings, trials = estimate.settings, estimate.trials
        if trials < settings:
            words = f"{format_integer(trials)} of them are tried, the coarse ones first."
        else:
            words = "All are tried."
        caption = f"Combined, these make {format_integer(settings)} settings. {words}"
        self.set_words("Values that will be tried", caption)
        clear_layout(self.table)
        for row, (setting, values) in enumerate(estimate.values.items()):
            self.table.addWidget(wrapping_label(setting), row, 0, Qt.AlignmentFlag.AlignTop)
            self.table.addWidget(wrapping_label(_values_text(values)), row, 1)


def _values_text(values: list[Any]) -> str:
    """The values; of very many, the first and the last ones."""
    if len(values) <= MAX_VALUES:
        return "   ".join(format_value(value) for value in values)
    half_count = MAX_VALUES // 2
    return f"{_values_text(values[:half_count])}   …   {_values_text(values[-half_count:])}"
