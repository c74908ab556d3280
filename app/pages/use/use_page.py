"""Use the model: one row in a form, or many by file or paste, and what the model says of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.dialogs.predicting import trust_question
from app.pages.page import Page
from app.pages.use.many_rows import ManyRows
from app.pages.use.one_row import OneRow
from app.preferences import preferences as settings
from app.widgets.drop_area import ask_for_file, local_file
from core.export.choices import MODEL_ENDINGS, runs_code

if TYPE_CHECKING:
    from app.session.session import Session
    from app.worker.messages import Used

FOLDER_KEY = "use/folder"
NOTHING_YET = "There are no predictions to save yet: open a file of rows first."


class UsePage(Page):
    """What the model of the run that is shown, or of a file, says of new rows."""

    topic = "export"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._file = self._model = ""
        self._trust = False
        self._described: tuple[object, ...] = ()
        self.model_button = self.add_button("Use a model file…", self._choose_model, "file")
        self.paste_button = self.add_button("Paste rows", self.paste)
        self.primary = self.add_primary("Open a file of rows…", self._open, "open")
        self.one = OneRow(session.using)
        self.many = ManyRows(self._save, session.using.stop)
        self.table, self.save = self.many.table, self.many.save
        self.body.addWidget(self.one)
        self.body.addWidget(self.many)
        self.body.addStretch(1)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        keys.activated.connect(self.paste)
        self.many.file_dropped.connect(self.use)
        session.used.connect(self._show)
        session.using.progress.connect(self.many.show_progress)
        session.problem.connect(lambda _sentence: self.many.going.hide())
        session.run_changed.connect(self._refresh)
        session.run_replaced.connect(lambda: self.take_model(""))
        self._refresh()

    # Showing it -------------------------------------------------------------------------------

    def visited(self) -> None:
        """Bring head and form up to date."""
        self._refresh()

    @property
    def can_use(self) -> bool:
        """Whether there is a model, and no run that has the worker in hand."""
        return bool(self._model) or self.session.results is not None

    def _refresh(self) -> None:
        session = self.session
        ended, folder = session.results is not None, session.run_folder
        name = folder.name if ended and folder else ""
        from_file = f"Model file: {Path(self._model).name}" if self._model else ""
        from_run = f"Run: {name}" if name else "Open a run that has ended, or choose a model file."
        self.set_head("Use the model", from_file or from_run)
        for button in (self.primary, self.paste_button):
            button.allow(self.can_use, "There is no model yet.")
        self.many.takes_files = self.can_use
        if self.isVisible():
            self._describe("" if self._model else str(folder) if ended and folder else "")

    def _describe(self, folder: str) -> None:
        """Ask for the form, once for every model and every end of a run."""
        session = self.session
        tuning = session.is_going_on
        key = (folder, self._model, self._trust, tuning, len(session.events) if folder else 0)
        if key == self._described:
            return
        self._described = key
        if not folder and not self._model:
            self.one.forget("There is no model yet: a form for one row is here once there is one.")
        elif tuning:
            self.one.forget("A run is going on. The form is here once it has ended.")
        else:
            self.one.forget("The form for one row comes as soon as the model is open.")
            session.using.choose(folder, self._model, self._trust)

    def showEvent(self, event: QShowEvent) -> None:
        """The form is asked for where it is seen."""
        super().showEvent(event)
        self._refresh()

    def _show(self, used: Used) -> None:
        self.many.show_used(used)
        self._give_room()
        QTimer.singleShot(0, self, lambda: self.scroll.ensureWidgetVisible(self.many, 0, 40))

    def _give_room(self) -> None:
        """A long table of predictions takes the rest of the page."""
        self.body.setStretchFactor(self.many, 100 if self.many.wants_room else 0)

    # What a person does -----------------------------------------------------------------------

    def take_model(self, model: str, trust: bool = False) -> None:
        """Use a model file from now on; "" for the run that is shown."""
        self._model, self._trust = model, trust
        self._file, self._described = "", ()
        self.many.forget()
        self._give_room()
        self._refresh()

    def _choose_model(self) -> None:
        endings = " ".join(f"*{ending}" for ending in (*MODEL_ENDINGS, ".json", ".zip"))
        folder = settings.text(FOLDER_KEY, str(Path.home()))
        kinds = f"Models ({endings})"
        path, _ = QFileDialog.getOpenFileName(self, "Choose a model file", folder, kinds)
        if path:
            self.open_model(path)

    def open_model(self, path: str) -> None:
        """Use a model file; one that can run code is opened only after a question."""
        trust = runs_code(path)
        if trust:
            box, opens = trust_question(path, self)
            box.exec()
            if box.clickedButton() is not opens:
                return
        self.take_model(path, trust)

    def _open(self) -> None:
        if file := ask_for_file(self):
            self.use(file)

    def use(self, file: str) -> None:
        """Predict the rows of a file."""
        self._file = file
        self.session.use(file, self._model, self._trust)

    def paste(self) -> None:
        """Predict the rows that were copied: a file, or the cells of a table."""
        if not self.primary.isEnabled():
            return
        clipboard = QGuiApplication.clipboard()
        if file := local_file(clipboard.mimeData()):
            self.use(file)
        else:
            self._file = ""
            self.session.use_pasted(clipboard.text(), self._model, self._trust)

    def save_asked(self) -> None:
        """Save the predictions."""
        if self.many.has_table:
            self._save()
        else:
            self.session.problem.emit(NOTHING_YET)

    def _save(self) -> None:
        folder = settings.text(FOLDER_KEY, str(Path.home()))
        stem = Path(self._file).name.split(".")[0] if self._file else "pasted"
        proposed = str(Path(folder) / f"{stem} predictions.csv")
        title = "Save the predictions"
        path, _ = QFileDialog.getSaveFileName(self, title, proposed, "CSV (*.csv)")
        if path:
            path = path if Path(path).suffix else f"{path}.csv"
            settings.remember(FOLDER_KEY, str(Path(path).parent))
            self.session.save_used(path)
