"""Step 1, the data."""

from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.pages.data.column_menu import ColumnMenus
from app.pages.data.documents_card import DocumentsCard
from app.pages.data.findings_card import FindingsCard, ReadingsCard
from app.pages.data.groups_board import GroupsBoard
from app.pages.data.preview_table import MIN_ROWS, PreviewTable
from app.pages.data.question_card import QuestionCard
from app.pages.page import Page
from app.session.session import Session
from app.text.data_text import change_title, column_word, data_summary, headline
from app.widgets.buttons import IconButton, PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import add_to, in_lines
from app.widgets.text_labels import plain_tooltip
from core.datasets.dataset_summary import DatasetSummary
from core.wording import count_text

FEWER_ROWS = 5
BESIDE = 444  # pixels of a card at the usual text size, from which on two are beside each other


class DataPage(Page):
    """The table of the data and what can be changed in it."""

    topic = "data"
    changes_title = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._summary: DatasetSummary | None = None  # that the table shows
        self._make_undo()
        self.add_button("Open another…", lambda: self.step_wanted.emit("start"))
        self.primary = self.add_primary("Choose a model", lambda: self.step_wanted.emit("model"))
        self.question = QuestionCard(session)
        self._card = Card("Table")
        self.table = PreviewTable()
        self.table.selected.connect(self._show_selected)
        self.several = PlainButton("", self._change_selected)
        self.several.hide()
        self._card.corner.addWidget(self.several)
        add_to(self._card.body, (self.table, 1), 0)
        self._card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.readings, self.findings = ReadingsCard(session), FindingsCard(session)
        self._cards = in_lines(self.readings, self.findings, gap=12, column_width=BESIDE)
        self.documents = DocumentsCard(session)
        self.board = GroupsBoard(session, self)
        cards = (self.question, (self._card, 1), self._cards, self.documents, self.board)
        add_to(self.body, *cards)
        self.menus = ColumnMenus(session, self.board, self._set_role, self)
        self.table.column_pressed.connect(lambda name, at: self._show_menu(self.menu_for(name), at))
        self.table.columns_pressed.connect(
            lambda names, at: self._show_menu(self.menus.menu_for_columns(names), at)
        )
        for field in (self.question.spin, self.documents.vocabulary):
            # Both: a field asks its own line of text for a key without the system's events.
            field.installEventFilter(self)
            field.lineEdit().installEventFilter(self)
        session.plan_changed.connect(self._show_changes)
        session.changes_changed.connect(self._undo_refused)
        session.data_changed.connect(self.request_refresh)
        session.problem.connect(lambda _sentence: self._undo_refused())
        self.refresh()

    def tour_target(self, name: str) -> QWidget | None:
        return {"table": self.table, "question": self.question}.get(name)

    def refresh(self) -> None:
        summary = self.session.summary
        if summary is None:
            return
        self.set_head(summary.name, headline(summary))
        finds_topics = not summary.task.has_target
        title = "Texts" if finds_topics and summary.texts else "Table"
        self._card.set_words(title, self._table_caption())
        # Where topics are found the words below the table need the room.
        self.table.min_rows = FEWER_ROWS if finds_topics else MIN_ROWS
        # The page is shown again after every change of the plan; the table of the same data keeps
        # its selection and its place.
        if summary is not self._summary:
            self._summary = summary
            words = {column.name: column_word(column) for column in summary.columns}
            with QSignalBlocker(self.table):
                self.table.preview.show_summary(summary, words)
        self.question.refresh()
        self.readings.refresh()
        self.findings.refresh()
        self._cards.setHidden(self.readings.isHidden() and self.findings.isHidden())
        self.board.refresh()
        self.documents.setVisible(finds_topics)
        if finds_topics:
            self.documents.show_documents(summary.documents)
        self._show_changes()
        self.primary.set_allowed(self.session.plan is not None, "No model fits these data.")
        self.set_panel("Findings", data_summary(summary, self.session.current_data))

    def _undo_refused(self) -> None:
        if self.session.summary is not None:
            self.question.refresh()
            self._show_changes()

    def _table_caption(self) -> str:
        hidden_count = self.session.current_summary.more_columns
        caption = (
            "First rows. Under each name: how its values are spread, what share is missing, and "
            "what it is. Click a head, or press Enter in the table, to change it; with Ctrl or "
            "Shift you select several."
        )
        if hidden_count:
            verb = "is" if hidden_count == 1 else "are"
            caption += f" {count_text(hidden_count, 'more column')} {verb} not shown."
        return caption

    # The menu of a column -------------------------------------------------------------------

    def _show_menu(self, menu: QMenu, position: QPoint) -> None:
        # A menu is made anew for every click, and would otherwise live as long as the page.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def _show_selected(self) -> None:
        count = len(self.table.selected_columns())
        self.several.set_label(f"Change {count} columns…")
        self.several.setVisible(count > 1)

    def _change_selected(self) -> None:
        corner = self.several.mapToGlobal(self.several.rect().bottomLeft())
        self._show_menu(self.menus.menu_for_columns(self.table.selected_columns()), corner)

    def menu_for(self, name: str) -> QMenu:
        return self.menus.menu_for_column(name)

    def _set_role(self, name: str, role: str) -> None:
        data, summary = self.session.requested_data, self.session.current_summary
        refuse = self.session.problem.emit
        if role == "target":
            self.question.choose_target(name)
            return
        finds_topics = not summary.task.has_target
        if role == "topics" or (finds_topics and role == "feature"):
            self.question.find_topics(name)
            return
        if finds_topics and name == summary.documents.column:
            refuse(f"The topics of “{name}” are looked for. Choose what else first.")
            return
        if name == summary.target:
            refuse(f"“{name}” is what is predicted. Choose another target first.")
            return
        current_role = summary.column(name).role
        roles = {**data.roles, name: role}
        if role == "sequence":
            roles = {c: r for c, r in roles.items() if r != "sequence" or c == name}
        # The task depends on this column: it is detected again.
        task = "" if "sequence" in (role, current_role) else data.task
        self.session.change_data(roles=roles, task=task)

    # Undo and redo ----------------------------------------------------------------------------

    def _make_undo(self) -> None:
        self.undo = IconButton("undo", "Undo", self.session.undo_change)
        self.redo = IconButton("redo", "Redo", self.session.redo_change)
        self.add_icon(self.undo)
        self.add_icon(self.redo)
        for keys, slot in (
            ("Ctrl+Z", self.session.undo_change),
            ("Ctrl+Shift+Z", self.session.redo_change),
            ("Ctrl+Y", self.session.redo_change),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(slot)

    def _show_changes(self) -> None:
        for button, direction, word, keys in (
            (self.undo, -1, "Undo", "Ctrl+Z"),
            (self.redo, 1, "Redo", "Ctrl+Shift+Z"),
        ):
            steps = self.session.changes.shown_and_neighbour(direction)
            text = f"There is nothing to {word.lower()}"
            if steps:
                text = f"{word}: {change_title(*(step.data for step in steps))}"
            button.setEnabled(steps is not None)
            button.setAccessibleName(text if steps else word)
            button.setToolTip(plain_tooltip(f"{text} ({keys})" if steps else text))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In a number field Ctrl+Z undoes the last change, not the typing."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undoes = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
            if any(event.matches(key) for key in undoes):
                event.ignore()
                return True
        return super().eventFilter(watched, event)
