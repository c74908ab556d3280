"""How the columns were read, where they could mean something else, with a link that changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.look import appearance
from app.pages.data.findings_card import apply_change
from app.widgets.buttons import LinkButton
from app.widgets.card import Card, clear_layout
from app.widgets.text_labels import ElidedLabel, wrapping_label
from core.datasets.finding import shared_changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.session.session import Session
    from core.datasets.dataset_summary import DatasetSummary
    from core.datasets.finding import SuggestedChange

FIRST_READINGS = 6  # that are shown before a person asks for more
MAX_READINGS = 60
_CAPTION = "What a column means, where it could mean something else."
_ENCODINGS = "What a model is given of a column, where that is something else."
_NAME_WIDTH = 150  # pixels of a name at most


@dataclass(frozen=True)
class _Line:
    column: str
    sentence: str = ""  # what its cells were taken for
    encoding: str = ""  # what the model is given
    proposal: SuggestedChange | None = None


class ReadingsCard(Card):
    """A line for each column that could mean something else or is encoded; hidden without any."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("How it was read", _CAPTION, parent)
        self.session = session
        self.links: list[LinkButton] = []  # one a proposal, in the order of the lines
        self._file = ""
        self._shows_all = False
        self._lines: list[_Line] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self.body.addLayout(self._rows)
        self.more = LinkButton("", self._show_all)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)

    def refresh(self) -> None:
        """Show the readings of the session's data."""
        lines = _lines_of(self.session.current_summary)
        if self._file != self.session.current_data.file:
            self._file, self._shows_all, self._lines = self.session.current_data.file, False, []
        self.setVisible(bool(lines))
        has_readings = bool(self.session.current_summary.readings)
        self.set_words("How it was read", _CAPTION if has_readings else _ENCODINGS)
        if lines != self._lines:
            self._lines = lines
            self._show_lines()

    def _show_lines(self) -> None:
        clear_layout(self._rows)
        self.links = []
        shown = self._lines[: MAX_READINGS if self._shows_all else FIRST_READINGS]
        font = QFont(self.font())
        font.setBold(True)
        metrics = QFontMetrics(font)
        widest = max((metrics.horizontalAdvance(line.column) for line in shown), default=0)
        width = min(widest + 4, appearance.pixels(_NAME_WIDTH))
        for line in shown:
            self._rows.addWidget(self._row(line, width))
        hidden = min(len(self._lines), MAX_READINGS) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.set_label(f"Show {hidden} more")

    def _row(self, line: _Line, name_width: int) -> QWidget:
        row = QFrame()
        row.setProperty("card", "line")
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 5, 0, 5)
        layout.setSpacing(12)
        name = ElidedLabel(" ".join(line.column.split()), "name")
        name.setFixedWidth(name_width)
        layout.addWidget(name, 0, Qt.AlignmentFlag.AlignVCenter)
        words = QVBoxLayout()
        words.setSpacing(1)
        if line.sentence:
            words.addWidget(wrapping_label(line.sentence))
        if line.encoding:
            words.addWidget(wrapping_label(f"For the model: {line.encoding}", "caption"))
        layout.addLayout(words, 1)
        if line.proposal is not None:
            layout.addWidget(self._link(line, line.proposal), 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _link(self, line: _Line, proposal: SuggestedChange) -> LinkButton:
        words = proposal.words.replace("&", "&&")
        link = LinkButton(words, lambda: apply_change(self.session, proposal))
        link.setAccessibleDescription(f"{line.column}: {line.sentence}")
        self.links.append(link)
        return link

    def _show_all(self) -> None:
        self._shows_all = True
        self._show_lines()
        if len(self.links) > FIRST_READINGS:
            self.links[FIRST_READINGS].setFocus()


def _lines_of(summary: DatasetSummary) -> list[_Line]:
    encodings = dict(summary.encodings)
    lines = [
        _Line("All together", _joined(change.readings), proposal=change)
        for change in shared_changes(summary.readings)
    ]
    lines += [
        _Line(reading.column, reading.sentence, encodings.pop(reading.column, ""), reading.proposal)
        for reading in summary.readings
    ]
    return [*lines, *(_Line(name, encoding=words) for name, words in encodings.items())]


def _joined(columns: Mapping[str, str]) -> str:
    names = [f"“{name}”" for name in columns]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
