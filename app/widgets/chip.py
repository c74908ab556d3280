"""A draggable chip with the name of a column."""

import json
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QMimeData, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QDrag, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy

from app.widgets.text_labels import apply_style, plain_tooltip
from core.wording import shortened_text

MIME = "application/x-tunescope-column"
_SEVERAL = "application/x-tunescope-columns"  # JSON, where more than one is dragged
WIDEST = 320  # pixels of a name that is not elided
_SIDES = 26  # pixels beside the name, as in the stylesheet


class ColumnChip(QPushButton):
    """One column; `carries` are the columns of a drag."""

    menu_wanted = Signal(str)  # click or Enter: the column
    step_wanted = Signal(str, int)  # Ctrl+Left or Ctrl+Right: the column, −1 or +1
    pick_wanted = Signal(str, bool)  # selecting click or Ctrl+Space: the column, with Shift

    def __init__(self, column: str, group: str) -> None:
        super().__init__()
        self.column = column
        self.setProperty("chip", True)
        self.setAutoDefault(False)
        self.setToolTip(plain_tooltip(column))
        # Otherwise a button cannot be narrower than its text.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(26)
        self.setAccessibleName(f"Column {shortened_text(column)} in group {shortened_text(group)}")
        self._pressed_at: QPoint | None = None
        self._keys = Qt.KeyboardModifier.NoModifier  # held at the last click
        self.carries: Sequence[str] = (column,)
        self.set_picked(False)
        self.clicked.connect(self._on_clicked)

    def set_picked(self, picked: bool) -> None:
        apply_style(self, picked=picked)
        self.setAccessibleDescription(
            ("Selected. " if picked else "")
            + "Enter moves it. Ctrl with left or right moves it to the next group. Ctrl with space "
            "selects it together with others."
        )

    def _on_clicked(self) -> None:
        keys, self._keys = self._keys, Qt.KeyboardModifier.NoModifier
        shift = bool(keys & Qt.KeyboardModifier.ShiftModifier)
        if shift or keys & Qt.KeyboardModifier.ControlModifier:
            self.pick_wanted.emit(self.column, shift)
        else:
            self.menu_wanted.emit(self.column)

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().horizontalAdvance(self.column)
        return QSize(min(text, WIDEST) + _SIDES, max(26, self.fontMetrics().height() + 8))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 60), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = event.size().width() - _SIDES + 2
        shown = self.fontMetrics().elidedText(self.column, Qt.TextElideMode.ElideMiddle, room)
        # Qt takes a single & of a name for the mark of a key.
        self.setText(shown.replace("&", "&&"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = event.position().toPoint()
            self._keys = event.modifiers()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_at is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        distance = (event.position().toPoint() - self._pressed_at).manhattanLength()
        if distance >= QApplication.startDragDistance():
            self._pressed_at = None
            # The drag takes the release of the button, and the chip would stay pressed.
            self.setDown(False)
            self.start_drag()

    def start_drag(self) -> None:
        carried = QDrag(self)
        mime = QMimeData()
        # As the first too: what takes single columns knows this format alone.
        mime.setData(MIME, self.column.encode())
        mime.setData(_SEVERAL, QByteArray(json.dumps(list(self.carries)).encode()))
        carried.setMimeData(mime)
        carried.setPixmap(self.grab())
        carried.setHotSpot(QPoint(self.width() // 2, self.height() // 2))
        carried.exec(Qt.DropAction.MoveAction)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.step_wanted.emit(self.column, 1 if event.key() == Qt.Key.Key_Right else -1)
        elif control and event.key() == Qt.Key.Key_Space:
            self.pick_wanted.emit(self.column, False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def dropped_columns(mime: QMimeData) -> list[str]:
    """The columns of a drop."""
    if mime.hasFormat(_SEVERAL):
        return [str(name) for name in json.loads(bytes(mime.data(_SEVERAL).data()))]
    return [bytes(mime.data(MIME).data()).decode()]
