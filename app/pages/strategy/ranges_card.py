"""The ranges to search for each setting of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.look import appearance
from app.pages.strategy.range_row import ROWS, RangeRow
from app.text.range_text import LEARNED, OF_SEVERAL
from app.widgets.buttons import LinkButton
from app.widgets.card import Card, clear_layout
from app.widgets.text_labels import wrapping_label
from core.errors import UnusableError
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.space import Axis
from core.tuning.ranges import check_free, searched_axes

if TYPE_CHECKING:
    from app.session.session import Session
    from core.tuning.guidance.guidance_records import StrategyAdvice

_HEADS = ("Setting", "From", "To", "Scale", "", "")
WIDEST = 860  # pixels at the usual text size: fields stay near their names
ROOMY = 700  # pixels at the usual text size; below, a row takes two lines


class RangesCard(Card):
    """A table with a row for each setting; a fault is shown under its row."""

    fault_changed = Signal()  # `fault`

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Ranges that are searched", parent=parent)
        self.session = session
        self.fault = ""  # why the entered ranges cannot be searched
        self.rows: dict[str, RangeRow] = {}
        self._axes: tuple[Axis, ...] = ()
        self._estimated_axes: tuple[Any, tuple[Axis, ...]] = (None, ())  # of the last estimate
        self._room, self._narrow = 0, False
        self._heads: list[QWidget] = []
        self.notice = wrapping_label("")
        self.body.addWidget(self.notice)
        self._holder = QWidget()
        self._table = QGridLayout(self._holder)
        self._table.setContentsMargins(0, 0, 0, 0)
        self._table.setHorizontalSpacing(14)
        self._table.setVerticalSpacing(4)
        self._table.setColumnStretch(0, 1)
        self.body.addWidget(self._holder)
        self.reset = LinkButton("Back to the usual ranges", self._reset_all)
        self.body.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)

    def refresh(self, strategy: StrategyAdvice | None) -> None:
        """Show the plan's ranges; `strategy` is its strategy."""
        plan = self.session.plan
        if plan is None or strategy is None or self.session.summary is None:
            self.hide()
            return
        self.show()
        notice = LEARNED if strategy.kind == "penalties" else ""
        if plan.model == SEVERAL:
            notice = OF_SEVERAL
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))
        axes = () if notice else self._model_axes()
        if _rows_of(axes) != _rows_of(self._axes):
            self._axes = axes
            self._rebuild_rows()
        elif axes != self._axes:  # the fields stay: a person may be typing
            self._axes = axes
            for row, axis in zip(self.rows.values(), axes, strict=True):
                row.axis = axis
        for row in self.rows.values():
            row.show_plan(plan.ranges, plan.fixed)
        self.reset.setVisible(bool(axes))
        is_changed = bool(plan.ranges or plan.fixed)
        self.reset.set_allowed(is_changed or bool(self.fault), "All ranges are the usual ones.")
        caption = "Each can be narrowed, widened or fixed to one value."
        self.set_words("Ranges that are searched", caption if axes else "")
        self._update_fault()

    def _model_axes(self) -> tuple[Axis, ...]:
        """The model's axes: from the estimate of these data, until then the usual ones."""
        plan, estimate = self.session.current_plan, self.session.estimate
        key = (plan.model, plan.strategy, plan.data)
        if estimate and estimate.axes:
            self._estimated_axes = key, estimate.axes
        if self._estimated_axes[0] == key:
            return self._estimated_axes[1]
        model, task = MODELS.get(plan.model), self.session.current_summary.task
        return model.space_of(task) if model is not None and task in model.tasks else ()

    def _rebuild_rows(self) -> None:
        clear_layout(self._table)
        for row in self.rows.values():
            row.deleteLater()
        self.rows, self._heads = {}, []
        if not self._axes:
            return
        self._heads = [wrapping_label(head, "section") for head in _HEADS]
        for column, head in enumerate(self._heads):
            self._table.addWidget(head, 0, column)
        for axis in self._axes:
            row = RangeRow(axis, self)
            row.changed.connect(self._on_row_changed)
            self.rows[axis.name] = row
        self._lay_out_rows()

    def fit_width(self, room: int) -> None:
        """Take two lines a setting on a narrow page; `room` in pixels."""
        self._room = room
        self._holder.setMaximumWidth(appearance.pixels(WIDEST))
        is_narrow = room < appearance.pixels(ROOMY)
        if is_narrow != self._narrow:
            self._narrow = is_narrow
            self._lay_out_rows()

    def _lay_out_rows(self) -> None:
        for head in self._heads:
            head.setVisible(not self._narrow)
        for index, row in enumerate(self.rows.values()):
            row.lay_out(self._table, 1 + ROWS * index, self._narrow)

    def changeEvent(self, event: QEvent) -> None:
        """Fit to another text size."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._room:
            self.fit_width(self._room)

    def _on_row_changed(self, name: str) -> None:
        """Put the entry into the plan if it can be searched."""
        plan, row = self.session.current_plan, self.rows[name]
        if row.fault:
            self._update_fault()
            return
        ranges = {n: ends for n, ends in plan.ranges.items() if n != name}
        fixed = {n: value for n, value in plan.fixed.items() if n != name}
        entry = row.entry
        if isinstance(entry, list):
            ranges[name] = entry
        elif entry is not None:
            fixed[name] = entry
        self.session.set_plan(ranges=ranges, fixed=fixed)
        row.show_plan(ranges, fixed)  # also where the plan stays as it was
        self._update_fault()

    def _update_fault(self) -> None:
        fault = next((row.fault for row in self.rows.values() if row.fault), "")
        if not fault and self._axes:
            plan = self.session.current_plan
            try:
                check_free(searched_axes(self._axes, plan.ranges, plan.fixed), 1, plan.strategy)
            except UnusableError as error:
                fault = error.sentence
        if fault != self.fault:
            self.fault = fault
            self.fault_changed.emit()

    def _reset_all(self) -> None:
        for row in self.rows.values():
            row.clear_entry()
            row.show_plan({}, {})
        self.session.set_plan(ranges={}, fixed={})
        self._update_fault()


def _rows_of(axes: tuple[Axis, ...]) -> list[tuple[Any, ...]]:
    """What a row shows of each axis, apart from the ends of the range."""
    return [(axis.name, axis.label, axis.kind, axis.log, axis.choices) for axis in axes]
