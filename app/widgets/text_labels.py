"""Text: labels that wrap, say their part in the stylesheet, and read data as data."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QVBoxLayout, QWidget


def wrapping_label(text: str = "", voice: str = "", parent: QWidget | None = None) -> QLabel:
    """A wrapping label; `voice` names its part in the stylesheet ("muted", "heading", …).

    The text is always plain, so that a column called "<b>" is shown as that.
    """
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setText(text)
    if voice:
        label.setProperty("voice", voice)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


def plain_tooltip(text: str) -> str:
    """The text as a tooltip that shows it letter by letter: Qt would take "<b>" for bold."""
    if "<" not in text and "&" not in text:
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def titled_control(title: str, control: QWidget) -> QWidget:
    """A control under its name, which is also what a screen reader says."""
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    name = QLabel(title)
    name.setTextFormat(Qt.TextFormat.PlainText)
    name.setProperty("voice", "small")
    name.setBuddy(control)
    control.setAccessibleName(title)
    column.addWidget(name)
    column.addWidget(control)
    column.addStretch(1)
    return holder


class ElidedLabel(QLabel):
    """One line that ends in … where the place is too narrow; the tooltip then has it all."""

    def __init__(self, text: str = "", voice: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if voice:
            self.setProperty("voice", voice)

    def minimumSizeHint(self) -> QSize:
        """As narrow as a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 6, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        box = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, box.width())
        cut = shown != self.text()
        if cut != bool(self.toolTip()):
            self.setToolTip(plain_tooltip(self.text()) if cut else "")
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(box, int(self.alignment()), shown)


def apply_style(widget: QWidget, **properties: object) -> None:
    """Set properties that the stylesheet looks at, and let it look again."""
    changed = False
    for name, value in properties.items():
        if widget.property(name) != value:
            widget.setProperty(name, value)
            changed = True
    if changed:
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()
