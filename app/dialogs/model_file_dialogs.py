"""Messages about opening a model file and saved predictions."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget


def trust_question(model: str, parent: QWidget) -> tuple[QMessageBox, QPushButton]:
    """The question about a file that can run code, and its open button."""
    box = _message_box(parent, f"Open “{Path(model).name}”?", QMessageBox.Icon.Warning)
    box.setObjectName("trust")
    box.setInformativeText(
        "Opening this kind of model file (joblib) can run any code that is in it: it could read, "
        "change or delete whatever you can. Open it only if you know who made it. A .skops file "
        "of the same model runs no code."
    )
    stay = box.addButton("Do not open", QMessageBox.ButtonRole.RejectRole)
    opens = box.addButton("I trust it: open", QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    return box, opens


def show_saved_notice(
    path: str, count: int, sentences: tuple[str, ...], parent: QWidget
) -> QMessageBox:
    """Show that predictions were saved, without waiting."""
    count_text = "1 prediction" if count == 1 else f"{count:,} predictions"
    box = _message_box(parent, f"{count_text} saved.", QMessageBox.Icon.Information)
    box.setInformativeText("\n".join([path, *sentences]))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def _message_box(parent: QWidget, text: str, sign: QMessageBox.Icon) -> QMessageBox:
    box = QMessageBox(parent)
    box.setWindowTitle("Tunescope")
    box.setIcon(sign)
    box.setTextFormat(Qt.TextFormat.PlainText)  # contains the name of a file
    box.setText(text)
    return box
