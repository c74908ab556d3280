"""Two buttons that copy a plan: as a command for the shell, and as Python."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.text.copying.command import as_command
from app.text.copying.snippet import as_python
from app.widgets.buttons import LinkButton
from app.widgets.text_labels import wrapping_label
from core.errors import UnusableError
from core.tuning.plan import Plan

COPIED_MILLISECONDS = 2000  # until the button has its title again


class CopyButtons(QWidget):
    """Buttons that copy a plan; `report` gets a sentence where it cannot be copied."""

    def __init__(
        self,
        caption: str,
        plan: Callable[[], Plan | None],
        report: Callable[[str], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._plan, self._report = plan, report
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(wrapping_label(caption, "muted"))
        self.command = self._make_button(
            "Copy as command", "Copy the line that tunes the same in a terminal.", as_command
        )
        tip = "Copy a snippet of Python that tunes the same."
        self.python = self._make_button("Copy as Python", tip, as_python)
        column.addWidget(self.command, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.python, 0, Qt.AlignmentFlag.AlignLeft)

    def _make_button(self, title: str, tip: str, write: Callable[[Plan], str]) -> LinkButton:
        button = LinkButton(title, lambda: self._copy_plan(button, title, write), "copy")
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        return button

    def _copy_plan(self, button: LinkButton, title: str, write: Callable[[Plan], str]) -> None:
        plan = self._plan()
        if plan is None:
            return
        try:
            QGuiApplication.clipboard().setText(write(plan))
        except UnusableError as error:  # an option that no longer exists
            self._report(error.sentence)
            return
        button.set_label("Copied")
        QTimer.singleShot(COPIED_MILLISECONDS, button, lambda: button.set_label(title))
