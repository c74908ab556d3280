"""Step 1, the data: the table, what is predicted, the test set, and groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.pages.data.column_menu import ColumnMenus
from app.pages.data.documents import DocumentsCard
from app.pages.data.findings import FindingsCard
from app.pages.data.groups_board import GroupsBoard
from app.pages.data.question import QuestionCard
from app.pages.data.table import LEAST_ROWS, PreviewTable
from app.pages.page import Page
from app.text.data.changes import change_words
from app.text.data.naming import column_word, found, headline, whole
from app.widgets.buttons import IconButton, PlainButton
from app.widgets.card import Card
from app.widgets.drop_area import dropped_file
from app.widgets.labels import tip

if TYPE_CHECKING:
    from app.session.session import Session

FEWER_ROWS = 5


class DataPage(Page):
    """What the file holds and how it is understood; a dropped file is opened."""

    topic = "data"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setAcceptDrops(True)
        self._summary: object = None  # that the table shows
        self._make_undo()
        self.add_button("Open another…", lambda: self.step_wanted.emit("start"))
        self.primary = self.add_primary("Choose a model", lambda: self.step_wanted.emit("model"))
        self.question = QuestionCard(session)
        self.body.addWidget(self.question)
        self.findings = FindingsCard(session)
        self.body.addWidget(self.findings)
        self._card = Card("Table")
        self.table = PreviewTable()
        self.table.column_pressed.connect(self._show_menu)
        self.table.columns_pressed.connect(self._show_menu_of_several)
        self.table.selected.connect(self._show_selected)
        self.several = PlainButton("", self._change_selected)
        self.several.hide()
        self._card.corner.addWidget(self.several)
        self._card.body.addWidget(self.table, 1)
        self._card.body.addStretch(0)
        self._card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.body.addWidget(self._card, 1)
        self.documents = DocumentsCard(session)
        self.body.addWidget(self.documents)
        self.board = GroupsBoard(session, self)
        self.body.addWidget(self.board)
        self.menus = ColumnMenus(session, self.board, self._set_role, self)
        for field in (self.question.spin, self.documents.size):
            field.installEventFilter(self)  # it asks its line of text without the system
            field.lineEdit().installEventFilter(self)
        session.plan_changed.connect(self._show_changes)
        session.changes_changed.connect(self._undo_refused)
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
        if summary is not self._summary:
            self._summary = summary
            words = {column["name"]: column_word(column) for column in summary["columns"]}
            with QSignalBlocker(self.table):
                self.table.preview.show_summary(summary, words)
        self.question.refresh()
        self.findings.refresh()
        self.board.refresh()
        self.documents.setVisible(topics)
        if topics:
            self.documents.show_documents(summary["structured"])
        self._show_changes()
        self.primary.allow(self.session.plan is not None, "No model fits these data.")
        self.tell("What was found", found(summary, self.session.data))

    def _undo_refused(self) -> None:
        """What was chosen and could not be read gives way to what the session holds."""
        if self.session.summary is not None:
            self.question.refresh()
            self._show_changes()

    def _table_caption(self) -> str:
        summary = self.session.summary
        caption = (
            "First rows. Under each name: how its values are spread, how many are missing, and "
            "what it is. Click a head, or press Enter in the table, to change it; with Ctrl or "
            "Shift you select several."
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

    def _show_menu_of_several(self, names: list[str], place: QPoint) -> None:
        menu = self.menus.of_several(names)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _show_selected(self) -> None:
        names = self.table.chosen()
        several = len(names) > 1
        if several:
            self.several.rename(f"Change {len(names)} columns…")
        self.several.setVisible(several)

    def _change_selected(self) -> None:
        below = self.several.rect().bottomLeft()
        self._show_menu_of_several(self.table.chosen(), self.several.mapToGlobal(below))

    def menu_for(self, name: str) -> QMenu:
        """The roles, kinds and groups that a column can be given, its own ones ticked."""
        return self.menus.of_one(name)

    def _set_role(self, name: str, role: str) -> None:
        data = self.session.asked_data
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

    # Undo and redo ----------------------------------------------------------------------------

    def _make_undo(self) -> None:
        self.undo = IconButton("undo", "Undo", self.session.undo)
        self.redo = IconButton("redo", "Redo", self.session.redo)
        self.add_icon(self.undo)
        self.add_icon(self.redo)
        for keys, pressed in (
            ("Ctrl+Z", self.session.undo),
            ("Ctrl+Shift+Z", self.session.redo),
            ("Ctrl+Y", self.session.redo),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(pressed)

    def _show_changes(self) -> None:
        """What the two buttons would do."""
        for button, by, word, keys in (
            (self.undo, -1, "Undo", "Ctrl+Z"),
            (self.redo, 1, "Redo", "Ctrl+Shift+Z"),
        ):
            beside = self.session.changes.beside(by)
            nothing = f"There is nothing to {word.lower()}"
            said = f"{word}: {change_words(*(step.data for step in beside))}" if beside else nothing
            button.setEnabled(beside is not None)
            button.setAccessibleName(said if beside else word)
            button.setToolTip(tip(f"{said} ({keys})" if beside else said))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In a field of numbers Ctrl+Z undoes what was chosen, not what was typed."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undoes = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
            if any(event.matches(key) for key in undoes):
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    # Dropping a file ------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file may be dropped anywhere on the page."""
        if dropped_file(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file."""
        event.acceptProposedAction()
        self.session.open_file(dropped_file(event))
