"""What several pages show of a run: how to repeat it elsewhere, and ranges that were too narrow."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QWidget

from app.session.session import Session
from app.text.plan_copies import as_command, as_python
from app.text.plan_text import editable_number
from app.widgets.buttons import LinkButton
from app.widgets.layouts import LEFT, in_column, in_row
from app.widgets.text_labels import wrapping_label
from core.errors import UnusableError
from core.tuning.plan import Plan
from core.tuning.ranges import RangeEdge, edges_of
from core.tuning.runs.state import RunState

COPIED_MILLISECONDS = 2000  # until the button has its title again
ENDED = ("finished", "interrupted")


class CopyButtons(QWidget):
    """Copy a plan with its target; `report` gets a sentence on failure."""

    def __init__(
        self,
        caption: str,
        plan: Callable[[], tuple[Plan | None, str]],
        report: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._plan, self._report = plan, report
        self.command = self._make_button(
            "Copy as command", "Copy the line that tunes the same in a terminal.", as_command
        )
        tip = "Copy a snippet of Python that tunes the same."
        self.python = self._make_button("Copy as Python", tip, as_python)
        title = wrapping_label(caption, "muted")
        in_column(title, (self.command, LEFT), (self.python, LEFT), on=self, gap=2)

    def _make_button(self, title: str, tip: str, write: Callable[[Plan], str]) -> LinkButton:
        button = LinkButton(title, lambda: self._copy_plan(button, title, write), "copy")
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        return button

    def _copy_plan(self, button: LinkButton, title: str, write: Callable[[Plan], str]) -> None:
        plan, target = self._plan()
        if plan is None:
            return
        # Also where the target was a guess, so that a terminal need not ask.
        plan = plan.changed(data=replace(plan.data, target=plan.data.target or target))
        try:
            QGuiApplication.clipboard().setText(write(plan))
        # A plan of an earlier version may have an option that no longer exists.
        except UnusableError as error:
            self._report(error.sentence)
            return
        button.set_label("Copied")
        QTimer.singleShot(COPIED_MILLISECONDS, button, lambda: button.set_label(title))


class RangeEdgeNotice(QFrame):
    """The first one, and how many more; hidden without any."""

    widened = Signal()  # the plan has a wider range

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.edges: list[RangeEdge] = []
        self._run: tuple[RunState, int, str] | None = None  # that is shown: run, trials, state
        self._tip = ""
        self.words = wrapping_label("", "warning")
        self.button = LinkButton("Widen it", self._widen_ranges)
        in_row((self.words, 1000), self.button, 1, on=self, gap=10)
        self.hide()
        session.plan_changed.connect(self._update_button)

    def changeEvent(self, event: QEvent) -> None:
        """Keep the button beside the words."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_text()

    def _fit_text(self) -> None:
        width = self.words.fontMetrics().horizontalAdvance(self.words.text())
        self.words.setMaximumWidth(width + self.words.fontMetrics().averageCharWidth())

    def show_run(self, run: RunState) -> None:
        """Computed once where no trials come."""
        self._update_button()
        run_key = (run, len(run.trials), self.session.state)
        # Edges are looked for among all trials, and this is called at every event.
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
