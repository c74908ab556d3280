"""The menus of one column and of several: role, kind and group."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.pages.data.findings_card import apply_change
from app.pages.data.groups_board import GroupsBoard
from app.session.session import Session
from app.widgets.text_labels import plain_tooltip
from core.datasets.dataset_summary import ColumnSummary

CHANGEABLE = ("number", "category", "yes/no", "date", "text")
_SEVERAL = {"feature": "Use them to predict", "ignore": "Leave them out"}


class ColumnMenus:
    """Menus of roles, kinds and groups; `set_role` also takes "topics"."""

    def __init__(
        self,
        session: Session,
        board: GroupsBoard,
        set_role: Callable[[str, str], None],
        parent: QWidget,
    ) -> None:
        self._session, self._board = session, board
        self._set_role, self._parent = set_role, parent

    def menu_for_column(self, name: str) -> QMenu:
        column = self._session.current_summary.column(name)
        menu = self._make_menu(name)
        _add_choices(menu, self._role_texts(name), {column.role}, partial(self._set_role, name))
        self._add_kinds(menu, [column])
        self._add_readings(menu, name)
        if column.role == "feature":
            self._add_groups(menu, [name])
        if column.note:
            menu.addSeparator()
            note = menu.addAction(column.note.replace("&", "&&"))
            note.setToolTip(plain_tooltip(column.note))
            # It is to be read, not chosen.
            note.setEnabled(False)
        return menu

    def menu_for_columns(self, names: Sequence[str]) -> QMenu:
        """The same for several columns; a target among them is skipped."""
        fixed_roles = ("target", "sequence")
        summary = self._session.current_summary
        columns = [summary.column(name) for name in names]
        # What is predicted and what holds the rows together is changed one column at a time.
        columns = [column for column in columns if column.role not in fixed_roles]
        menu = self._make_menu(f"{len(columns):,} columns")
        chosen = [column.name for column in columns]
        roles = dict(_SEVERAL)
        if summary.task.has_one_column:
            del roles["feature"]
        _add_choices(menu, roles, {c.role for c in columns}, partial(self.set_roles, chosen))
        self._add_kinds(menu, columns)
        features = [column.name for column in columns if column.role == "feature"]
        if features:
            self._add_groups(menu, features)
        menu.setEnabled(bool(columns))
        return menu

    def set_roles(self, names: Sequence[str], role: str) -> None:
        roles = {**self._session.requested_data.roles, **dict.fromkeys(names, role)}
        self._session.change_data(roles=roles)

    def set_kinds(self, names: Sequence[str], kind: str) -> None:
        """Other readings are forgotten."""
        data = self._session.requested_data
        kinds = {**data.kinds, **dict.fromkeys(names, kind)}
        readings = {name: word for name, word in data.readings.items() if name not in names}
        self._session.change_data(kinds=kinds, readings=readings)

    # Parts of the menus -----------------------------------------------------------------------

    def _make_menu(self, title: str) -> QMenu:
        menu = QMenu(self._parent)
        menu.setToolTipsVisible(True)
        # Qt takes a single & of a name for the mark of a key.
        menu.addSection(title.replace("&", "&&"))
        return menu

    def _role_texts(self, name: str) -> dict[str, str]:
        summary = self._session.current_summary
        sequence = "It says which sequence a row belongs to"
        if summary.task.has_pairs:
            sequence = "It holds the letters of the molecules"
        finds_topics, has_texts = not summary.task.has_target, name in summary.texts
        words = {
            "target": "Predict this column",
            "feature": "Use it to predict",
            "topics": "Find the topics of its texts",
            "group": "Keep rows with the same value together",
            "sequence": sequence,
            "ignore": "Leave it out",
        }
        if finds_topics:
            del words["sequence"]
            words["feature"] = words["topics"]
        if finds_topics or not has_texts:
            del words["topics"]
        if finds_topics and not has_texts and name != summary.documents.column:
            del words["feature"]
        return words

    def _add_kinds(self, menu: QMenu, columns: Sequence[ColumnSummary]) -> None:
        task = self._session.current_summary.task
        has_fixed_role = any(column.role in ("sequence", "target") for column in columns)
        if not columns or task.has_one_column or (task.has_sequences and has_fixed_role):
            return
        menu.addSection("It holds" if len(columns) == 1 else "They hold")
        names = [column.name for column in columns]
        # The models of sequences know numbers and categories of a token alone.
        kinds = {kind: kind for kind in (CHANGEABLE[:2] if task.has_sequences else CHANGEABLE)}
        _add_choices(menu, kinds, {c.kind for c in columns}, partial(self.set_kinds, names))

    def _add_readings(self, menu: QMenu, name: str) -> None:
        session = self._session
        readings = [r for r in session.current_summary.readings if r.column == name and r.proposal]
        is_changed = name in session.requested_data.readings
        if readings or is_changed:
            menu.addSection("Its cells")
        for reading in readings:
            assert reading.proposal is not None
            action = menu.addAction(reading.proposal.words.replace("&", "&&"))
            action.setToolTip(plain_tooltip(reading.sentence))
            action.triggered.connect(
                lambda _on=False, change=reading.proposal: apply_change(session, change)
            )
        if is_changed:
            choices = session.requested_data.readings
            unread = {column: reading for column, reading in choices.items() if column != name}
            action = menu.addAction("Read it as at first")
            action.triggered.connect(lambda _on=False: session.change_data(readings=unread))

    def _add_groups(self, menu: QMenu, names: Sequence[str]) -> None:
        if not self._board.takes_columns:
            return
        groups = menu.addMenu("Put it into a group" if len(names) == 1 else "Put them into a group")
        self._board.add_groups(groups, names)


def _add_choices(
    menu: QMenu, texts: Mapping[str, str], now: Set[str], choose: Callable[[str], object]
) -> None:
    """Values of which one is chosen, ticked where it is the only one now."""
    group = QActionGroup(menu)
    for value, words in texts.items():
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(now == {value})
        action.triggered.connect(lambda _on=False, value=value: choose(value))
        group.addAction(action)
