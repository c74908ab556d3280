"""One row: a form with a field for each column, and the prediction beside it as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QIntValidator, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QWidget

from app.look import appearance
from app.pages.use.answer import Answer
from app.pages.use.fields import Field, field_of
from app.text.use import NO_RANGES, TYPICAL, no_interval, row_in_words
from app.widgets.buttons import PlainButton
from app.widgets.card import Card, clear
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, titled
from app.widgets.quiet_controls import QuietSpinBox

if TYPE_CHECKING:
    from app.session.using import SessionUse

SOON = 60  # milliseconds after the last letter until it is asked
HEIGHT = 330  # pixels of the form
SEARCHED = 12  # columns from which on there is a search
LARGEST = 2**31 - 1


class OneRow(QWidget):
    """The form and the answer.

    Args:
        using: asks the worker.
    """

    def __init__(self, using: SessionUse) -> None:
        super().__init__()
        self.using = using
        self.fields: dict[str, Field] = {}
        self._form: dict[str, Any] = {}
        self._start: dict[str, Any] = {}  # the values that the row began with
        self._begun: dict[str, Any] = {}  # the same as the form gives them
        self._original: dict[str, Any] | None = None  # what was said of them
        self._found: dict[str, Any] | None = None  # the row of the test set
        self._line = 0  # of the file, where it stands
        self._soon = QTimer(self, interval=SOON, singleShot=True)
        self._soon.timeout.connect(self._ask)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._make_form(), 1)
        self.answer = Answer()
        row.addWidget(self.answer)
        using.described.connect(self._describe)
        using.tried.connect(self._tried)
        using.found.connect(self._show_found)
        self.forget("")

    def _make_form(self) -> Card:
        self.card = Card("One row")
        self.why = label("", "muted")
        self.card.body.addWidget(self.why)
        self.begin = QWidget()
        line = FlowLayout(self.begin, gap=10)
        self.typical = PlainButton("Typical row", self._begin_typical)
        self.number = _spin(self._find_number)
        self.line = _line(self._find_line)
        self.line.setToolTip("The row of the test set in this line of the file, or the next below.")
        self.of_tests = QWidget()
        tests = QHBoxLayout(self.of_tests)
        tests.setContentsMargins(0, 0, 0, 0)
        tests.setSpacing(10)
        tests.addWidget(titled("Row of the test set", self.number))
        self._line_box = titled("or line of the file", self.line)
        tests.addWidget(self._line_box)
        self.reset = PlainButton("Reset", self._reset)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a column")
        self.search.setAccessibleName("Find a column")
        self.search.setAcceptDrops(False)
        self.search.setMinimumWidth(appearance.pixels(140))
        self.search.setMinimumHeight(28)
        self.search.textChanged.connect(self._filter)
        for part in (self.typical, self.of_tests, self.reset, self.search):
            line.addWidget(part)
        self.card.body.addWidget(self.begin)
        self.place = label("", "caption")
        self.card.body.addWidget(self.place)
        inner = QWidget()
        inner.setObjectName("scrolled")
        self._flow = FlowLayout(inner, gap=12, column_width=200)
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll.viewport().setAutoFillBackground(False)
        self.scroll.setWidget(inner)
        self.card.body.addWidget(self.scroll)
        self.card.body.addStretch(1)
        return self.card

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The answer leaves the form the greater part; the form is as high as its fields need."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.answer.setFixedWidth(min(appearance.pixels(300), self.width() * 2 // 5))
        room = self.scroll.viewport().width() or self.width() - self.answer.width()
        needed = self._flow.heightForWidth(room) + 4
        self.scroll.setFixedHeight(min(needed, appearance.pixels(HEIGHT)))

    # The model --------------------------------------------------------------------------------

    def forget(self, why: str) -> None:
        """There is no model to ask, or not now; say why."""
        self._form, self._found, self._original = {}, None, None
        self.fields = {}
        clear(self._flow)
        self.answer.forget()
        self.answer.hide()
        for part in (self.begin, self.scroll, self.place):
            part.hide()
        self.why.setText(why)
        self.why.setVisible(bool(why))

    def _describe(self, form: dict[str, Any]) -> None:
        if "problem" in form:
            self.forget(form["problem"])
            return
        self.forget("")
        self._form = form
        notes = []
        if not form["known"]:
            notes.append(NO_RANGES)
        if form["task"] == "regression" and not form["interval"]:
            notes.append(no_interval(form["fewest"]))
        if form["left_out"]:
            notes.append(f"{form['left_out']:,} more columns keep their typical values.")
        self.answer.begin(form, " ".join(notes))
        for field in form["fields"]:
            made = field_of(field)
            made.changed.connect(self._changed)
            self.fields[made.name] = made
            self._flow.addWidget(made)
        self.number.setMaximum(LARGEST)  # until the test set tells how many it has
        self.search.clear()
        self.search.setVisible(len(self.fields) >= SEARCHED)
        self.of_tests.setVisible(bool(self.using.folder))
        for part in (self.begin, self.scroll, self.place, self.answer):
            part.show()
        self._begin_typical()
        QTimer.singleShot(0, self, self._fit)  # when the fields have their sizes

    def _filter(self, words: str) -> None:
        for name, field in self.fields.items():
            field.setVisible(words.casefold() in name.casefold())
        self._fit()

    # The row it begins with -------------------------------------------------------------------

    def _begin_typical(self) -> None:
        typical = {field["name"]: field["typical"] for field in self._form["fields"]}
        self.place.setText(TYPICAL if self._form["known"] else "")
        self._show_places(0, 0)
        self._begin(typical, None)

    def _show_found(self, found: dict[str, Any]) -> None:
        if not self._form:
            return
        if "problem" in found:
            self.place.setText(found["problem"])
            return
        flattering = (
            " The model was fitted on all rows in the end, this one among them: its prediction"
            " here flatters it."
        )
        self.place.setText(row_in_words(found) + (flattering if self._form["refitted"] else ""))
        self.number.setMaximum(found["of"])
        self._show_places(found["number"], found["line"])
        self._line_box.setVisible(found["counted"] == "line")
        self._begin(found["values"], found)

    def _show_places(self, number: int, line: int) -> None:
        with QSignalBlocker(self.number):
            self.number.setValue(number)
        self.line.setText(str(line) if line else "")
        self._line = line

    def _find_number(self) -> None:
        if self.number.value():
            self.using.find(number=self.number.value())
        else:
            self._begin_typical()

    def _find_line(self) -> None:
        line = int(self.line.text() or 0)
        if line and line != self._line:
            self._line = line
            self.using.find(line=line)

    def _begin(self, values: dict[str, Any], found: dict[str, Any] | None) -> None:
        self._start, self._found, self._original = dict(values), found, None
        for name, field in self.fields.items():
            field.show_value(values.get(name))
        self._begun = self.values
        self.answer.show_truth(found)
        self._ask()

    def _reset(self) -> None:
        self._begin(self._start, self._found)

    # Asking -----------------------------------------------------------------------------------

    @property
    def values(self) -> dict[str, Any]:
        """The row as it stands in the form; columns without a field keep what they began with."""
        return {**self._start, **{name: field.value for name, field in self.fields.items()}}

    @property
    def is_changed(self) -> bool:
        """Whether it is another row than it began with."""
        return any(field.is_changed for field in self.fields.values())

    def _changed(self) -> None:
        self.reset.setEnabled(True)
        self._soon.start()

    def _ask(self) -> None:
        self._soon.stop()
        self.reset.setEnabled(self.is_changed)
        if self._form:
            self.using.try_row(self.values)

    def _tried(self, values: dict[str, Any], said: dict[str, Any]) -> None:
        if self._form and values == self._begun:
            self._original = said
            self.answer.show_original(said, self.is_changed)
        if not self._form or values != self.values:
            return  # another answer is on its way
        if self._original is None:  # it was changed before that was answered
            self.using.try_row(self._begun)
        self.answer.show_answer(said)
        self.answer.show_original(self._original, self.is_changed)
        outside = said.get("outside", ())
        for name, field in self.fields.items():
            field.mark(name in outside)


def _spin(changed: Any) -> QuietSpinBox:
    made = QuietSpinBox()
    made.setRange(0, LARGEST)
    made.setSpecialValueText("–")  # no row of the test set
    made.setKeyboardTracking(False)
    made.setMinimumHeight(28)
    made.setMinimumWidth(appearance.pixels(90))
    made.lineEdit().setAcceptDrops(False)
    made.valueChanged.connect(lambda _value: changed())
    return made


def _line(given: Any) -> QLineEdit:
    made = QLineEdit()
    made.setValidator(QIntValidator(1, LARGEST, made))
    made.setPlaceholderText("–")
    made.setMinimumHeight(28)
    made.setMinimumWidth(appearance.pixels(90))
    made.setAcceptDrops(False)
    made.editingFinished.connect(given)
    return made
