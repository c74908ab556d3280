"""Step 3, the strategy: how to tune, how long, for which groups."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.pages.page import Page
from app.pages.ranges_card import RangesCard
from app.pages.shared_cards import CopyButtons
from app.pages.strategy_cards import AdvancedCard, BudgetCard, MistakesCard, ValuesCard
from app.session.session import Session
from app.text.data_text import OWN, group_words, is_nested, test_set_size
from app.text.history_text import matching_counts_text
from app.text.plan_text import changed_ranges_text, holds_out, lists_values, tunes_several_models
from app.text.rail_text import model_title
from app.widgets.buttons import LinkButton
from app.widgets.cards import Card, CardOption, ChoiceCards
from app.widgets.layouts import add_to, in_lines
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import wrapping_label
from core.datasets.task import Task
from core.estimators.facts import uncapitalized
from core.estimators.registry import MODELS
from core.tuning.guidance.guidance_records import StrategyAdvice
from core.tuning.plan import OUTER_FOLDS, Plan
from core.tuning.strategies.race_strategy import RaceOptions
from core.wording import format_integer


class StrategyPage(Page):
    """How the model is tuned."""

    topic = "strategy"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.primary = self.add_primary("Start tuning", self._start_run, "play")
        self.cards = ChoiceCards("Strategies")
        self.cards.chosen.connect(session.choose_strategy)
        self.budget = BudgetCard(session)
        self.only = Card()
        self._only_words = wrapping_label("")
        self.only.body.addWidget(self._only_words)
        self.groups = self._make_groups()
        self.values = ValuesCard(session)
        self.ranges = RangesCard(session)
        self.ranges.fault_changed.connect(self._allow_start)
        self.mistakes = MistakesCard(session)
        self.advanced = AdvancedCard(session)
        caption, report = "The same elsewhere:", session.problem.emit
        self.copy_buttons = CopyButtons(caption, self._plan_and_target, report)
        cards = (self.budget, self.cards, self.only, self.groups, self.ranges, self.values)
        add_to(self.body, *cards, self.mistakes, self.advanced, self.copy_buttons, 1)
        self.refresh_after(session.advice_changed, session.plan_changed)
        self.refresh_after(session.history_summary_changed)
        session.estimate_changed.connect(self._estimate_changed)
        session.run_changed.connect(self._allow_start)
        self.refresh()

    def _plan_and_target(self) -> tuple[Plan | None, str]:
        summary = self.session.summary
        return self.session.plan, summary.target if summary is not None else ""

    def _make_groups(self) -> Card:
        caption = "How many penalties are learned: one for all columns, or one for each group."
        card = Card("Penalties", caption)
        self.ways = QuietComboBox()
        self.ways.setAccessibleName("How columns are grouped")
        self.ways.currentIndexChanged.connect(self._way_chosen)
        arrange = LinkButton("Arrange the groups", lambda: self.step_wanted.emit("data"))
        card.body.addWidget(in_lines(self.ways, arrange))
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.ranges.fit_width(self.scroll_area.viewport().width())

    def tour_target(self, name: str) -> QWidget | None:
        if name == "chosen card":
            return self.cards.chosen_card()
        return {"budget": self.budget, "start": self.primary}.get(name)

    def _offered_strategies(self) -> list[StrategyAdvice]:
        plan, advice = self.session.plan, self.session.advice
        return advice.strategies.get(plan.model, []) if plan and advice else []

    def chosen_entry(self) -> StrategyAdvice | None:
        name = self.session.plan.strategy if self.session.plan else ""
        return next((entry for entry in self._offered_strategies() if entry.name == name), None)

    def refresh(self) -> None:
        plan = self.session.plan
        if plan is None:
            return
        choices = [
            CardOption(
                key=entry.name,
                title=entry.title,
                paragraphs=tuple(filter(None, (entry.does, self._history_text(entry)))),
                captions=(entry.costs, f"You see: {uncapitalized(entry.shows)}"),
                reason=entry.reason,
                recommended=entry.recommended,
            )
            for entry in self._offered_strategies()
        ]
        self.cards.show_choices(choices, plan.strategy)
        entry = self.chosen_entry()
        self._show_only(entry)
        limits = (entry.default_trials, entry.default_minutes) if entry else (0, None)
        self.budget.refresh(*limits)
        self.groups.setVisible(entry is not None and entry.kind == "penalties")
        self._show_ways()
        self.ranges.refresh(entry)
        self.values.refresh()
        self.mistakes.refresh()
        self.advanced.refresh(entry)
        self._allow_start()
        self._update_panel(entry)

    def _show_only(self, entry: StrategyAdvice | None) -> None:
        """Show how the only strategy works in place of a choice."""
        # One card to choose from is no choice.
        only = entry if len(self._offered_strategies()) == 1 else None
        self.cards.setVisible(only is None)
        self.only.setVisible(only is not None)
        if only is not None:
            self.set_head("How to tune them?", "If unsure, press Start tuning.")
            self.only.set_words(only.title, only.does)
            costs, shows = uncapitalized(only.costs), uncapitalized(only.shows)
            self._only_words.setText(f"It costs: {costs} You see: {shows}")
        else:
            self.set_head("How to tune it?", "If unsure, take the first and press Start tuning.")

    def _history_text(self, entry: StrategyAdvice) -> str:
        summary = self.session.history_summary
        if summary is None or not entry.uses_history:
            return ""
        return matching_counts_text(summary.counts) if summary.counts else summary.problem

    def _show_ways(self) -> None:
        spec, summary = self.session.current_plan.groups, self.session.summary
        way_is_own = not isinstance(spec, str)
        ways = group_words(summary.task if summary is not None else Task.UNKNOWN).ways
        titles = {way: words for way, words in ways.items() if way != OWN or way_is_own}
        self.ways.set_choices(titles, spec if isinstance(spec, str) else OWN)

    def _way_chosen(self) -> None:
        # A person's own groups are made on the Data page.
        if self.ways.currentData() not in (None, OWN):
            self.session.set_plan(groups=self.ways.currentData())

    def _estimate_changed(self) -> None:
        self.budget.show_estimate()
        self.ranges.refresh(self.chosen_entry())
        self.values.refresh()
        # Also the options: the estimate says which metric the usual one is.
        self.advanced.refresh(self.chosen_entry())
        self._allow_start()
        self._update_panel(self.chosen_entry())

    def _allow_start(self) -> None:
        estimate, why_not = self.session.estimate, self.ranges.fault
        if self.session.is_going_on:
            why_not = "A run is in progress. Stop it first."
        elif not why_not and estimate and estimate.unusable:
            why_not = estimate.sentence
        self.primary.set_allowed(not why_not and self.session.plan is not None, why_not)

    def _update_panel(self, entry: StrategyAdvice | None) -> None:
        summary, data, estimate = self.session.summary, self.session.data, self.session.estimate
        if entry is None or summary is None or data is None:
            return
        test_rows, total_rows = test_set_size(summary, data)
        if is_nested(summary, self.session.current_plan.changed(data=data), entry.kind):
            sentences = [
                f"{self._tuned_text(entry)} tuned on {format_integer(total_rows)} rows. Then every "
                f"row is tested once: the tuning is repeated {OUTER_FOLDS} times, each time "
                "without a part of the rows, on which the result is tested."
            ]
        else:
            training_rows = total_rows if data.test_file else total_rows - test_rows
            sentences = [
                f"{self._tuned_text(entry)} tuned on {format_integer(training_rows)} "
                f"{summary.task.items}; the test set has {format_integer(test_rows)} others."
            ]
        if entry.kind == "trials":
            sentences.append(self._trial_text(entry))
            if history_text := self._history_text(entry):
                sentences.append(history_text)
            # Each of several models has its own usual ranges.
            if not tunes_several_models(entry.name):
                sentences += changed_ranges_text(self.session.current_plan)
            if lists_values(entry.name):
                sentences.append("The values that will be tried are listed below the strategies.")
        elif holds_out(entry.name):
            sentences.append(
                "A part of the training data is held out to see which penalties help; the last fit "
                "is on all of it."
            )
        else:
            sentences.append(
                "No rows are held out to score trials: the penalty is learned from the training "
                "data itself."
            )
        if estimate is not None:
            sentences += filter(None, (estimate.metric_reason, estimate.power))
        sentences.append("You can stop at any time. The best setting found so far is kept.")
        self.set_panel("What will happen", sentences)

    def _tuned_text(self, entry: StrategyAdvice) -> str:
        if tunes_several_models(entry.name):
            return "Several models are"
        return f"{model_title(self.session.current_plan, self.session.advice)} is"

    def _trial_text(self, entry: StrategyAdvice) -> str:
        plan = self.session.current_plan
        sentence = (
            f"Each trial fits the model {plan.folds} times, each time on other rows, and scores it "
            "on the rest."
        )
        if not any(option.name == "judged" for option in entry.options):
            return sentence
        judged = RaceOptions.from_values(plan.options).judged
        if tunes_several_models(entry.name):
            return self._several_models_text(judged)
        model = MODELS.get(plan.model)
        # Averages judge by the training rows by default, as they do not of topics.
        judges_itself = model is not None and (
            model.training_score is not None and all(task.has_target for task in model.known_tasks)
        )
        if judged == "validation":
            sentence = (
                "Each trial fits the model once, on four fifths of the training rows, and scores "
                "it on the others."
            )
        elif judged == "training" or (judged == "automatic" and judges_itself):
            sentence = (
                "Each trial fits the model once, on all training data, and scores how well it "
                "explains them."
            )
            if not self.session.current_summary.task.has_target:
                sentence = (
                    "Each trial fits the model once, on all training texts, and scores how likely "
                    "the second half of their words is, given the first (document completion)."
                )
        more = "At the end one model in ten is averaged, two of 20 trials, four of 40."
        return f"{sentence} {more}"

    def _several_models_text(self, judged: str) -> str:
        plan = self.session.current_plan
        text = f"Each trial fits one model {plan.folds} times, each time on other rows."
        if judged == "validation":
            text = "Each trial fits one model once, on four fifths of the training rows."
        elif judged == "automatic":
            text += " Where rows are many, it is fitted once, on four fifths of them."
        text += " A trial that falls clearly behind is ended early."
        if RaceOptions.from_values(plan.options).average:
            text += (
                " At the end the best models are averaged where that predicts better than the "
                "single best."
            )
        return text

    def _start_run(self) -> None:
        self.session.start()
        self.step_wanted.emit("tune")
