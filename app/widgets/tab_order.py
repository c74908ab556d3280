"""Tab order by position."""

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
    """Set the tab order to that of the layouts."""
    for before, after in pairwise(_tab_stops(root)):
        QWidget.setTabOrder(before, after)


def _tab_stops(widget: QWidget | None) -> Iterator[QWidget]:
    if widget is None:
        return
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    match widget:
        case QComboBox() | QAbstractSpinBox():
            return  # its children belong to Qt
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
        entry = layout.itemAt(index)
        if entry is None:
            continue
        if (inner_layout := entry.layout()) is not None:
            yield from _layout_stops(inner_layout)
        else:
            yield from _tab_stops(entry.widget())
