"""The fields of a form for one row: a number with its slider, a choice, a date or text."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QLocale, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.text.numbers import plain
from app.text.use import range_in_words
from app.widgets.labels import OneLine, restyle
from app.widgets.quiet_controls import QuietComboBox, QuietSlider
from resources.theme import TARGET

STEPS = 200  # of a slider
MISSING = "(missing)"


class Field(QWidget):
    """One column under its name; what stands below it says its range and what it was.

    Signals:
        changed: a person gave another value.
    """

    changed = Signal()

    def __init__(self, field: dict[str, Any]) -> None:
        super().__init__()
        self.field = field
        self.name = str(field["name"])
        self._before: Any = None
        self._outside = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 6)
        self._column.setSpacing(2)
        self._column.addWidget(OneLine(" ".join(self.name.split()) or "(no name)", "small"))
        self._note = OneLine("", "caption")

    def sizeHint(self) -> QSize:
        """As wide as a column of the form, however long its words are."""
        return QSize(appearance.pixels(230), super().sizeHint().height())

    def show_value(self, value: Any) -> None:
        """Show a value that it begins with; `changed` says nothing."""
        self._before = value
        self._outside = False
        self._put(value)
        self._tell()

    def mark(self, outside: bool) -> None:
        """Say whether its value was never seen in training."""
        self._outside = outside
        self._tell()

    @property
    def value(self) -> Any:
        """A number, a text, or None where it is missing."""
        raise NotImplementedError

    @property
    def is_changed(self) -> bool:
        """Whether it is another value than it began with."""
        return bool(self.value != self._before)

    def _put(self, value: Any) -> None:
        raise NotImplementedError

    def _words(self, value: Any) -> str:
        if value is None:
            return MISSING
        return plain(value, 4) if isinstance(value, float) else " ".join(str(value).split())

    def _tell(self) -> None:
        before = self._words(self._before) if self.is_changed else ""
        said = range_in_words(self.field, self._outside, before)
        self._note.setText(said)
        restyle(self._note, voice="warning" if self._outside else "caption")

    def _changed(self) -> None:
        self._tell()
        self.changed.emit()


class NumberField(Field):
    """A number, and a slider over the range of the training rows where that is known."""

    def __init__(self, field: dict[str, Any]) -> None:
        super().__init__(field)
        self.edit = _line(self.name, self._edited)
        self.edit.setPlaceholderText("missing")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.edit, 2)
        self.slider: QuietSlider | None = None
        low, high = field["low"], field["high"]
        if low is not None and low < high and math.isfinite(high - low):
            self._steps = int(min(STEPS, high - low)) if field["whole"] else STEPS
            self.slider = QuietSlider(Qt.Orientation.Horizontal)
            self.slider.setRange(0, self._steps)
            self.slider.setMinimumHeight(TARGET)
            self.slider.setMinimumWidth(appearance.pixels(60))
            self.slider.setAccessibleName(f"{self.name}, by a slider")
            self.slider.setPageStep(max(1, self._steps // 10))
            self.slider.valueChanged.connect(self._slid)
            row.addWidget(self.slider, 3)
        self._column.addLayout(row)
        self._column.addWidget(self._note)

    @property
    def value(self) -> Any:
        """The number; None where it is missing; the text itself where that is no number."""
        text = self.edit.text().strip()
        if not text:
            return None
        number, fine = QLocale().toDouble(text)
        if not fine:
            number, fine = QLocale.c().toDouble(text.replace("\N{MINUS SIGN}", "-"))
        if fine and self._before is not None and text == in_digits(self._before):
            return self._before  # with all its digits
        return float(number) if fine else text

    def _put(self, value: Any) -> None:
        self.edit.setText("" if value is None else in_digits(value))
        self._move()

    def _move(self) -> None:
        """The slider goes where the number is."""
        value = self.value
        if self.slider is None or not isinstance(value, float):
            return
        low, high = self.field["low"], self.field["high"]
        self.slider.blockSignals(True)
        share = (min(max(value, low), high) - low) / (high - low)
        self.slider.setValue(round(share * self._steps))
        self.slider.blockSignals(False)

    def _edited(self) -> None:
        self._move()
        self._changed()

    def _slid(self, place: int) -> None:
        low, high = self.field["low"], self.field["high"]
        value = low + (high - low) * place / self._steps
        if self.field["whole"]:
            value = float(round(value))
        elif 0 < place < self._steps:
            value = float(f"{value:.4g}")
        self.edit.setText(in_digits(value))
        self._changed()


class ChoiceField(Field):
    """One of the values of the training rows, or nothing."""

    def __init__(self, field: dict[str, Any]) -> None:
        super().__init__(field)
        self.box = QuietComboBox()
        self.box.setAccessibleName(self.name)
        self.box.setMinimumHeight(TARGET)
        for value in field["choices"]:
            self._add(value)
        self.box.addItem(MISSING, None)
        self.box.setEditable(bool(field["more"]))
        if self.box.lineEdit() is not None:
            self.box.lineEdit().setAcceptDrops(False)
            self.box.setInsertPolicy(QuietComboBox.InsertPolicy.NoInsert)
        self.box.currentTextChanged.connect(lambda _text: self._changed())
        self._column.addWidget(self.box)
        self._column.addWidget(self._note)

    def _add(self, value: Any) -> None:
        text = in_digits(value) if isinstance(value, float) else self._words(value)
        self.box.addItem(text, value)

    @property
    def value(self) -> Any:
        """The chosen value; None where it is missing."""
        text = self.box.currentText()
        at = self.box.findText(text)
        return self.box.itemData(at) if at >= 0 else text

    def _put(self, value: Any) -> None:
        self.box.blockSignals(True)
        found = [at for at in range(self.box.count()) if self.box.itemData(at) == value]
        if not found:
            self._add(value)
            found = [self.box.count() - 1]
        self.box.setCurrentIndex(found[0])
        self.box.blockSignals(False)


class TextField(Field):
    """A date or a text."""

    def __init__(self, field: dict[str, Any]) -> None:
        super().__init__(field)
        self.edit = _line(self.name, self._changed)
        self.edit.setPlaceholderText("missing")
        self._column.addWidget(self.edit)
        self._column.addWidget(self._note)

    @property
    def value(self) -> Any:
        """The text; None where it is missing."""
        return self.edit.text() or None

    def _put(self, value: Any) -> None:
        self.edit.setText("" if value is None else " ".join(str(value).splitlines()))


def field_of(field: dict[str, Any]) -> Field:
    """The field of a column."""
    kinds = {"number": NumberField, "choice": ChoiceField}
    return kinds.get(field["kind"], TextField)(field)


def in_digits(value: float) -> str:
    """A number as a person would type it, in the locale's manner."""
    locale = QLocale()
    locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return locale.toString(value, "g", 8)


def _line(name: str, edited: Any) -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setMinimumHeight(TARGET)
    made.setMinimumWidth(appearance.pixels(70))
    made.setAcceptDrops(False)  # a file that is dropped is the window's
    made.textEdited.connect(lambda _text: edited())
    return made
