"""The rows of a file: their table with predictions behind, warnings, and a button that saves it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from app.look import appearance
from app.text.key_names import SAVE, STOP
from app.text.prediction_text import marked_rows_text
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.drop_area import dropped_file
from app.widgets.flow_layout import FlowLayout
from app.widgets.text_labels import plain_tooltip, wrapping_label
from app.worker.messages import RowsPredicted
from core.export.exportable_models import MODEL_ENDINGS

HEIGHT, MAX_HEIGHT = 320, 440  # pixels of the table: at the usual text size, at any
MEASURE = (
    "A row is marked where a number lies outside the range of the training rows, where a category "
    "was never among them, and, where these rows are at hand, as a whole where it is farther from "
    "every training row than any training row is from its nearest other one. Distance is the mean "
    "over columns: of a number its difference divided by the range, of a category 1 where it is "
    "another one."
)


class FilePredictionCard(Card):
    """The predictions of a file; `stop` ends the prediction, `save` asks for a path."""

    file_dropped = Signal(str)  # of rows

    def __init__(self, save: Callable[[], None], stop: Callable[[], None]) -> None:
        super().__init__("Many rows")
        self.setAcceptDrops(True)
        self.takes_files = False
        self.empty = wrapping_label(
            "Open a file with rows like those the model learned from, drop it here, or copy cells "
            "of a table, those of its header too, and paste them. The column to predict may be "
            "missing.",
            "muted",
        )
        self.marked_note = wrapping_label("", "warning")
        self.marked_note.setToolTip(plain_tooltip(MEASURE))
        self.marked_note.setAccessibleDescription(MEASURE)
        self.notes = wrapping_label("", "muted")
        self.progress_row = self._make_progress_row(stop)
        self.table = DataTable("Predictions")
        self.table.horizontalHeader().setStretchLastSection(False)
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        self.save = PlainButton("Save the table…", save, "save")
        self.save.setToolTip(f"Save the table as it was, with the predictions behind it ({SAVE})")
        row.addWidget(self.save)
        notes = (self.marked_note, self.notes)
        for widget in (self.empty, self.progress_row, *notes, self.table, holder):
            self.body.addWidget(widget)
        appearance.notifier.themed.connect(self._fit_table)
        self.clear_rows()

    @property
    def wants_room(self) -> bool:
        """Whether there are more rows than its usual height shows."""
        return self.has_table and self.table.maximumHeight() > self.table.minimumHeight()

    def _fit_table(self) -> None:
        rows = self.table.verticalHeader().length()
        bar = self.table.horizontalScrollBar().sizeHint().height()
        needed = self.table.horizontalHeader().sizeHint().height() + rows + bar + 4
        self.table.setMinimumHeight(min(needed, appearance.pixels(HEIGHT), MAX_HEIGHT))
        self.table.setMaximumHeight(needed)

    def _make_progress_row(self, stop: Callable[[], None]) -> QWidget:
        progress_row = QWidget()
        row = QHBoxLayout(progress_row)
        row.setContentsMargins(0, 0, 0, 0)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.done = wrapping_label("", "caption")
        self.stop = PlainButton("Stop", stop)
        self.stop.setToolTip(f"What is predicted by then is kept ({STOP}).")
        row.addWidget(self.bar, 1)
        row.addWidget(self.done)
        row.addWidget(self.stop)
        return progress_row

    def clear_rows(self) -> None:
        """Forget the predictions of another model."""
        self.has_table = False
        self.set_words("Many rows")
        self.empty.show()
        for widget in (self.marked_note, self.notes, self.table, self.save, self.progress_row):
            widget.hide()

    def show_progress(self, done: int, total: int) -> None:
        """Show the progress of a file; hidden at the end."""
        self.progress_row.setVisible(done < total)
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * done / max(1, total)))
        progress_text = f"{done:,} of {total:,} rows"
        self.done.setText(progress_text)
        self.bar.setAccessibleName(progress_text)

    def show_predictions(self, predictions: RowsPredicted) -> None:
        """Show the predictions."""
        self.has_table = True
        self.progress_row.hide()
        self.empty.hide()
        self.table.set_table((predictions.headers, predictions.rows))
        widest = appearance.pixels(360)
        for column in range(len(predictions.headers)):
            self.table.setColumnWidth(column, min(self.table.columnWidth(column), widest))
        rows = "1 row" if predictions.count == 1 else f"{predictions.count:,} rows"
        caption = f"{rows} predicted."
        if predictions.n_own_columns:
            caption += " The predictions stand behind the columns of the table."
        if predictions.count > len(predictions.rows):
            caption += f" The first {len(predictions.rows):,} are shown."
        self.set_words("Many rows", caption)
        marked = marked_rows_text(predictions.marked, predictions.count)
        self.marked_note.setText(marked or predictions.remark)
        self.marked_note.setVisible(bool(marked or predictions.remark))
        self.notes.setText("\n".join(predictions.sentences))
        self.notes.setVisible(bool(predictions.sentences))
        self.table.show()
        self._fit_table()
        self.save.show()
        n_own = predictions.n_own_columns
        QTimer.singleShot(0, self, lambda: self._scroll_to_answers(n_own))  # once it has its width

    def _scroll_to_answers(self, n_own_columns: int) -> None:
        start = self.table.horizontalHeader().sectionPosition(n_own_columns)
        self.table.horizontalScrollBar().setValue(max(0, start))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept a file of rows; the window takes a model."""
        if self.takes_files and is_data(dropped_file(event)):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Predict its rows."""
        event.acceptProposedAction()
        self.file_dropped.emit(dropped_file(event))


def is_data(file: str) -> bool:
    """Whether a file is no model, by its name."""
    return bool(file) and not file.lower().endswith(MODEL_ENDINGS)
