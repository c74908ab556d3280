"""The board of groups of columns: boxes with chips that are moved between them."""

import itertools
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QLineEdit, QMenu, QWidget

from app.look import appearance
from app.session.session import Session
from app.text import data_text as words
from app.text.data_text import OWN
from app.widgets.buttons import IconButton, PlainButton
from app.widgets.cards import Card
from app.widgets.chip import MIME, ColumnChip, dropped_columns
from app.widgets.drop_area import DropTarget
from app.widgets.layouts import FlowLayout, add_to, clear_layout, in_column, in_lines
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import plain_tooltip, show_text, wrapping_label
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.errors import UnusableError, write_error
from core.writing import write_whole

Groups = dict[str, list[str]]
Spec = str | Groups
MAX_BOXES = 40
_NARROW, _WIDE = 170, 340  # of a box; the names of motifs are long


def feature_names(summary: DatasetSummary) -> list[str]:
    """In file order: columns, weights of sequences, or motifs."""
    if summary.task.has_pairs:
        # A test holds them to those of the model, which needs compiled loops.
        return list(words.group_words(summary.task).motifs)
    names = [column.name for column in summary.feature_columns]
    return ["initial", "transition", *names] if summary.task.has_sequences else names


def shown_groups(spec: Spec, summary: DatasetSummary, all_name: str, other_name: str) -> Groups:
    """The groups, {group: columns}; remaining columns go to `other_name`."""
    names = feature_names(summary)
    if spec == "single":
        return {all_name: names}
    if spec in ("each", "column"):
        return {name: [name] for name in names}
    columns_by_group = summary.prefixes if isinstance(spec, str) else spec
    if spec == "prefix" and summary.task.has_sequences:
        columns_by_group = {name: [name] for name in names[:2]} | columns_by_group
    known_names = set(names)
    groups = {
        group: [name for name in columns if name in known_names]
        for group, columns in columns_by_group.items()
    }
    groups = {group: columns for group, columns in groups.items() if columns}
    grouped_names = {name for columns in groups.values() for name in columns}
    ungrouped_names = [name for name in names if name not in grouped_names]
    if ungrouped_names:
        groups[other_name] = groups.get(other_name, []) + ungrouped_names
    return groups


def move_columns(groups: Groups, columns: Sequence[str], group: str) -> Groups:
    """The group may be new; empty groups go."""
    moved_columns = set(columns)
    changed = {n: [c for c in members if c not in moved_columns] for n, members in groups.items()}
    changed.setdefault(group, []).extend(columns)
    return {name: columns for name, columns in changed.items() if columns}


def rename_group(groups: Groups, old: str, new: str) -> Groups:
    """Two groups of the same name become one."""
    changed: Groups = {}
    for name, columns in groups.items():
        changed.setdefault(new if name == old else name, []).extend(columns)
    return changed


def fresh_name(groups: Groups) -> str:
    """A name with the first number that is unused."""
    numbers = itertools.count(len(groups) + 1)
    return next(name for number in numbers if (name := f"group {number}") not in groups)


class GroupBox(QFrame):
    """A group on which columns can be dropped."""

    dropped = Signal(object)  # columns
    renamed = Signal(str)  # the new name

    def __init__(self, name: str, columns: Sequence[str], number: int) -> None:
        super().__init__()
        self.name = name
        self._number = number  # gives the colour
        self.setProperty("card", "group")
        emit, fits = self.dropped.emit, lambda mime: mime.hasFormat(MIME)
        DropTarget(self, fits, lambda mime: emit(dropped_columns(mime)))
        self.setAccessibleName(f"Group {name}")
        self.chips: list[ColumnChip] = []
        self.title = QLineEdit(name)
        self.title.setProperty("flat", True)
        self.title.setAccessibleName(f"Name of the group {name}")
        self.title.setToolTip(plain_tooltip(f"{name}: click to give the group another name"))
        self.title.setCursorPosition(0)
        self.title.editingFinished.connect(self._on_title_edited)
        rows = (self.title, self._make_chips(columns), 1)
        in_column(*rows, on=self, gap=6, margins=(10, 10, 10, 10))

    def _make_chips(self, columns: Sequence[str]) -> QWidget:
        if not columns:
            return wrapping_label("Drop a column here.", "caption")
        holder = QWidget()
        holder.setObjectName("scrolled")
        flow = FlowLayout(holder, gap=5)
        for name in columns:
            self.chips.append(ColumnChip(name, self.name))
            flow.addWidget(self.chips[-1])
        return holder

    def _on_title_edited(self) -> None:
        new_name = self.title.text().strip()
        if new_name and new_name != self.name:
            self.renamed.emit(new_name)
        else:
            self.title.setText(self.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = appearance.current()
        colour = theme.series[self._number % len(theme.series)]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(0, 0, self.width(), 5)
        painter.setBrush(QColor(colour))
        painter.setPen(QColor(theme.ink if colour in theme.outlined else colour))
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, 8), 8, 8)
        painter.end()


class GroupsBoard(Card):
    """The groups of the plan; columns are dragged or moved by keys."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        # It shows itself already while it is made, and would be a window without a parent.
        super().__init__(parent=parent)
        self.session = session
        self._empty = ""  # a group that was just made and has no columns yet
        self._picked: dict[str, None] = {}  # the selected columns, in the order of selection
        self._task: Task | None = None  # of the words that are shown
        self._sentence = wrapping_label("", "muted")
        self._holder = QWidget()
        self._holder.setObjectName("scrolled")
        self._boxes = FlowLayout(self._holder, gap=10, column_width=_NARROW)
        self._boxes_by_name: dict[str, GroupBox] = {}
        add_to(self.body, self._make_controls(), self._sentence, self._holder)
        self._shown: tuple[object, ...] = ()
        session.plan_changed.connect(self.refresh)
        self.refresh()

    def _make_controls(self) -> QWidget:
        self.ways = QuietComboBox()
        self.ways.setAccessibleName("How columns are grouped")
        self.ways.currentIndexChanged.connect(self._way_chosen)
        self.new = PlainButton("New group", self.add_group, "plus")
        self.several = PlainButton("", self._move_picked)
        self.several.hide()
        self.corner.addWidget(IconButton("open", "Load groups from a file", self._ask_load))
        self.corner.addWidget(IconButton("save", "Save the groups as a file", self._ask_save))
        return in_lines(self.ways, self.new, self.several)

    # What is shown --------------------------------------------------------------------------

    def current_groups(self) -> Groups:
        """Those of the plan, and perhaps a new empty one."""
        if self.session.plan is None or self.session.summary is None:
            return {}
        summary = self.session.summary
        kind = "parameters" if summary.task.is_structured else "columns"
        groups = shown_groups(self.session.plan.groups, summary, f"all {kind}", f"other {kind}")
        if self._empty and self._empty not in groups:
            groups[self._empty] = []
        return groups

    def refresh(self) -> None:
        plan, summary = self.session.plan, self.session.summary
        if plan is None or summary is None or not summary.task.has_target:
            self.hide()
            return
        self.show()
        if summary.task != self._task:
            self._task, texts = summary.task, words.group_words(summary.task)
            self.set_words(texts.title, texts.caption)
            self.ways.set_choices(texts.ways)
        spec = plan.groups if isinstance(plan.groups, str) else OWN
        with QSignalBlocker(self.ways):
            self.ways.setCurrentIndex(self.ways.findData(spec))
        groups = self.current_groups()
        shown = (spec, json.dumps(groups), summary.more_columns, summary.task)
        # Boxes that show the same stay: one of them may be dragged from or typed in.
        if shown == self._shown:
            return
        self._shown = shown
        can_draw = not summary.more_columns and len(groups) <= MAX_BOXES
        # Each parameter of a structured model would be a box, thousands of them.
        if summary.structured is not None and spec == "each":
            can_draw = False
        self._boxes.set_column_width(_WIDE if summary.task.has_pairs else _NARROW)
        show_text(self._sentence, self._summary_text(spec, len(groups), can_draw))
        self.new.setEnabled(self.takes_columns)
        self._draw_boxes(groups if can_draw else {})

    def _summary_text(self, spec: str, count: int, can_draw: bool) -> str:
        if can_draw:
            return ""
        if spec == "single":
            return "All columns share one penalty. There are too many of them to list."
        if spec == "each" and self._task and self._task.is_structured:
            return "Every parameter has a penalty of its own."
        if spec in ("each", "column"):
            return "Every column has a penalty of its own."
        return f"{count} groups, too many to draw here."

    def _draw_boxes(self, groups: Groups) -> None:
        clear_layout(self._boxes)
        self._boxes_by_name = {}
        for number, (name, columns) in enumerate(groups.items()):
            box = GroupBox(name, columns, number)
            box.dropped.connect(partial(self._move_later, name))
            box.renamed.connect(partial(self._rename_later, name))
            for chip in box.chips:
                chip.menu_wanted.connect(partial(self._show_menu, chip))
                chip.step_wanted.connect(self._move_sideways)
                chip.pick_wanted.connect(self._toggle_picked)
            self._boxes.addWidget(box)
            self._boxes_by_name[name] = box
        self._show_picked()
        self._holder.setVisible(bool(groups))
        self._holder.updateGeometry()

    def group_box(self, name: str) -> GroupBox:
        return self._boxes_by_name[name]

    # What a person does ---------------------------------------------------------------------

    def _way_chosen(self) -> None:
        grouping_key = self.ways.currentData()
        self._empty = ""
        self._picked = {}
        self.session.set_plan(groups=self._without_empty() if grouping_key == OWN else grouping_key)
        self.refresh()

    def _without_empty(self) -> Groups:
        return {name: columns for name, columns in self.current_groups().items() if columns}

    def add_group(self) -> None:
        self._empty = fresh_name(self.current_groups())
        self.refresh()
        if self._shown and self._holder.isVisible():
            self.group_box(self._empty).title.setFocus()

    @property
    def takes_columns(self) -> bool:
        """Columns are moved one by one: all have to be listed."""
        summary = self.session.summary
        if self.session.plan is None or summary is None:
            return False
        return summary.task.has_target and not summary.more_columns

    def move_columns(self, columns: Sequence[str], group: str) -> None:
        changed = move_columns(self.current_groups(), columns, group)
        if group == self._empty:
            self._empty = ""
        self._picked = {}
        self.session.set_plan(groups=changed)
        self.refresh()
        for chip in self._column_chips():
            if chip.column == columns[0]:
                chip.setFocus()

    def _move_later(self, group: str, columns: Sequence[str]) -> None:
        # Not from within the drop itself: the chip that is being dragged will be gone.
        QTimer.singleShot(0, self, lambda: self.move_columns(columns, group))

    # Several columns --------------------------------------------------------------------------

    def _column_chips(self) -> Iterator[ColumnChip]:
        for box in self._boxes_by_name.values():
            yield from box.chips

    def _toggle_picked(self, column: str, up_to: bool) -> None:
        names = [chip.column for chip in self._column_chips()]
        if up_to and self._picked:
            ends = sorted((names.index(next(reversed(self._picked))), names.index(column)))
            self._picked |= dict.fromkeys(names[ends[0] : ends[1] + 1])
        elif column in self._picked:
            del self._picked[column]
        else:
            self._picked[column] = None
        self._show_picked()

    def _show_picked(self) -> None:
        chips_by_column = {chip.column: chip for chip in self._column_chips()}
        # Groups that were drawn anew may lack a column, such as one that is left out now.
        self._picked = {name: None for name in self._picked if name in chips_by_column}
        for name, chip in chips_by_column.items():
            chip.set_picked(name in self._picked)
            chip.carries = self._with_picked(name)
        self.several.setVisible(len(self._picked) > 1)
        self.several.set_label(f"Move {len(self._picked)} columns…")

    def _with_picked(self, column: str) -> list[str]:
        return list(self._picked) if column in self._picked else [column]

    def _move_picked(self) -> None:
        self._show_menu(self.several, next(iter(self._picked)))

    def _rename_later(self, old: str, new: str) -> None:
        # Later: the field whose editing has just ended is drawn anew.
        QTimer.singleShot(0, self, lambda: self.rename_group(old, new))

    def rename_group(self, old: str, new: str) -> None:
        if old == self._empty:
            self._empty = new
        else:
            self.session.set_plan(groups=rename_group(self._without_empty(), old, new))
        self.refresh()

    def _move_sideways(self, column: str, steps: int) -> None:
        groups = self.current_groups()
        names = list(groups)
        group = next(name for name, columns in groups.items() if column in columns)
        index = names.index(group) + steps
        if 0 <= index < len(names):
            self._move_later(names[index], self._with_picked(column))

    def _show_menu(self, button: QWidget, column: str) -> None:
        menu = self.menu_for(column)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def menu_for(self, column: str) -> QMenu:
        columns = self._with_picked(column)
        menu = QMenu(self)
        columns_text = f"“{column}”" if len(columns) == 1 else f"{len(columns)} columns"
        menu.addSection(f"Move {columns_text} to".replace("&", "&&"))
        self.add_groups(menu, columns)
        return menu

    def add_groups(self, menu: QMenu, columns: Sequence[str]) -> None:
        moved_columns = set(columns)
        for name, members in self.current_groups().items():
            # Where all of them are already they cannot be moved to.
            if not moved_columns <= set(members):
                menu.addAction(name.replace("&", "&&")).triggered.connect(
                    lambda _checked=False, name=name: self._move_later(name, columns)
                )
        new_name = fresh_name(self.current_groups())
        menu.addSeparator()
        new_action = menu.addAction("A new group")
        new_action.triggered.connect(lambda _on=False: self._move_later(new_name, columns))

    # Files ----------------------------------------------------------------------------------

    def _ask_load(self) -> None:
        title = "Load groups from a file"
        if path := QFileDialog.getOpenFileName(self, title, "", "Groups (*.json)")[0]:
            self.load_groups(path)

    def load_groups(self, path: str) -> None:
        """Read groups from a JSON file; an unusable one changes nothing."""
        # Not needed for the first paint.
        from core.datasets.groups import groups_from_file

        try:
            self.session.set_plan(groups=groups_from_file(path))
        except UnusableError as error:
            self.session.problem.emit(error.sentence)
        self.refresh()

    def _ask_save(self) -> None:
        title, kinds = "Save the groups as a file", "Groups (*.json)"
        if path := QFileDialog.getSaveFileName(self, title, "groups.json", kinds)[0]:
            self.save_groups(path)

    def save_groups(self, path: str) -> None:
        """Write JSON: {group: [columns]}."""
        text = json.dumps(self._without_empty(), ensure_ascii=False, indent=2)
        try:
            write_whole(Path(path), text + "\n")
        except OSError as error:
            self.session.problem.emit(write_error("the groups", path, error).sentence)
