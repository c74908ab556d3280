"""Lists of what was found in the data and how it was read, with buttons that change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QFrame, QLayout, QWidget

from app.look import appearance
from app.session.session import Session
from app.text.data_text import rewritten_text
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import LEFT, FlowLayout, add_to, clear_layout, in_column, in_row
from app.widgets.text_labels import ElidedLabel, StatusIcon, wrapping_label
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.finding import ColumnReading, Finding, SuggestedChange, shared_changes
from core.wording import list_text, quoted

FIRST_ITEMS = 4  # that are shown before a person asks for more
MAX_ITEMS = 60  # nobody decides about more one by one
_WIDTH = 300  # pixels of a finding at the usual text size, at least
_CAPTION = "What a column means, where it could mean something else."
_ENCODINGS = "What a model is given of a column, where that is something else."
_NAME_WIDTH = 150  # pixels of a name at most


class ListCard(Card):
    """The first few items, and more on request; hidden without any."""

    title = caption = ""
    first_items = FIRST_ITEMS
    button_class: type[PlainButton] = PlainButton

    def __init__(self, session: Session) -> None:
        super().__init__(self.title, self.caption)
        self.session = session
        self.buttons: list[PlainButton] = []  # of all proposals, in their order
        self._file = ""
        self._shows_all = False
        self._items: Sequence[Any] = ()
        self._list = self.make_list()
        self.more = LinkButton("", self._show_all)
        add_to(self.body, (self.more, LEFT), 1)

    def make_list(self) -> QLayout:
        raise NotImplementedError

    def make_item(self, entry: Any) -> QWidget:
        raise NotImplementedError

    def items_of(self, summary: DatasetSummary) -> Sequence[Any]:
        raise NotImplementedError

    def refresh(self) -> None:
        items = self.items_of(self.session.current_summary)
        # Another file begins with the first few again.
        if self._file != self.session.current_data.file:
            self._file, self._shows_all, self._items = self.session.current_data.file, False, ()
        self.setVisible(bool(items))
        if items != self._items:
            self._items = items
            self.show_items()

    def show_items(self) -> None:
        clear_layout(self._list)
        self.buttons = []
        for entry in (shown := self._items[: MAX_ITEMS if self._shows_all else self.first_items]):
            self._list.addWidget(self.make_item(entry))
        hidden = min(len(self._items), MAX_ITEMS) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.set_label(f"Show {hidden} more")
        caption = self.caption
        if self._shows_all and len(self._items) > MAX_ITEMS:
            caption += f" The first {MAX_ITEMS} of {len(self._items):,} are shown."
        self.set_words(self.title, caption)

    def make_button(self, proposal: SuggestedChange, sentence: str) -> PlainButton:
        words = proposal.words.replace("&", "&&")
        button = self.button_class(words, lambda: apply_change(self.session, proposal))
        button.setAccessibleDescription(sentence)
        self.buttons.append(button)
        return button

    def _show_all(self) -> None:
        self._shows_all, count = True, len(self.buttons)
        self.show_items()
        # The button that was pressed is gone: the keyboard goes on at the first new one.
        if len(self.buttons) > count:
            self.buttons[count].setFocus()


class FindingsCard(ListCard):
    """Findings that propose a change of the data plan."""

    title = "Findings"
    caption = "Each can be changed here by one button, and every change can be undone."

    def make_list(self) -> QLayout:
        holder = QWidget()
        self.body.addWidget(holder)
        return FlowLayout(holder, gap=10, column_width=_WIDTH)

    def items_of(self, summary: DatasetSummary) -> list[Finding]:
        return [finding for finding in summary.findings if finding.proposal]

    def make_item(self, entry: Finding) -> QWidget:
        card = QFrame()
        card.setProperty("card", "finding")
        column = in_column(on=card, gap=8, margins=(12, 10, 12, 10))
        row = in_row(gap=8)
        if entry.serious:
            row.addWidget(StatusIcon("warning", "warning", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(wrapping_label(entry.sentence), 1)
        assert entry.proposal is not None
        add_to(column, row, 1, (self.make_button(entry.proposal, entry.sentence), LEFT))
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


@dataclass(frozen=True)
class _Line:
    column: str
    sentence: str = ""  # what its cells were taken for
    notes: tuple[str, ...] = ()  # which texts do not come back, and what the model is given
    proposals: tuple[SuggestedChange, ...] = ()


class ReadingsCard(ListCard):
    """A line a column that could mean something else, is rewritten or encoded."""

    title = "How it was read"
    first_items = 6
    button_class = LinkButton

    def make_list(self) -> QLayout:
        lines = in_column(gap=0)
        self.body.addLayout(lines)
        return lines

    def items_of(self, summary: DatasetSummary) -> list[_Line]:
        self.caption = _CAPTION if summary.readings or summary.rewritten else _ENCODINGS
        together = shared_changes(summary.readings)
        names_text = [list_text(quoted(change.readings), 3) for change in together]
        shared = zip(names_text, together, strict=True)
        lines = [_Line("All together", text, proposals=(change,)) for text, change in shared]
        readings = {reading.column: reading for reading in summary.readings}
        names = dict.fromkeys((*readings, *summary.rewritten, *summary.encodings))
        return [*lines, *(_reading_line(name, readings.get(name), summary) for name in names)]

    def show_items(self) -> None:
        font = QFont(self.font())
        # Names are written bold, and are wider for it.
        font.setBold(True)
        width = QFontMetrics(font).horizontalAdvance
        widest = max((width(line.column) for line in self._items), default=0)
        self._name_width = min(widest + 4, appearance.pixels(_NAME_WIDTH))
        super().show_items()

    def make_item(self, entry: _Line) -> QWidget:
        row = QFrame()
        row.setProperty("card", "line")
        name = ElidedLabel(" ".join(entry.column.split()), "name")
        name.setFixedWidth(self._name_width)
        layout = in_row((name, Qt.AlignmentFlag.AlignVCenter), on=row, gap=12, margins=(0, 5, 0, 5))
        words, links = in_column(gap=1), in_column(gap=1)
        if entry.sentence:
            words.addWidget(wrapping_label(entry.sentence))
        add_to(words, *(wrapping_label(note, "caption") for note in entry.notes))
        for proposal in entry.proposals:
            sentence = f"{entry.column}: {entry.sentence or entry.notes[0]}"
            links.addWidget(self.make_button(proposal, sentence), 0, Qt.AlignmentFlag.AlignRight)
        add_to(layout, (words, 1), links)
        return row


def _reading_line(name: str, reading: ColumnReading | None, summary: DatasetSummary) -> _Line:
    cells, encoding = summary.rewritten.get(name), summary.encodings.get(name)
    notes = [rewritten_text(cells)] if cells else []
    notes += [f"For the model: {encoding}"] if encoding else []
    offers = [offer.proposal for offer in (reading, cells) if offer is not None and offer.proposal]
    proposals = {tuple(offer.readings.items()): offer for offer in offers}
    sentence = reading.sentence if reading else ""
    return _Line(name, sentence, tuple(notes), tuple(proposals.values()))
