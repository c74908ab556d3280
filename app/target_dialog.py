"""Which column to predict, asked where the file's own guess cannot be used."""

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

from app import appearance
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.labels import label

MANY = 12  # columns from which on a search field helps


class TargetDialog(QDialog):
    """A list of columns; Enter or a double click takes one."""

    def __init__(self, columns: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("What to predict"))
        self.resize(appearance.pixels(420), 460)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(20, 18, 20, 16)
        whole.setSpacing(10)
        whole.addWidget(label(self.tr("Which column do you want to predict?"), "cardtitle"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Part of a name"))
        self.search.setAccessibleName(self.tr("Show columns with this in their name"))
        self.search.textChanged.connect(self._filter)
        self.search.setVisible(len(columns) > MANY)
        whole.addWidget(self.search)
        self.columns = QListWidget()
        self.columns.setAccessibleName(self.tr("Columns of the file"))
        self.columns.addItems(list(columns))
        self.columns.setCurrentRow(0)
        self.columns.itemActivated.connect(lambda _item: self.accept())
        self.columns.currentRowChanged.connect(lambda _row: self._allow())
        whole.addWidget(self.columns, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(PlainButton(self.tr("Cancel"), self.reject))
        self.open = PrimaryButton(self.tr("Open the file"), self.accept)
        self.open.setDefault(True)
        foot.addWidget(self.open)
        whole.addLayout(foot)
        self.columns.setFocus()

    @property
    def chosen(self) -> str:
        """The column's name; "" where no column is left to choose."""
        item = self.columns.currentItem()
        return item.text() if item is not None and not item.isHidden() else ""

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
        self.open.allow(bool(self.chosen), self.tr("No column has this in its name."))
