"""Findings about the data, with a button each that applies the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.card import Card, clear_layout
from app.widgets.flow_layout import FlowLayout
from app.widgets.status_icon import StatusIcon
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.session.session import Session
    from core.datasets.finding import Finding, SuggestedChange

FIRST_FINDINGS = 4  # findings that are shown before a person asks for more
MAX_FINDINGS = 60  # nobody decides about more one by one
_WIDTH = 300  # pixels of a card at the usual text size, at least


class FindingsCard(Card):
    """Findings that propose a change of the data plan; hidden without any."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Findings", parent=parent)
        self.session = session
        self.buttons: list[PlainButton] = []  # one a finding
        self._file = ""
        self._shows_all = False
        self._shown_findings: list[Finding] | None = None
        holder = QWidget()
        self._flow = FlowLayout(holder, gap=10, column_width=_WIDTH)
        self.body.addWidget(holder)
        self.more = LinkButton("", self._show_all)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def refresh(self) -> None:
        """Show the findings of the session's data."""
        if self._file != self.session.current_data.file:
            self._file = self.session.current_data.file
            self._shows_all, self._shown_findings = False, None
        findings = [f for f in self.session.current_summary.findings if f.proposal]
        self.setVisible(bool(findings))
        if findings == self._shown_findings:
            return
        self._shown_findings = findings
        self._show_findings(findings)

    def _show_findings(self, findings: list[Finding]) -> None:
        clear_layout(self._flow)
        self.buttons = []
        shown = findings[: MAX_FINDINGS if self._shows_all else FIRST_FINDINGS]
        for finding in shown:
            self._flow.addWidget(self._small_card(finding))
        caption = "Each can be changed here by one button, and every change can be undone."
        if len(findings) > MAX_FINDINGS and self._shows_all:
            caption += f" The first {MAX_FINDINGS} of {len(findings):,} are shown."
        self.set_words("Findings", caption)
        hidden = min(len(findings), MAX_FINDINGS) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.set_label(f"Show {hidden} more")

    def _small_card(self, finding: Finding) -> QWidget:
        card = QFrame()
        card.setProperty("card", "finding")
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        if finding.serious:
            row.addWidget(StatusIcon("warning", "warning", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(wrapping_label(finding.sentence), 1)
        column.addLayout(row)
        column.addStretch(1)
        assert finding.proposal is not None
        button = self._make_button(finding.proposal, finding.sentence)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _make_button(self, proposal: SuggestedChange, sentence: str) -> PlainButton:
        words = proposal.words.replace("&", "&&")
        button = PlainButton(words, lambda: apply_change(self.session, proposal))
        button.setAccessibleDescription(sentence)
        self.buttons.append(button)
        return button

    def _show_all(self) -> None:
        self._shows_all = True
        self._show_findings(self._shown_findings or [])
        if len(self.buttons) > FIRST_FINDINGS:
            self.buttons[FIRST_FINDINGS].setFocus()


def apply_change(session: Session, proposal: SuggestedChange) -> None:
    """Read the data as a finding or a reading proposes."""
    data_plan = session.requested_data
    roles = {**data_plan.roles, **proposal.roles}
    kinds = {**_without(data_plan.kinds, proposal.readings), **proposal.kinds}
    readings = {**_without(data_plan.readings, proposal.kinds), **proposal.readings}
    session.change_data(roles=roles, kinds=kinds, readings=readings, **proposal.fields)


def _without(choices: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    return {name: word for name, word in choices.items() if name not in columns}
