"""The settings dialog: look, notices, and where trials run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from app.look import appearance
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.forms import labelled_grid
from app.widgets.layouts import DIALOG_MARGINS, in_column, in_row
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox
from app.widgets.text_labels import wrapping_label
from app.worker.messages import ClusterChecked

WORDS = {
    settings.HERE: "On this computer",
    settings.LOCAL: "On a cluster that is started on this computer",
    settings.SCHEDULER: "On the workers of a dask scheduler",
}
HINTS = {
    settings.HERE: "Everything stays on this computer; nothing is sent.",
    settings.LOCAL: (
        "One worker a core is started with each run and ends with it. Everything stays on this "
        "computer."
    ),
    settings.SCHEDULER: (
        "The training rows are sent to the workers. Without certificates whoever reaches the "
        "scheduler can read them and run any code there and here: use it in a network that you "
        "trust."
    ),
}
FIELDS = {
    "address": ("Address", "tls:// or tcp://host:8786"),
    "ca": ("Authority", "a PEM file, or empty"),
    "certificate": ("Certificate", "a PEM file, or empty"),
    "key": ("Key", "a PEM file, or empty"),
}


class ExecutionSettings(QWidget):
    """A choice, the fields of a scheduler, and a connection check."""

    attempt_wanted = Signal()  # `show_answer` takes the result

    def __init__(self) -> None:
        super().__init__()
        self.box = QuietComboBox()
        self.box.setAccessibleName("Where trials run")
        self.box.set_choices(WORDS)
        self.fields = {name: QLineEdit() for name in settings.CLUSTER_FIELDS}
        self.button = PlainButton("Try the connection", self.try_connection)
        self.hint, self.answer = wrapping_label("", "muted"), wrapping_label("", "")
        title = QLabel("Trials run")
        title.setBuddy(self.box)
        rows = (title, self.box, self._make_grid(), self.hint, self.button, self.answer)
        in_column(*rows, on=self, gap=8)
        self.show_choice()
        self.box.currentIndexChanged.connect(self._on_changed)
        for name, line in self.fields.items():
            line.setPlaceholderText(FIELDS[name][1])
            line.textEdited.connect(self._on_changed)

    def _make_grid(self) -> QWidget:
        self.scheduler = QWidget()
        grid = labelled_grid({FIELDS[name][0]: line for name, line in self.fields.items()})
        grid.setColumnMinimumWidth(0, appearance.pixels(90))
        self.scheduler.setLayout(grid)
        return self.scheduler

    def show_choice(self) -> None:
        self.box.setCurrentIndex(self.box.findData(settings.execution_mode()))
        for name, line in self.fields.items():
            line.setText(settings.cluster_field(name))
        self._show_fields()

    def _on_changed(self) -> None:
        texts = {name: line.text() for name, line in self.fields.items()}
        settings.remember_mode(self.box.currentData(), texts)
        self.answer.setText("")
        self._show_fields()

    def _show_fields(self) -> None:
        mode = self.box.currentData()
        self.scheduler.setVisible(mode == settings.SCHEDULER)
        self.button.setVisible(mode != settings.HERE)
        self.answer.setVisible(bool(self.answer.text()))
        self.hint.setText(HINTS[mode])

    def try_connection(self) -> None:
        self.answer.setText("Waiting for an answer …")
        self._show_fields()
        self.attempt_wanted.emit()

    def show_answer(self, check: ClusterChecked) -> None:
        self.answer.setText(" ".join(filter(None, (check.sentence, check.warning))))
        self._show_fields()


class SettingsDialog(QDialog):
    """The settings; every change shows at once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.tells_ends = QCheckBox("Tell the desktop when a run ends")
        self.tells_ends.setAccessibleName(self.tells_ends.text())
        self.tells_ends.setToolTip("Only while the window is not in front.")
        self.tells_ends.setChecked(settings.stored_flag(TELLS_ENDS, True))
        self.tells_ends.toggled.connect(lambda on: settings.remember(TELLS_ENDS, on))
        self.where = ExecutionSettings()
        controls = (self._make_look(), self.tells_ends, self.where, 1, self._make_foot())
        in_column(*controls, on=self, gap=14, margins=DIALOG_MARGINS)
        self._fit_text()
        appearance.notifier.themed.connect(self._fit_text)

    def _fit_text(self) -> None:
        self.setMinimumWidth(appearance.pixels(420))
        self.adjustSize()

    def _make_look(self) -> QGridLayout:
        self.scheme = QuietComboBox()
        words = {"system": "As the system", "light": "Light", "dark": "Dark"}
        self.scheme.set_choices(words, settings.colour_scheme())
        self.scheme.currentIndexChanged.connect(
            lambda: appearance.change_look(scheme=self.scheme.currentData())
        )
        # All is laid out anew at each size, which is not at the 1 of 150.
        self.text_size = QuietSpinBox(
            minimum=appearance.SMALLEST_TEXT,
            maximum=appearance.LARGEST_TEXT,
            singleStep=10,
            suffix=" %",
            value=appearance.text_percent(),
        )
        self.text_size.valueChanged.connect(lambda percent: appearance.change_look(percent=percent))
        return labelled_grid({"Colours": self.scheme, "Text size": self.text_size})

    def _make_foot(self) -> QHBoxLayout:
        self.forget = PlainButton("Forget my choices", self._forget_choices)
        self.forget.setToolTip(
            "Sizes, colours, opened files, options, time and trials are forgotten; runs are kept."
        )
        foot = in_row(self.forget, 1, PrimaryButton("Close", self.accept))
        foot.setAlignment(Qt.AlignmentFlag.AlignBottom)
        return foot

    def _forget_choices(self) -> None:
        settings.forget_all()
        # Controls show what counts now; the look follows at the end, once.
        self.scheme.setCurrentIndex(0)
        self.text_size.setValue(100)
        self.tells_ends.setChecked(True)
        self.where.show_choice()
        appearance.apply_look()
