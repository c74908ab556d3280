"""Cards of what a person should know about the data, with buttons that change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.card import Card, clear_layout
from app.widgets.flow_layout import FlowLayout
from app.widgets.status_icon import StatusIcon
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.session.session import Session
    from core.datasets.dataset_summary import DatasetSummary
    from core.datasets.finding import Finding, SuggestedChange

FIRST_ITEMS = 4  # that are shown before a person asks for more
MAX_ITEMS = 60  # nobody decides about more one by one
_WIDTH = 300  # pixels of a finding at the usual text size, at least


class ListCard(Card):
    """The first few items, and more where a person asks for them; hidden without any."""

    title = caption = ""
    first_items = FIRST_ITEMS
    button_class: type[PlainButton] = PlainButton

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.title, self.caption, parent)
        self.session = session
        self.buttons: list[PlainButton] = []  # of all proposals, in their order
        self._file = ""
        self._shows_all = False
        self._items: Sequence[Any] = ()
        self._list = self.make_list()
        self.more = LinkButton("", self._show_all)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)

    def make_list(self) -> QLayout:
        """A layout in the body for the items."""
        raise NotImplementedError

    def make_item(self, item: Any) -> QWidget:
        """The widget of an item."""
        raise NotImplementedError

    def items_of(self, summary: DatasetSummary) -> Sequence[Any]:
        """What is listed of a summary."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show the items of the session's data."""
        items = self.items_of(self.session.current_summary)
        if self._file != self.session.current_data.file:
            self._file, self._shows_all, self._items = self.session.current_data.file, False, ()
        self.setVisible(bool(items))
        if items != self._items:
            self._items = items
            self.show_items()

    def show_items(self) -> None:
        """Show as many items as a person wants."""
        clear_layout(self._list)
        self.buttons = []
        for item in (shown := self._items[: MAX_ITEMS if self._shows_all else self.first_items]):
            self._list.addWidget(self.make_item(item))
        hidden = min(len(self._items), MAX_ITEMS) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.set_label(f"Show {hidden} more")
        caption = self.caption
        if self._shows_all and len(self._items) > MAX_ITEMS:
            caption += f" The first {MAX_ITEMS} of {len(self._items):,} are shown."
        self.set_words(self.title, caption)

    def make_button(self, proposal: SuggestedChange, sentence: str) -> PlainButton:
        """A button that applies a change."""
        words = proposal.words.replace("&", "&&")
        button = self.button_class(words, lambda: apply_change(self.session, proposal))
        button.setAccessibleDescription(sentence)
        self.buttons.append(button)
        return button

    def _show_all(self) -> None:
        self._shows_all, count = True, len(self.buttons)
        self.show_items()
        if len(self.buttons) > count:
            self.buttons[count].setFocus()


class FindingsCard(ListCard):
    """Findings that propose a change of the data plan."""

    title = "Findings"
    caption = "Each can be changed here by one button, and every change can be undone."

    def make_list(self) -> QLayout:
        """Small cards beside each other."""
        holder = QWidget()
        self.body.addWidget(holder)
        return FlowLayout(holder, gap=10, column_width=_WIDTH)

    def items_of(self, summary: DatasetSummary) -> list[Finding]:
        """The findings with a proposal."""
        return [finding for finding in summary.findings if finding.proposal]

    def make_item(self, item: Finding) -> QWidget:
        """The sentence above its button."""
        card = QFrame()
        card.setProperty("card", "finding")
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        if item.serious:
            row.addWidget(StatusIcon("warning", "warning", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(wrapping_label(item.sentence), 1)
        column.addLayout(row)
        column.addStretch(1)
        assert item.proposal is not None
        button = self.make_button(item.proposal, item.sentence)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card


def apply_change(session: Session, proposal: SuggestedChange) -> None:
    """Read the data as a finding or a reading proposes."""
    data_plan = session.requested_data
    roles = {**data_plan.roles, **proposal.roles}
    kinds = {**_without(data_plan.kinds, proposal.readings), **proposal.kinds}
    readings = {**_without(data_plan.readings, proposal.kinds), **proposal.readings}
    session.change_data(roles=roles, kinds=kinds, readings=readings, **proposal.fields)


def _without(choices: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    return {name: word for name, word in choices.items() if name not in columns}
