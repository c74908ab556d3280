"""Step 2, the model: cards with pictures, the recommended one first; what lacks is folded."""

from collections.abc import Sequence

from PySide6.QtWidgets import QLabel, QWidget

from app.pages.install_line import InstallLine
from app.pages.page import Page
from app.session.session import Session
from app.widgets.cards import CardOption, ChoiceCards, CollapsibleSection
from app.widgets.layouts import add_to
from app.widgets.text_labels import wrapping_label
from core.estimators.facts import uncapitalized
from core.tuning.guidance.guidance_records import ModelAdvice


class ModelPage(Page):
    """Which model is tuned."""

    topic = "model"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.set_head("Which model?", "If unsure, take the first.")
        self.add_primary("Choose a strategy", lambda: self.step_wanted.emit("strategy"))
        self.cards = ChoiceCards("Models", column_width=360)
        self.cards.chosen.connect(session.choose_model)
        self.joining, self.extras = InstallLine(), InstallLine()
        self.cards.below_first.addWidget(self.joining)
        self.unusable = _Reasons("Cannot be used here", "unusable models")
        self.unusable.body.addWidget(self.extras)
        self.other_data = _Reasons("For other data", "models for other data")
        add_to(self.body, self.cards, self.unusable, self.other_data, 1)
        for line in (self.joining, self.extras):
            line.installed.connect(session.change_data)
        self.refresh_after(session.advice_changed, session.plan_changed)
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
                paragraphs=(entry.good_for,),
                reason=entry.reason,
                recommended=entry.recommended,
                suits=entry.suits,
                rare=entry.rare,
                picture=entry.picture,
                scales=entry.scales,
                spoken=f"{entry.cost} It tries {titles}." if titles else entry.cost,
            )
            for entry in advice.fitting_models
            for titles in (", ".join(map(uncapitalized, entry.tries)),)
        ]
        self.cards.show_choices(choices, plan.model if plan else "")
        joining = [missing for entry in advice.fitting_models for missing in entry.lacking]
        self.joining.show_missing(joining)
        unfit_models = [entry for entry in advice.models if not entry.fits_task]
        unusable = [
            entry
            for entry in unfit_models
            if not entry.is_for_other_data and not {*entry.lacking} & {*joining}
        ]
        self.unusable.show_models(unusable)
        self.extras.show_missing([missing for entry in unusable for missing in entry.lacking])
        self.other_data.show_models([entry for entry in unfit_models if entry.is_for_other_data])
        sentence = "A model is a way of turning columns into a prediction. No model is best for "
        self.set_panel("Choosing a model", [sentence + "everything."])


class _Reasons(CollapsibleSection):
    """Models in one line, and why each cannot be used."""

    def __init__(self, caption: str, key: str) -> None:
        super().__init__(caption, key)
        self._caption = caption
        self.words: QLabel = wrapping_label("", "muted")
        self.body.addWidget(self.words)

    def show_models(self, models: Sequence[ModelAdvice]) -> None:
        self.setVisible(bool(models))
        titles = ", ".join(uncapitalized(model.title) for model in models)
        self.set_title(f"{self._caption}: {titles}")
        self.words.setText("\n".join(f"{model.title}: {model.reason}" for model in models))
