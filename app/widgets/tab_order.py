"""Tab goes through a window as the eye does, whatever order its parts were made in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QLayout,
    QScrollArea,
    QStackedWidget,
    QWidget,
)


def order_tabs(root: QWidget) -> None:
    """Set the order of Tab to that of the layouts: line by line, from the start to the end."""
    for before, after in pairwise(_tab_stops(root)):
        QWidget.setTabOrder(before, after)


def _tab_stops(widget: QWidget | None) -> Iterator[QWidget]:
    if widget is None:
        return
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    match widget:
        case QComboBox() | QAbstractSpinBox():
            return  # what is inside is Qt's own
        case QScrollArea():
            yield from _tab_stops(widget.widget())
        case QStackedWidget():
            yield from _tab_stops(widget.currentWidget())
        case _ if (layout := widget.layout()) is not None:
            yield from _layout_stops(layout)
        case _:
            for child in widget.children():
                if isinstance(child, QWidget) and not child.isWindow():
                    yield from _tab_stops(child)


def _layout_stops(layout: QLayout) -> Iterator[QWidget]:
    for index in range(layout.count()):
        layout_item = layout.itemAt(index)
        if layout_item is None:
            continue
        if (inner_layout := layout_item.layout()) is not None:
            yield from _layout_stops(inner_layout)
        else:
            yield from _tab_stops(layout_item.widget())
