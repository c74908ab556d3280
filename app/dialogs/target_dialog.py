"""Which column to predict, or whose topics to find."""

from collections.abc import Sequence

from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QWidget

from app.look import appearance
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.layouts import DIALOG_MARGINS, in_column, in_row
from app.widgets.text_labels import wrapping_label
from core.datasets.task import Task

SEARCH_FROM = 12  # columns up to which there is no search field


class TargetDialog(QDialog):
    """A list of columns to predict, or of texts whose topics to find."""

    def __init__(
        self, columns: Sequence[str], parent: QWidget | None = None, texts: Sequence[str] = ()
    ) -> None:
        super().__init__(parent)
        question = "What do you want to know?" if texts else "Which column do you want to predict?"
        self.setWindowTitle("What to find out" if texts else "What to predict")
        self._wishes: list[tuple[str, str]] = [(Task.TOPICS, name) for name in texts]
        self._wishes += [("", name) for name in columns]
        self.resize(appearance.pixels(420), 460)
        self.search = QLineEdit(placeholderText="Part of a name")
        self.search.setAccessibleName("Show columns with this in their name")
        self.search.textChanged.connect(self._filter_columns)
        self.search.setVisible(len(columns) > SEARCH_FROM)
        self.columns = QListWidget()
        self.columns.setAccessibleName("Columns of the file")
        self.columns.setWordWrap(True)
        predict = "Predict “{}”" if texts else "{}"
        words = {"": predict, Task.TOPICS: "Find the topics of the texts in “{}”"}
        self.columns.addItems([words[task].format(name) for task, name in self._wishes])
        self.columns.setCurrentRow(0)
        self.columns.itemActivated.connect(lambda _list_item: self.accept())
        self.columns.currentRowChanged.connect(lambda _row: self._update_open_button())
        self.open_button = PrimaryButton("Open the file", self.accept)
        self.open_button.setDefault(True)
        title = wrapping_label(question, "cardtitle")
        foot = in_row(1, PlainButton("Cancel", self.reject), self.open_button)
        rows = (title, self.search, (self.columns, 1), foot)
        in_column(*rows, on=self, gap=10, margins=DIALOG_MARGINS)
        self.columns.setFocus()

    @property
    def chosen_column(self) -> str:
        return self._chosen_wish[1]

    @property
    def task(self) -> str:
        """The task "topics", or "" to predict the column."""
        return self._chosen_wish[0]

    @property
    def _chosen_wish(self) -> tuple[str, str]:
        list_item = self.columns.currentItem()
        # Qt keeps a hidden row current, which nobody sees.
        is_shown = list_item is not None and not list_item.isHidden()
        return self._wishes[self.columns.currentRow()] if is_shown else ("", "")

    def ask(self) -> str:
        return self.chosen_column if self.exec() == QDialog.DialogCode.Accepted else ""

    def _filter_columns(self, fragment: str) -> None:
        list_items = [self.columns.item(row) for row in range(self.columns.count())]
        for list_item in list_items:
            list_item.setHidden(fragment.casefold() not in list_item.text().casefold())
        if not self.chosen_column:
            shown_rows = (row for row, entry in enumerate(list_items) if not entry.isHidden())
            self.columns.setCurrentRow(next(shown_rows, -1))
        self._update_open_button()

    def _update_open_button(self) -> None:
        self.open_button.set_allowed(bool(self.chosen_column), "No column has this in its name.")
