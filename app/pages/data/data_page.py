"""Step 1, the data: the table, what is predicted, the test set, and groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QAction, QActionGroup, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.pages.data.documents import DocumentsCard
from app.pages.data.groups_board import GroupsBoard
from app.pages.data.proposals import ProposalsCard
from app.pages.data.question import QuestionCard
from app.pages.data.table import LEAST_ROWS, PreviewTable
from app.pages.page import Page
from app.text.data import KINDS, column_word, found, headline, whole
from app.widgets.card import Card
from app.widgets.drop_area import dropped_file
from app.widgets.labels import tip

if TYPE_CHECKING:
    from app.session.session import Session

FEWER_ROWS = 5
CHANGEABLE = ("number", "category", "yes/no", "date", "text")


class DataPage(Page):
    """What the file holds and how it is understood; a dropped file is opened."""

    topic = "data"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setAcceptDrops(True)
        self.add_button("Open another…", lambda: self.step_wanted.emit("start"))
        self.primary = self.add_primary("Choose a model", lambda: self.step_wanted.emit("model"))
        self.question = QuestionCard(session)
        self.body.addWidget(self.question)
        self.proposals = ProposalsCard(session)
        self.body.addWidget(self.proposals)
        self._card = Card("Table")
        self.table = PreviewTable()
        self.table.column_pressed.connect(self._show_menu)
        self._card.body.addWidget(self.table, 1)
        self._card.body.addStretch(0)
        self._card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.body.addWidget(self._card, 1)
        self.documents = DocumentsCard(session)
        self.body.addWidget(self.documents)
        self.board = GroupsBoard(session, self)
        self.body.addWidget(self.board)
        session.data_changed.connect(self.refresh)
        session.problem.connect(lambda _sentence: self._undo_refused())
        self.refresh()

    def visited(self) -> None:
        """Show what the session holds."""
        self.refresh()

    def refresh(self) -> None:
        """Show the summary of the data."""
        summary = self.session.summary
        if summary is None:
            return
        self.set_head(summary["name"], headline(summary))
        topics = summary["task"] == "topics"
        title = "Texts" if topics and summary["texts"] else "Table"
        self._card.set_words(title, self._table_caption())
        self.table.least_rows = FEWER_ROWS if topics else LEAST_ROWS  # words have room too
        words = {column["name"]: column_word(column) for column in summary["columns"]}
        with QSignalBlocker(self.table):
            self.table.preview.show_summary(summary, words)
        self.question.refresh()
        self.proposals.refresh()
        self.board.refresh()
        self.documents.setVisible(topics)
        if topics:
            self.documents.show_documents(summary["structured"])
        self.primary.allow(self.session.plan is not None, "No model fits these data.")
        self.tell("What was found", found(summary, self.session.data))

    def _undo_refused(self) -> None:
        """What was chosen and could not be read gives way to what the session holds."""
        if self.session.summary is not None:
            self.question.refresh()

    def _table_caption(self) -> str:
        summary = self.session.summary
        caption = (
            "First rows. Under each name: what kind of column it is. Click a head, or press "
            "Enter in the table, to change it."
        )
        if summary["more_columns"]:
            more = "{count} more columns are not shown."
            caption = f"{caption} {more.format(count=whole(summary['more_columns']))}"
        return caption

    # The menu of a column -------------------------------------------------------------------

    def _show_menu(self, name: str, place: QPoint) -> None:
        menu = self.menu_for(name)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu_for(self, name: str) -> QMenu:
        """The roles and kinds that a column can be given, its own ones ticked."""
        column = next(c for c in self.session.summary["columns"] if c["name"] == name)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.addSection(name.replace("&", "&&"))
        roles = QActionGroup(menu)
        for role, words in self._roles_in_words(name):
            action = self._tickable(menu, roles, words, column["role"] == role)
            action.triggered.connect(lambda _on=False, role=role: self._set_role(name, role))
        self._add_kinds(menu, column)
        if column["note"]:
            menu.addSeparator()
            note = menu.addAction(column["note"])
            note.setToolTip(tip(column["note"]))
            note.setEnabled(False)
        return menu

    def _roles_in_words(self, name: str) -> list[tuple[str, str]]:
        """What a column can be asked for; of texts, that their topics be found."""
        summary = self.session.summary
        looked = summary["task"] == "topics"
        words = {
            "target": "Predict this column",
            "feature": "Use it to predict",
            "topics": "Find the topics of its texts",
            "group": "Keep rows with the same value together",
            "sequence": self._sequence_words(),
            "ignore": "Leave it out",
        }
        if looked:
            del words["sequence"]
            words["feature"] = words["topics"]
        if looked or name not in summary["texts"]:
            del words["topics"]
        if looked and name not in summary["texts"] and name != summary["structured"]["column"]:
            del words["feature"]
        return list(words.items())

    def _add_kinds(self, menu: QMenu, column: dict[str, Any]) -> None:
        """The kinds that a column can be; of tokens only what matters to labels nearby."""
        task, name = self.session.summary["task"], column["name"]
        fixed = task == "sequence" and column["role"] in ("sequence", "target")
        if task in ("structure", "topics") or fixed:
            return
        menu.addSection("It holds")
        kinds = QActionGroup(menu)
        for kind in CHANGEABLE[:2] if task == "sequence" else CHANGEABLE:
            action = self._tickable(menu, kinds, KINDS[kind], column["kind"] == kind)
            action.triggered.connect(lambda _on=False, kind=kind: self._set_kind(name, kind))

    def _sequence_words(self) -> str:
        if self.session.summary["task"] == "structure":
            return "It holds the letters of the molecules"
        return "It says which sequence a row belongs to"

    @staticmethod
    def _tickable(menu: QMenu, group: QActionGroup, words: str, ticked: bool) -> QAction:
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(ticked)
        group.addAction(action)
        return action

    def _set_role(self, name: str, role: str) -> None:
        data = self.session.data
        if role == "target":
            self.question.choose_target(name)
            return
        looked = self.session.summary["task"] == "topics"
        if role == "topics" or (looked and role == "feature"):
            self.question.find_topics(name)
            return
        if looked and name == self.session.summary["structured"]["column"]:
            self.session.problem.emit(
                f"The topics of “{name}” are looked for. Choose what else first."
            )
            return
        if name == self.session.summary["target"]:
            self.session.problem.emit(
                f"“{name}” is what is predicted. Choose another target first."
            )
            return
        now = next(c["role"] for c in self.session.summary["columns"] if c["name"] == name)
        roles = {**data.roles, name: role}
        if role == "sequence":
            roles = {c: r for c, r in roles.items() if r != "sequence" or c == name}
        # What the rows are hangs on this column: it is told anew.
        task = "" if "sequence" in (role, now) else data.task
        self.session.change_data(roles=roles, task=task)

    def _set_kind(self, name: str, kind: str) -> None:
        self.session.change_data(kinds={**self.session.data.kinds, name: kind})

    # Dropping a file ------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file may be dropped anywhere on the page."""
        if dropped_file(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file."""
        event.acceptProposedAction()
        self.session.open_file(dropped_file(event))
