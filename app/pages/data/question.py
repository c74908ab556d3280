"""What a person wants to know, and which rows test the result at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.preferences import choices
from app.text.data.naming import TASKS, every_row_tests, tested, unit_words, whole
from app.widgets.buttons import LinkButton
from app.widgets.card import Card
from app.widgets.drop_area import ask_for_file
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, titled
from app.widgets.quiet_controls import QuietComboBox, QuietSlider, QuietSpinBox

if TYPE_CHECKING:
    from app.session.session import Session

SMALLEST_TEST, LARGEST_TEST = 5, 60  # percent
Wish = tuple[str, str]


def wishes(summary: Mapping[str, Any]) -> list[Wish]:
    """What can be asked of the data: (topics or "" to predict, column)."""
    if summary["format"] == "libsvm":  # its target stands in front of the row, nothing else can be
        found = [("topics", "")] if summary["counts"] or summary["task"] == "topics" else []
        return [("", "target"), *found]
    texts = list(summary["texts"])
    found = [("topics", name) for name in texts]
    if (now := wish_of(summary))[0] == "topics" and now not in found:
        found.append(now)
    return [*(("", column["name"]) for column in summary["columns"]), *found]


def wish_of(summary: Mapping[str, Any]) -> Wish:
    """What the data are asked now."""
    if summary["task"] == "topics":
        return "topics", summary["structured"]["column"]
    return "", summary["target"]


def wish_in_words(task: str, name: str) -> str:
    """A line of the question."""
    if task != "topics":
        return f"Predict “{name}”"
    if not name:
        return "Find topics: the numbers are counts of words"
    return f"Find the topics of the texts in “{name}”"


class QuestionCard(Card):
    """What to predict or to find, the task, and the test set; every change reads the file anew."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self.target = QuietComboBox()
        self.target.setMinimumContentsLength(10)
        self._wishes: list[tuple[str, str]] = []  # (task, column) of every line of it
        self.target.currentIndexChanged.connect(self._wish_chosen)
        self.task = QuietComboBox()
        self.task.currentIndexChanged.connect(
            lambda: session.change_data(task=self.task.currentData())
        )
        holder = QWidget()
        flow = FlowLayout(holder, gap=20, column_width=225)
        self.sheet = QuietComboBox()
        self.sheet.setMinimumContentsLength(10)
        self.sheet.textActivated.connect(session.open_sheet)
        self._sheet_part = titled("Sheet of the workbook", self.sheet)
        wish = QWidget()
        column = QVBoxLayout(wish)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(titled("What do you want to know?", self.target))
        column.addWidget(self._sheet_part)
        column.addStretch(1)
        flow.addWidget(wish)
        self._task_part = titled("It is", self.task)
        flow.addWidget(self._task_part)
        flow.addWidget(self._make_test())
        self.body.addWidget(holder)

    def _make_test(self) -> QWidget:
        self.share = QuietSlider(Qt.Orientation.Horizontal)
        self.spin = QuietSpinBox()
        self.spin.setSuffix(" %")
        self.spin.setKeyboardTracking(False)
        for control in (self.share, self.spin):
            control.setRange(SMALLEST_TEST, LARGEST_TEST)
            control.setAccessibleName("Share of rows in the test set")
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
        self.other = LinkButton("Use a second file…", self._other_pressed)
        self.usual = LinkButton("Back to the usual share", lambda: self._change_share(None))
        whole_part = QWidget()
        column = QVBoxLayout(whole_part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(label("Test set, to judge the result", "small"))
        column.addWidget(self._share_row)
        column.addWidget(self._test_words)
        below = QHBoxLayout()
        below.addStretch(1)
        below.addWidget(self.usual)
        below.addWidget(self.other)
        column.addLayout(below)
        return whole_part

    def refresh(self) -> None:
        """Show what the session holds."""
        summary, data = self.session.summary, self.session.data
        self._wishes = wishes(summary)
        with QSignalBlocker(self.target):
            self.target.clear()
            self.target.addItems([wish_in_words(*wish) for wish in self._wishes])
            self.target.setCurrentIndex(self._wishes.index(wish_of(summary)))
        self._task_part.setVisible(summary["task"] != "topics")
        with QSignalBlocker(self.task):
            self.task.clear()
            for task, words in TASKS.items():
                self.task.addItem(words, task)
            self.task.setCurrentIndex(self.task.findData(summary["task"]))
        self._sheet_part.setVisible(len(summary["sheets"]) > 1)
        self.sheet.clear()
        self.sheet.addItems(summary["sheets"])
        self.sheet.setCurrentText(summary["sheet"])
        percent = self._percent
        for control in (self.share, self.spin):
            with QSignalBlocker(control):
                control.setValue(percent)
        self._share_row.setVisible(not data.test_file)
        self.usual.setVisible(not data.test_file and data.test_size is not None)
        self._test_words.setText(self._test_in_words())
        self.other.rename("Use rows of this file" if data.test_file else "Use a second file…")

    def _test_in_words(self) -> str:
        summary, data = self.session.summary, self.session.data
        count, of_all = tested(summary, data)
        words, of_file = unit_words(summary)
        if data.test_file:
            return of_file.format(count=whole(count), file=Path(data.test_file).name)
        said = words.format(count=whole(count), all=whole(of_all))
        if not every_row_tests(summary, data):
            return said
        return f"{said}. Learned penalties are tested on every row once instead."

    def _wish_chosen(self, place: int) -> None:
        task, name = self._wishes[place]
        if task == "topics":
            self.find_topics(name)
        else:
            self.choose_target(name)

    def find_topics(self, name: str) -> None:
        """Look for the topics of the texts in a column, or of counts ("")."""
        if wish_of(self.session.summary) != ("topics", name):
            self.session.change_data(target=name, task="topics")

    def choose_target(self, name: str) -> None:
        """Predict another column; the task is told from it anew."""
        data = self.session.asked_data
        if name and name != self.session.summary["target"]:
            roles = {column: role for column, role in data.roles.items() if column != name}
            latest = "" if name == data.latest else data.latest
            self.session.change_data(target=name, task="", roles=roles, latest=latest)

    def _preview_share(self, percent: int) -> None:
        with QSignalBlocker(self.spin):
            self.spin.setValue(percent)

    def _share_chosen(self, percent: int) -> None:
        if percent != self._percent:
            self._change_share(percent / 100)

    def _change_share(self, share: float | None) -> None:
        choices.keep_test_size(share)
        self.session.change_data(test_size=share)

    @property
    def _percent(self) -> int:
        """The share of rows that is held out, in percent."""
        _, of_all = tested(self.session.summary, self.session.data)
        return round(100 * self.session.data.share_tested(of_all))

    def _other_pressed(self) -> None:
        if self.session.data.test_file:
            self.session.change_data(test_file="")
        elif file := ask_for_file(self):
            self.session.change_data(test_file=file, latest="")
