"""Use the model: one row in a form, or many rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.dialogs.model_file_dialogs import trust_question
from app.pages.page import Page
from app.pages.use.file_prediction_card import FilePredictionCard
from app.pages.use.row_prediction_form import RowPredictionForm
from app.preferences import preferences as settings
from app.widgets.drop_area import ask_for_file, local_file
from core.export.exportable_models import MODEL_ENDINGS, can_run_code
from core.export.own_table.endings import own_ending

if TYPE_CHECKING:
    from app.session.session import Session
    from app.worker.messages import RowsPredicted

FOLDER_KEY = "use/folder"
NOTHING_YET = "There are no predictions to save yet: open a file of rows first."


class UsePage(Page):
    """Predictions of new rows by the model of the shown run or of a file."""

    topic = "export"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._file = self._model = ""
        self._trust = False
        self._described: tuple[object, ...] = ()
        self.model_button = self.add_button("Use a model file…", self._choose_model, "file")
        self.paste_button = self.add_button("Paste rows", self.predict_clipboard)
        self.primary = self.add_primary("Open a file of rows…", self._open_rows, "open")
        self.row_form = RowPredictionForm(session.prediction)
        stop = session.prediction.stop_predicting
        self.file_card = FilePredictionCard(self._save_predictions, stop)
        self.table, self.save = self.file_card.table, self.file_card.save
        self.body.addWidget(self.row_form)
        self.body.addWidget(self.file_card)
        self.body.addStretch(1)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        keys.activated.connect(self.predict_clipboard)
        self.file_card.file_dropped.connect(self.predict_file)
        session.rows_predicted.connect(self._show_predictions)
        session.prediction.progress.connect(self.file_card.show_progress)
        session.problem.connect(lambda _sentence: self.file_card.progress_row.hide())
        session.run_changed.connect(self._refresh_head)
        session.run_replaced.connect(lambda: self.take_model(""))
        self._refresh_head()

    # Showing it -------------------------------------------------------------------------------

    def visited(self) -> None:
        """Update head and form."""
        self._refresh_head()

    @property
    def can_use(self) -> bool:
        """Whether there is a model."""
        return bool(self._model) or self.session.results is not None

    def _refresh_head(self) -> None:
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

    def showEvent(self, event: QShowEvent) -> None:
        """Request the form when the page is visible."""
        super().showEvent(event)
        self._refresh_head()

    def _show_predictions(self, predictions: RowsPredicted) -> None:
        self.file_card.show_predictions(predictions)
        self._give_room()
        area = self.scroll_area
        QTimer.singleShot(0, self, lambda: area.ensureWidgetVisible(self.file_card, 0, 40))

    def _give_room(self) -> None:
        self.body.setStretchFactor(self.file_card, 100 if self.file_card.wants_room else 0)

    # What a person does -----------------------------------------------------------------------

    def take_model(self, model: str, trust: bool = False) -> None:
        """Use a model file from now on; "" for the shown run."""
        self._model, self._trust = model, trust
        self._file, self._described = "", ()
        self.file_card.clear_rows()
        self._give_room()
        self._refresh_head()

    def _choose_model(self) -> None:
        endings = " ".join(f"*{ending}" for ending in (*MODEL_ENDINGS, ".json", ".zip"))
        folder = settings.stored_text(FOLDER_KEY, str(Path.home()))
        kinds = f"Models ({endings})"
        path, _ = QFileDialog.getOpenFileName(self, "Choose a model file", folder, kinds)
        if path:
            self.open_model(path)

    def open_model(self, path: str) -> None:
        """Use a model file; one that can run code only after a question."""
        trust = can_run_code(path)
        if trust:
            box, open_button = trust_question(path, self)
            box.exec()
            if box.clickedButton() is not open_button:
                return
        self.take_model(path, trust)

    def _open_rows(self) -> None:
        if file := ask_for_file(self):
            self.predict_file(file)

    def predict_file(self, file: str) -> None:
        """Predict the rows of a file."""
        self._file = file
        self.session.predict_rows(file, self._model, self._trust)

    def predict_clipboard(self) -> None:
        """Predict the rows in the clipboard: a file, or the cells of a table."""
        if not self.primary.isEnabled():
            return
        clipboard = QGuiApplication.clipboard()
        if file := local_file(clipboard.mimeData()):
            self.predict_file(file)
        else:
            self._file = ""
            self.session.predict_pasted(clipboard.text(), self._model, self._trust)

    def save_asked(self) -> None:
        """Save the table with its predictions."""
        if self.file_card.has_table:
            self._save_predictions()
        else:
            self.session.problem.emit(NOTHING_YET)

    def _save_predictions(self) -> None:
        folder = settings.stored_text(FOLDER_KEY, str(Path.home()))
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
            path = path if Path(path).suffix else f"{path}{picked}"
            settings.remember(FOLDER_KEY, str(Path(path).parent))
            self.session.save_predictions(path)
