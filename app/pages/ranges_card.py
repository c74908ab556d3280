"""The ranges to search for each setting of the model."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from app.look import appearance
from app.session.session import Session
from app.text import plan_text as texts
from app.widgets.buttons import LinkButton
from app.widgets.cards import Card
from app.widgets.layouts import LEFT, FlowLayout, add_to, clear_layout, in_grid
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import show_text, wrapping_label
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.space import Axis, axis_title
from core.tuning.guidance.guidance_records import StrategyAdvice
from core.tuning.ranges import check_free, fixed_to, searched_axes, with_range

ROWS = 3  # of the table for one setting
COLUMNS = 6  # of the table
_WIDTH = 110  # pixels of a field, at the usual text size
ALL = "all"  # item data of a searched choice
_HEADS = ("Setting", "From", "To", "Scale", "", "")
WIDEST = 860  # pixels at the usual text size: fields stay near their names
ROOMY = 700  # pixels at the usual text size; below, a row takes two lines


class RangeRow(QWidget):
    """One setting; its controls lie in the table, its fault below."""

    changed = Signal(str)  # the setting's name

    def __init__(self, axis: Axis, parent: QWidget) -> None:
        super().__init__(parent)
        # It holds only the second line of a narrow page.
        self.hide()
        self.axis, self.fault = axis, ""  # why the entry cannot be searched
        self.entry: Any = None  # [from, to], one value, or None for the usual range
        self._exact: dict[str, Any] = {}  # the numbers behind the texts of the fields
        self.name = wrapping_label(axis_title(axis.label, axis.name))
        self.fault_label = wrapping_label("", "bad")
        self.fault_label.hide()
        self._line = FlowLayout(self, gap=12)
        self._controls: list[tuple[QWidget, int, int]] = []  # with column and span
        if axis.kind == "choice":
            self._make_choice()
        else:
            self._make_fields()
        self.reset = LinkButton("Reset", self._reset_entry)
        self.reset.setAccessibleName(f"Reset {axis.label}")
        self._controls.append((self.reset, 5, 1))
        self._fit_fields()

    def lay_out(self, table: QGridLayout, row: int, is_narrow: bool) -> None:
        for widget in (self.name, self.fault_label, self):
            table.removeWidget(widget)
        table.addWidget(self.name, row, 0, 1, COLUMNS if is_narrow else 1)
        if is_narrow:
            table.addWidget(self, row + 1, 0, 1, COLUMNS)
        table.addWidget(self.fault_label, row + 2, 0, 1, COLUMNS)
        for control, column, columns in self._controls:
            table.removeWidget(control)
            self._line.removeWidget(control)
            if is_narrow:
                self._line.addWidget(control)
            else:
                table.addWidget(control, row, column, 1, columns)
            control.setVisible(control is not self.reset or self._is_changed)
        self.setVisible(is_narrow)

    @property
    def _is_changed(self) -> bool:
        return self.entry is not None or bool(self.fault)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_fields()

    def _fit_fields(self) -> None:
        for control, *_ in self._controls:
            if isinstance(control, QLineEdit):
                control.setFixedWidth(appearance.pixels(_WIDTH))

    def _make_choice(self) -> None:
        self.box = QuietComboBox()
        self.box.setAccessibleName(f"Values of {self.axis.label}")
        choices = {index: f"only {choice}" for index, choice in enumerate(self.axis.choices)}
        self.box.set_choices({ALL: f"all: {', '.join(map(str, self.axis.choices))}", **choices})
        self.box.currentIndexChanged.connect(self._on_choice)
        self._controls.append((self.box, 1, 3))

    def _make_fields(self) -> None:
        self.low, self.high = QLineEdit(), QLineEdit()
        for field, words in ((self.low, "from"), (self.high, "to")):
            field.setAccessibleName(f"{self.axis.label}, {words}")
            field.editingFinished.connect(self._on_entered)
        self.fix = QCheckBox("one value")
        self.fix.setAccessibleName(f"Fix {self.axis.label} to one value")
        self.fix.clicked.connect(self._on_fix_clicked)
        scale = wrapping_label(texts.scale_of(self.axis), "muted")
        controls: tuple[QWidget, ...] = (self.low, self.high, scale, self.fix)
        self._controls += [(control, column, 1) for column, control in enumerate(controls, start=1)]

    def show_plan(self, ranges: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
        """A faulty entry stays."""
        axis, name = self.axis, self.axis.name
        # What cannot be searched is kept to be corrected, and never goes into the plan.
        if self.fault and self.entry == ranges.get(name, fixed.get(name)):
            return
        self.entry = list(ranges[name]) if name in ranges else fixed.get(name)
        self._show_fault("")
        self.reset.setVisible(self._is_changed)
        if axis.kind == "choice":
            with QSignalBlocker(self.box):
                self.box.setCurrentIndex(self._choice_index(fixed.get(name)))
            return
        try:
            ranges_of_axis = {name: ranges[name]} if name in ranges else {}
            values_of_axis = {name: fixed[name]} if name in fixed else {}
            searched_axis = searched_axes([axis], ranges_of_axis, values_of_axis)[0]
            ends: tuple[Any, Any] = searched_axis.low, searched_axis.high
        except UnusableError as error:
            entry_values = self.entry if isinstance(self.entry, list) else [self.entry]
            ends = (entry_values[0], entry_values[-1]) if entry_values else ("", "")
            self._show_fault(error.sentence)
        self.fix.setChecked(name in fixed)
        self.high.setEnabled(name not in fixed)
        self.low.setText(self._number_text(ends[0]))
        self.high.setText("" if name in fixed else self._number_text(ends[1]))

    def _number_text(self, number: Any) -> str:
        text = texts.editable_number(number)
        self._exact[text] = number
        return text

    def _choice_index(self, value: Any) -> int:
        if value is None:
            return 0
        try:
            return 1 + list(self.axis.choices).index(fixed_to(self.axis, value).default)
        except UnusableError as error:
            self._show_fault(error.sentence)
            return 0

    def clear_entry(self) -> None:
        self.entry, self.fault = None, ""

    def _reset_entry(self) -> None:
        self.clear_entry()
        self.changed.emit(self.axis.name)

    def _on_choice(self) -> None:
        index = self.box.currentData()
        self.entry = None if index == ALL else self.axis.choices[index]
        self.changed.emit(self.axis.name)

    def _on_fix_clicked(self, is_fixed: bool) -> None:
        axis = self.axis
        has_default = is_fixed and axis.default is not None
        self.low.setText(self._number_text(axis.default if has_default else axis.low))
        self.high.setText("" if is_fixed else self._number_text(axis.high))
        self.high.setEnabled(not is_fixed)
        self._on_entered()

    def _on_entered(self) -> None:
        is_fixed, axis = self.fix.isChecked(), self.axis
        entered = self.low.text(), self.high.text()
        numbers = [self._exact.get(text, texts.with_decimal_point(text)) for text in entered]
        previous_entry = self.entry
        try:
            if is_fixed:
                entry: Any = fixed_to(axis, numbers[0]).default
            else:
                new_axis = with_range(axis, numbers)
                entry = [new_axis.low, new_axis.high]
                # The usual range says nothing in the plan, so that other data can have another one.
                if entry == [axis.low, axis.high]:
                    entry = None
        except UnusableError as error:
            self._show_fault(error.sentence)
            self.reset.show()
            self.changed.emit(axis.name)
            return
        had_fault, self.entry = bool(self.fault), entry
        self._show_fault("")
        if had_fault or entry != previous_entry:
            self.changed.emit(axis.name)

    def _show_fault(self, fault: str) -> None:
        self.fault = fault
        show_text(self.fault_label, fault)


class RangesCard(Card):
    """A row for each setting, with its fault below."""

    fault_changed = Signal()  # `fault`

    def __init__(self, session: Session) -> None:
        super().__init__("Ranges that are searched")
        self.session = session
        self.fault = ""  # why the entered ranges cannot be searched
        self.rows: dict[str, RangeRow] = {}
        self._axes: tuple[Axis, ...] = ()
        self._estimated_axes: tuple[Any, tuple[Axis, ...]] = (None, ())  # of the last estimate
        self._room, self._narrow = 0, False
        self._heads: list[QWidget] = []
        self.notice = wrapping_label("")
        self._holder = QWidget()
        self._table = in_grid(14, 4, 1, on=self._holder)
        self.reset = LinkButton("Back to the usual ranges", self._reset_all)
        add_to(self.body, self.notice, self._holder, (self.reset, LEFT))

    def refresh(self, strategy: StrategyAdvice | None) -> None:
        plan = self.session.plan
        if plan is None or strategy is None or self.session.summary is None:
            self.hide()
            return
        self.show()
        notice = texts.LEARNED if strategy.kind == "penalties" else ""
        if texts.tunes_several_models(strategy.name):
            notice = texts.OF_SEVERAL
        show_text(self.notice, notice)
        axes = () if notice else self._model_axes()
        if _rows_of(axes) != _rows_of(self._axes):
            self._axes = axes
            self._rebuild_rows()
        # The fields stay where only ranges changed: a person may be typing in one.
        elif axes != self._axes:
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
        """From the estimate of these data, until then the usual ones."""
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
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._room:
            self.fit_width(self._room)

    def _on_row_changed(self, name: str) -> None:
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
        # Also where the plan stays as it was, such as after a fault.
        row.show_plan(ranges, fixed)
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
    """A row's contents, apart from the range's ends."""
    return [(axis.name, axis.label, axis.kind, axis.log, axis.choices) for axis in axes]
