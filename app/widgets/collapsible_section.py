"""A section that can be folded."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.look import icons
from app.preferences import preferences as settings
from app.widgets.buttons import LinkButton


class CollapsibleSection(QWidget):
    """A button that shows or hides `body`, stored under `key`."""

    def __init__(self, title: str, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = f"folds/{key}"
        self._title = title
        self.button = LinkButton(title, self._toggle_open)
        self.content = QWidget()
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(0, 0, 0, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.button)
        layout.addWidget(self.content)
        self._set_open(settings.stored_flag(self._key))

    @property
    def is_open(self) -> bool:
        """Whether the content is shown."""
        return self._open

    def _toggle_open(self) -> None:
        self._set_open(not self._open)
        settings.remember(self._key, self._open)

    def _set_open(self, opened: bool) -> None:
        self._open = opened
        self.content.setVisible(opened)
        icon = "chevron-down" if opened else "chevron-right"
        self.button.setIcon(icons.tinted_icon(icon, "accent"))
        self.button.setAccessibleDescription("open" if opened else "folded")
