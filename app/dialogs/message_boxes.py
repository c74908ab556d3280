"""Message boxes: questions before something is lost or run, and a notice of what was saved."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

ACCEPT, LOSE = QMessageBox.ButtonRole.AcceptRole, QMessageBox.ButtonRole.DestructiveRole


def ask(
    box: QMessageBox, stay: str, *choices: str, roles: tuple[QMessageBox.ButtonRole, ...] = (LOSE,)
) -> str:
    """The label of the button that a person presses; Enter and Esc press `stay`."""
    stay_button = box.addButton(stay, QMessageBox.ButtonRole.RejectRole)
    buttons = [box.addButton(choice, role) for choice, role in zip(choices, roles, strict=True)]
    box.setDefaultButton(stay_button)
    box.setEscapeButton(stay_button)
    box.exec()
    # Not by its text, to which a desktop may add a mnemonic.
    pressed = box.clickedButton()
    named = zip(choices, buttons, strict=True)
    return next((choice for choice, button in named if button is pressed), stay)


def message_box(
    parent: QWidget,
    text: str,
    more: str,
    icon: QMessageBox.Icon = QMessageBox.Icon.Warning,
    name: str = "",
) -> QMessageBox:
    """A sentence and what follows from it; `name` is the object name."""
    box = QMessageBox(parent)
    box.setObjectName(name)
    box.setWindowTitle("Tunescope")
    box.setIcon(icon)
    # Names of files are in some, and may look like markup.
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setInformativeText(more)
    return box


def is_deletion_confirmed(
    parent: QWidget, question: str, loss: str, keep: str, delete: str, name: str = ""
) -> bool:
    """Whether a person presses `delete` rather than `keep`."""
    return ask(message_box(parent, question, loss, name=name), keep, delete) == delete


def is_trusted(model: str, parent: QWidget) -> bool:
    """Whether a person opens a model file that can run code."""
    more = (
        "Opening this kind of model file (joblib) can run any code that is in it: it could read, "
        "change or delete whatever you can. Open it only if you know who made it. A .skops file "
        "of the same model runs no code."
    )
    box = message_box(parent, f"Open “{Path(model).name}”?", more, name="trust")
    open_it = "I trust it: open"
    return ask(box, "Do not open", open_it) == open_it


def show_saved_notice(path: str, count: int, sentences: tuple[str, ...], parent: QWidget) -> None:
    """Show that predictions were saved, without waiting."""
    count_text = "1 prediction" if count == 1 else f"{count:,} predictions"
    more = "\n".join([path, *sentences])
    box = message_box(parent, f"{count_text} saved.", more, QMessageBox.Icon.Information)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
