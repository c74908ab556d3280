"""The rows of a file: what the model says of them, what to know of them, and a CSV to save."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from app.look import appearance
from app.text.keys import SAVE, STOP
from app.text.use import marked_in_words
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.drop_area import dropped_file
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, tip
from app.worker.messages import Used
from core.export.choices import MODEL_ENDINGS

HEIGHT, HIGHEST = 320, 440  # pixels of the table, at the usual text size and at any
MEASURE = (
    "A row is marked where a number lies outside the range of the training rows, where a category "
    "was never among them, and, where these rows are at hand, as a whole where it is farther from "
    "every training row than any training row is from its nearest other one. Distance is the mean "
    "over columns: of a number its difference divided by the range, of a category 1 where it is "
    "another one."
)


class ManyRows(Card):
    """The predictions of a file.

    Args:
        save: asks where to, and saves.
        stop: leaves the file whose rows are being predicted.

    Signals:
        file_dropped: a file of rows.
    """

    file_dropped = Signal(str)

    def __init__(self, save: Callable[[], None], stop: Callable[[], None]) -> None:
        super().__init__("Many rows")
        self.setAcceptDrops(True)
        self.takes_files = False
        self.empty = label(
            "Open a file with rows like those the model learned from, drop it here, or copy cells "
            "of a table, those of its header too, and paste them. The column to predict may be "
            "missing.",
            "muted",
        )
        self.said = label("", "warning")
        self.said.setToolTip(tip(MEASURE))
        self.said.setAccessibleDescription(MEASURE)
        self.notes = label("", "muted")
        self.going = self._make_going(stop)
        self.table = DataTable("Predictions")
        self.table.horizontalHeader().setStretchLastSection(False)
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        self.save = PlainButton("Save as CSV…", save, "save")
        self.save.setToolTip(f"Save the predictions ({SAVE})")
        row.addWidget(self.save)
        for part in (self.empty, self.going, self.said, self.notes, self.table, holder):
            self.body.addWidget(part)
        appearance.notifier.themed.connect(self._fit)
        self.forget()

    @property
    def wants_room(self) -> bool:
        """Whether there are more rows than its usual height shows."""
        return self.has_table and self.table.maximumHeight() > self.table.minimumHeight()

    def _fit(self) -> None:
        """The table is as high as its rows, and where they are many as the page has room."""
        rows = self.table.verticalHeader().length()
        bar = self.table.horizontalScrollBar().sizeHint().height()
        needed = self.table.horizontalHeader().sizeHint().height() + rows + bar + 4
        self.table.setMinimumHeight(min(needed, appearance.pixels(HEIGHT), HIGHEST))
        self.table.setMaximumHeight(needed)

    def _make_going(self, stop: Callable[[], None]) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.done = label("", "caption")
        self.stop = PlainButton("Stop", stop)
        self.stop.setToolTip(f"What is predicted by then is kept ({STOP}).")
        row.addWidget(self.bar, 1)
        row.addWidget(self.done)
        row.addWidget(self.stop)
        return made

    def forget(self) -> None:
        """Another model: what was predicted is not of it."""
        self.has_table = False
        self.set_words("Many rows")
        self.empty.show()
        for part in (self.said, self.notes, self.table, self.save, self.going):
            part.hide()

    def show_progress(self, done: int, total: int) -> None:
        """Show how far a file is; a small one is done at once."""
        self.going.setVisible(done < total)
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * done / max(1, total)))
        said = f"{done:,} of {total:,} rows"
        self.done.setText(said)
        self.bar.setAccessibleName(said)

    def show_used(self, used: Used) -> None:
        """Show the predictions."""
        self.has_table = True
        self.going.hide()
        self.empty.hide()
        self.table.set_table((used.headers, used.rows))
        widest = appearance.pixels(360)
        for column in range(len(used.headers)):
            self.table.setColumnWidth(column, min(self.table.columnWidth(column), widest))
        rows = "1 row" if used.count == 1 else f"{used.count:,} rows"
        first = f" The first {len(used.rows):,} are shown." if used.count > len(used.rows) else ""
        self.set_words("Many rows", f"{rows} predicted.{first}")
        marked = marked_in_words(used.marked, used.count)
        self.said.setText(marked or used.said)
        self.said.setVisible(bool(marked or used.said))
        self.notes.setText("\n".join(used.sentences))
        self.notes.setVisible(bool(used.sentences))
        self.table.show()
        self._fit()
        self.save.show()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file of rows may be dropped; a model is the window's."""
        if self.takes_files and is_data(dropped_file(event)):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Predict its rows."""
        event.acceptProposedAction()
        self.file_dropped.emit(dropped_file(event))


def is_data(file: str) -> bool:
    """Whether a file holds no model, as far as its name tells."""
    return bool(file) and not file.lower().endswith(MODEL_ENDINGS)
