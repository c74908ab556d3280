"""The white boxes of a page: cards, cards of which one is chosen, sections that are folded."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QRadioButton, QVBoxLayout, QWidget

from app.look import icons
from app.preferences import preferences as settings
from app.widgets.buttons import ShorteningLink
from app.widgets.layouts import TOP, FlowLayout, add_to, clear_layout, in_column, in_row
from app.widgets.model_pictures import ModelPicture, ScaleDots, has_picture
from app.widgets.text_labels import apply_style, show_text, wrapping_label
from core.estimators.facts import ModelScale, uncapitalized

BADGE = "Recommended"


class Card(QFrame):
    """A titled box: content in `body`, small controls in `corner`, all in `column`."""

    def __init__(self, title: str = "", caption: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._title = wrapping_label(title, "cardtitle")
        self._caption = wrapping_label(caption, "caption")
        words = in_column(self._title, self._caption, gap=1)
        self.corner = in_row(gap=4)
        head = in_row((words, 1), self.corner)
        self.body = in_column(gap=8)
        self.column = in_column(head, (self.body, 1), on=self, gap=8, margins=(16, 12, 16, 14))
        self.set_words(title, caption)

    def set_words(self, title: str, caption: str = "") -> None:
        show_text(self._title, title)
        show_text(self._caption, caption)
        if title:
            self.setAccessibleName(title)
            self.setAccessibleDescription(caption)


class CollapsibleSection(QWidget):
    """A button that shows or hides `body`, stored under `key`."""

    fold_changed = Signal()

    def __init__(self, title: str, key: str) -> None:
        super().__init__()
        self._key = f"folds/{key}"
        self.button = ShorteningLink(title, self._toggle_open)
        self.content = QWidget()
        self.body = in_column(on=self.content)
        in_column(self.button, self.content, on=self, gap=6)
        self.set_open(settings.stored_flag(self._key))

    @property
    def is_open(self) -> bool:
        return self._open

    def _toggle_open(self) -> None:
        self.set_open(not self._open)
        settings.remember(self._key, self._open)

    def set_title(self, title: str) -> None:
        self.button.set_label(title)

    def set_open(self, opened: bool) -> None:
        """Open or fold it without storing that."""
        self._open = opened
        self.content.setVisible(opened)
        icon = "chevron-down" if opened else "chevron-right"
        self.button.setIcon(icons.tinted_icon(icon, "accent"))
        self.button.setAccessibleDescription("open" if opened else "folded")
        self.fold_changed.emit()


@dataclass(frozen=True)
class CardOption:
    """The content of a card."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    reason: str = ""
    recommended: bool = False
    suits: bool = False  # the reason recommends it
    rare: bool = False  # folded under "More"
    picture: str = ""  # of a model, by its name
    scales: tuple[ModelScale, ...] = ()
    spoken: str = ""  # what is read out after the words that are seen


class ChoiceCard(QFrame):
    """A card whose title is a radio button."""

    def __init__(self, choice: CardOption) -> None:
        super().__init__()
        self.choice = choice
        self.setProperty("choice", True)
        column = in_column(gap=4)
        picture = (ModelPicture(choice.picture), TOP) if has_picture(choice.picture) else 0
        row = in_row(picture, (column, 1), gap=12)
        outer_column = in_column((row, 1), on=self, gap=6, margins=(14, 10, 14, 12))
        self.button = QRadioButton()
        self.button.setAccessibleName(choice.title)
        self.button.setProperty("bare", True)
        self.button.setMinimumSize(24, 24)
        self.button.toggled.connect(lambda on: apply_style(self, chosen=on))
        self.button.installEventFilter(self)
        head = in_row((self.button, TOP), (wrapping_label(choice.title, "cardtitle"), 1))
        if choice.recommended:
            mark = wrapping_label(BADGE, "badge")
            # A badge of two words is one line high, and the title beside it wraps instead.
            mark.setWordWrap(False)
            head.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        add_to(column, head, *map(wrapping_label, choice.paragraphs))
        if choice.reason:
            good = choice.recommended or choice.suits
            column.addWidget(wrapping_label(choice.reason, "good" if good else "warning"))
        add_to(column, *(wrapping_label(text, "caption") for text in choice.captions), 1)
        if choice.scales:
            outer_column.addWidget(ScaleDots(choice.scales))
        texts = (BADGE * choice.recommended, *choice.paragraphs, choice.reason, *choice.captions)
        scale_texts = (f"{scale.sentence}." for scale in choice.scales)
        spoken = " ".join(filter(None, (*texts, choice.spoken, *scale_texts)))
        self.button.setAccessibleDescription(spoken)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The frame of the whole card shows where the keyboard is, not only its small button.
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            apply_style(self, focused=event.type() == QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.button.setFocus(Qt.FocusReason.MouseFocusReason)
            self.button.click()


def _is_folded(choice: CardOption) -> bool:
    return choice.rare and not choice.recommended


class ChoiceCards(QWidget):
    """A wide recommended card, the others side by side."""

    chosen = Signal(str)  # the key of a card

    def __init__(self, name: str, column_width: int = 300) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.cards: dict[str, ChoiceCard] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        self._first = QVBoxLayout()
        self._grid = QWidget()
        self._flow = FlowLayout(self._grid, gap=12, column_width=column_width)
        self.more = CollapsibleSection("", "more cards")
        self._rare_flow = FlowLayout(gap=12, column_width=column_width)
        self.more.body.addLayout(self._rare_flow)
        self.more.fold_changed.connect(self._skip_folded)
        self.below_first = in_column()
        in_column(self._first, self.below_first, self._grid, self.more, on=self, gap=12)

    def show_choices(self, choices: Sequence[CardOption], chosen: str) -> None:
        ordered = sorted(choices, key=lambda choice: not choice.recommended)
        # Cards are made anew only where their words changed: the keyboard may be on one.
        if [card.choice for card in self.cards.values()] != ordered:
            self._rebuild_cards(ordered)
        for key, card in self.cards.items():
            card.button.setChecked(key == chosen)
            if key == chosen and _is_folded(card.choice):
                self.more.set_open(True)

    def chosen_card(self) -> ChoiceCard | None:
        return next((card for card in self.cards.values() if card.button.isChecked()), None)

    def _rebuild_cards(self, ordered: Sequence[CardOption]) -> None:
        at_keyboard = next((k for k, card in self.cards.items() if card.button.hasFocus()), "")
        for button in self._group.buttons():
            self._group.removeButton(button)
        clear_layout(self._first)
        clear_layout(self._flow)
        clear_layout(self._rare_flow)
        self.cards = {}
        rare_titles = [uncapitalized(choice.title) for choice in ordered if _is_folded(choice)]
        self.more.set_title(f"More: {', '.join(rare_titles)}")
        self.more.setVisible(bool(rare_titles))
        for index, choice in enumerate(ordered):
            card = ChoiceCard(choice)
            self.cards[choice.key] = card
            self._group.addButton(card.button)
            other_layout = self._rare_flow if _is_folded(choice) else self._flow
            target_layout = self._first if index == 0 and choice.recommended else other_layout
            target_layout.addWidget(card)
        self._skip_folded()
        if at_keyboard in self.cards:
            self.cards[at_keyboard].button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _skip_folded(self) -> None:
        # An arrow key goes to each button of the group that is not itself hidden.
        for card in self.cards.values():
            card.button.setVisible(self.more.is_open or not _is_folded(card.choice))

    def _on_clicked(self) -> None:
        if (card := self.chosen_card()) is not None:
            self.chosen.emit(card.choice.key)
