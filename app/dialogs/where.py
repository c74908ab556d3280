"""Where trials run: a part of the settings."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.look import appearance
from app.preferences import cluster
from app.widgets.buttons import PlainButton
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox

WORDS = {
    cluster.HERE: "On this computer",
    cluster.LOCAL: "On a cluster that is started on this computer",
    cluster.SCHEDULER: "On the workers of a dask scheduler",
}
HINTS = {
    cluster.HERE: "Everything stays on this computer; nothing is sent.",
    cluster.LOCAL: "One worker a core is started with each run and ends with it. Everything stays "
    "on this computer.",
    cluster.SCHEDULER: "The training rows are sent to the workers. Without certificates whoever "
    "reaches the scheduler can read them and run any code there and here: use it in a network that "
    "you trust.",
}
FIELDS = {
    "address": ("Address", "tls://host:8786 or tcp://host:8786"),
    "ca": ("Authority", "a PEM file, or empty"),
    "certificate": ("Certificate", "a PEM file, or empty"),
    "key": ("Key", "a PEM file, or empty"),
}


class Where(QWidget):
    """A choice, the fields of a scheduler, and a button that sees whether it answers.

    Signals:
        attempt_wanted: see whether what was chosen answers; `show_answer` takes what was found.
    """

    attempt_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QuietComboBox()
        self.box.setAccessibleName("Where trials run")
        for key in cluster.CHOICES:
            self.box.addItem(WORDS[key], key)
        self.fields = {name: self._line(name) for name in cluster.FIELDS}
        self.button = PlainButton("Try the connection", self.try_connection)
        self.hint, self.answer = label("", "muted"), label("", "")
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        title = QLabel("Trials run")
        title.setBuddy(self.box)
        whole.addWidget(title)
        whole.addWidget(self.box)
        whole.addWidget(self._grid())
        whole.addWidget(self.hint)
        whole.addWidget(self.button)
        whole.addWidget(self.answer)
        self.show_choice()
        self.box.currentIndexChanged.connect(self._changed)
        for line in self.fields.values():
            line.textEdited.connect(self._changed)

    def _line(self, name: str) -> QLineEdit:
        line = QLineEdit(cluster.field(name))
        line.setPlaceholderText(FIELDS[name][1])
        line.setAccessibleName(FIELDS[name][0])
        return line

    def _grid(self) -> QWidget:
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
        """Show what is remembered."""
        self.box.setCurrentIndex(self.box.findData(cluster.where()))
        for name, line in self.fields.items():
            line.setText(cluster.field(name))
        self._show()

    def _changed(self) -> None:
        texts = {name: line.text() for name, line in self.fields.items()}
        cluster.keep(self.box.currentData(), texts)
        self.answer.setText("")
        self._show()

    def _show(self) -> None:
        chosen = self.box.currentData()
        self.scheduler.setVisible(chosen == cluster.SCHEDULER)
        self.button.setVisible(chosen != cluster.HERE)
        self.answer.setVisible(bool(self.answer.text()))
        self.hint.setText(HINTS[chosen])

    def try_connection(self) -> None:
        """See whether it answers."""
        self.answer.setText("Waiting for an answer …")
        self._show()
        self.attempt_wanted.emit()

    def show_answer(self, tried: Any) -> None:
        """What was found: an `app.worker.messages.ClusterTried`."""
        self.answer.setText(" ".join(filter(None, (tried.sentence, tried.warning))))
        self._show()
