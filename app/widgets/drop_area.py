"""What takes dropped files and columns, and the area that asks for a file."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
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


class DropTarget(QObject):
    """Takes what fits and is dropped on a widget; a card looks ready while that is above it."""

    def __init__(
        self,
        widget: QWidget,
        fits: Callable[[QMimeData], object],
        take: Callable[[QMimeData], object],
    ) -> None:
        super().__init__(widget)
        self._widget, self._fits, self._take = widget, fits, take
        self._is_card = bool(widget.property("card"))
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if self._is_card and kind in (QEvent.Type.DragLeave, QEvent.Type.Drop):
            apply_style(self._widget, over=False)
        if not isinstance(event, QDropEvent) or kind == QEvent.Type.DragMove:
            return False
        if kind == QEvent.Type.Drop:
            event.acceptProposedAction()
            self._take(event.mimeData())
        elif self._fits(event.mimeData()):
            event.acceptProposedAction()
            if self._is_card:
                apply_style(self._widget, over=True)
        return True


class DropArea(QFrame):
    """A dashed box with buttons to choose a file and paste a table."""

    file_chosen = Signal(str)  # the path
    paste_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "drop")
        DropTarget(self, local_file, lambda held: self.file_chosen.emit(local_file(held)))
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
