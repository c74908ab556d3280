"""The card about what the data could be divided by: what was found, and a button that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.widgets.buttons import PlainButton
from app.widgets.card import Card, clear
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.session.session import Session


class ProposalsCard(Card):
    """Findings that offer a change of the data plan, each with its button; hidden without any.

    Attributes:
        buttons: one a proposal, in order.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(
            "How rows are divided",
            "Rows that belong together stay on one side of every split into training, validation"
            " and test set.",
            parent,
        )
        self.session = session
        self.buttons: list[PlainButton] = []

    def refresh(self) -> None:
        """Show the proposals of the session's data."""
        found = [one for one in self.session.summary["findings"] if one["proposal"]]
        clear(self.body)
        self.buttons = []
        for finding in found:
            self.body.addWidget(label(finding["sentence"]))
            button = self._button(finding["proposal"], finding["sentence"])
            self.body.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.setVisible(bool(found))

    def _button(self, proposal: Mapping[str, Any], sentence: str) -> PlainButton:
        words = str(proposal["words"]).replace("&", "&&")
        made = PlainButton(words, lambda: self._take(proposal))
        made.setAccessibleDescription(sentence)
        self.buttons.append(made)
        return made

    def _take(self, proposal: Mapping[str, Any]) -> None:
        roles = {**self.session.data.roles, **proposal["roles"]}
        self.session.change_data(roles=roles, **proposal["fields"])
