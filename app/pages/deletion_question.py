"""The question before something is deleted for good."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget


def is_deletion_confirmed(
    parent: QWidget, title: str, question: str, loss: str, keep: str, delete: str, name: str = ""
) -> bool:
    """Whether a person presses `delete` rather than `keep`; `name` is the dialog's object name."""
    box = QMessageBox(parent)
    box.setObjectName(name)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle(title)
    box.setText(question)
    box.setInformativeText(loss)
    keep_button = box.addButton(keep, QMessageBox.ButtonRole.RejectRole)
    delete_button = box.addButton(delete, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(keep_button)
    box.setEscapeButton(keep_button)
    box.exec()
    return box.clickedButton() is delete_button
