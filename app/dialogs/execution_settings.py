"""Settings: where trials run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.preferences import cluster_preferences
from app.widgets.buttons import PlainButton
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.worker.messages import ClusterChecked

WORDS = {
    cluster_preferences.HERE: "On this computer",
    cluster_preferences.LOCAL: "On a cluster that is started on this computer",
    cluster_preferences.SCHEDULER: "On the workers of a dask scheduler",
}
HINTS = {
    cluster_preferences.HERE: "Everything stays on this computer; nothing is sent.",
    cluster_preferences.LOCAL: (
        "One worker a core is started with each run and ends with it. Everything stays on this "
        "computer."
    ),
    cluster_preferences.SCHEDULER: (
        "The training rows are sent to the workers. Without certificates whoever reaches the "
        "scheduler can read them and run any code there and here: use it in a network that you "
        "trust."
    ),
}
FIELDS = {
    "address": ("Address", "tls://host:8786 or tcp://host:8786"),
    "ca": ("Authority", "a PEM file, or empty"),
    "certificate": ("Certificate", "a PEM file, or empty"),
    "key": ("Key", "a PEM file, or empty"),
}


class ExecutionSettings(QWidget):
    """A choice, the fields of a scheduler, and a connection check."""

    attempt_wanted = Signal()  # `show_answer` takes the result

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QuietComboBox()
        self.box.setAccessibleName("Where trials run")
        for key in cluster_preferences.CHOICES:
            self.box.addItem(WORDS[key], key)
        self.fields = {name: self._make_field(name) for name in cluster_preferences.FIELDS}
        self.button = PlainButton("Try the connection", self.try_connection)
        self.hint, self.answer = wrapping_label("", "muted"), wrapping_label("", "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        title = QLabel("Trials run")
        title.setBuddy(self.box)
        layout.addWidget(title)
        layout.addWidget(self.box)
        layout.addWidget(self._make_grid())
        layout.addWidget(self.hint)
        layout.addWidget(self.button)
        layout.addWidget(self.answer)
        self.show_choice()
        self.box.currentIndexChanged.connect(self._on_changed)
        for line in self.fields.values():
            line.textEdited.connect(self._on_changed)

    def _make_field(self, name: str) -> QLineEdit:
        line = QLineEdit(cluster_preferences.stored_field(name))
        line.setPlaceholderText(FIELDS[name][1])
        line.setAccessibleName(FIELDS[name][0])
        return line

    def _make_grid(self) -> QWidget:
        self.scheduler = QWidget()
        grid = QGridLayout(self.scheduler)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        for row, (name, line) in enumerate(self.fields.items()):
            title = QLabel(FIELDS[name][0])
            title.setBuddy(line)
            title.setMinimumWidth(appearance.pixels(90))
            grid.addWidget(title, row, 0)
            grid.addWidget(line, row, 1)
        return self.scheduler

    def show_choice(self) -> None:
        """Show the stored choice."""
        self.box.setCurrentIndex(self.box.findData(cluster_preferences.execution_mode()))
        for name, line in self.fields.items():
            line.setText(cluster_preferences.stored_field(name))
        self._show_fields()

    def _on_changed(self) -> None:
        texts = {name: line.text() for name, line in self.fields.items()}
        cluster_preferences.remember_mode(self.box.currentData(), texts)
        self.answer.setText("")
        self._show_fields()

    def _show_fields(self) -> None:
        mode = self.box.currentData()
        self.scheduler.setVisible(mode == cluster_preferences.SCHEDULER)
        self.button.setVisible(mode != cluster_preferences.HERE)
        self.answer.setVisible(bool(self.answer.text()))
        self.hint.setText(HINTS[mode])

    def try_connection(self) -> None:
        """Ask for a connection check."""
        self.answer.setText("Waiting for an answer …")
        self._show_fields()
        self.attempt_wanted.emit()

    def show_answer(self, check: ClusterChecked) -> None:
        """Show the result of the check."""
        self.answer.setText(" ".join(filter(None, (check.sentence, check.warning))))
        self._show_fields()
