"""A setting that a person enters, to be tried next: a button and its dialog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.text.ranges import as_others_read, written
from app.widgets.buttons import LinkButton, PlainButton, PrimaryButton
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox
from core.errors import UnusableError
from core.space import Axis, Setting, axis_from_dict, titled
from core.tuning.ranges import value_of
from core.tuning.runs.state import RunState

if TYPE_CHECKING:
    from app.session.session import Session

SHOWN = ("running", "paused", "finished", "interrupted")


class ByHand(QObject):
    """The button, there for runs that search the settings of one model.

    Args:
        session: that tries what is entered.

    Signals:
        entered: a setting was entered.
    """

    entered = Signal()

    def __init__(self, session: Session) -> None:
        self.button = LinkButton("Try a setting…", self.ask, "plus")
        super().__init__(self.button)
        self.session = session
        self._run: RunState | None = None
        self._chosen: int | None = None
        self.button.setToolTip("Enter a setting yourself; it is tried next, beyond the budget.")

    def show_run(self, run: RunState) -> None:
        """Offer it for this run, or not."""
        if run is not self._run:
            self._run, self._chosen = run, None
        begun = run.started.kind == "trials" and bool(run.started.space) and not run.several
        going = self.session.state != "running" or run.tuning_ended is None
        self.button.setVisible(begun and going and self.session.state in SHOWN)

    def take_trial(self, number: int) -> None:
        """A person selected a trial: the dialog begins with its setting."""
        self._chosen = number

    def ask(self) -> None:
        """Show the dialog; what it gives is tried."""
        run = self._run
        if run is None:
            return
        axes = tuple(map(axis_from_dict, run.started.space))
        chosen = run.trial(self._chosen) or run.best
        begins = chosen.setting if chosen is not None else {}
        dialog = SettingDialog(axes, begins, self.button.window())
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.session.try_setting(dialog.setting)
            self.entered.emit()


class SettingDialog(QDialog):
    """A field for each setting; what cannot be tried is said under its field.

    Args:
        axes: that the run searches.
        begins: the setting that stands in the fields first.

    Attributes:
        setting: what was entered, once it was accepted.
    """

    def __init__(
        self, axes: Sequence[Axis], begins: Mapping[str, Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Try a setting")
        self._axes = axes
        self.setting: Setting = {}
        self.fields: dict[str, QWidget] = {}
        self.faults = {axis.name: label("", "bad") for axis in axes}
        whole = QVBoxLayout(self)
        whole.setContentsMargins(20, 18, 20, 16)
        whole.setSpacing(10)
        whole.addWidget(label("Which setting should be tried next?", "cardtitle"))
        whole.addWidget(
            label("It is tried beyond the budget, and the strategy learns from it.", "caption")
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(4)
        for at, axis in enumerate(axes):
            self._add_row(grid, 2 * at, axis, begins.get(axis.name, axis.default))
        whole.addLayout(grid)
        whole.addStretch(1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(PlainButton("Cancel", self.reject))
        self.try_button = PrimaryButton("Try it", self._accept)
        self.try_button.setDefault(True)
        foot.addWidget(self.try_button)
        whole.addLayout(foot)
        self.setMinimumWidth(appearance.pixels(420))

    def _add_row(self, grid: QGridLayout, at: int, axis: Axis, value: Any) -> None:
        name = label(titled(axis.label, axis.name))
        grid.addWidget(name, at, 0)
        if axis.kind == "choice":
            box = QuietComboBox()
            for place, choice in enumerate(axis.choices):
                box.addItem(str(choice), place)
            if value in axis.choices:
                box.setCurrentIndex(list(axis.choices).index(value))
            field: QWidget = box
        else:
            field = QLineEdit("" if value is None else written(value))
            ends = f"from {written(axis.low)} to {written(axis.high)}"
            grid.addWidget(label(ends if axis.is_free else "fixed", "muted"), at, 2)
        field.setEnabled(axis.is_free)
        field.setAccessibleName(axis.label)
        name.setBuddy(field)
        grid.addWidget(field, at, 1)
        self.faults[axis.name].hide()
        grid.addWidget(self.faults[axis.name], at + 1, 0, 1, 3)
        self.fields[axis.name] = field

    def _accept(self) -> None:
        found, right = {}, True
        for axis in self._axes:
            fault = ""
            try:
                found[axis.name] = self._value(axis)
            except UnusableError as error:
                fault, right = error.sentence, False
            self.faults[axis.name].setText(fault)
            self.faults[axis.name].setVisible(bool(fault))
        if right:
            self.setting = found
            self.accept()

    def _value(self, axis: Axis) -> Any:
        field = self.fields[axis.name]
        if isinstance(field, QuietComboBox):
            return axis.choices[field.currentData()]
        assert isinstance(field, QLineEdit)
        return value_of(axis, as_others_read(field.text()))
