"""A line where the best setting lies at the edge of its range, with a button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.text.range_text import editable_number
from app.widgets.buttons import LinkButton
from app.widgets.text_labels import wrapping_label
from core.tuning.runs.range_edges import RangeEdge, edges_of
from core.tuning.runs.state import RunState

if TYPE_CHECKING:
    from app.session.session import Session

ENDED = ("finished", "interrupted")


class RangeEdgeNotice(QFrame):
    """The first setting at an edge, and how many more; hidden without any."""

    widened = Signal()  # the plan has a wider range

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.edges: list[RangeEdge] = []
        self._run: tuple[RunState, int, str] | None = None  # that is shown: run, trials, state
        self._tip = ""
        self.words = wrapping_label("", "warning")
        self.button = LinkButton("Widen it", self._widen_ranges)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        line.addWidget(self.words, 1000)  # up to its maximum width
        line.addWidget(self.button)
        line.addStretch(1)
        self.hide()
        session.plan_changed.connect(self._update_button)

    def changeEvent(self, event: QEvent) -> None:
        """Fit the words, so that the button stays beside them."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_text()

    def _fit_text(self) -> None:
        width = self.words.fontMetrics().horizontalAdvance(self.words.text())
        self.words.setMaximumWidth(width + self.words.fontMetrics().averageCharWidth())

    def show_run(self, run: RunState) -> None:
        """Show the edges of a run; computed once where no trials come."""
        self._update_button()
        run_key = (run, len(run.trials), self.session.state)
        if run_key == self._run:
            return
        self._run = run_key
        self.edges = edges_of(run) if self.session.state in ENDED else []
        self.setVisible(bool(self.edges))
        if not self.edges:
            return
        edge, other_count = self.edges[0], len(self.edges) - 1
        low, high = map(editable_number, edge.wider)
        more = f" So do {other_count} other settings." if other_count > 1 else ""
        more = " So does one other setting." if other_count == 1 else more
        self.words.setText(f"The best {edge.name} lies at the edge of its range: widen it.{more}")
        self._fit_text()
        self.button.set_label("Widen them" if other_count else "Widen it")
        self._tip = f"{edge.label}: {low} to {high} in the next run. Nothing is tuned yet."
        self._update_button()

    def _update_button(self) -> None:
        if self.edges:
            self.button.set_allowed(self.session.may_widen, "The data of this run are not open.")
            if self.button.isEnabled():
                self.button.setToolTip(self._tip)

    def _widen_ranges(self) -> None:
        self.session.widen_ranges({edge.name: edge.wider for edge in self.edges})
        self.widened.emit()
