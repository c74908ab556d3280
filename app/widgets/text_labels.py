"""Labels, shortened text, tooltips, styles."""

import re
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QWidget

from app.look import icons
from app.widgets.layouts import in_column
from core.wording import shortened_text

MAX_TOOLTIP = 600  # letters
LONG_WORD = 24  # letters of a word that may be wider than a panel
_PIECE = re.compile(r"[^_./-]{20}|[_./-]+")  # a long word may be broken after it
MIN_WORDS = "Cost …"  # the least that is shown before the library's name


def wrapping_label(text: str = "", voice: str = "") -> QLabel:
    """A wrapping label of plain text; `voice` selects its style ("muted", "heading", …)."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setText(text)
    if voice:
        label.setProperty("voice", voice)
    follow_width(label)
    return label


def follow_width(widget: QWidget) -> None:
    """Let the height follow the width."""
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)


def show_text(label: QLabel, text: str) -> None:
    """Show a text; "" hides the label."""
    label.setText(text)
    label.setVisible(bool(text))


def show_outcome(label: QLabel, sentence: str, succeeded: bool) -> None:
    """Show how what a person did ended, which screen readers say without being moved there."""
    show_text(label, sentence)
    label.setAccessibleName(sentence)
    apply_style(label, voice="good" if succeeded else "bad")
    if sentence:
        QAccessible.updateAccessibility(QAccessibleEvent(label, QAccessible.Event.Alert))


def plain_tooltip(text: str) -> str:
    """Text without markup, the ends of what is too long for a screen."""
    if len(text) > MAX_TOOLTIP:
        text = breakable_text(shortened_text(text, MAX_TOOLTIP))
    elif "<" not in text and "&" not in text:
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def breakable_text(text: str) -> str:
    """The text with places where a label may break its long words."""
    words = text.split(" ")
    return " ".join(w if len(w) < LONG_WORD else _PIECE.sub("\\g<0>\u200b", w) for w in words)


def titled_control(title: str, control: QWidget) -> QWidget:
    """A control under its title."""
    holder = QWidget()
    name = QLabel(title)
    # Titles name columns and classes of a file, which may look like markup.
    name.setTextFormat(Qt.TextFormat.PlainText)
    name.setProperty("voice", "small")
    name.setBuddy(control)
    control.setAccessibleName(title)
    in_column(name, control, 1, on=holder, gap=2)
    return holder


class ElidedLabel(QLabel):
    """One line that is elided where room is short."""

    def __init__(self, text: str = "", voice: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if voice:
            self.setProperty("voice", voice)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 6, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        box = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, box.width())
        cut = shown != self.text()
        # Setting a tooltip while painting asks for another painting.
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


def shorten_text(text: str, metrics: QFontMetrics, room: int) -> str:
    """Such as "Cost of … (C)" or "C" of "Cost of a wrong row (C)" in `room` pixels."""
    right = Qt.TextElideMode.ElideRight
    if metrics.horizontalAdvance(text) <= room:
        return text
    words, bracket, name = text.rpartition(" (")
    if not bracket or not name.endswith(")"):
        return metrics.elidedText(text, right, room)
    end = f" ({name}"
    room_left = room - metrics.horizontalAdvance(end)
    if room_left < metrics.horizontalAdvance(MIN_WORDS):
        return metrics.elidedText(name.removesuffix(")"), right, room)
    return metrics.elidedText(words, right, room_left) + end


class StatusIcon(QWidget):
    """A picture beside text."""

    def __init__(self, icon: str, token: str, size: int) -> None:
        super().__init__()
        self._icon = icons.tinted_icon(icon, token)
        self.setFixedSize(size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._icon.paint(QPainter(self), self.rect())
