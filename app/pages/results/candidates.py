"""Which model is taken away from a run of several: the best, a simpler one, the average."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.text.results.candidates import Told
from app.widgets.card import Card
from app.widgets.choice_card import Choice, ChoiceCards


class CandidatesCard(Card):
    """A card for each; one click takes it.

    Signals:
        picked: the kind of the one that a person takes.
    """

    wide = True
    picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "Which one do you take away?",
            "The run took the first by itself. Another one is fitted and tested at a click. Any "
            "trial can be taken too, from the table of trials in step 4. One that is picked after "
            "seeing test scores looks a little better than it is.",
            parent,
        )
        self.cards = ChoiceCards("The run's choice", "Models to take away")
        self.cards.chosen.connect(self._chosen)
        self.body.addWidget(self.cards)
        self._taken = ""

    def show_candidates(self, found: Sequence[Told]) -> None:
        """These, the one that is kept now marked."""
        self._taken = next((one.key for one in found if one.taken), "")
        choices = [
            Choice(
                key=one.key,
                title=one.title,
                paragraphs=tuple(filter(None, (one.scores, one.gain))),
                captions=(one.setting,) if one.setting else (),
                recommended=one.own,
            )
            for one in found
        ]
        self.cards.show_choices(choices, self._taken)

    def _chosen(self, key: str) -> None:
        if key not in (self._taken, "trial"):
            self.picked.emit(key)
