"""Use the model: new rows by file or paste, what the model says of them, and a CSV to save."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QWidget

from app.dialogs.predicting import trust_question
from app.look import appearance
from app.pages.page import Page
from app.preferences import preferences as settings
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.drop_area import ask_for_file, local_file
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, tip
from core.export.choices import MODEL_ENDINGS, runs_code

if TYPE_CHECKING:
    from app.session.session import Session
    from app.worker.messages import Used

FOLDER_KEY = "use/folder"
HEIGHT = 320  # pixels of the table
MEASURE = (
    "A row is marked where a number lies outside the range of the training rows, where a category "
    "was never among them, and as a whole where it is farther from every training row than any "
    "training row is from its nearest other one. Distance is the mean over columns: of a number "
    "its difference divided by the range, of a category 1 where it is another one."
)


class UsePage(Page):
    """What the model of the run that is shown, or of a file, says of new rows."""

    topic = "export"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._file = self._model = ""
        self._trust = False
        self.model_button = self.add_button("Use a model file…", self._choose_model, "file")
        self.paste_button = self.add_button("Paste rows", self.paste)
        self.primary = self.add_primary("Open a file of rows…", self._open, "open")
        self.body.addWidget(self._make_answer())
        self.body.addStretch(1)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        keys.activated.connect(self.paste)
        session.used.connect(self._show)
        session.run_changed.connect(self._refresh)
        session.run_replaced.connect(lambda: self.take_model(""))
        self._refresh()

    def _make_answer(self) -> Card:
        card = self.card = Card("Predictions")
        self.empty = label(
            "Open a file with rows like those the model learned from, or copy cells of a table, "
            "those of its header too, and paste them here. The column to predict may be missing.",
            "muted",
        )
        card.body.addWidget(self.empty)
        self.said = label("", "warning")
        self.said.setToolTip(tip(MEASURE))
        self.said.setAccessibleDescription(MEASURE)
        card.body.addWidget(self.said)
        self.table = DataTable("Predictions")
        self.table.setMinimumHeight(appearance.pixels(HEIGHT))
        card.body.addWidget(self.table)
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        self.save = PlainButton("Save as CSV…", self._save, "save")
        row.addWidget(self.save)
        card.body.addWidget(holder)
        return card

    # Showing it -------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Another model: what was predicted is not of it."""
        self._file = ""
        self.empty.show()
        self.card.set_words("Predictions")
        for part in (self.said, self.table, self.save):
            part.hide()
        self._refresh()

    def visited(self) -> None:
        """Bring the head up to date."""
        self._refresh()

    def _refresh(self) -> None:
        ended = self.session.results is not None
        name = self.session.run_folder.name if ended and self.session.run_folder else ""
        from_file = f"Model file: {Path(self._model).name}" if self._model else ""
        from_run = f"Run: {name}" if name else "Open a run that has ended, or choose a model file."
        self.set_head("Use the model", from_file or from_run)
        if self.table.model().rowCount() == 0 and not self._file:
            self.table.hide()
            self.save.hide()
            self.said.hide()
        for button in (self.primary, self.paste_button):
            button.allow(ended or bool(self._model), "There is no model yet.")

    def _show(self, used: Used) -> None:
        self.empty.hide()
        self.table.set_table((used.headers, used.rows))
        for column in range(len(used.headers) - 1):
            widest = appearance.pixels(360)
            self.table.setColumnWidth(column, min(self.table.columnWidth(column), widest))
        rows = "1 row" if used.count == 1 else f"{used.count:,} rows"
        first = f" The first {len(used.rows):,} are shown." if used.count > len(used.rows) else ""
        self.card.set_words("Predictions", f"{rows} predicted.{first}")
        unlike = "is unlike the training rows: what is" if used.marked == 1 else (
            "are unlike the training rows: what the model"
        )  # fmt: skip
        tail = " said of it is a guess." if used.marked == 1 else " says of them is a guess."
        words = f"{used.marked:,} of {rows} {unlike}{tail}" if used.marked else ""
        self.said.setText(words or used.said)
        self.said.setVisible(bool(words or used.said))
        self.table.show()
        self.save.show()

    # What a person does -----------------------------------------------------------------------

    def take_model(self, model: str, trust: bool = False) -> None:
        """Use a model file from now on; "" for the run that is shown."""
        self._model, self._trust = model, trust
        self._forget()

    def _choose_model(self) -> None:
        endings = " ".join(f"*{ending}" for ending in (*MODEL_ENDINGS, ".json", ".zip"))
        folder = settings.text(FOLDER_KEY, str(Path.home()))
        kinds = f"Models ({endings})"
        path, _ = QFileDialog.getOpenFileName(self, "Choose a model file", folder, kinds)
        if not path:
            return
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
