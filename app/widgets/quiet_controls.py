"""Numbers and choices that the mouse wheel never changes while the page scrolls under it."""

from __future__ import annotations

import math

from PySide6.QtCore import QLocale, QSize
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

from app.widgets.shortened_text import shorten_text

_INSET = 6  # pixels between the frame and the number


class QuietSpinBox(QSpinBox):
    """A whole number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()


class QuietDoubleSpinBox(QDoubleSpinBox):
    """A number; the arrows multiply where it spans several powers of ten."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(6)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()

    def textFromValue(self, value: float) -> str:
        """As short as the number allows, in the person's own way of writing numbers."""
        return self.locale().toString(value, "g", 6)

    def valueFromText(self, text: str) -> float:
        """The number in the person's own way of writing; 1e-4 counts too."""
        bare = text.removesuffix(self.suffix()).removeprefix(self.prefix()).strip()
        number, fine = self.locale().toDouble(bare)
        if not fine:
            number, fine = QLocale.c().toDouble(bare)
        return number if fine else self.value()

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Whether the text is a number, or may become one."""
        bare = text.removesuffix(self.suffix()).removeprefix(self.prefix()).strip()
        number, fine = self.locale().toDouble(bare)
        if not fine:
            number, fine = QLocale.c().toDouble(bare)
        inside = fine and self.minimum() <= number <= self.maximum()
        state = QValidator.State
        allowed = set(bare.lower()) <= set("0123456789.,+-e ' \u00a0\u202f")
        verdict = state.Acceptable if inside else state.Intermediate if allowed else state.Invalid
        return verdict, text, position

    def stepBy(self, steps: int) -> None:
        """Small numbers step by a tenth of their size, others by their single step."""
        size = abs(self.value())
        if 0 < size < 1:
            unit = 10 ** math.floor(math.log10(size))
            self.setValue(self.value() + steps * unit / (2 if size < unit * 2 else 1))
        else:
            super().stepBy(steps)


class QuietComboBox(QComboBox):
    """One of several choices; where room is short, its words are cut at …, never within."""

    def minimumSizeHint(self) -> QSize:
        """Some ten letters, however long the choices are."""
        width = self.fontMetrics().averageCharWidth() * 10 + 40
        return QSize(min(width, super().minimumSizeHint().width()), super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the choice in the room that there is."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        option.currentText = shorten_text(self.currentText(), self.fontMetrics(), field.width())
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()


class QuietSlider(QSlider):
    """A number on a line."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()
