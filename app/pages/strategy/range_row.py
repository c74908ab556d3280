"""One setting in the table of ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from app.look import appearance
from app.text.range_text import editable_number, scale_of, with_decimal_point
from app.widgets.buttons import LinkButton
from app.widgets.flow_layout import FlowLayout
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import wrapping_label
from core.errors import UnusableError
from core.space import Axis, axis_title
from core.tuning.ranges import fixed_to, searched_axes, with_range

ROWS = 3  # of the table for one setting
COLUMNS = 6  # of the table
_WIDTH = 110  # pixels of a field, at the usual text size
ALL = "all"  # item data of a searched choice


class RangeRow(QWidget):
    """One setting; its controls lie in the table, in one line or two, its fault below."""

    changed = Signal(str)  # the setting's name

    def __init__(self, axis: Axis, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()  # holds only the second line of a narrow page
        self.axis, self.fault = axis, ""  # why the entry cannot be searched
        self.entry: Any = None  # [from, to], one value, or None for the usual range
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
        """Place the controls in three rows of a table: beside the name, or below."""
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
        """Fit the fields to the text's size."""
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
        self.box.addItem("all: " + ", ".join(map(str, self.axis.choices)), ALL)
        for index, choice in enumerate(self.axis.choices):
            self.box.addItem(f"only {choice}", index)
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
        scale = wrapping_label(scale_of(self.axis), "muted")
        controls: tuple[QWidget, ...] = (self.low, self.high, scale, self.fix)
        self._controls += [(control, column, 1) for column, control in enumerate(controls, start=1)]

    def show_plan(self, ranges: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
        """Show the plan's range; a faulty entry stays."""
        axis, name = self.axis, self.axis.name
        if self.fault and self.entry == ranges.get(name, fixed.get(name)):
            return
        self.entry = list(ranges[name]) if name in ranges else fixed.get(name)
        self._show_fault("")
        self.reset.setVisible(self._is_changed)
        if axis.kind == "choice":
            self.box.blockSignals(True)
            self.box.setCurrentIndex(self._choice_index(fixed.get(name)))
            self.box.blockSignals(False)
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
        self.low.setText(editable_number(ends[0]))
        self.high.setText("" if name in fixed else editable_number(ends[1]))

    def _choice_index(self, value: Any) -> int:
        if value is None:
            return 0
        try:
            return 1 + list(self.axis.choices).index(fixed_to(self.axis, value).default)
        except UnusableError as error:
            self._show_fault(error.sentence)
            return 0

    def clear_entry(self) -> None:
        """Forget a faulty entry."""
        self.entry, self.fault = None, ""

    def _reset_entry(self) -> None:
        self.clear_entry()
        self.changed.emit(self.axis.name)

    def _on_choice(self) -> None:
        index = self.box.currentData()
        self.entry = None if index == ALL else self.axis.choices[index]
        self.changed.emit(self.axis.name)

    def _on_fix_clicked(self, is_fixed: bool) -> None:
        if is_fixed:
            self.low.setText(editable_number(self._default_value()))
            self.high.setText("")
        else:
            self.low.setText(editable_number(self.axis.low))
            self.high.setText(editable_number(self.axis.high))
        self.high.setEnabled(not is_fixed)
        self._on_entered()

    def _default_value(self) -> float:
        axis = self.axis
        return axis.default if axis.default is not None else axis.low

    def _on_entered(self) -> None:
        """Store the entry if it is another range or value than before."""
        is_fixed, axis = self.fix.isChecked(), self.axis
        texts = [self.low.text(), self.high.text()]
        previous_entry = self.entry
        try:
            if is_fixed:
                entry: Any = fixed_to(axis, with_decimal_point(texts[0])).default
            else:
                new_axis = with_range(axis, [with_decimal_point(text) for text in texts])
                entry = [new_axis.low, new_axis.high]
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
        self.fault_label.setText(fault)
        self.fault_label.setVisible(bool(fault))
