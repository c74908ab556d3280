"""What a person wants to know, and which rows test the result."""

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QWidget

from app.preferences import remembered_choices
from app.session.session import Session
from app.text.data_text import every_row_tests, test_set_size, unclear_target_text
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.cards import Card
from app.widgets.drop_area import ask_for_file
from app.widgets.layouts import in_column, in_lines, in_row
from app.widgets.quiet_controls import QuietComboBox, QuietSlider, QuietSpinBox
from app.widgets.text_labels import StatusIcon, titled_control, wrapping_label
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import TASKS, Task
from core.wording import format_integer, shortened_text

SMALLEST_TEST, LARGEST_TEST = 5, 60  # percent
MAX_NAME = 40  # letters of a column's name on a button
Wish = tuple[Task, str]  # topics, or unknown to predict; the column
TOPICS_OF_COUNTS: Wish = (Task.TOPICS, "")


def possible_wishes(summary: DatasetSummary) -> list[Wish]:
    """The questions that the data can answer."""
    current_wish = wish_of(summary)
    # In this format only the number before each row can be the target.
    if summary.format == "libsvm":
        topic_wishes = [TOPICS_OF_COUNTS] if summary.counts or current_wish[0] else []
        return [(Task.UNKNOWN, "target"), *topic_wishes]
    topic_wishes = [(Task.TOPICS, name) for name in summary.texts]
    if current_wish[0] and current_wish not in topic_wishes:
        topic_wishes.append(current_wish)
    return [*((Task.UNKNOWN, column.name) for column in summary.columns), *topic_wishes]


def wish_of(summary: DatasetSummary) -> Wish:
    """The current question."""
    if not summary.task.has_target:
        return Task.TOPICS, summary.documents.column
    return Task.UNKNOWN, summary.target


def wish_text(task: Task, name: str) -> str:
    """A line of the list of questions."""
    if task.has_target:
        return f"Predict “{shortened_text(name)}”"
    if not name:
        return "Find topics: the numbers are counts of words"
    return f"Find the topics of the texts in “{shortened_text(name)}”"


class QuestionCard(Card):
    """What to predict or find, the task, and the test set."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.unclear = wrapping_label()
        self.rivals = (
            PlainButton("", lambda: self.choose_target(session.current_summary.target)),
            PlainButton("", lambda: self.choose_target(session.current_summary.rival)),
        )
        self._unclear_row = QWidget()
        sign, buttons = StatusIcon("warning", "warning", 18), in_lines(*self.rivals)
        words = in_column(in_row(sign, (self.unclear, 1), gap=8), buttons, gap=6)
        self._unclear_row.setLayout(words)
        self.body.addWidget(self._unclear_row)
        self.target = QuietComboBox()
        self.target.setMinimumContentsLength(10)
        self._wishes: list[Wish] = []  # one a line of `target`
        self.target.currentIndexChanged.connect(self._on_wish_chosen)
        self.task = task = QuietComboBox()
        task.currentIndexChanged.connect(lambda: session.change_data(task=task.currentData()))
        self.sheet = QuietComboBox()
        self.sheet.setMinimumContentsLength(10)
        self.sheet.textActivated.connect(session.open_sheet)
        self._sheet_box = titled_control("Sheet of the workbook", self.sheet)
        wish = QWidget()
        question = titled_control("What do you want to know?", self.target)
        in_column(question, self._sheet_box, 1, on=wish, gap=10)
        self._task_box = titled_control("It is", self.task)
        columns = (wish, self._task_box, self._make_test())
        self.body.addWidget(in_lines(*columns, gap=20, column_width=225))

    def _make_test(self) -> QWidget:
        self.share = QuietSlider(Qt.Orientation.Horizontal)
        self.spin = QuietSpinBox(suffix=" %")
        for control in (self.share, self.spin):
            control.setRange(SMALLEST_TEST, LARGEST_TEST)
            control.setAccessibleName("Share of rows in the test set")
        # Data are read again for every share: only where the slider is let go, not on its way.
        self.share.setTracking(False)
        self.share.sliderMoved.connect(self._preview_share)
        self.share.valueChanged.connect(self._share_chosen)
        self.spin.valueChanged.connect(self._share_chosen)
        self._share_row = QWidget()
        in_row((self.share, 1), self.spin, on=self._share_row)
        self._test_words = wrapping_label("", "caption")
        self.second_file_button = LinkButton("Use a second file…", self._on_second_file_pressed)
        self.usual = LinkButton("Back to the usual share", lambda: self._change_share(None))
        test_box = QWidget()
        below = in_row(1, self.usual, self.second_file_button)
        title = wrapping_label("Test set, to judge the result", "small")
        in_column(title, self._share_row, self._test_words, below, on=test_box, gap=2)
        return test_box

    def refresh(self) -> None:
        summary, data = self.session.current_summary, self.session.current_data
        self._wishes = possible_wishes(summary)
        titles = dict(enumerate(wish_text(*wish) for wish in self._wishes))
        self.target.set_choices(titles, self._wishes.index(wish_of(summary)))
        self._unclear_row.setVisible(bool(summary.rival) and data.guesses_target)
        names = [shortened_text(name, MAX_NAME) for name in (summary.target, summary.rival)]
        self.unclear.setText(
            f"{unclear_target_text(*names)}. Until you choose, it is “{names[0]}”."
        )
        for button, name in zip(self.rivals, names, strict=True):
            button.set_label(wish_text(summary.task, name).replace("&", "&&"))
        self._task_box.setVisible(summary.task.has_target)
        tasks = {str(task): task.choice_title for task in TASKS if task.choice_title}
        self.task.set_choices(tasks, str(summary.task))
        self._sheet_box.setVisible(len(summary.sheets) > 1)
        self.sheet.clear()
        self.sheet.addItems(summary.sheets)
        self.sheet.setCurrentText(summary.sheet)
        percent = self._test_percent
        for control in (self.share, self.spin):
            with QSignalBlocker(control):
                control.setValue(percent)
        self._share_row.setVisible(not data.test_file)
        self.usual.setVisible(not data.test_file and data.test_size is not None)
        self._test_words.setText(self._test_set_text())
        label = "Use rows of this file" if data.test_file else "Use a second file…"
        self.second_file_button.set_label(label)

    def _test_set_text(self) -> str:
        summary, data = self.session.current_summary, self.session.current_data
        count, of_all = map(format_integer, test_set_size(summary, data))
        if data.test_file:
            return f"{count} {summary.task.items} of {Path(data.test_file).name}"
        sentence = f"{count} of {of_all} {summary.task.items}"
        if not every_row_tests(summary, data):
            return sentence
        return f"{sentence}. Learned penalties are tested on every row once instead."

    def _on_wish_chosen(self, index: int) -> None:
        task, name = self._wishes[index]
        if task.has_target:
            self.choose_target(name)
        else:
            self.find_topics(name)

    def find_topics(self, name: str) -> None:
        """Find topics of texts in a column, or of counts ("")."""
        if wish_of(self.session.current_summary) != (Task.TOPICS, name):
            self.session.change_data(target=name, task=Task.TOPICS)

    def choose_target(self, name: str) -> None:
        """The task of another target is detected again."""
        data, is_same = self.session.requested_data, name == self.session.current_summary.target
        if name and not (is_same and self._unclear_row.isHidden()):
            roles = {column: role for column, role in data.roles.items() if column != name}
            # A column that is predicted cannot also say which rows are the latest.
            latest = "" if name == data.latest else data.latest
            task = data.task if is_same else ""
            self.session.change_data(target=name, task=task, roles=roles, latest=latest)

    def _preview_share(self, percent: int) -> None:
        with QSignalBlocker(self.spin):
            self.spin.setValue(percent)

    def _share_chosen(self, percent: int) -> None:
        # Showing the data sets both controls, which is no choice of a person.
        if percent != self._test_percent:
            self._change_share(percent / 100)

    def _change_share(self, share: float | None) -> None:
        remembered_choices.remember_test_size(share)
        self.session.change_data(test_size=share)

    @property
    def _test_percent(self) -> int:
        _, of_all = test_set_size(self.session.current_summary, self.session.current_data)
        return round(100 * self.session.current_data.share_tested(of_all))

    def _on_second_file_pressed(self) -> None:
        if self.session.current_data.test_file:
            self.session.change_data(test_file="")
        elif file := ask_for_file(self):
            self.session.change_data(test_file=file, latest="")
