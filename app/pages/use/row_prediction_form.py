"""One row: a form with a field for each column, and its prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QIntValidator, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QWidget

from app.look import appearance
from app.pages.use.input_fields import InputField, make_field
from app.pages.use.prediction_card import PredictionCard
from app.text.prediction_text import NO_RANGES, TYPICAL, no_interval, test_row_text
from app.widgets.buttons import PlainButton
from app.widgets.card import Card, clear_layout
from app.widgets.flow_layout import FlowLayout
from app.widgets.quiet_controls import QuietSpinBox
from app.widgets.text_labels import titled_control, wrapping_label
from app.worker.messages import ModelDescribed, RowPredicted, TestRowFound
from core.datasets.task import Task
from core.export.using.row_answers import CellValue, ModelForm, TestRow

if TYPE_CHECKING:
    from app.session.session_prediction import SessionPrediction

SOON = 60  # milliseconds after the last letter
HEIGHT = 330  # pixels of the form
SEARCHED = 12  # columns with a search field
LARGEST = 2**31 - 1


class RowPredictionForm(QWidget):
    """The form, and the prediction that follows every change."""

    def __init__(self, using: SessionPrediction) -> None:
        super().__init__()
        self.using = using
        self.fields: dict[str, InputField] = {}
        self._form: ModelForm | None = None
        self._initial_values: dict[str, CellValue] = {}  # of the row
        self._initial_form_values: dict[str, CellValue] = {}  # the same, as the form has them
        self._original: RowPredicted | None = None  # their answer
        self._test_row: TestRow | None = None
        self._line_number = 0  # of the row in its file
        self._soon = QTimer(self, interval=SOON, singleShot=True)
        self._soon.timeout.connect(self._request_prediction)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._make_form(), 1)
        self.answer = PredictionCard()
        row.addWidget(self.answer)
        using.described.connect(self._on_described)
        using.row_predicted.connect(self._on_predicted)
        using.test_row_found.connect(self._show_test_row)
        self.clear_form("")

    def _make_form(self) -> Card:
        self.card = Card("One row")
        self.reason_label = wrapping_label("", "muted")
        self.card.body.addWidget(self.reason_label)
        self.row_controls = QWidget()
        line = FlowLayout(self.row_controls, gap=10)
        self.typical = PlainButton("Typical row", self._begin_typical)
        self.number = _make_spin_box(self._find_number)
        self.line = _make_line_field(self._find_line)
        self.line.setToolTip("The row of the test set in this line of the file, or the next below.")
        self.of_tests = QWidget()
        tests = QHBoxLayout(self.of_tests)
        tests.setContentsMargins(0, 0, 0, 0)
        tests.setSpacing(10)
        tests.addWidget(titled_control("Row of the test set", self.number))
        self._line_box = titled_control("or line of the file", self.line)
        tests.addWidget(self._line_box)
        self.reset = PlainButton("Reset", self._reset_row)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a column")
        self.search.setAccessibleName("Find a column")
        self.search.setAcceptDrops(False)
        self.search.setMinimumWidth(appearance.pixels(140))
        self.search.setMinimumHeight(28)
        self.search.textChanged.connect(self._filter_fields)
        for widget in (self.typical, self.of_tests, self.reset, self.search):
            line.addWidget(widget)
        self.card.body.addWidget(self.row_controls)
        self.source_label = wrapping_label("", "caption")
        self.card.body.addWidget(self.source_label)
        inner = QWidget()
        inner.setObjectName("scrolled")
        self._flow = FlowLayout(inner, gap=12, column_width=200)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll_area.viewport().setAutoFillBackground(False)
        self.scroll_area.setWidget(inner)
        self.card.body.addWidget(self.scroll_area)
        self.card.body.addStretch(1)
        return self.card

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit form and answer."""
        super().resizeEvent(event)
        self._fit_sizes()

    def _fit_sizes(self) -> None:
        self.answer.setFixedWidth(min(appearance.pixels(300), self.width() * 2 // 5))
        room = self.scroll_area.viewport().width() or self.width() - self.answer.width()
        needed = self._flow.heightForWidth(room) + 4
        self.scroll_area.setFixedHeight(min(needed, appearance.pixels(HEIGHT)))

    # The model --------------------------------------------------------------------------------

    def clear_form(self, reason: str) -> None:
        """Show `reason` in place of the form."""
        self._form = self._test_row = self._original = None
        self.fields = {}
        clear_layout(self._flow)
        self.answer.clear_answer()
        self.answer.hide()
        for widget in (self.row_controls, self.scroll_area, self.source_label):
            widget.hide()
        self.reason_label.setText(reason)
        self.reason_label.setVisible(bool(reason))

    def _on_described(self, answer: ModelDescribed) -> None:
        self.clear_form(answer.problem)
        if (form := answer.form) is None:
            return
        self._form = form
        notes = []
        if not form.known:
            notes.append(NO_RANGES)
        if form.task == Task.REGRESSION and form.interval is None:
            notes.append(no_interval(form.fewest))
        if form.left_out:
            notes.append(f"{form.left_out:,} more columns keep their typical values.")
        self.answer.set_form(form, " ".join(notes))
        for column in form.fields:
            input_field = make_field(column)
            input_field.changed.connect(self._on_changed)
            self.fields[input_field.name] = input_field
            self._flow.addWidget(input_field)
        self.number.setMaximum(LARGEST)  # until the size of the test set is known
        self.search.clear()
        self.search.setVisible(len(self.fields) >= SEARCHED)
        self.of_tests.setVisible(bool(self.using.folder))
        for widget in (self.row_controls, self.scroll_area, self.source_label, self.answer):
            widget.show()
        self._begin_typical()
        QTimer.singleShot(0, self, self._fit_sizes)  # when the fields have their sizes

    def _filter_fields(self, words: str) -> None:
        for name, field in self.fields.items():
            field.setVisible(words.casefold() in name.casefold())
        self._fit_sizes()

    # The row it begins with -------------------------------------------------------------------

    def _begin_typical(self) -> None:
        if (form := self._form) is None:
            return
        self.source_label.setText(TYPICAL if form.known else "")
        self._show_row_numbers(0, 0)
        self._show_row({column.name: column.typical for column in form.fields}, None)

    def _show_test_row(self, answer: TestRowFound) -> None:
        if self._form is None:
            return
        if (test_row := answer.row) is None:
            self.source_label.setText(answer.problem)
            return
        words = test_row_text(test_row)
        if self._form.refitted:
            words += (
                " The model was fitted on all rows in the end, this one among them: its prediction"
                " here flatters it."
            )
        self.source_label.setText(words)
        self.number.setMaximum(test_row.count)
        self._show_row_numbers(test_row.number, test_row.line)
        self._line_box.setVisible(test_row.counted == "line")
        self._show_row(test_row.values, test_row)

    def _show_row_numbers(self, number: int, line: int) -> None:
        with QSignalBlocker(self.number):
            self.number.setValue(number)
        self.line.setText(str(line) if line else "")
        self._line_number = line

    def _find_number(self) -> None:
        if self.number.value():
            self.using.find_row(number=self.number.value())
        else:
            self._begin_typical()

    def _find_line(self) -> None:
        line = int(self.line.text() or 0)
        if line and line != self._line_number:
            self._line_number = line
            self.using.find_row(line=line)

    def _show_row(self, values: Mapping[str, CellValue], test_row: TestRow | None) -> None:
        self._initial_values, self._test_row, self._original = dict(values), test_row, None
        for name, field in self.fields.items():
            field.show_value(values.get(name))
        self._initial_form_values = self.values
        self.answer.show_truth(test_row)
        self._request_prediction()

    def _reset_row(self) -> None:
        self._show_row(self._initial_values, self._test_row)

    # Asking -----------------------------------------------------------------------------------

    @property
    def values(self) -> dict[str, CellValue]:
        """The row in the form; columns without a field keep their first values."""
        return self._initial_values | {name: field.value for name, field in self.fields.items()}

    @property
    def is_changed(self) -> bool:
        """Whether the row differs from the first one."""
        return any(field.is_changed for field in self.fields.values())

    def _on_changed(self) -> None:
        self.reset.setEnabled(True)
        self._soon.start()

    def _request_prediction(self) -> None:
        self._soon.stop()
        self.reset.setEnabled(self.is_changed)
        if self._form is not None:
            self.using.try_row(self.values)

    def _on_predicted(self, answer: RowPredicted) -> None:
        if self._form is None:
            return
        values, prediction = answer.request.values, answer.prediction
        if values == self._initial_form_values:
            self._original = answer
            self._show_original()
        if values != self.values:
            return  # another answer is on its way
        if self._original is None:  # it was changed before that was answered
            self.using.try_row(self._initial_form_values)
        if prediction is None:
            self.answer.show_problem(answer.problem)
        else:
            self.answer.show_prediction(prediction)
        self._show_original()
        outside = prediction.outside if prediction is not None else ()
        for name, field in self.fields.items():
            field.mark_outside(name in outside)

    def _show_original(self) -> None:
        original = self._original if self.is_changed else None
        self.answer.show_original(original.prediction if original is not None else None)


def _make_spin_box(on_changed: Callable[[], None]) -> QuietSpinBox:
    spin_box = QuietSpinBox()
    spin_box.setRange(0, LARGEST)
    spin_box.setSpecialValueText("–")  # no row of the test set
    spin_box.setKeyboardTracking(False)
    spin_box.setMinimumHeight(28)
    spin_box.setMinimumWidth(appearance.pixels(90))
    spin_box.lineEdit().setAcceptDrops(False)
    spin_box.valueChanged.connect(lambda _value: on_changed())
    return spin_box


def _make_line_field(on_edited: Callable[[], None]) -> QLineEdit:
    line_edit = QLineEdit()
    line_edit.setValidator(QIntValidator(1, LARGEST, line_edit))
    line_edit.setPlaceholderText("–")
    line_edit.setMinimumHeight(28)
    line_edit.setMinimumWidth(appearance.pixels(90))
    line_edit.setAcceptDrops(False)
    line_edit.editingFinished.connect(on_edited)
    return line_edit
