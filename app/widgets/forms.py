"""Forms: controls with their titles, and one control for every option."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from app.widgets.layouts import clear_layout, in_grid
from app.widgets.quiet_controls import QuietComboBox, QuietDoubleSpinBox, QuietSpinBox
from app.widgets.text_labels import wrapping_label
from core.options import Option

_LARGEST_INT = 2**31 - 1
_LARGEST = 1e12


def labelled_grid(controls: Mapping[str, QWidget]) -> QGridLayout:
    """Controls below each other, each beside its name, which is said of it as well."""
    grid = in_grid(16, 10, 0, 1)
    for row, (name, control) in enumerate(controls.items()):
        title = QLabel(name)
        title.setBuddy(control)
        control.setAccessibleName(name)
        grid.addWidget(title, row, 0)
        grid.addWidget(control, row, 1)
    return grid


class OptionForm(QWidget):
    """One control for every option."""

    changed = Signal(str, object)  # name, value

    def __init__(self) -> None:
        super().__init__()
        self.controls: dict[str, QWidget] = {}
        self._options: tuple[Option, ...] = ()
        self._grid = in_grid(16, 4, 0, 1, on=self)

    def show_options(self, options: Sequence[Option], values: Mapping[str, Any]) -> None:
        if tuple(options) != self._options:
            self._options = tuple(options)
            self._rebuild_rows()
        for option in self._options:
            control = self.controls[option.name]
            # Showing a plan is no change of it.
            with QSignalBlocker(control):
                _set_control_value(control, values.get(option.name, option.default))

    def _rebuild_rows(self) -> None:
        clear_layout(self._grid)
        self.controls = {}
        for row, option in enumerate(self._options):
            control = self._make_control(option)
            control.setAccessibleName(option.label)
            control.setAccessibleDescription(option.help)
            name = wrapping_label(option.label)
            name.setBuddy(control)
            self._grid.addWidget(name, 2 * row, 0)
            self._grid.addWidget(control, 2 * row, 1)
            help_line = wrapping_label(option.help, "caption")
            help_line.setContentsMargins(0, 0, 0, 8)
            self._grid.addWidget(help_line, 2 * row + 1, 0, 1, 2)
            self.controls[option.name] = control

    def _make_control(self, option: Option) -> QWidget:
        def emit_change(value: object) -> None:
            self.changed.emit(option.name, value)

        if option.kind == "bool":
            box = QCheckBox("yes")
            box.toggled.connect(emit_change)
            return box
        if option.kind == "choice":
            combo = QuietComboBox()
            words = option.choice_labels or option.choices
            combo.set_choices(dict(zip(option.choices, words, strict=True)))
            combo.currentIndexChanged.connect(lambda: emit_change(combo.currentData()))
            return combo
        spin: QuietSpinBox | QuietDoubleSpinBox
        if option.kind == "int":
            low, high = max(option.low, -_LARGEST_INT), min(option.high, _LARGEST_INT)
            spin = QuietSpinBox(minimum=int(low) + option.low_open, maximum=int(high))
        else:
            spin = _float_box(option)
        spin.setSpecialValueText(option.lowest_label)  # "" for none
        spin.valueChanged.connect(emit_change)
        return spin


def _float_box(option: Option) -> QuietDoubleSpinBox:
    # A field of Qt has no infinity.
    low, high = max(option.low, -_LARGEST), min(option.high, _LARGEST)
    low += 1e-12 * option.low_open
    step = 0.05 if high - low <= 1 else 1.0
    # Qt rounds the value itself to its decimals, and 1e-9 would be 0; the field writes six digits.
    return QuietDoubleSpinBox(decimals=12, minimum=low, maximum=high, singleStep=step)


def _set_control_value(control: QWidget, value: Any) -> None:
    match control:
        case QCheckBox():
            control.setChecked(bool(value))
        case QuietComboBox():
            control.setCurrentIndex(control.findData(str(value)))
        case QuietSpinBox():
            control.setValue(int(value))
        case QuietDoubleSpinBox():
            control.setValue(float(value))
