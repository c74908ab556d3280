"""The tour's card, and the frame around its control."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.look import appearance
from app.widgets.buttons import LinkButton, PlainButton, PrimaryButton
from app.widgets.text_labels import wrapping_label

WIDE = 330  # pixels
GAP = 14  # between control and card
AROUND = 5  # between control and frame


class TourFrame(QWidget):
    """A line around a control; clicks go through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("Frame around the control that the tour speaks of")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a line that shows on any ground."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = appearance.current()
        box = self.rect().adjusted(3, 3, -3, -3)
        for width, colour in ((6, theme.paper), (3, theme.accent)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRoundedRect(box, 9, 9)


class TourCard(QFrame):
    """Heading, text, and the buttons Back, Next and Leave."""

    back_pressed = Signal()
    next_pressed = Signal()
    leave_pressed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("card", "tour")
        self._window = window
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(6)
        self._title = wrapping_label("", "cardtitle")
        self._words = wrapping_label()
        self._position_label = wrapping_label("", "caption")
        for text_label in (self._title, self._words, self._position_label):
            column.addWidget(text_label)
        row = QHBoxLayout()
        row.setSpacing(6)
        self.leave = LinkButton("Leave", self.leave_pressed.emit)
        self.leave.setAccessibleName("Leave the tour")
        self.back = PlainButton("Back", self.back_pressed.emit)
        self.back.setAccessibleName("Back to the step before")
        self.next = PrimaryButton("Next", self.next_pressed.emit)
        row.addWidget(self.leave)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        column.addLayout(row)

    def show_words(self, title: str, words: str, position: str) -> None:
        """Show and announce a text."""
        if (title, words) == (self._title.text(), self._words.text()):
            return
        self._title.setText(title)
        self._words.setText(words)
        self._position_label.setText(position)
        self.setAccessibleName(f"Tour: {title}")
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    @property
    def message_text(self) -> str:
        """The text."""
        return self._words.text()

    def fitting(self) -> QSize:
        """The size that the text needs, within the window."""
        wide = min(appearance.pixels(WIDE), self._window.width() - 24)
        least = self._column.totalMinimumSize()
        wide = max(wide, least.width())
        high = max(self._column.totalHeightForWidth(wide), least.height())
        return QSize(wide, min(high, self._window.height() - 24))


def card_position(target: QRect, size: QSize, room: QRect) -> QPoint:
    """Right of a control, left, below, above; else over its corner."""
    x = max(room.left(), min(target.left(), room.right() - size.width()))
    y = max(room.top(), min(target.top(), room.bottom() - size.height()))
    if target.right() + GAP + size.width() <= room.right():
        return QPoint(target.right() + GAP, y)
    if target.left() - GAP - size.width() >= room.left():
        return QPoint(target.left() - GAP - size.width(), y)
    if target.bottom() + GAP + size.height() <= room.bottom():
        return QPoint(x, target.bottom() + GAP)
    if target.top() - GAP - size.height() >= room.top():
        return QPoint(x, target.top() - GAP - size.height())
    corner = room.bottomRight() - QPoint(size.width(), size.height())
    return QPoint(max(room.left(), corner.x()), max(room.top(), corner.y()))
