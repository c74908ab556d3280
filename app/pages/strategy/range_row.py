"""One setting in the table of ranges: from, to, or one value, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from app.look import appearance
from app.text.ranges import as_others_read, scale_of, written
from app.widgets.buttons import LinkButton
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox
from core.errors import UnusableError
from core.space import Axis, titled
from core.tuning.ranges import fixed_to, ranged, searched

ROWS = 3  # of the table, that a setting takes
COLUMNS = 6  # of the table
_WIDTH = 110  # pixels of a field, at the usual text size
ALL = "all"  # the data of a choice that is searched


class RangeRow(QWidget):
    """One setting: its parts stand in the table, in one line or two, and below what is wrong.

    Attributes:
        fault: why what stands in the fields cannot be searched; "" if it can.
        given: [from, to], one value, or None for the usual range.
    """

    changed = Signal(str)

    def __init__(self, axis: Axis, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()  # it holds the second line of a narrow page; its parts are the table's
        self.axis, self.fault = axis, ""
        self.given: Any = None
        self.name = label(titled(axis.label, axis.name))
        self.wrong = label("", "bad")
        self.wrong.hide()
        self._line = FlowLayout(self, gap=12)
        self._parts: list[tuple[QWidget, int, int]] = []  # each with its column, and how many
        if axis.kind == "choice":
            self._make_choice()
        else:
            self._make_fields()
        self.reset = LinkButton("Reset", self._back)
        self.reset.setAccessibleName(f"Reset {axis.label}")
        self._parts.append((self.reset, 5, 1))
        self._fit_fields()

    def place(self, table: QGridLayout, at: int, narrow: bool) -> None:
        """Put the parts into rows `at` to `at` + 2 of a table: fields beside the name, or below."""
        for one in (self.name, self.wrong, self):
            table.removeWidget(one)
        table.addWidget(self.name, at, 0, 1, COLUMNS if narrow else 1)
        if narrow:
            table.addWidget(self, at + 1, 0, 1, COLUMNS)
        table.addWidget(self.wrong, at + 2, 0, 1, COLUMNS)
        for part, column, columns in self._parts:
            table.removeWidget(part)
            self._line.removeWidget(part)
            if narrow:
                self._line.addWidget(part)
            else:
                table.addWidget(part, at, column, 1, columns)
            part.setVisible(part is not self.reset or self._is_changed)
        self.setVisible(narrow)

    @property
    def _is_changed(self) -> bool:
        return self.given is not None or bool(self.fault)

    def changeEvent(self, event: QEvent) -> None:
        """Fields are as wide as their text is large."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_fields()

    def _fit_fields(self) -> None:
        for part, *_ in self._parts:
            if isinstance(part, QLineEdit):
                part.setFixedWidth(appearance.pixels(_WIDTH))

    def _make_choice(self) -> None:
        self.box = QuietComboBox()
        self.box.setAccessibleName(f"Values of {self.axis.label}")
        self.box.addItem("all: " + ", ".join(map(str, self.axis.choices)), ALL)
        for place, choice in enumerate(self.axis.choices):
            self.box.addItem(f"only {choice}", place)
        self.box.currentIndexChanged.connect(self._chosen)
        self._parts.append((self.box, 1, 3))

    def _make_fields(self) -> None:
        self.low, self.high = QLineEdit(), QLineEdit()
        for field, words in ((self.low, "from"), (self.high, "to")):
            field.setAccessibleName(f"{self.axis.label}, {words}")
            field.editingFinished.connect(self._entered)
        self.fix = QCheckBox("one value")
        self.fix.setAccessibleName(f"Fix {self.axis.label} to one value")
        self.fix.clicked.connect(self._fixed)
        scale = label(scale_of(self.axis), "muted")
        parts: tuple[QWidget, ...] = (self.low, self.high, scale, self.fix)
        self._parts += [(part, column, 1) for column, part in enumerate(parts, start=1)]

    def show_plan(self, ranges: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
        """Show what the plan says; what a person entered and cannot be searched stays."""
        axis, name = self.axis, self.axis.name
        if self.fault and self.given == ranges.get(name, fixed.get(name)):
            return
        self.given = list(ranges[name]) if name in ranges else fixed.get(name)
        self._say("")
        self.reset.setVisible(self._is_changed)
        if axis.kind == "choice":
            self.box.blockSignals(True)
            self.box.setCurrentIndex(self._place(fixed.get(name)))
            self.box.blockSignals(False)
            return
        try:
            here = searched([axis], *({n: v for n, v in one.items() if n == name}
                                      for one in (ranges, fixed)))[0]  # fmt: skip
            ends = here.low, here.high
        except UnusableError as error:
            given = self.given if isinstance(self.given, list) else [self.given]
            ends = given[0] if given else "", given[-1] if given else ""
            self._say(error.sentence)
        self.fix.setChecked(name in fixed)
        self.high.setEnabled(name not in fixed)
        self.low.setText(written(ends[0]))
        self.high.setText("" if name in fixed else written(ends[1]))

    def _place(self, value: Any) -> int:
        if value is None:
            return 0
        try:
            return 1 + list(self.axis.choices).index(fixed_to(self.axis, value).default)
        except UnusableError as error:
            self._say(error.sentence)
            return 0

    def forget(self) -> None:
        """What was entered and cannot be searched is forgotten."""
        self.given, self.fault = None, ""

    def _back(self) -> None:
        self.forget()
        self.changed.emit(self.axis.name)

    def _chosen(self) -> None:
        place = self.box.currentData()
        self.given = None if place == ALL else self.axis.choices[place]
        self.changed.emit(self.axis.name)

    def _fixed(self, fixed: bool) -> None:
        if fixed:
            self.low.setText(written(self._default()))
            self.high.setText("")
        else:
            self.low.setText(written(self.axis.low))
            self.high.setText(written(self.axis.high))
        self.high.setEnabled(not fixed)
        self._entered()

    def _default(self) -> float:
        axis = self.axis
        return axis.default if axis.default is not None else axis.low

    def _entered(self) -> None:
        """What stands in the fields, if that is another range or value than before."""
        fixed, axis = self.fix.isChecked(), self.axis
        texts = [self.low.text(), self.high.text()]
        before = self.given
        try:
            if fixed:
                given: Any = fixed_to(axis, as_others_read(texts[0])).default
            else:
                here = ranged(axis, [as_others_read(text) for text in texts])
                given = [here.low, here.high]
                if given == [axis.low, axis.high]:
                    given = None
        except UnusableError as error:
            self._say(error.sentence)
            self.reset.show()
            self.changed.emit(axis.name)
            return
        wrong, self.given = bool(self.fault), given
        self._say("")
        if wrong or given != before:
            self.changed.emit(axis.name)

    def _say(self, fault: str) -> None:
        self.fault = fault
        self.wrong.setText(fault)
        self.wrong.setVisible(bool(fault))
