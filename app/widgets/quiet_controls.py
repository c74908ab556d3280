"""Controls that ignore the mouse wheel."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QLocale, QSignalBlocker, QSize
from PySide6.QtGui import QPaintEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.look import appearance
from app.widgets.text_labels import plain_tooltip, shorten_text

_INSET = 6  # pixels between the frame and the number
NARROWEST = 84  # pixels of a chooser at the usual text size


def _ignore_wheel(_widget: QWidget, event: QWheelEvent) -> None:
    event.ignore()


class QuietSpinBox(QSpinBox):
    """A whole number, which counts once it is typed whole; `properties` are Qt's."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**{"keyboardTracking": False} | properties)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)

    wheelEvent = _ignore_wheel


class QuietDoubleSpinBox(QDoubleSpinBox):
    """The same of any number; small values step by a tenth of their size."""

    def __init__(self, **properties: Any) -> None:
        # The decimals first: Qt rounds all other numbers to them.
        super().__init__(**{"decimals": 6, "keyboardTracking": False} | properties)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)

    wheelEvent = _ignore_wheel

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "g", 6)

    def valueFromText(self, text: str) -> float:
        number, is_number = self._parse_number(self._bare_text(text))
        return number if is_number else self.value()

    def _bare_text(self, text: str) -> str:
        return text.removesuffix(self.suffix()).removeprefix(self.prefix()).strip()

    def _parse_number(self, bare: str) -> tuple[float, bool]:
        number, is_number = self.locale().toDouble(bare)
        # 0.5 and 1e-4 are understood wherever a comma is written.
        return (number, is_number) if is_number else QLocale.c().toDouble(bare)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        bare = self._bare_text(text)
        number, is_number = self._parse_number(bare)
        inside = is_number and self.minimum() <= number <= self.maximum()
        state = QValidator.State
        # On the way to a number there is a sign, an exponent, or the spaces between groups of
        # digits.
        allowed = set(bare.lower()) <= set("0123456789.,+-e ' \u00a0\u202f")
        verdict = state.Acceptable if inside else state.Intermediate if allowed else state.Invalid
        return verdict, text, position

    def stepBy(self, steps: int) -> None:
        size = abs(self.value())
        if 0 < size < 1:
            unit = 10 ** math.floor(math.log10(size))
            self.setValue(self.value() + steps * unit / (2 if size < unit * 2 else 1))
        else:
            super().stepBy(steps)


class QuietComboBox(QComboBox):
    """One of several choices, elided where room is short."""

    def set_choices(self, choices: Mapping[Any, str], chosen: Any = None) -> None:
        """Offer {data: words}, of which one is chosen; without signals."""
        with QSignalBlocker(self):
            self.clear()
            for data, words in choices.items():
                self.addItem(words, data)
            self.setCurrentIndex(max(0, self.findData(chosen)))

    def offer_names(self, names: Sequence[str]) -> None:
        self.clear()
        self.addItems(names)
        self.setVisible(bool(names))

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().averageCharWidth() * 50 + 40
        return super().sizeHint().boundedTo(QSize(width, 1 << 20))

    def minimumSizeHint(self) -> QSize:
        width = self.fontMetrics().averageCharWidth() * 10 + 40
        return QSize(min(width, super().minimumSizeHint().width()), super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        option.currentText = shorten_text(self.currentText(), self.fontMetrics(), field.width())
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    wheelEvent = _ignore_wheel


class QuietSlider(QSlider):
    """A number on a line."""

    wheelEvent = _ignore_wheel


def chooser(
    name: str, on_chosen: Callable[[], object], choices: Mapping[str, str] | None = None
) -> QuietComboBox:
    """A box with {data: words}; without choices it is hidden until it has some."""
    box = QuietComboBox()
    box.setAccessibleName(name)
    box.setToolTip(plain_tooltip(name))
    box.setSizeAdjustPolicy(QuietComboBox.SizeAdjustPolicy.AdjustToContents)
    # In a narrow card the library's name is enough; the list itself shows every label whole.
    box.setMinimumWidth(appearance.pixels(NARROWEST))
    box.set_choices(choices or {})
    box.activated.connect(lambda _index: on_chosen())
    if choices is None:
        box.hide()
    return box
