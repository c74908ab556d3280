"""What was found and can be changed: a small card each, with the button that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.card import Card, clear
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.sign import Sign

if TYPE_CHECKING:
    from app.session.session import Session

FIRST = 4  # findings that are shown before a person asks for more
MOST = 60  # that are shown at all: nobody decides about more one by one
_WIDTH = 300  # pixels of a card at the usual text size, at least


class FindingsCard(Card):
    """Findings that offer a change of the data plan, each with its button; hidden without any.

    Attributes:
        buttons: one a finding, in order.
        more: shows those that have no room at first.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("What was found", parent=parent)
        self.session = session
        self.buttons: list[PlainButton] = []
        self._file = ""
        self._all = False
        self._shown: list[Mapping[str, Any]] | None = None
        holder = QWidget()
        self._flow = FlowLayout(holder, gap=10, column_width=_WIDTH)
        self.body.addWidget(holder)
        self.more = LinkButton("", self._show_all)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def refresh(self) -> None:
        """Show the findings of the session's data."""
        if self._file != self.session.data.file:
            self._file, self._all, self._shown = self.session.data.file, False, None
        found = [one for one in self.session.summary["findings"] if one["proposal"]]
        self.setVisible(bool(found))
        if found == self._shown:
            return
        self._shown = found
        self._draw(found)

    def _draw(self, found: list[Mapping[str, Any]]) -> None:
        clear(self._flow)
        self.buttons = []
        shown = found[: MOST if self._all else FIRST]
        for finding in shown:
            self._flow.addWidget(self._small_card(finding))
        caption = "Each can be changed here by one button, and every change can be undone."
        if len(found) > MOST and self._all:
            caption += f" The first {MOST} of {len(found):,} are shown."
        self.set_words("What was found", caption)
        hidden = min(len(found), MOST) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.rename(f"Show {hidden} more")

    def _small_card(self, finding: Mapping[str, Any]) -> QWidget:
        card = QFrame()
        card.setProperty("card", "finding")
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        if finding["serious"]:
            row.addWidget(Sign("warning", "warning", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(finding["sentence"]), 1)
        column.addLayout(row)
        column.addStretch(1)
        button = self._button(finding["proposal"], finding["sentence"])
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _button(self, proposal: Mapping[str, Any], sentence: str) -> PlainButton:
        words = str(proposal["words"]).replace("&", "&&")
        made = PlainButton(words, lambda: self._take(proposal))
        made.setAccessibleDescription(sentence)
        self.buttons.append(made)
        return made

    def _show_all(self) -> None:
        self._all = True
        self._draw(self._shown or [])
        if len(self.buttons) > FIRST:
            self.buttons[FIRST].setFocus()

    def _take(self, proposal: Mapping[str, Any]) -> None:
        asked = self.session.asked_data
        roles = {**asked.roles, **proposal["roles"]}
        kinds = {**asked.kinds, **proposal.get("kinds", {})}
        self.session.change_data(roles=roles, kinds=kinds, **proposal["fields"])
