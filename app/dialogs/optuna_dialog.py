"""Which Optuna studies to import; it stays until they are in."""

from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QWidget

from app.look import appearance
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.forms import labelled_grid
from app.widgets.layouts import DIALOG_MARGINS, in_column, in_row
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox
from app.widgets.text_labels import show_text, wrapping_label
from app.worker.messages import ImportHistory
from core.datasets.dataset_summary import DatasetSummary
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.score import metric_in_short

MAX_SIZE = 2_000_000_000
USUAL_SIZES = (1000, 10, 2)  # default rows, columns and classes


class OptunaDialog(QDialog):
    """A storage, a model, its metric, and the size of the data, by default of `summary`."""

    def __init__(
        self,
        model: str,
        summary: DatasetSummary | None,
        import_studies: Callable[[ImportHistory], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._send = import_studies
        self.setWindowTitle("Import Optuna studies")
        self.setMinimumWidth(appearance.pixels(520))
        sizes = USUAL_SIZES
        if summary is not None:
            sizes = summary.rows, summary.features, len(summary.classes)
        words = "Finished trials of Optuna studies join the history as one more dataset each."
        size_words = (
            "The size says to which datasets the studies can tell something; a rough number will "
            "do. A study that Tunescope exported says all of this itself."
        )
        self.outcome = wrapping_label("", "warning")
        self.outcome.hide()
        head = (wrapping_label(words), self._make_form(model, sizes))
        below = (wrapping_label(size_words, "caption"), self.outcome, 1, self._make_foot())
        in_column(*head, *below, on=self, gap=12, margins=DIALOG_MARGINS)
        self._update_import_button()
        self.storage.setFocus()

    def _make_form(self, model: str, sizes: tuple[int, int, int]) -> QGridLayout:
        # Not needed before a person asks for this dialog.
        from core.estimators.registry import MODELS

        self.storage = QLineEdit(placeholderText="sqlite:///studies.db")
        self.storage.textChanged.connect(self._update_import_button)
        self.study = QLineEdit(placeholderText="all of them")
        self.model = QuietComboBox()
        # Without a plan there is no model to propose, and the first is.
        self.model.set_choices({name: entry.title for name, entry in MODELS.items()}, model)
        self.scored_by = QuietComboBox()
        titles = {"": "as the study says"}
        for metric in filter(lambda metric: metric.tasks, METRICS.values()):
            better = "larger" if metric.maximize else "smaller"
            titles[metric.name] = f"{metric_in_short(metric.name)} ({better} is better)"
        self.scored_by.set_choices(titles)
        self.rows, self.columns, self.classes = (
            QuietSpinBox(
                minimum=low,
                maximum=MAX_SIZE,
                groupSeparatorShown=True,
                value=size,
                keyboardTracking=True,
            )
            for low, size in zip((1, 1, 0), sizes, strict=True)
        )
        self.classes.setSpecialValueText("none: a number is predicted")
        grid = labelled_grid(
            {
                "Storage, a URL or a file": self.storage,
                "Name of the study": self.study,
                "Model that was tuned": self.model,
                "Metric of its values": self.scored_by,
                "Rows of its data": self.rows,
                "Columns": self.columns,
                "Classes": self.classes,
            }
        )
        grid.addWidget(PlainButton("Browse…", self._browse_storage), 0, 2)
        return grid

    def _make_foot(self) -> QHBoxLayout:
        self.take = PrimaryButton("Import", self._import_studies)
        self.take.setDefault(True)
        return in_row(1, PlainButton("Cancel", self.reject), self.take)

    @property
    def request(self) -> ImportHistory:
        return ImportHistory(
            storage=self.storage.text().strip(),
            model=self.model.currentData(),
            rows=self.rows.value(),
            columns=self.columns.value(),
            classes=self.classes.value(),
            study=self.study.text().strip(),
            metric=self.scored_by.currentData(),
        )

    def _import_studies(self) -> None:
        self.take.set_allowed(False, "The studies are being read.")
        show_text(self.outcome, "The studies are being read …")
        self._send(self.request)

    def take_outcome(self, sentence: str, succeeded: bool) -> None:
        if succeeded:
            self.accept()
            return
        show_text(self.outcome, sentence)
        self._update_import_button()

    def _browse_storage(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Storage of Optuna studies")
        if path:
            self.storage.setText(path)

    def _update_import_button(self) -> None:
        self.take.set_allowed(bool(self.storage.text().strip()), "Name a storage first.")
