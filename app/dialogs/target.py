"""Which column to predict, or whose topics to find, where the file's own guess cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.labels import label

MANY = 12  # columns from which on a search field helps


class TargetDialog(QDialog):
    """A list of columns; Enter or a double click takes one.

    Args:
        columns: that could be predicted.
        texts: columns whose topics could be found.
    """

    def __init__(
        self, columns: Sequence[str], parent: QWidget | None = None, texts: Sequence[str] = ()
    ) -> None:
        super().__init__(parent)
        question = "Which column do you want to predict?"
        if texts:
            question = "What do you want to know?"
        self.setWindowTitle("What to find out" if texts else "What to predict")
        self._wishes = [("topics", name) for name in texts] + [("", name) for name in columns]
        self.resize(appearance.pixels(420), 460)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(20, 18, 20, 16)
        whole.setSpacing(10)
        whole.addWidget(label(question, "cardtitle"))
        self.search = QLineEdit()
        self.search.setPlaceholderText("Part of a name")
        self.search.setAccessibleName("Show columns with this in their name")
        self.search.textChanged.connect(self._filter)
        self.search.setVisible(len(columns) > MANY)
        whole.addWidget(self.search)
        self.columns = QListWidget()
        self.columns.setAccessibleName("Columns of the file")
        self.columns.setWordWrap(True)
        self.columns.addItems(self._in_words(bool(texts)))
        self.columns.setCurrentRow(0)
        self.columns.itemActivated.connect(lambda _item: self.accept())
        self.columns.currentRowChanged.connect(lambda _row: self._allow())
        whole.addWidget(self.columns, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(PlainButton("Cancel", self.reject))
        self.open = PrimaryButton("Open the file", self.accept)
        self.open.setDefault(True)
        foot.addWidget(self.open)
        whole.addLayout(foot)
        self.columns.setFocus()

    @property
    def chosen(self) -> str:
        """The column's name; "" where no column is left to choose."""
        return self._wish[1]

    @property
    def task(self) -> str:
        """What is to be done with it: "topics" of its texts, or "" to predict it."""
        return self._wish[0]

    @property
    def _wish(self) -> tuple[str, str]:
        item = self.columns.currentItem()
        shown = item is not None and not item.isHidden()
        return self._wishes[self.columns.currentRow()] if shown else ("", "")

    def _in_words(self, both: bool) -> list[str]:
        """Bare names where all of them can only be predicted."""
        predict = "Predict “{name}”" if both else "{name}"
        words = {"": predict, "topics": "Find the topics of the texts in “{name}”"}
        return [words[task].format(name=name) for task, name in self._wishes]

    def ask(self) -> str:
        """Show the dialog; the chosen column, or "" if the person thinks better of it."""
        return self.chosen if self.exec() == QDialog.DialogCode.Accepted else ""

    def _filter(self, part: str) -> None:
        items = [self.columns.item(row) for row in range(self.columns.count())]
        for item in items:
            item.setHidden(part.casefold() not in item.text().casefold())
        if not self.chosen:
            shown = next((item for item in items if not item.isHidden()), None)
            self.columns.setCurrentItem(shown)
        self._allow()

    def _allow(self) -> None:
        self.open.allow(bool(self.chosen), "No column has this in its name.")
