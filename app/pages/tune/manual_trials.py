"""A setting that a person enters: a button and its dialog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.text.range_text import editable_number, with_decimal_point
from app.widgets.buttons import LinkButton, PlainButton, PrimaryButton
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import wrapping_label
from core.errors import UnusableError
from core.space import Axis, Setting, axis_title
from core.tuning.ranges import value_of
from core.tuning.runs.state import RunState

if TYPE_CHECKING:
    from app.session.session import Session

SHOWN = ("running", "paused", "finished", "interrupted")


class ManualTrials(QObject):
    """The button, for runs that search the settings of one model."""

    entered = Signal()  # a setting

    def __init__(self, session: Session) -> None:
        self.button = LinkButton("Try a setting…", self.ask_setting, "plus")
        super().__init__(self.button)
        self.session = session
        self._run: RunState | None = None
        self._chosen_number: int | None = None
        self.button.setToolTip("Enter a setting yourself; it is tried next, beyond the budget.")

    def show_run(self, run: RunState) -> None:
        """Show the button where this run can try a setting."""
        if run is not self._run:
            self._run, self._chosen_number = run, None
        is_search = run.started.kind == "trials" and bool(run.started.space)
        searches_settings = is_search and not run.tunes_several_models
        is_open = self.session.state != "running" or run.tuning_ended is None
        self.button.setVisible(searches_settings and is_open and self.session.state in SHOWN)

    def take_trial(self, number: int) -> None:
        """Begin the next dialog with the setting of this trial."""
        self._chosen_number = number

    def ask_setting(self) -> None:
        """Show the dialog, and try what was entered."""
        run = self._run
        if run is None:
            return
        axes = tuple(run.started.space)
        chosen = run.find_trial(self._chosen_number) or run.best_trial
        initial_setting = chosen.setting if chosen is not None else {}
        dialog = SettingDialog(axes, initial_setting, self.button.window())
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.session.try_setting(dialog.setting)
            self.entered.emit()


class SettingDialog(QDialog):
    """A field for each axis; a fault is shown under its field."""

    def __init__(
        self, axes: Sequence[Axis], initial: Mapping[str, Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Try a setting")
        self._axes = axes
        self.setting: Setting = {}  # once it was accepted
        self.fields: dict[str, QWidget] = {}
        self.faults = {axis.name: wrapping_label("", "bad") for axis in axes}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(wrapping_label("Which setting should be tried next?", "cardtitle"))
        caption = "It is tried beyond the budget, and the strategy learns from it."
        layout.addWidget(wrapping_label(caption, "caption"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(4)
        for index, axis in enumerate(axes):
            self._add_row(grid, 2 * index, axis, initial.get(axis.name, axis.default))
        layout.addLayout(grid)
        layout.addStretch(1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(PlainButton("Cancel", self.reject))
        self.try_button = PrimaryButton("Try it", self._accept_setting)
        self.try_button.setDefault(True)
        foot.addWidget(self.try_button)
        layout.addLayout(foot)
        self.setMinimumWidth(appearance.pixels(420))

    def _add_row(self, grid: QGridLayout, row: int, axis: Axis, value: Any) -> None:
        name = wrapping_label(axis_title(axis.label, axis.name))
        grid.addWidget(name, row, 0)
        if axis.kind == "choice":
            box = QuietComboBox()
            for index, choice in enumerate(axis.choices):
                box.addItem(str(choice), index)
            if value in axis.choices:
                box.setCurrentIndex(list(axis.choices).index(value))
            field: QWidget = box
        else:
            field = QLineEdit("" if value is None else editable_number(value))
            ends = f"from {editable_number(axis.low)} to {editable_number(axis.high)}"
            grid.addWidget(wrapping_label(ends if axis.is_free else "fixed", "muted"), row, 2)
        field.setEnabled(axis.is_free)
        field.setAccessibleName(axis.label)
        name.setBuddy(field)
        grid.addWidget(field, row, 1)
        self.faults[axis.name].hide()
        grid.addWidget(self.faults[axis.name], row + 1, 0, 1, 3)
        self.fields[axis.name] = field

    def _accept_setting(self) -> None:
        setting, is_valid = {}, True
        for axis in self._axes:
            fault = ""
            try:
                setting[axis.name] = self._entered_value(axis)
            except UnusableError as error:
                fault, is_valid = error.sentence, False
            self.faults[axis.name].setText(fault)
            self.faults[axis.name].setVisible(bool(fault))
        if is_valid:
            self.setting = setting
            self.accept()

    def _entered_value(self, axis: Axis) -> Any:
        field = self.fields[axis.name]
        if isinstance(field, QuietComboBox):
            return axis.choices[field.currentData()]
        assert isinstance(field, QLineEdit)
        return value_of(axis, with_decimal_point(field.text()))
