"""The fields of a form for one row."""

import math

from PySide6.QtCore import QLocale, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.look import appearance
from app.text.prediction_text import training_range_text
from app.widgets.layouts import add_to, in_column, in_row
from app.widgets.quiet_controls import QuietComboBox, QuietSlider
from app.widgets.text_labels import ElidedLabel, apply_style
from core.export.using.row_answers import CellValue
from core.tuning.results.training_columns import CHOICE, NUMBER, TrainingColumn
from core.wording import format_number
from resources.theme import TARGET

STEPS = 200  # of a slider
MISSING = "(missing)"


class InputField(QWidget):
    """One column, with a note on its training range."""

    changed = Signal()  # by a person

    def __init__(self, column: TrainingColumn) -> None:
        super().__init__()
        self.column, self.name = column, column.name
        self._before: CellValue = None
        self._outside = False
        title = ElidedLabel(" ".join(column.title.split()) or "(no name)", "small")
        self._layout = in_column(title, on=self, gap=2, margins=(0, 0, 0, 6))
        self._note = ElidedLabel("", "caption")

    def sizeHint(self) -> QSize:
        return QSize(appearance.pixels(230), super().sizeHint().height())

    def show_value(self, value: CellValue) -> None:
        """Set the first value, without `changed`."""
        self._before = value
        self._outside = False
        self._set_value(value)
        self._update_note()

    def mark_outside(self, outside: bool) -> None:
        self._outside = outside
        self._update_note()

    @property
    def value(self) -> CellValue:
        raise NotImplementedError

    @property
    def is_changed(self) -> bool:
        return bool(self.value != self._before)

    def _set_value(self, value: CellValue) -> None:
        raise NotImplementedError

    def _value_text(self, value: CellValue) -> str:
        if value is None:
            return MISSING
        return format_number(value, 4) if isinstance(value, float) else " ".join(str(value).split())

    def _update_note(self) -> None:
        before = self._value_text(self._before) if self.is_changed else ""
        self._note.setText(training_range_text(self.column, self._outside, before))
        apply_style(self._note, voice="warning" if self._outside else "caption")

    def _on_changed(self) -> None:
        self._update_note()
        self.changed.emit()


class NumberField(InputField):
    """A number, with a slider where the training range is known."""

    def __init__(self, column: TrainingColumn) -> None:
        super().__init__(column)
        self.edit = make_line_edit(self.name, "missing", 70)
        self.edit.textEdited.connect(lambda _text: self._on_text_edited())
        row = in_row((self.edit, 2), gap=8)
        self.slider: QuietSlider | None = None
        self._low, self._high = low, high = column.low or 0.0, column.high or 0.0
        if low < high and math.isfinite(high - low):
            # A whole number has a stop of the slider of its own where they are few.
            self._steps = int(min(STEPS, high - low)) if column.whole else STEPS
            self.slider = QuietSlider(Qt.Orientation.Horizontal)
            self.slider.setRange(0, self._steps)
            self.slider.setMinimumHeight(TARGET)
            self.slider.setMinimumWidth(appearance.pixels(60))
            self.slider.setAccessibleName(f"{self.name}, by a slider")
            self.slider.setPageStep(max(1, self._steps // 10))
            self.slider.valueChanged.connect(self._on_slider_moved)
            row.addWidget(self.slider, 3)
        add_to(self._layout, row, self._note)

    @property
    def value(self) -> CellValue:
        """None where it is missing; the text where it is no number."""
        text = self.edit.text().strip()
        if not text:
            return None
        number, is_number = QLocale().toDouble(text)
        if not is_number:
            # What was copied from a program has a point and perhaps the typographic minus.
            number, is_number = QLocale.c().toDouble(text.replace("\N{MINUS SIGN}", "-"))
        if is_number and isinstance(self._before, float) and text == locale_number(self._before):
            # The field shows eight digits; a value that nobody changed is given on with all of
            # them.
            return self._before
        return float(number) if is_number else text

    def _set_value(self, value: CellValue) -> None:
        self.edit.setText(locale_number(value) if isinstance(value, float) else value or "")
        self._move_slider()

    def _move_slider(self) -> None:
        value = self.value
        if self.slider is None or not isinstance(value, float):
            return
        low, high = self._low, self._high
        share = (min(max(value, low), high) - low) / (high - low)
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(share * self._steps))

    def _on_text_edited(self) -> None:
        self._move_slider()
        self._on_changed()

    def _on_slider_moved(self, step: int) -> None:
        low, high = self._low, self._high
        value = low + (high - low) * step / self._steps
        if self.column.whole:
            value = float(round(value))
        # Between the ends four digits are enough; the ends are those of the training rows exactly.
        elif 0 < step < self._steps:
            value = float(f"{value:.4g}")
        self.edit.setText(locale_number(value))
        self._on_changed()


class ChoiceField(InputField):
    """A value of the training rows, or nothing."""

    def __init__(self, column: TrainingColumn) -> None:
        super().__init__(column)
        self.box = QuietComboBox()
        self.box.setAccessibleName(self.name)
        self.box.setMinimumHeight(TARGET)
        for value in column.choices:
            self._add_choice(value)
        self.box.addItem(MISSING, None)
        self.box.setEditable(column.more)
        if (line := self.box.lineEdit()) is not None:
            line.setAcceptDrops(False)
            self.box.setInsertPolicy(QuietComboBox.InsertPolicy.NoInsert)
        self.box.currentTextChanged.connect(lambda _text: self._on_changed())
        add_to(self._layout, self.box, self._note)

    def _add_choice(self, value: CellValue) -> None:
        text = locale_number(value) if isinstance(value, float) else self._value_text(value)
        self.box.addItem(text, value)

    @property
    def value(self) -> CellValue:
        text = self.box.currentText()
        index = self.box.findText(text)
        return self.box.itemData(index) if index >= 0 else text

    def _set_value(self, value: CellValue) -> None:
        indices = [index for index in range(self.box.count()) if self.box.itemData(index) == value]
        with QSignalBlocker(self.box):
            if not indices:
                self._add_choice(value)
            self.box.setCurrentIndex(indices[0] if indices else self.box.count() - 1)


class TextField(InputField):
    """A date or a text."""

    def __init__(self, column: TrainingColumn) -> None:
        super().__init__(column)
        self.edit = make_line_edit(self.name, "missing", 70)
        self.edit.textEdited.connect(lambda _text: self._on_changed())
        add_to(self._layout, self.edit, self._note)

    @property
    def value(self) -> CellValue:
        return self.edit.text() or None

    def _set_value(self, value: CellValue) -> None:
        self.edit.setText("" if value is None else " ".join(str(value).splitlines()))


def make_field(column: TrainingColumn) -> InputField:
    """A column's field."""
    kinds: dict[str, type[InputField]] = {NUMBER: NumberField, CHOICE: ChoiceField}
    return kinds.get(column.kind, TextField)(column)


def locale_number(value: float) -> str:
    """A number as typed in this locale."""
    locale = QLocale()
    locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return locale.toString(value, "g", 8)


def make_line_edit(name: str, placeholder: str, min_width: int) -> QLineEdit:
    """`min_width` in pixels at the usual text size."""
    line_edit = QLineEdit()
    line_edit.setAccessibleName(name)
    line_edit.setPlaceholderText(placeholder)
    line_edit.setMinimumSize(appearance.pixels(min_width), TARGET)
    # A file that is dropped on it is the window's to open, not a path to be written here.
    line_edit.setAcceptDrops(False)
    return line_edit
