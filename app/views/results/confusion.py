"""The confusion table: which classes the model takes for which, on test rows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.look import appearance
from app.text.scores import score_in_words
from app.text.units import task_of, units
from app.views.plot.data_table import DataTable, DataTableModel, Index, Table
from app.views.plot.items import clear_colour
from app.views.results.result_view import ResultView
from app.widgets.labels import tip
from app.widgets.quiet_controls import QuietComboBox
from resources.theme import TARGET

MANY = 8  # classes from which on names stand alone, and those of the rows stay in view
LOW = 22  # pixels of a row of many
SEEN = 20  # rows of many that are seen without scrolling
SPARE = 16  # pixels that `fit_columns` gives each column but the last beyond its contents
LONGEST_CLASS, LONGEST_ANSWER = 150, 96  # pixels of names before they are cut


class ConfusionModel(DataTableModel):
    """The table's rows with the right answers, on the diagonal, set off."""

    classes = 0

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As any data table; the diagonal bold on a tinted ground, frequent errors on a red one."""
        if self.classes > MANY and (wrong := self._of_wrong(index, role)) is not None:
            return wrong
        right = index.row() < self.classes and index.column() == index.row() + 1
        if role == Qt.ItemDataRole.FontRole and right:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.BackgroundRole and right:
            return QColor(appearance.current().selected)
        if role == Qt.ItemDataRole.ToolTipRole and not index.column():
            return tip(super().data(index))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return super().data(index, role)

    def _of_wrong(self, index: Index, role: int) -> Any:
        """How a wrong answer is shown among many: none as a dot, redder the more there are."""
        row, column = index.row(), index.column()
        if not column or column == row + 1 or row >= self.classes:
            return None
        if column > self.classes:
            return None
        counts = self._rows[row][1 : self.classes + 1]
        if role == Qt.ItemDataRole.DisplayRole and not counts[column - 1]:
            return "·"
        if role == Qt.ItemDataRole.BackgroundRole and counts[column - 1]:
            share = counts[column - 1] / sum(counts)
            return clear_colour(appearance.current().bad, min(0.5, 2.5 * share))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """As any data table; a class name too long for its column stands in full in its tooltip."""
        if orientation == Qt.Orientation.Vertical:
            shown = role == Qt.ItemDataRole.DisplayRole
            return super().data(self.index(section, 0)) if shown else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(super().headerData(section, orientation))
        return super().headerData(section, orientation, role)


class Tinted(QStyledItemDelegate):
    """Cells on the ground that the model gives them, which a stylesheet alone would leave out."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground, then the cell."""
        ground = index.data(Qt.ItemDataRole.BackgroundRole)
        if ground is not None:
            painter.fillRect(option.rect, ground)
        super().paint(painter, option, index)


class Confusion(ResultView):
    """Rows are what is, columns what the model said."""

    name = "confusion"
    title = "Where is it wrong?"
    question = "Rows of the test set. Right answers are bold."
    wide = False
    waiting = "A table of right and wrong answers appears here."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table_button.hide()

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Classifications."""
        return bool((results.get("confusion") or {}).get("labels"))

    def make_content(self) -> QWidget:
        """A table with the model's answers."""
        self.table = DataTable("Right and wrong answers")
        self.model = ConfusionModel()
        self.table.setModel(self.model)
        self.table.setItemDelegate(Tinted(self.table))
        self.table.setAlternatingRowColors(False)
        self.table.verticalHeader().setStyleSheet("QHeaderView::section { border: none; }")
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        return self.table

    def controls(self) -> list[QWidget]:
        """Tuned or default."""
        self.which = QuietComboBox()
        self.which.setAccessibleName("Whose answers")
        self.which.addItem("tuned", "tuned")
        self.which.addItem("default setting", "default")
        self.which.addItem("knowing nothing", "baseline")
        self.which.activated.connect(lambda _at: self.redraw())
        return [self.which]

    def draw(self) -> None:
        """The table of the chosen model."""
        known = "baseline" in self.results["confusion"]  # not in older runs
        self.which.view().setRowHidden(2, not known)
        if not known and self.which.currentIndex() == 2:
            self.which.setCurrentIndex(0)
        caption = (
            "{} of the test set; right answers are bold. Recall: the share of a "
            "class that is found. Precision: the share of answers that are right."
        )
        caption = "Across: what the model said; down: what is." + " " + caption
        called = units(task_of(self.results))
        self._caption.setText(caption.format(called[:1].upper() + called[1:]))
        self.model.classes = len(self.results["confusion"]["labels"])
        self.model.set_table(*self.rows())
        self._keep_names_in_view(self.model.classes > MANY)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns share another width."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_columns)

    def _fit_columns(self) -> None:
        self.table.fit_columns()
        columns, room = self.model.classes + 2, self.table.viewport().width()
        needed = [self.table.columnWidth(at) for at in range(columns)]
        if not self.wide and sum(needed) <= room:
            return
        # A few answers may share what room there is; many must not push the last out of sight.
        longest = max(appearance.pixels(LONGEST_ANSWER), room // columns)
        most = [appearance.pixels(LONGEST_CLASS)] + [longest] * (columns - 1)
        for column, width in enumerate(needed[:-1]):
            self.table.setColumnWidth(column, min(most[column], width - SPARE))

    def _keep_names_in_view(self, many: bool) -> None:
        self.wide = many
        self.table.setColumnHidden(0, many)
        names = self.table.verticalHeader()
        names.setVisible(many)
        low = appearance.pixels(LOW)
        names.setMinimumSectionSize(low)
        names.setDefaultSectionSize(low if many else TARGET)
        rows = min(self.model.classes + 1, SEEN) if many else 0
        self.table.setMinimumHeight(rows * low + (2 * TARGET if many else 0))

    def _counts(self) -> tuple[list[str], list[list[int]]]:
        found = self.results["confusion"]
        counts = found.get(self.which.currentData()) or found["tuned"]
        return [str(label) for label in found["labels"]], counts

    def describe(self) -> str:
        """How many are right."""
        labels, counts = self._counts()
        right = sum(counts[at][at] for at in range(len(labels)))
        words = "{} of {} test {} right."
        return words.format(right, sum(map(sum, counts)), units(task_of(self.results)))

    def rows(self) -> Table:
        """One row a class with its recall, and below the precision of each answer."""
        labels, counts = self._counts()
        headers = ["", *labels, "recall"]
        rows: list[list[Any]] = [
            [label, *row, _share(row[at], sum(row))]
            for at, (label, row) in enumerate(zip(labels, counts, strict=True))
        ]
        precision = [
            _share(counts[at][at], sum(row[at] for row in counts)) for at in range(len(labels))
        ]
        return headers, [*rows, ["precision", *precision, ""]]


def _share(right: int, of: int) -> str:
    return score_in_words(right / of, "accuracy") if of else "–"
