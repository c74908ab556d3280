"""One row: a form with a field for each column, and its prediction."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QIntValidator, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look import appearance
from app.pages.input_fields import InputField, make_field, make_line_edit
from app.session.session_requests import SessionPrediction
from app.text.prediction_text import NO_RANGES, TYPICAL, predicted_text, prediction_interval_text
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import (
    FlowLayout,
    add_to,
    clear_layout,
    in_column,
    in_lines,
    in_row,
    scrolling,
)
from app.widgets.quiet_controls import QuietSpinBox
from app.widgets.text_labels import plain_tooltip, show_text, titled_control, wrapping_label
from app.worker.messages import ModelDescribed, RowPredicted, TestRowFound
from core.datasets.task import Task
from core.export.using.row_answers import CellValue, ModelForm, RowPrediction, TestRow
from core.wording import format_number, percent, shortened_text

MAX_BARS = 8
SOON = 60  # milliseconds after the last letter
HEIGHT = 330  # pixels of the form
SEARCHED = 12  # columns with a search field
LARGEST = 2**31 - 1


class ShareBar(QWidget):
    """A class and its probability, also as a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._name, self._share = "", 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_share(self, name: str, share: float) -> None:
        self._name, self._share = " ".join(name.split()), share
        share_line = f"{self._name}: {percent(share)}"
        self.setToolTip(plain_tooltip(share_line))
        self.setAccessibleName(share_line)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, self.fontMetrics().height() + 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = appearance.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.fontMetrics().height()
        percent_text = percent(self._share)
        percent_width = self.fontMetrics().horizontalAdvance(percent_text) + 8
        painter.setPen(QColor(theme.ink))
        elide = Qt.TextElideMode.ElideRight
        name = self.fontMetrics().elidedText(self._name, elide, self.width() - percent_width)
        painter.drawText(QRectF(0, 0, self.width() - percent_width, height), name)
        alignment = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        painter.drawText(QRectF(0, 0, self.width(), height), alignment, percent_text)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, height + 3, self.width(), 6), 3, 3)
        painter.setBrush(QColor(theme.accent))
        bar_width = max(0.0, min(1.0, self._share)) * self.width()
        painter.drawRoundedRect(QRectF(0, height + 3, bar_width, 6), 3, 3)


class PredictionCard(Card):
    """The prediction beside the form."""

    def __init__(self) -> None:
        super().__init__("Prediction")
        self.prediction_label = wrapping_label("", "heading")
        self.prediction_label.setAccessibleName("Prediction")
        self.problem = wrapping_label("", "warning")
        self.unlike = wrapping_label("", "warning")
        self.interval = wrapping_label("", "caption")
        self.original = wrapping_label("", "muted")
        self.truth = wrapping_label("", "muted")
        self.notes = wrapping_label("", "caption")
        self._bars: list[ShareBar] = []
        self._bar_box = in_column(gap=4)
        self._more = wrapping_label("", "caption")
        answer_labels = (self._more, self.interval, self.unlike)
        add_to(self.body, self.prediction_label, self.problem, self._bar_box, *answer_labels)
        add_to(self.body, self.original, self.truth, self.notes, 1)
        self.clear_answer()

    def clear_answer(self) -> None:
        self._form: ModelForm | None = None
        self.show_problem("")
        for text_label in (self.original, self.truth, self.notes):
            show_text(text_label, "")

    def set_form(self, form: ModelForm, notes: str) -> None:
        self.clear_answer()
        self._form = form
        target = " ".join(form.target.split()) or "the target"
        self.set_words(f"Prediction of {target}")
        show_text(self.notes, notes)

    def show_prediction(self, prediction: RowPrediction) -> None:
        interval = self._form.interval if self._form is not None else None
        show_text(self.problem, "")
        show_text(self.prediction_label, predicted_text(prediction))
        self._show_shares(prediction.shares)
        show_text(self.interval, prediction_interval_text(prediction, interval))
        unlike = prediction.unlike
        words = f"Unlike the training rows, so this is a guess: {unlike}." if unlike else ""
        show_text(self.unlike, words)

    def show_problem(self, problem: str) -> None:
        show_text(self.problem, problem)
        self._show_shares([])
        for text_label in (self.prediction_label, self.interval, self.unlike):
            show_text(text_label, "")

    def _show_shares(self, shares: Sequence[tuple[str, float]]) -> None:
        while len(self._bars) < min(len(shares), MAX_BARS):
            self._bars.append(ShareBar())
            self._bar_box.addWidget(self._bars[-1])
        for index, bar in enumerate(self._bars):
            bar.setVisible(index < len(shares))
            if index < len(shares):
                bar.show_share(*shares[index])
        hidden = len(shares) - MAX_BARS
        words = f"{hidden:,} less likely classes are not shown." if hidden > 0 else ""
        show_text(self._more, words)


class RowPredictionForm(QWidget):
    """The form, and a prediction after every change."""

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
        self.answer = PredictionCard()
        in_row((self._make_form(), 1), self.answer, on=self, gap=12)
        using.described.connect(self._on_described)
        using.row_predicted.connect(self._on_predicted)
        using.test_row_found.connect(self._show_test_row)
        self.clear_form("")

    def _make_form(self) -> Card:
        self.card = Card("One row")
        self.reason_label = wrapping_label("", "muted")
        self.typical = PlainButton("Typical row", self._begin_typical)
        # 0 is no row of the test set.
        self.number = QuietSpinBox(maximum=LARGEST, specialValueText="–", minimumHeight=28)
        self.number.setMinimumWidth(appearance.pixels(90))
        self.number.lineEdit().setAcceptDrops(False)
        self.number.valueChanged.connect(lambda _value: self._find_number())
        self.line = make_line_edit("", "–", 90)
        self.line.setValidator(QIntValidator(1, LARGEST, self.line))
        self.line.editingFinished.connect(self._find_line)
        self.line.setToolTip("The row of the test set in this line of the file, or the next below.")
        self.of_tests = QWidget()
        self._line_box = titled_control("or line of the file", self.line)
        number_box = titled_control("Row of the test set", self.number)
        in_row(number_box, self._line_box, on=self.of_tests, gap=10)
        self.reset = PlainButton(
            "Reset", lambda: self._show_row(self._initial_values, self._test_row)
        )
        self.search = make_line_edit("Find a column", "Find a column", 140)
        self.search.textChanged.connect(self._filter_fields)
        self.row_controls = in_lines(self.typical, self.of_tests, self.reset, self.search, gap=10)
        self.source_label = wrapping_label("", "caption")
        inner = QWidget()
        self._flow = FlowLayout(inner, gap=12, column_width=200)
        self.scroll_area = scrolling(inner)
        rows = (self.reason_label, self.row_controls, self.source_label, self.scroll_area, 1)
        add_to(self.card.body, *rows)
        return self.card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_sizes()

    def _fit_sizes(self) -> None:
        self.answer.setFixedWidth(min(appearance.pixels(300), self.width() * 2 // 5))
        room = self.scroll_area.viewport().width() or self.width() - self.answer.width()
        needed = self._flow.heightForWidth(room) + 4
        self.scroll_area.setFixedHeight(min(needed, appearance.pixels(HEIGHT)))

    # The model --------------------------------------------------------------------------------

    def clear_form(self, reason: str) -> None:
        self._form = self._test_row = self._original = None
        self.fields = {}
        clear_layout(self._flow)
        self.answer.clear_answer()
        self.answer.hide()
        for widget in (self.row_controls, self.scroll_area, self.source_label):
            widget.hide()
        show_text(self.reason_label, reason)

    def _on_described(self, answer: ModelDescribed) -> None:
        self.clear_form(answer.problem)
        if (form := answer.form) is None:
            return
        self._form = form
        notes = []
        if not form.known:
            notes.append(NO_RANGES)
        if form.task == Task.REGRESSION and form.interval is None:
            words = "There is no prediction interval: it takes the errors on"
            notes.append(f"{words} {form.fewest} test rows or more.")
        if form.left_out:
            notes.append(f"{form.left_out:,} more columns keep their typical values.")
        self.answer.set_form(form, " ".join(notes))
        for column in form.fields:
            input_field = make_field(column)
            input_field.changed.connect(self._on_changed)
            self.fields[input_field.name] = input_field
            self._flow.addWidget(input_field)
        # The size of the test set is known only with its first row.
        self.number.setMaximum(LARGEST)
        self.search.clear()
        self.search.setVisible(len(self.fields) >= SEARCHED)
        self.of_tests.setVisible(bool(self.using.folder))
        for widget in (self.row_controls, self.scroll_area, self.source_label, self.answer):
            widget.show()
        self._begin_typical()
        # Later: the fields have their sizes once the event loop has laid them out.
        QTimer.singleShot(0, self, self._fit_sizes)

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
        line_text = f"{test_row.counted} {test_row.line:,} of the file"
        words = f"Row {test_row.number:,} of the {test_row.count:,} in the test set, {line_text}."
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
        truth = ""
        if test_row is not None:
            value = test_row.truth
            shown = format_number(value, 4) if isinstance(value, float) else shortened_text(value)
            truth = f"True value of {shortened_text(test_row.target)} in the file: {shown}"
        show_text(self.answer.truth, truth)
        self._request_prediction()

    # Asking -----------------------------------------------------------------------------------

    @property
    def values(self) -> dict[str, CellValue]:
        """Columns without a field keep their first values."""
        return self._initial_values | {name: field.value for name, field in self.fields.items()}

    @property
    def is_changed(self) -> bool:
        return any(field.is_changed for field in self.fields.values())

    def _on_changed(self) -> None:
        self.reset.setEnabled(True)
        # Not at every letter: a number is typed in several.
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
            # The row was changed since; its own answer is on its way.
            return
        # It was changed before the first row was answered, which is compared with.
        if self._original is None:
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
        shown = self._original.prediction if self._original and self.is_changed else None
        words = f"Before the changes: {predicted_text(shown)}" if shown else ""
        show_text(self.answer.original, words)
