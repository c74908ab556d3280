"""The board of groups: drag a column into a group, or move it with the keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.pages.data import grouping
from app.pages.data.group_box import GroupBox
from app.text.data import groups as words
from app.text.data.groups import OWN
from app.widgets.buttons import IconButton, PlainButton
from app.widgets.card import Card, clear
from app.widgets.chip import Chip
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox
from core.errors import UnusableError, cannot_write
from core.writing import write_whole

if TYPE_CHECKING:
    from app.session.session import Session

MOST_BOXES = 40
_NARROW, _WIDE = 170, 340  # of a box; the names of motifs are long


class GroupsBoard(Card):
    """Shows the groups of the session's plan and changes them."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self._empty = ""  # a group that was just made and has no columns yet
        self._picked: dict[str, None] = {}  # the selected columns, in the order of selection
        self._task = ""  # what the words speak of
        self._make_controls()
        self._sentence = label("", "muted")
        self.body.addWidget(self._sentence)
        self._holder = QWidget()
        self._holder.setObjectName("scrolled")
        self._boxes = FlowLayout(self._holder, gap=10, column_width=_NARROW)
        self.body.addWidget(self._holder)
        self._shown: tuple[object, ...] = ()
        session.plan_changed.connect(self.refresh)
        self.refresh()

    def _make_controls(self) -> None:
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        self.ways = QuietComboBox()
        self.ways.setAccessibleName("How columns are grouped")
        self.ways.currentIndexChanged.connect(self._way_chosen)
        row.addWidget(self.ways)
        self.new = PlainButton("New group", self.add_group, "plus")
        row.addWidget(self.new)
        self.several = PlainButton("", self._move_picked)
        self.several.hide()
        row.addWidget(self.several)
        for button in (
            IconButton("open", "Load groups from a file", self._ask_load),
            IconButton("save", "Save the groups as a file", self._ask_save),
        ):
            self.corner.addWidget(button)
        self.body.addWidget(holder)

    # What is shown --------------------------------------------------------------------------

    def _say(self, task: str) -> None:
        """The words for a table, for sequences or for molecules."""
        if task == self._task:
            return
        self._task = task
        self.set_words(*words.titles(task))
        with QSignalBlocker(self.ways):
            self.ways.clear()
            for key, way in words.ways(task).items():
                self.ways.addItem(way, key)

    def groups(self) -> grouping.Groups:
        """The groups of the plan, with a new empty one if there is one."""
        if self.session.plan is None or self.session.summary is None:
            return {}
        groups = grouping.shown_groups(
            self.session.plan.groups,
            self.session.summary,
            *words.whole_and_rest(self.session.summary["task"]),
        )
        if self._empty and self._empty not in groups:
            groups[self._empty] = []
        return groups

    def refresh(self) -> None:
        """Show the plan's groups."""
        plan, summary = self.session.plan, self.session.summary
        none = plan is None or summary is None or summary["task"] == "topics"
        self.setVisible(not none)
        if none:
            return
        self._say(summary["task"])
        spec = plan.groups if isinstance(plan.groups, str) else OWN
        with QSignalBlocker(self.ways):
            self.ways.setCurrentIndex(self.ways.findData(spec))
        groups = self.groups()
        shown = (spec, json.dumps(groups), summary["more_columns"], summary["task"])
        if shown == self._shown:
            return
        self._shown = shown
        drawn = not summary["more_columns"] and len(groups) <= MOST_BOXES
        if "structured" in summary and spec == "each":
            drawn = False
        self._boxes.set_column_width(_WIDE if summary["task"] == "structure" else _NARROW)
        self._sentence.setText(self._in_words(spec, len(groups), drawn))
        self._sentence.setVisible(bool(self._sentence.text()))
        self.new.setEnabled(self.takes_columns)
        self._draw(groups if drawn else {})

    def _in_words(self, spec: str, count: int, drawn: bool) -> str:
        if drawn:
            return ""
        if spec == "single":
            return "All columns share one penalty. There are too many of them to list."
        if spec == "each" and self._task in ("sequence", "structure"):
            return "Every parameter has a penalty of its own."
        if spec in ("each", "column"):
            return "Every column has a penalty of its own."
        return f"{count} groups, too many to draw here."

    def _draw(self, groups: grouping.Groups) -> None:
        clear(self._boxes)
        for number, (name, columns) in enumerate(groups.items()):
            box = GroupBox(name, columns, number)
            box.dropped.connect(partial(self._move, name))
            box.renamed.connect(partial(self._rename, name))
            box.menu_wanted.connect(self._show_menu)
            box.step_wanted.connect(self._step)
            box.pick_wanted.connect(self._pick)
            self._boxes.addWidget(box)
        self._show_picked()
        self._holder.setVisible(bool(groups))
        self._holder.updateGeometry()

    def box(self, name: str) -> GroupBox:
        """The box of a group."""
        for at in range(self._boxes.count()):
            box = self._boxes.itemAt(at).widget()
            if isinstance(box, GroupBox) and box.name == name:
                return box
        raise KeyError(name)

    # What a person does ---------------------------------------------------------------------

    def _way_chosen(self) -> None:
        way = self.ways.currentData()
        self._empty = ""
        self._picked = {}
        self.session.set_plan(groups=self._without_empty() if way == OWN else way)
        self.refresh()

    def _without_empty(self) -> grouping.Groups:
        return {name: columns for name, columns in self.groups().items() if columns}

    def add_group(self) -> None:
        """Put an empty group on the board."""
        self._empty = grouping.fresh_name(self.groups(), "group {number}")
        self.refresh()
        if self._shown and self._holder.isVisible():
            self.box(self._empty).title.setFocus()

    @property
    def takes_columns(self) -> bool:
        """Whether columns can be put into groups one by one: not where some are not listed."""
        summary = self.session.summary
        known = self.session.plan is not None and summary is not None
        return known and summary["task"] != "topics" and not summary["more_columns"]

    def move(self, columns: Sequence[str], group: str) -> None:
        """Put columns into a group, which may be a new one."""
        changed = grouping.moved(self.groups(), columns, group)
        if group == self._empty:
            self._empty = ""
        self._picked = {}
        self.session.set_plan(groups=changed)
        self.refresh()
        for chip in self._chips():
            if chip.column == columns[0]:
                chip.setFocus()

    def _move(self, group: str, columns: Sequence[str]) -> None:
        # Not from within the drop itself: the chip that is being dragged will be gone.
        QTimer.singleShot(0, self, lambda: self.move(columns, group))

    # Several columns --------------------------------------------------------------------------

    def _chips(self) -> Iterator[Chip]:
        for at in range(self._boxes.count()):
            box = self._boxes.itemAt(at).widget()
            if isinstance(box, GroupBox):
                yield from box.chips

    def _pick(self, column: str, up_to: bool) -> None:
        """Select one more column or one less, or all from the last one up to it."""
        names = [chip.column for chip in self._chips()]
        if up_to and self._picked:
            ends = sorted((names.index(next(reversed(self._picked))), names.index(column)))
            self._picked |= dict.fromkeys(names[ends[0] : ends[1] + 1])
        elif column in self._picked:
            del self._picked[column]
        else:
            self._picked[column] = None
        self._show_picked()

    def _show_picked(self) -> None:
        shown = {chip.column: chip for chip in self._chips()}
        self._picked = {name: None for name in self._picked if name in shown}
        for name, chip in shown.items():
            chip.pick(name in self._picked)
            chip.carries = self._with_picked(name)
        self.several.setVisible(len(self._picked) > 1)
        self.several.rename(f"Move {len(self._picked)} columns…")

    def _with_picked(self, column: str) -> list[str]:
        """The columns that are meant by one of them."""
        return list(self._picked) if column in self._picked else [column]

    def _move_picked(self) -> None:
        menu = self.menu_for(next(iter(self._picked)))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.several.mapToGlobal(self.several.rect().bottomLeft()))

    def _rename(self, old: str, new: str) -> None:
        QTimer.singleShot(0, self, lambda: self.rename(old, new))

    def rename(self, old: str, new: str) -> None:
        """Give a group another name."""
        if old == self._empty:
            self._empty = new
        else:
            self.session.set_plan(groups=grouping.renamed(self._without_empty(), old, new))
        self.refresh()

    def _step(self, column: str, by: int) -> None:
        names = list(self.groups())
        here = next(name for name, columns in self.groups().items() if column in columns)
        there = names.index(here) + by
        if 0 <= there < len(names):
            self._move(names[there], self._with_picked(column))

    def _show_menu(self, column: str) -> None:
        box = self.sender()
        menu = self.menu_for(column)
        below = self.mapToGlobal(self.rect().center())
        if isinstance(box, GroupBox):
            for one in box.chips:
                if one.column == column:
                    below = one.mapToGlobal(one.rect().bottomLeft())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(below)

    def menu_for(self, column: str) -> QMenu:
        """Where a column can go."""
        columns = self._with_picked(column)
        menu = QMenu(self)
        what = f"“{column}”" if len(columns) == 1 else f"{len(columns)} columns"
        menu.addSection(f"Move {what} to".replace("&", "&&"))
        self.add_groups(menu, columns)
        return menu

    def add_groups(self, menu: QMenu, columns: Sequence[str]) -> None:
        """The groups that columns can go to as actions of a menu, and a new one."""
        wanted = set(columns)
        for name, inside in self.groups().items():
            if not wanted <= set(inside):
                menu.addAction(name.replace("&", "&&")).triggered.connect(
                    lambda _checked=False, name=name: self._move(name, columns)
                )
        fresh = grouping.fresh_name(self.groups(), "group {number}")
        menu.addSeparator()
        menu.addAction("A new group").triggered.connect(
            lambda _checked=False: self._move(fresh, columns)
        )

    # Files ----------------------------------------------------------------------------------

    def _ask_load(self) -> None:
        title, kinds = "Load groups from a file", "Groups (*.json)"
        path, _ = QFileDialog.getOpenFileName(self, title, "", kinds)
        if path:
            self.load(path)

    def load(self, path: str) -> None:
        """Take the groups of a JSON file; a file that cannot be used changes nothing."""
        from core.datasets.groups import groups_from_file  # not needed for the first paint

        try:
            self.session.set_plan(groups=groups_from_file(path))
        except UnusableError as error:
            self.session.problem.emit(error.sentence)
        self.refresh()

    def _ask_save(self) -> None:
        title, kinds = "Save the groups as a file", "Groups (*.json)"
        path, _ = QFileDialog.getSaveFileName(self, title, "groups.json", kinds)
        if path:
            self.save(path)

    def save(self, path: str) -> None:
        """Write the groups as JSON: {group: [columns]}."""
        text = json.dumps(self._without_empty(), ensure_ascii=False, indent=2)
        try:
            write_whole(Path(path), text + "\n")
        except OSError as error:
            self.session.problem.emit(cannot_write("the groups", path, error).sentence)
