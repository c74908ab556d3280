"""Help: the texts of resources/help, one a topic, in a dialog of their own."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance
from app.widgets.buttons import PlainButton

FOLDER = appearance.RESOURCES / "help"
TOPICS = (
    "start",
    "data",
    "groups",
    "model",
    "strategy",
    "tune",
    "results",
    "export",
    "history",
    "words",
    "keyboard",
)


def text_of(topic: str) -> str:
    """A topic's text, Markdown."""
    return (FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def title_of(topic: str) -> str:
    """A topic's title: the first line of its text."""
    return text_of(topic).split("\n", 1)[0].removeprefix("# ")


class HelpDialog(QDialog):
    """Topics at the left, the text at the right."""

    def __init__(self, topic: str = "start", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.resize(appearance.pixels(760), 560)
        self.topics = QListWidget()
        self.topics.setAccessibleName("Topics")
        self.topics.setFixedWidth(appearance.pixels(200))
        for key in TOPICS:
            item = QListWidgetItem(title_of(key))
            item.setData(Qt.ItemDataRole.UserRole, key)
            item.setSizeHint(QSize(0, self.fontMetrics().height() + 14))
            self.topics.addItem(item)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Help text")
        self.text.setOpenLinks(False)
        self.text.document().setDocumentMargin(16)
        self.topics.currentItemChanged.connect(self._show)
        self.topics.setCurrentRow(TOPICS.index(topic) if topic in TOPICS else 0)
        row = QHBoxLayout()
        row.addWidget(self.topics)
        row.addWidget(self.text, 1)
        whole = QVBoxLayout(self)
        whole.addLayout(row, 1)
        close = PlainButton("Close", self.accept)
        whole.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)

    def _show(self, item: QListWidgetItem) -> None:
        self.text.setMarkdown(text_of(item.data(Qt.ItemDataRole.UserRole)))
