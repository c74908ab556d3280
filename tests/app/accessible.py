"""`assert_accessible`: what every visible control of a widget must have."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QWidget,
)

LEAST = 24  # pixels, WCAG 2.2 AA 2.5.8
CONTROLS = (QAbstractButton, QAbstractSpinBox, QAbstractSlider, QComboBox, QLineEdit)


def assert_accessible(widget: QWidget) -> None:
    """Every visible control has a name, can be reached by keyboard, and is large enough."""
    faults = []
    for control in [widget, *widget.findChildren(QWidget)]:
        if control.isVisible() and not _is_inner(control):
            faults += _faults(control)
    assert not faults, "\n".join(faults)


def _is_inner(control: QWidget) -> bool:
    """Parts that Qt makes inside its own controls; the control speaks for them."""
    inside = control.parentWidget()
    if isinstance(control, QScrollBar) or control.objectName().startswith("qt_"):
        return True
    return isinstance(inside, (QAbstractSpinBox, QComboBox)) and isinstance(control, QLineEdit)


def _faults(control: QWidget) -> list[str]:
    reached = bool(control.focusPolicy() & Qt.FocusPolicy.TabFocus)
    if not isinstance(control, CONTROLS) and not reached:
        return []
    what = f"{type(control).__name__} “{control.accessibleName()}”"
    faults = []
    if not control.accessibleName():
        faults.append(f"{what} in {type(control.parentWidget()).__name__}: no accessible name")
    if control.isEnabled() and not reached:
        faults.append(f"{what}: not reached by keyboard")
    if not isinstance(control, QAbstractScrollArea) and (
        control.width() < LEAST or control.height() < LEAST
    ):
        faults.append(f"{what}: {control.width()} × {control.height()} pixels")
    return faults
