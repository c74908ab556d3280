"""How the columns were read, where they could mean something else, with links that change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.look import appearance
from app.pages.data.findings_card import ListCard
from app.text.data.column_text import rewritten_text
from app.widgets.buttons import LinkButton
from app.widgets.text_labels import ElidedLabel, wrapping_label
from core.datasets.finding import ColumnReading, shared_changes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.datasets.dataset_summary import DatasetSummary
    from core.datasets.finding import SuggestedChange

_CAPTION = "What a column means, where it could mean something else."
_ENCODINGS = "What a model is given of a column, where that is something else."
_NAME_WIDTH = 150  # pixels of a name at most


@dataclass(frozen=True)
class _Line:
    column: str
    sentence: str = ""  # what its cells were taken for
    notes: tuple[str, ...] = ()  # which texts do not come back, and what the model is given
    proposals: tuple[SuggestedChange, ...] = ()


class ReadingsCard(ListCard):
    """A line for each column that could mean something else, is rewritten or encoded."""

    title = "How it was read"
    first_items = 6
    button_class = LinkButton

    def make_list(self) -> QLayout:
        """Lines below each other."""
        lines = QVBoxLayout()
        lines.setSpacing(0)
        self.body.addLayout(lines)
        return lines

    def items_of(self, summary: DatasetSummary) -> list[_Line]:
        """Readings first, then what else is rewritten or encoded."""
        is_told = summary.readings or summary.rewritten
        self.caption = _CAPTION if is_told else _ENCODINGS
        together = shared_changes(summary.readings)
        lines = [_Line("All together", _quoted(c.readings), proposals=(c,)) for c in together]
        readings = {reading.column: reading for reading in summary.readings}
        names = dict.fromkeys((*readings, *summary.rewritten, *summary.encodings))
        return [*lines, *(_line(name, readings.get(name), summary) for name in names)]

    def show_items(self) -> None:
        """Show the lines, with names of one width."""
        font = QFont(self.font())
        font.setBold(True)
        width = QFontMetrics(font).horizontalAdvance
        widest = max((width(line.column) for line in self._items), default=0)
        self._name_width = min(widest + 4, appearance.pixels(_NAME_WIDTH))
        super().show_items()

    def make_item(self, item: _Line) -> QWidget:
        """Name, sentences and links of a column."""
        row = QFrame()
        row.setProperty("card", "line")
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 5, 0, 5)
        layout.setSpacing(12)
        name = ElidedLabel(" ".join(item.column.split()), "name")
        name.setFixedWidth(self._name_width)
        layout.addWidget(name, 0, Qt.AlignmentFlag.AlignVCenter)
        words, links = QVBoxLayout(), QVBoxLayout()
        words.setSpacing(1)
        links.setSpacing(1)
        if item.sentence:
            words.addWidget(wrapping_label(item.sentence))
        for note in item.notes:
            words.addWidget(wrapping_label(note, "caption"))
        for proposal in item.proposals:
            sentence = f"{item.column}: {item.sentence or item.notes[0]}"
            links.addWidget(self.make_button(proposal, sentence), 0, Qt.AlignmentFlag.AlignRight)
        layout.addLayout(words, 1)
        layout.addLayout(links)
        return row


def _line(name: str, reading: ColumnReading | None, summary: DatasetSummary) -> _Line:
    cells, encoding = summary.rewritten.get(name), summary.encodings.get(name)
    notes = [rewritten_text(cells)] if cells else []
    notes += [f"For the model: {encoding}"] if encoding else []
    offers = [each.proposal for each in (reading, cells) if each is not None and each.proposal]
    proposals = {tuple(offer.readings.items()): offer for offer in offers}
    sentence = reading.sentence if reading else ""
    return _Line(name, sentence, tuple(notes), tuple(proposals.values()))


def _quoted(columns: Iterable[str]) -> str:
    names = [f"“{name}”" for name in columns]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
