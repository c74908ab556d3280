"""The choice among the models of a run of several."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.text.results.candidate_text import CandidateText
from app.widgets.card import Card
from app.widgets.choice_card import CardOption, ChoiceCards


class CandidatesCard(Card):
    """A card for each candidate; a click selects it."""

    wide = True
    picked = Signal(str)  # the kind of candidate

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "Which model do you want?",
            "The run selected the first by itself. Another one is fitted and tested at a click. "
            "Any trial can be selected too, in the table of trials in step 4. One that is picked "
            "after seeing test scores looks a little better than it is.",
            parent,
        )
        self.cards = ChoiceCards("The run's choice", "Models to select")
        self.cards.chosen.connect(self._on_card_chosen)
        self.body.addWidget(self.cards)
        self._selected_kind = ""

    def show_candidates(self, candidates: Sequence[CandidateText]) -> None:
        """Show candidates, the selected one marked."""
        self._selected_kind = next((c.key for c in candidates if c.is_selected), "")
        choices = [
            CardOption(
                key=candidate.key,
                title=candidate.title,
                paragraphs=tuple(filter(None, (candidate.scores, candidate.gain))),
                captions=(candidate.setting,) if candidate.setting else (),
                recommended=candidate.is_runs_choice,
            )
            for candidate in candidates
        ]
        self.cards.show_choices(choices, self._selected_kind)

    def _on_card_chosen(self, key: str) -> None:
        if key not in (self._selected_kind, "trial"):
            self.picked.emit(key)
