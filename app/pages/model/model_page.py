"""Step 2, the model: cards of those that fit the task, the recommended one first and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.pages.page import Page
from app.text.guidance import not_tried_in_words, tried_in_words
from app.widgets.choice_card import Choice, ChoiceCards
from core.estimators.facts import uncapitalized
from core.estimators.several import SEVERAL

if TYPE_CHECKING:
    from app.session.session import Session


class ModelPage(Page):
    """Which model is tuned."""

    topic = "model"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.set_head(
            "Which model?",
            "Only models that fit your data are shown. If unsure, take the first.",
        )
        self.add_primary("Choose a strategy", lambda: self.step_wanted.emit("strategy"))
        self.cards = ChoiceCards("Recommended", "Models")
        self.cards.chosen.connect(session.choose_model)
        self.body.addWidget(self.cards)
        self.body.addStretch(1)
        session.advice_changed.connect(self.refresh)
        session.plan_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the models that the advice offers, and those that could be installed."""
        advice, plan = self.session.advice, self.session.plan
        if advice is None:
            return
        choices = [
            Choice(
                key=entry["name"],
                title=entry["title"],
                paragraphs=(entry["good_for"], *tried_in_words(entry)),
                captions=(entry["cost"], *not_tried_in_words(entry)),
                reason=entry["reason"],
                recommended=entry["recommended"],
                suits=entry.get("suits", False),
                needs=entry.get("needs", ""),
                install=entry.get("install", ""),
            )
            for entry in advice["models"]
            if entry["fits_task"] or entry.get("install")
        ]
        self.cards.show_choices(choices, plan.model if plan else "")
        self._tell(choices, plan.model if plan else "")

    def _tell(self, choices: list[Choice], chosen: str) -> None:
        sentences = [
            (
                "A model is a way of turning columns into a prediction. No model is best for "
                "everything."
            ),
        ]
        mine = next((choice for choice in choices if choice.key == chosen), None)
        if mine is not None:
            title = f"“{mine.title}”" if mine.key == SEVERAL else uncapitalized(mine.title)
            sentences.append(f"Chosen: {title}.")
        sentences.extend(
            f"{entry['title']}: {entry['reason']}"
            for entry in self.session.advice["models"]
            if not entry["fits_task"]
        )
        self.tell("Choosing a model", sentences)
