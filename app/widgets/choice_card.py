"""Cards of which one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from app.widgets.buttons import LinkButton
from app.widgets.card import clear_layout
from app.widgets.flow_layout import FlowLayout
from app.widgets.text_labels import apply_style, wrapping_label


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
    needs: str = ""  # the missing package
    install: str = ""  # the command that installs it


class ChoiceCard(QFrame):
    """A card with a radio button as its title."""

    def __init__(self, choice: CardOption, badge: str) -> None:
        super().__init__()
        self.choice = choice
        self.setProperty("choice", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(4)
        self.button = QRadioButton()
        self.button.setAccessibleName(choice.title)
        self.button.setProperty("bare", True)
        self.button.setMinimumSize(24, 24)
        self.button.toggled.connect(lambda on: apply_style(self, chosen=on))
        self.button.installEventFilter(self)
        head = QHBoxLayout()
        head.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        title = wrapping_label(choice.title, "cardtitle")
        title.setEnabled(not choice.needs)
        head.addWidget(title, 1)
        if choice.recommended:
            mark = wrapping_label(badge, "badge")
            mark.setWordWrap(False)
            head.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        for text in choice.paragraphs:
            column.addWidget(wrapping_label(text))
        if choice.needs:
            column.addLayout(self._make_lack())
        elif choice.reason:
            good = choice.recommended or choice.suits
            column.addWidget(wrapping_label(choice.reason, "good" if good else "warning"))
        for text in choice.captions:
            column.addWidget(wrapping_label(text, "caption"))
        column.addStretch(1)
        badge_text = badge if choice.recommended else ""
        texts = (badge_text, *choice.paragraphs, choice.reason, *choice.captions)
        self.button.setAccessibleDescription(" ".join(filter(None, texts)))

    def _make_lack(self) -> QHBoxLayout:
        self.button.setEnabled(False)
        command = self.choice.install
        lack_label = wrapping_label(f"Needs {self.choice.needs}: {command}", "warning")
        lack_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.addWidget(lack_label, 1)
        self.copy = LinkButton("Copy", lambda: QGuiApplication.clipboard().setText(command))
        self.copy.setAccessibleName(f"Copy the command that installs {self.choice.needs}")
        self.copy.setToolTip(self.copy.accessibleName())
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the focus of the button on the card."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            apply_style(self, focused=event.type() == QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the card."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.button.setFocus(Qt.FocusReason.MouseFocusReason)
            self.button.click()


class ChoiceCards(QWidget):
    """A wide recommended card, the others side by side."""

    chosen = Signal(str)  # the key of a card

    def __init__(self, badge: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._badge = badge
        self.setAccessibleName(name)
        self.cards: dict[str, ChoiceCard] = {}
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        self._first = QVBoxLayout()
        layout.addLayout(self._first)
        self._grid = QWidget()
        self._flow = FlowLayout(self._grid, gap=12, column_width=300)
        layout.addWidget(self._grid)

    def show_choices(self, choices: Sequence[CardOption], chosen: str) -> None:
        """Show these cards, recommended ones first."""
        ordered = sorted(choices, key=lambda choice: not choice.recommended)
        if [card.choice for card in self.cards.values()] != ordered:
            self._rebuild_cards(ordered)
        for key, card in self.cards.items():
            card.button.setChecked(key == chosen)

    def chosen_card(self) -> ChoiceCard | None:
        """The chosen card; None without one."""
        return next((card for card in self.cards.values() if card.button.isChecked()), None)

    def _rebuild_cards(self, ordered: Sequence[CardOption]) -> None:
        at_keyboard = next((k for k, card in self.cards.items() if card.button.hasFocus()), "")
        for button in self._group.buttons():
            self._group.removeButton(button)
        clear_layout(self._first)
        clear_layout(self._flow)
        self.cards = {}
        for index, choice in enumerate(ordered):
            card = ChoiceCard(choice, self._badge)
            self.cards[choice.key] = card
            self._group.addButton(card.button)
            target_layout = self._first if index == 0 and choice.recommended else self._flow
            target_layout.addWidget(card)
        if at_keyboard in self.cards:
            self.cards[at_keyboard].button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_clicked(self) -> None:
        for key, card in self.cards.items():
            if card.button.isChecked():
                self.chosen.emit(key)
