"""Buttons and tiles."""

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QMoveEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
)

from app.look import icons
from app.widgets.layouts import in_column
from app.widgets.text_labels import follow_width, plain_tooltip, wrapping_label
from resources.theme import TARGET

DEAF_SECONDS = 0.4  # of a button that came, moved or got another label: longer than a double click
_PRESSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def _spoken_name(text: str) -> str:
    return text.replace("&", "").rstrip("….")


class PlainButton(QPushButton):
    """A button with a label, perhaps with an icon."""

    token = "ink"  # the colour of its icon
    style_property = ""  # selects its style in the stylesheet
    cursor_over = Qt.CursorShape.ArrowCursor

    def __init__(self, text: str, pressed: Callable[[], object], icon: str = "") -> None:
        super().__init__(text)
        self._changed = 0.0  # when it came, moved or got another label
        self.setAutoDefault(False)
        self.setAccessibleName(_spoken_name(text))
        self.setMinimumHeight(TARGET)
        self.setCursor(self.cursor_over)
        if self.style_property:
            self.setProperty(self.style_property, True)
        if icon:
            self.setIcon(icons.tinted_icon(icon, self.token))
            self._size_icon()
        self.clicked.connect(lambda _checked=False: pressed())

    def _size_icon(self) -> None:
        size = self.fontMetrics().height()
        # 5 pixels are the gap to the label.
        self.setIconSize(QSize(size + 5, size))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and not self.icon().isNull():
            self._size_icon()

    @property
    def is_deaf(self) -> bool:
        """Whether a press now was meant for what stood here a moment ago."""
        return time.monotonic() < self._changed + DEAF_SECONDS

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._changed = time.monotonic()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._changed = time.monotonic()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.is_deaf:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _PRESSING and (self.is_deaf or event.isAutoRepeat()):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def set_label(self, text: str) -> None:
        if text != self.text():
            self._changed = time.monotonic()
        self.setText(text)
        self.setAccessibleName(_spoken_name(text))

    def set_allowed(self, allowed: bool, why_not: str = "") -> None:
        self.setEnabled(allowed)
        self.setToolTip("" if allowed else plain_tooltip(why_not))
        self.setAccessibleDescription("" if allowed else why_not)


class PrimaryButton(PlainButton):
    """The button that leads on."""

    token = "accent_text"
    style_property = "primary"


class LinkButton(PlainButton):
    """A button that looks like a link."""

    token = "accent"
    style_property = "plain"
    cursor_over = Qt.CursorShape.PointingHandCursor


class ShorteningLink(LinkButton):
    """A link that is elided where room is short."""

    def __init__(self, text: str, pressed: Callable[[], object], icon: str = "") -> None:
        super().__init__(text, pressed, icon)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_label(self, text: str) -> None:
        self.setToolTip("")
        super().set_label(text)

    def minimumSizeHint(self) -> QSize:
        size = self.sizeHint()
        return QSize(min(size.width(), 6 * self.fontMetrics().height()), size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        metrics, words, option = self.fontMetrics(), self.text(), QStyleOptionButton()
        self.initStyleOption(option)
        room = metrics.horizontalAdvance(words) + self.width() - self.sizeHint().width()
        option.text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)
        if option.text != words and not self.toolTip():
            self.setToolTip(plain_tooltip(words))


class IconButton(QToolButton):
    """A button with only an icon."""

    def __init__(self, icon: str, name: str, pressed: Callable[[], object] | None = None) -> None:
        super().__init__()
        self.setIcon(icons.tinted_icon(icon, "muted"))
        self.setIconSize(QSize(16, 16))
        self.setMinimumSize(TARGET, TARGET)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(plain_tooltip(name))
        if pressed is not None:
            self.clicked.connect(lambda _checked=False: pressed())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)


class ActionTile(QPushButton):
    """A large button with a title and a sentence."""

    def __init__(self, title: str, sentence: str, pressed: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("tile", True)
        self.setAutoDefault(False)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sentence)
        follow_width(self)
        column = self._column = in_column(on=self, gap=2, margins=(12, 9, 12, 9))
        for text, voice in ((title, "tiletitle"), (sentence, "caption")):
            line = wrapping_label(text, voice)
            line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(line)
        column.addStretch(1)
        self.clicked.connect(lambda _checked=False: pressed())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._column.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        return self._column.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._column.totalMinimumSize()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setMinimumHeight(self.heightForWidth(event.size().width()))
