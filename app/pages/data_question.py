"""What is predicted, as what, and which rows test the result at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import remembered
from app.pages.data_words import TASKS, tested, tr, unit_words, whole
from app.widgets.buttons import LinkButton
from app.widgets.card import Card
from app.widgets.drop_area import ask_for_file
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, titled
from app.widgets.quiet_controls import QuietComboBox, QuietSlider, QuietSpinBox

if TYPE_CHECKING:
    from app.session import Session

SMALLEST_TEST, LARGEST_TEST = 5, 60  # percent


class QuestionCard(Card):
    """Target, task and test part; every change reads the file anew."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self.target = QuietComboBox()
        self.target.setMinimumContentsLength(10)
        self.target.currentIndexChanged.connect(
            lambda: self.choose_target(self.target.currentText())
        )
        self.task = QuietComboBox()
        self.task.currentIndexChanged.connect(
            lambda: session.change_data(task=self.task.currentData())
        )
        holder = QWidget()
        flow = FlowLayout(holder, gap=20, column_width=225)
        flow.addWidget(titled(self.tr("What to predict"), self.target))
        flow.addWidget(titled(self.tr("It is"), self.task))
        flow.addWidget(self._make_test())
        self.body.addWidget(holder)

    def _make_test(self) -> QWidget:
        self.share = QuietSlider(Qt.Orientation.Horizontal)
        self.spin = QuietSpinBox()
        self.spin.setSuffix(" %")
        self.spin.setKeyboardTracking(False)
        for control in (self.share, self.spin):
            control.setRange(SMALLEST_TEST, LARGEST_TEST)
            control.setAccessibleName(self.tr("Share of rows put aside for the test"))
        self.share.setTracking(False)
        self.share.sliderMoved.connect(self._preview_share)
        self.share.valueChanged.connect(self._share_chosen)
        self.spin.valueChanged.connect(self._share_chosen)
        self._share_row = QWidget()
        row = QHBoxLayout(self._share_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.share, 1)
        row.addWidget(self.spin)
        self._test_words = label("", "caption")
        self.other = LinkButton(self.tr("Use a second file…"), self._other_pressed)
        whole_part = QWidget()
        column = QVBoxLayout(whole_part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(label(self.tr("Put aside to test the result"), "small"))
        column.addWidget(self._share_row)
        below = QHBoxLayout()
        below.addWidget(self._test_words, 1)
        below.addWidget(self.other)
        column.addLayout(below)
        return whole_part

    def refresh(self) -> None:
        """Show what the session holds."""
        summary, data = self.session.summary, self.session.data
        with QSignalBlocker(self.target):
            self.target.clear()
            self.target.addItems([column["name"] for column in summary["columns"]])
            self.target.setCurrentIndex(self.target.findText(summary["target"]))
        with QSignalBlocker(self.task):
            self.task.clear()
            for task, words in TASKS.items():
                self.task.addItem(tr(words), task)
            self.task.setCurrentIndex(self.task.findData(summary["task"]))
        percent = round(100 * data.test_size)
        for control in (self.share, self.spin):
            with QSignalBlocker(control):
                control.setValue(percent)
        self._share_row.setVisible(not data.test_file)
        self._test_words.setText(self._test_in_words())
        self.other.rename(
            self.tr("Use rows of this file") if data.test_file else self.tr("Use a second file…")
        )

    def _test_in_words(self) -> str:
        summary, data = self.session.summary, self.session.data
        count, of_all = tested(summary, data)
        words, of_file = unit_words(summary)
        if data.test_file:
            return of_file.format(count=whole(count), file=Path(data.test_file).name)
        return words.format(count=whole(count), all=whole(of_all))

    def choose_target(self, name: str) -> None:
        """Predict another column; the task is told from it anew."""
        data = self.session.data
        if name and name != self.session.summary["target"]:
            roles = {column: role for column, role in data.roles.items() if column != name}
            self.session.change_data(target=name, task="", roles=roles)

    def _preview_share(self, percent: int) -> None:
        with QSignalBlocker(self.spin):
            self.spin.setValue(percent)

    def _share_chosen(self, percent: int) -> None:
        if percent != round(100 * self.session.data.test_size):
            remembered.keep_test_size(percent / 100)
            self.session.change_data(test_size=percent / 100)

    def _other_pressed(self) -> None:
        if self.session.data.test_file:
            self.session.change_data(test_file="")
        elif file := ask_for_file(self):
            self.session.change_data(test_file=file)
