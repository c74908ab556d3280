"""Step 2, the model: cards, the recommended one first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.pages.page import Page
from app.text.plan_text import not_tried_text, tried_text
from app.widgets.cards import CardOption, ChoiceCards
from core.estimators.facts import uncapitalized

if TYPE_CHECKING:
    from app.session.session import Session
    from core.tuning.guidance.guidance_records import Advice


class ModelPage(Page):
    """Which model is tuned."""

    topic = "model"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        subtitle = "Only models that fit your data are shown. If unsure, take the first."
        self.set_head("Which model?", subtitle)
        self.add_primary("Choose a strategy", lambda: self.step_wanted.emit("strategy"))
        self.cards = ChoiceCards("Recommended", "Models")
        self.cards.chosen.connect(session.choose_model)
        self.body.addWidget(self.cards)
        self.body.addStretch(1)
        session.advice_changed.connect(self.refresh)
        session.plan_changed.connect(self.refresh)
        self.refresh()

    def tour_target(self, name: str) -> QWidget | None:
        return self.cards.chosen_card()

    def refresh(self) -> None:
        advice, plan = self.session.advice, self.session.plan
        if advice is None:
            return
        choices = [
            CardOption(
                key=entry.name,
                title=entry.title,
                paragraphs=(entry.good_for, *tried_text(entry)),
                captions=(entry.cost, *not_tried_text(entry)),
                reason=entry.reason,
                recommended=entry.recommended,
                suits=entry.suits,
                needs=entry.needs,
                install=entry.install,
            )
            for entry in advice.models
            if entry.fits_task or entry.install
        ]
        self.cards.show_choices(choices, plan.model if plan else "")
        option = next((choice for choice in choices if plan and choice.key == plan.model), None)
        self._update_panel(advice, option)

    def _update_panel(self, advice: Advice, option: CardOption | None) -> None:
        sentences = [
            "A model is a way of turning columns into a prediction. No model is best for "
            "everything."
        ]
        if option is not None:
            of_several = any(m.tries for m in advice.models if m.name == option.key)
            title = f"“{option.title}”" if of_several else uncapitalized(option.title)
            sentences.append(f"Chosen: {title}.")
        sentences += [f"{m.title}: {m.reason}" for m in advice.models if not m.fits_task]
        self.set_panel("Choosing a model", sentences)
