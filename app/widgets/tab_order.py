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
    for before, after in pairwise(_stops(root)):
        QWidget.setTabOrder(before, after)


def _stops(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    match widget:
        case QComboBox() | QAbstractSpinBox():
            return  # what is inside is Qt's own
        case QScrollArea():
            if widget.widget() is not None:
                yield from _stops(widget.widget())
        case QStackedWidget():
            if widget.currentWidget() is not None:
                yield from _stops(widget.currentWidget())
        case _ if widget.layout() is not None:
            yield from _laid_out(widget.layout())
        case _:
            for child in widget.children():
                if isinstance(child, QWidget) and not child.isWindow():
                    yield from _stops(child)


def _laid_out(layout: QLayout) -> Iterator[QWidget]:
    for at in range(layout.count()):
        item = layout.itemAt(at)
        if item.widget() is not None:
            yield from _stops(item.widget())
        elif item.layout() is not None:
            yield from _laid_out(item.layout())
