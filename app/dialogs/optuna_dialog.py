"""Which Optuna studies to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox
from app.widgets.text_labels import wrapping_label
from app.worker.messages import ImportHistory

if TYPE_CHECKING:
    from core.datasets.dataset_summary import DatasetSummary

MAX_SIZE = 2_000_000_000
USUAL_SIZES = (1000, 10, 2)  # default rows, columns and classes


class OptunaDialog(QDialog):
    """A storage, a model, and the size of the data, by default of `summary`."""

    def __init__(
        self, model: str, summary: DatasetSummary | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import Optuna studies")
        self.setMinimumWidth(appearance.pixels(520))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(12)
        words = "Finished trials of Optuna studies join the history as one more dataset each."
        layout.addWidget(wrapping_label(words))
        layout.addLayout(self._make_form(model, _data_sizes(summary)))
        words = "The size says to which datasets the studies can tell something; "
        layout.addWidget(wrapping_label(f"{words}a rough number will do.", "caption"))
        layout.addStretch(1)
        layout.addLayout(self._make_foot())
        self._update_import_button()
        self.storage.setFocus()

    def _make_form(self, model: str, sizes: tuple[int, int, int]) -> QGridLayout:
        from core.estimators.registry import MODELS  # not needed before

        self.storage = QLineEdit()
        self.storage.setPlaceholderText("sqlite:///studies.db")
        self.storage.textChanged.connect(self._update_import_button)
        self.study = QLineEdit()
        self.study.setPlaceholderText("all of them")
        self.model = QuietComboBox()
        for name, definition in MODELS.items():
            self.model.addItem(definition.title, name)
        self.model.setCurrentIndex(max(0, self.model.findData(model)))
        self.rows, self.columns, self.classes = (QuietSpinBox() for _ in range(3))
        boxes = (self.rows, self.columns, self.classes)
        for box, size, min_size in zip(boxes, sizes, (1, 1, 0), strict=True):
            box.setRange(min_size, MAX_SIZE)
            box.setGroupSeparatorShown(True)
            box.setValue(size)
        self.classes.setSpecialValueText("none: a number is predicted")
        browse = PlainButton("Browse…", self._browse_storage)
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(10)
        controls: tuple[tuple[str, QWidget], ...] = (
            ("Storage, a URL or a file", self.storage),
            ("Name of the study", self.study),
            ("Model that was tuned", self.model),
            ("Rows of its data", self.rows),
            ("Columns", self.columns),
            ("Classes", self.classes),
        )
        for row, (name, control) in enumerate(controls):
            title = QLabel(name)
            title.setBuddy(control)
            control.setAccessibleName(name)
            grid.addWidget(title, row, 0)
            grid.addWidget(control, row, 1)
        grid.addWidget(browse, 0, 2)
        grid.setColumnStretch(1, 1)
        return grid

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(PlainButton("Cancel", self.reject))
        self.take = PrimaryButton("Import", self.accept)
        self.take.setDefault(True)
        foot.addWidget(self.take)
        return foot

    @property
    def request(self) -> ImportHistory:
        """The import message."""
        return ImportHistory(
            storage=self.storage.text().strip(),
            model=self.model.currentData(),
            rows=self.rows.value(),
            columns=self.columns.value(),
            classes=self.classes.value(),
            study=self.study.text().strip(),
        )

    def ask(self) -> ImportHistory | None:
        """The request, or None where cancelled."""
        return self.request if self.exec() == QDialog.DialogCode.Accepted else None

    def _browse_storage(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Storage of Optuna studies")
        if path:
            self.storage.setText(path)

    def _update_import_button(self) -> None:
        self.take.set_allowed(bool(self.storage.text().strip()), "Name a storage first.")


def _data_sizes(summary: DatasetSummary | None) -> tuple[int, int, int]:
    if summary is None:
        return USUAL_SIZES
    return summary.rows, summary.features, len(summary.classes)
