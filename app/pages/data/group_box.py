"""One group on the board: its name, and its columns as chips."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.widgets.chip import MIME, ColumnChip, dropped_columns
from app.widgets.flow_layout import FlowLayout
from app.widgets.text_labels import apply_style, plain_tooltip, wrapping_label


class GroupBox(QFrame):
    """A group of columns; columns can be dropped on it."""

    dropped = Signal(object)  # columns
    renamed = Signal(str)  # the new name
    menu_wanted = Signal(str)  # this and the next two as of its chips
    step_wanted = Signal(str, int)
    pick_wanted = Signal(str, bool)

    def __init__(
        self, name: str, columns: Sequence[str], number: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.name = name
        self._number = number  # gives the colour
        self.setProperty("card", "group")
        self.setAcceptDrops(True)
        self.setAccessibleName(f"Group {name}")
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(6)
        self.chips: list[ColumnChip] = []
        self.title = QLineEdit(name)
        self.title.setProperty("flat", True)
        self.title.setAccessibleName(f"Name of the group {name}")
        self.title.setToolTip(plain_tooltip(f"{name}: click to give the group another name"))
        self.title.setCursorPosition(0)
        self.title.editingFinished.connect(self._on_title_edited)
        column.addWidget(self.title)
        column.addWidget(self._make_chips(columns))
        column.addStretch(1)

    def _make_chips(self, columns: Sequence[str]) -> QWidget:
        if not columns:
            return wrapping_label("Drop a column here.", "caption")
        holder = QWidget()
        holder.setObjectName("scrolled")
        flow = FlowLayout(holder, gap=5)
        for name in columns:
            chip = ColumnChip(name, self.name)
            chip.menu_wanted.connect(self.menu_wanted)
            chip.step_wanted.connect(self.step_wanted)
            chip.pick_wanted.connect(self.pick_wanted)
            flow.addWidget(chip)
            self.chips.append(chip)
        return holder

    def _on_title_edited(self) -> None:
        new_name = self.title.text().strip()
        if new_name and new_name != self.name:
            self.renamed.emit(new_name)
        else:
            self.title.setText(self.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box, and over it the edge in the group's colour."""
        super().paintEvent(event)
        theme = appearance.current()
        colour = theme.series[self._number % len(theme.series)]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(0, 0, self.width(), 5)
        painter.setBrush(QColor(colour))
        painter.setPen(QColor(theme.ink if colour in theme.outlined else colour))
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, 8), 8, 8)
        painter.end()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept columns."""
        if event.mimeData().hasFormat(MIME):
            event.acceptProposedAction()
            apply_style(self, over=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Look as before."""
        apply_style(self, over=False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the columns."""
        apply_style(self, over=False)
        event.acceptProposedAction()
        self.dropped.emit(dropped_columns(event.mimeData()))
