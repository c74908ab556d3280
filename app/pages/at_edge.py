"""One line where the best found lies at the edge of a searched range, and a button to widen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.text.ranges import written
from app.widgets.buttons import LinkButton
from app.widgets.labels import label
from core.tuning.runs.edges import Edge, edges_of
from core.tuning.runs.state import RunState

if TYPE_CHECKING:
    from app.session.session import Session

ENDED = ("finished", "interrupted")


class AtEdge(QFrame):
    """The line of the first such setting, and how many more there are; hidden where there is none.

    Signals:
        widened: the plan now has a wider range.
    """

    widened = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.edges: list[Edge] = []
        self._run: tuple[RunState, int, str] | None = None
        self._tip = ""
        self.words = label("", "warning")
        self.button = LinkButton("Widen it", self._widen)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        line.addWidget(self.words, 1000)  # all the room that it may take
        line.addWidget(self.button)
        line.addStretch(1)
        self.hide()
        session.plan_changed.connect(self._allow)

    def changeEvent(self, event: QEvent) -> None:
        """The words are no wider than they are, so that the button stands beside them."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        width = self.words.fontMetrics().horizontalAdvance(self.words.text())
        self.words.setMaximumWidth(width + self.words.fontMetrics().averageCharWidth())

    def show_run(self, run: RunState) -> None:
        """Say what is known of a run; it is worked out once where nothing more is tried."""
        self._allow()
        known = (run, len(run.trials), self.session.state)
        if known == self._run:
            return
        self._run = known
        self.edges = edges_of(run) if self.session.state in ENDED else []
        self.setVisible(bool(self.edges))
        if not self.edges:
            return
        one, others = self.edges[0], len(self.edges) - 1
        low, high = map(written, one.wider)
        more = f" So do {others} other settings." if others > 1 else ""
        more = " So does one other setting." if others == 1 else more
        self.words.setText(f"The best {one.name} lies at the edge of its range: widen it.{more}")
        self._fit()
        self.button.rename("Widen them" if others else "Widen it")
        self._tip = f"{one.label}: {low} to {high} in the next run. Nothing is tuned yet."
        self._allow()

    def _allow(self) -> None:
        if self.edges:
            self.button.allow(self.session.may_widen, "The data of this run are not open.")
            if self.button.isEnabled():
                self.button.setToolTip(self._tip)

    def _widen(self) -> None:
        self.session.widen({edge.name: edge.wider for edge in self.edges})
        self.widened.emit()
