"""Use the model: one row in a form, or many rows of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QMimeData, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QFileDialog, QProgressBar, QWidget

from app.dialogs.message_boxes import is_trusted
from app.look import appearance
from app.pages.page import Page
from app.pages.row_prediction_form import RowPredictionForm
from app.session.session import Session
from app.text.key_names import SAVE, STOP
from app.text.prediction_text import marked_rows_text
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.drop_area import DropTarget, ask_for_file, data_folder, local_file
from app.widgets.layouts import add_to, in_lines, in_row
from app.widgets.text_labels import plain_tooltip, show_text, wrapping_label
from app.worker.messages import RowsPredicted
from core.export.destination import own_ending
from core.export.exportable_models import MODEL_ENDINGS, can_run_code

HEIGHT, MAX_HEIGHT = 320, 440  # pixels of the table: at the usual text size, at any
MEASURE = (
    "A row is marked where it is farther from the middle of the training rows than 99 % of rows "
    "like these, so that 1 in 100 ordinary rows is marked too. The distance goes by ranks: how far "
    "out each value is among those of training, how rare its category, and whether values that go "
    "together there still do. A date is compared by its range alone."
)
LEAST_SURE = (
    "Sorts the rows by the probability of the likeliest class, the smallest first. The table is "
    "saved in the order that is shown."
)
NOTHING_YET = "There are no predictions to save yet: open a file of rows first."


class FilePredictionCard(Card):
    """Predictions of a file; `save` asks for a path, `sort` for another order."""

    file_dropped = Signal(str)  # of rows

    def __init__(
        self, save: Callable[[], None], stop: Callable[[], None], sort: Callable[[bool], None]
    ) -> None:
        super().__init__("Many rows")
        self.takes_files = False
        emit = self.file_dropped.emit
        DropTarget(self, self._takes_rows, lambda held: emit(local_file(held)))
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
        self.save = PlainButton("Save the table…", save, "save")
        self.save.setToolTip(f"Save the table as it was, with the predictions behind it ({SAVE})")
        self.doubt_box = QCheckBox("Least sure first")
        self.doubt_box.setToolTip(LEAST_SURE)
        self.doubt_box.clicked.connect(sort)
        notes = (self.marked_note, self.notes, self.doubt_box)
        add_to(self.body, self.empty, self.progress_row, *notes, self.table, in_lines(self.save))
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
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.done = wrapping_label("", "caption")
        self.stop = PlainButton("Stop", stop)
        self.stop.setToolTip(f"What is predicted by then is kept ({STOP}).")
        in_row((self.bar, 1), self.done, self.stop, on=progress_row)
        return progress_row

    def clear_rows(self) -> None:
        self.has_table = self._is_sorted = False
        self.set_words("Many rows")
        self.empty.show()
        notes = (self.marked_note, self.notes, self.doubt_box)
        for widget in (*notes, self.table, self.save, self.progress_row):
            widget.hide()

    def show_progress(self, done: int, total: int) -> None:
        """Hidden at the end."""
        self.progress_row.setVisible(done < total)
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * done / max(1, total)))
        progress_text = f"{done:,} of {total:,} rows"
        self.done.setText(progress_text)
        self.bar.setAccessibleName(progress_text)

    def show_predictions(self, predictions: RowsPredicted) -> None:
        self.has_table = True
        self.empty.hide()
        self.doubt_box.setVisible(predictions.has_doubt)
        self._is_sorted = predictions.least_sure_first
        self.show_settled()
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
        show_text(self.marked_note, marked or predictions.remark)
        show_text(self.notes, "\n".join(predictions.sentences))
        self.table.show()
        self._fit_table()
        self.save.show()
        n_own = predictions.n_own_columns
        # Later: a table that was just filled has no width yet.
        QTimer.singleShot(0, self, lambda: self._scroll_to_answers(n_own))

    def show_settled(self) -> None:
        """Nothing is asked for any more: the rows are as they are."""
        self.progress_row.hide()
        self.doubt_box.setChecked(self._is_sorted)

    def _scroll_to_answers(self, n_own_columns: int) -> None:
        start = self.table.horizontalHeader().sectionPosition(n_own_columns)
        self.table.horizontalScrollBar().setValue(max(0, start))

    def _takes_rows(self, held: QMimeData) -> bool:
        """A file of rows; the window takes a model."""
        return self.takes_files and is_data(local_file(held))


def is_data(file: str) -> bool:
    """Whether a file is no model, by its name."""
    return bool(file) and not file.lower().endswith(MODEL_ENDINGS)


class UsePage(Page):
    """Predictions of new rows by a run's model or a file's."""

    topic = "export"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._file = self._model = ""
        self._trust = False
        self._described: tuple[object, ...] = ()
        self.model_button = self.add_button("Use a model file…", self._choose_model, "file")
        self.paste_button = self.add_button("Paste rows", self.predict_clipboard)
        self.primary = self.add_primary("Open a file of rows…", self._open_rows, "open")
        self.row_form = RowPredictionForm(session.prediction)
        stop = session.prediction.stop_predicting
        self.file_card = FilePredictionCard(self._save_predictions, stop, session.sort_predictions)
        self.table, self.save = self.file_card.table, self.file_card.save
        add_to(self.body, self.row_form, self.file_card, 1)
        QShortcut(QKeySequence.StandardKey.Paste, self).activated.connect(self.predict_clipboard)
        self.file_card.file_dropped.connect(self.predict_file)
        session.rows_predicted.connect(self._show_predictions)
        session.prediction.progress.connect(self.file_card.show_progress)
        session.problem.connect(lambda _sentence: self.file_card.show_settled())
        session.run_changed.connect(self.request_refresh)
        session.run_replaced.connect(lambda: self.take_model(""))
        self.request_refresh()

    # Showing it -------------------------------------------------------------------------------

    @property
    def can_use(self) -> bool:
        return bool(self._model) or self.session.results is not None

    def refresh(self) -> None:
        session = self.session
        has_ended, folder = session.results is not None, session.run_folder
        name = folder.name if has_ended and folder else ""
        from_file = f"Model file: {Path(self._model).name}" if self._model else ""
        from_run = f"Run: {name}" if name else "Open a run that has ended, or choose a model file."
        self.set_head("Use the model", from_file or from_run)
        for button in (self.primary, self.paste_button):
            button.set_allowed(self.can_use, "There is no model yet.")
        self.file_card.takes_files = self.can_use
        if self.isVisible():
            self._request_form("" if self._model else str(folder) if has_ended and folder else "")

    def _request_form(self, folder: str) -> None:
        session = self.session
        is_going_on = session.is_going_on
        key = (folder, self._model, self._trust, is_going_on, len(session.events) if folder else 0)
        # The head is shown anew at every event of a run; the form is asked for once.
        if key == self._described:
            return
        self._described = key
        if not folder and not self._model:
            words = "There is no model yet: a form for one row is here once there is one."
            self.row_form.clear_form(words)
        elif is_going_on:
            self.row_form.clear_form("A run is in progress. The form is here once it has ended.")
        else:
            self.row_form.clear_form("The form for one row comes as soon as the model is open.")
            session.prediction.choose_model(folder, self._model, self._trust)

    def _show_predictions(self, predictions: RowsPredicted) -> None:
        self.file_card.show_predictions(predictions)
        self._give_room()
        area = self.scroll_area
        QTimer.singleShot(0, self, lambda: area.ensureWidgetVisible(self.file_card, 0, 40))

    def _give_room(self) -> None:
        self.body.setStretchFactor(self.file_card, 100 if self.file_card.wants_room else 0)

    # What a person does -----------------------------------------------------------------------

    def take_model(self, model: str, trust: bool = False) -> None:
        """Use a model file; "" for the shown run."""
        self._model, self._trust = model, trust
        self._file, self._described = "", ()
        self.file_card.clear_rows()
        self._give_room()
        self.request_refresh()

    def _choose_model(self) -> None:
        endings = " ".join(f"*{ending}" for ending in (*MODEL_ENDINGS, ".json", ".zip"))
        title, folder = "Choose a model file", data_folder(self._file)
        if path := QFileDialog.getOpenFileName(self, title, folder, f"Models ({endings})")[0]:
            self.open_model(path)

    def open_model(self, path: str) -> None:
        """Use a model file; one that can run code only after a question."""
        # Only what a person was asked about is loaded with its code.
        trust = can_run_code(path)
        if not trust or is_trusted(path, self):
            self.take_model(path, trust)

    def _open_rows(self) -> None:
        if file := ask_for_file(self):
            self.predict_file(file)

    def predict_file(self, file: str) -> None:
        self._file = file
        self.session.predict_rows(file, self._model, self._trust)

    def predict_clipboard(self) -> None:
        if not self.primary.isEnabled():
            return
        clipboard = QGuiApplication.clipboard()
        if file := local_file(clipboard.mimeData()):
            self.predict_file(file)
        else:
            self._file = ""
            self.session.predict_pasted(clipboard.text(), self._model, self._trust)

    def save_asked(self) -> None:
        if self.file_card.has_table:
            self._save_predictions()
        else:
            self.session.problem.emit(NOTHING_YET)

    def _save_predictions(self) -> None:
        folder = data_folder(self._file)
        stem = Path(self._file).name.split(".")[0] if self._file else "pasted"
        ending = own_ending(self._file)
        proposed = str(Path(folder) / f"{stem} predictions{ending}")
        kinds = {".csv": "CSV", ".xlsx": "Excel workbook", ".parquet": "Parquet"}
        kinds = {ending: kinds.get(ending, "As the file of rows"), **kinds}
        filters = ";;".join(f"{kind} (*{named})" for named, kind in kinds.items())
        title = "Save the table with its predictions"
        path, chosen = QFileDialog.getSaveFileName(self, title, proposed, filters)
        if path:
            picked = next((named for named in kinds if f"*{named})" in chosen), ending)
            # Qt adds no ending where a person types none.
            path = path if Path(path).suffix else f"{path}{picked}"
            self.session.save_predictions(path, self.file_card.doubt_box.isChecked())
