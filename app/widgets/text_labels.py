"""Labels, tooltips, styles."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QVBoxLayout, QWidget


def wrapping_label(text: str = "", voice: str = "", parent: QWidget | None = None) -> QLabel:
    """A wrapping label of plain text; `voice` selects its style ("muted", "heading", …)."""
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
    """The text as a plain tooltip, without markup."""
    if "<" not in text and "&" not in text:
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def titled_control(title: str, control: QWidget) -> QWidget:
    """A control under its title."""
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
    """One line that is elided where room is short."""

    def __init__(self, text: str = "", voice: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if voice:
            self.setProperty("voice", voice)

    def minimumSizeHint(self) -> QSize:
        """The width of six letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 6, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, elided to the width."""
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
    """Set properties of the stylesheet and apply it."""
    changed = False
    for name, value in properties.items():
        if widget.property(name) != value:
            widget.setProperty(name, value)
            changed = True
    if changed:
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()
