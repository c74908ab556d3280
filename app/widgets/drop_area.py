"""The area for dropped files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from app.preferences import preferences as settings
from app.widgets.buttons import LinkButton, PrimaryButton
from app.widgets.layouts import in_column
from app.widgets.text_labels import StatusIcon, apply_style, plain_tooltip, wrapping_label

ENDINGS = (
    *(".csv", ".tsv", ".txt", ".data", ".libsvm", ".svm", ".xlsx", ".xlsm", ".xls"),
    *(".xlsb", ".ods", ".conll", ".conllu", ".fasta", ".fa", ".dbn"),
    *(".parquet", ".feather", ".arrow", ".arff", ".gz", ".bz2", ".xz", ".zip"),
)


def ask_for_file(parent: QWidget) -> str:
    """Ask for a data file; "" where cancelled."""
    chosen, _ = QFileDialog.getOpenFileName(
        parent,
        "Open a data file",
        settings.stored_text("data/folder"),
        f"Data ({' '.join(f'*{ending}' for ending in ENDINGS)});;All files (*)",
    )
    if chosen:
        settings.remember("data/folder", chosen.replace("\\", "/").rpartition("/")[0])
    return chosen


def local_file(held: QMimeData) -> str:
    """The first dragged or copied local file, or ""."""
    for url in held.urls():
        if url.isLocalFile():
            return url.toLocalFile()
    return ""


def data_folder(file: str) -> str:
    """Where files of a table are saved: beside it; at home where nobody put it anywhere."""
    folder = Path(file).parent
    is_beside = Path(file).is_absolute() and folder.is_dir() and folder.name != "pasted"
    return str(folder if is_beside else Path.home())


class DropArea(QFrame):
    """A dashed box with buttons to choose a file and paste a table."""

    file_chosen = Signal(str)  # the path
    paste_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "drop")
        self.setAcceptDrops(True)
        self.setMaximumHeight(420)
        formats = "A table (CSV, Excel, OpenDocument, Parquet, Feather, ARFF) or LIBSVM lines."
        lines = wrapping_label("Drop a data file here", "panel"), wrapping_label(formats, "muted")
        for line in lines:
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.button = PrimaryButton("Open a file…", self._ask_file, "open")
        self.paste = LinkButton("Paste a table", self.paste_wanted.emit, "table")
        self.paste.setToolTip(plain_tooltip("The cells that you copied in a spreadsheet (Ctrl+V)"))
        middle, icon = Qt.AlignmentFlag.AlignHCenter, StatusIcon("open", "accent", 40)
        contents = (1, (icon, middle), *lines, (self.button, middle), (self.paste, middle), 1)
        in_column(*contents, on=self, gap=10, margins=(24, 26, 24, 26))

    def _ask_file(self) -> None:
        if file := ask_for_file(self):
            self.file_chosen.emit(file)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_file(event.mimeData()):
            event.acceptProposedAction()
            apply_style(self, over=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        apply_style(self, over=False)

    def dropEvent(self, event: QDropEvent) -> None:
        apply_style(self, over=False)
        event.acceptProposedAction()
        self.file_chosen.emit(local_file(event.mimeData()))
