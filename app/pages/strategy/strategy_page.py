"""Step 3, the strategy: how to tune, how long, for which groups; the rest under Advanced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.pages.copying import CopyRow
from app.pages.page import Page
from app.pages.strategy.advanced import AdvancedCard
from app.pages.strategy.budget import BudgetCard
from app.pages.strategy.mistakes import MistakesCard
from app.pages.strategy.ranges import RangesCard
from app.pages.strategy.values import ValuesCard
from app.text.data.naming import tested, whole
from app.text.past.history import known_in_words
from app.text.plan import model_title
from app.text.ranges import changed_in_words
from app.text.strategies import holds_out, lists_values
from app.text.units import units
from app.widgets.buttons import LinkButton
from app.widgets.card import Card
from app.widgets.choice_card import Choice, ChoiceCards
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox
from core.estimators.registry import MODELS
from core.estimators.several import SEVERAL
from core.tuning.evaluation import OUTER_FOLDS, evaluation_of

if TYPE_CHECKING:
    from app.session.session import Session

OWN = "own"


class StrategyPage(Page):
    """How the model is tuned."""

    topic = "strategy"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.primary = self.add_primary("Start tuning", self._start, "play")
        self.cards = ChoiceCards("Recommended", "Strategies")
        self.cards.chosen.connect(session.choose_strategy)
        self.budget = BudgetCard(session)
        self.only = Card()
        self._only_words = label("")
        self.only.body.addWidget(self._only_words)
        self.groups = self._make_groups()
        self.values = ValuesCard(session)
        self.ranges = RangesCard(session)
        self.ranges.fault_changed.connect(self._allow_start)
        self.mistakes = MistakesCard(session)
        self.advanced = AdvancedCard(session)
        chosen = (self.budget, self.cards, self.only, self.groups)
        self.copying = CopyRow("The same elsewhere:", lambda: session.plan, session.problem.emit)
        for part in (*chosen, self.ranges, self.values, self.mistakes, self.advanced, self.copying):
            self.body.addWidget(part)
        self.body.addStretch(1)
        session.advice_changed.connect(self.refresh)
        session.plan_changed.connect(self.refresh)
        session.known_changed.connect(self.refresh)
        session.estimate_changed.connect(self._estimate_changed)
        session.run_changed.connect(self._allow_start)
        self.refresh()

    def _make_groups(self) -> Card:
        card = Card(
            "Penalties",
            "How many penalties are learned: one for all columns, or one for each group.",
        )
        self.ways = QuietComboBox()
        self.ways.setAccessibleName("How columns are grouped")
        self.ways.currentIndexChanged.connect(self._way_chosen)
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        row.addWidget(self.ways)
        row.addWidget(LinkButton("Arrange the groups", lambda: self.step_wanted.emit("data")))
        card.body.addWidget(holder)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow page has the ranges in two lines each."""
        super().resizeEvent(event)
        self.ranges.fit(self.scroll.viewport().width())

    def _offered(self) -> list[Mapping[str, Any]]:
        plan, advice = self.session.plan, self.session.advice
        return advice["strategies"].get(plan.model, []) if plan and advice else []

    def chosen(self) -> Mapping[str, Any] | None:
        """What the advice says of the plan's strategy."""
        plan = self.session.plan
        return next((entry for entry in self._offered() if entry["name"] == plan.strategy), None)

    def refresh(self) -> None:
        """Show the strategies for the plan's model, and everything else of the plan."""
        plan = self.session.plan
        if plan is None:
            return
        choices = [
            Choice(
                key=entry["name"],
                title=entry["title"],
                paragraphs=tuple(filter(None, (entry["does"], self._known(entry)))),
                captions=(
                    entry["costs"],
                    "You see: {what}".format(what=_small_first(entry["shows"])),
                ),
                reason=entry["reason"],
                recommended=entry["recommended"],
            )
            for entry in self._offered()
        ]
        self.cards.show_choices(choices, plan.strategy)
        entry = self.chosen()
        self._show_only(entry)
        if entry:
            self.budget.refresh(entry["default_trials"], entry.get("default_minutes"))
        else:
            self.budget.refresh(0)
        self.groups.setVisible(bool(entry) and entry["kind"] == "penalties")
        self._show_ways()
        self.ranges.refresh(entry)
        self.values.refresh()
        self.mistakes.refresh()
        self.advanced.refresh(entry)
        self._allow_start()
        self._tell(entry)

    def _show_only(self, entry: Mapping[str, Any] | None) -> None:
        """Where there is one strategy alone, how it works stands in place of a choice."""
        only = entry is not None and len(self._offered()) == 1
        self.cards.setVisible(not only)
        self.only.setVisible(only)
        if only:
            self.set_head("How to tune them?", "If unsure, press Start tuning.")
            self.only.set_words(entry["title"], entry["does"])
            words = "It costs: {costs} You see: {what}"
            costs, shows = _small_first(entry["costs"]), _small_first(entry["shows"])
            self._only_words.setText(words.format(costs=costs, what=shows))
        else:
            self.set_head("How to tune it?", "If unsure, take the first and press Start tuning.")

    def _known(self, entry: Mapping[str, Any]) -> str:
        """What a strategy that uses the history can start from; "" for the others."""
        return known_in_words(self.session.known) if entry.get("uses_history") else ""

    def _show_ways(self) -> None:
        spec = self.session.plan.groups
        own = not isinstance(spec, str)
        words = {
            "single": "One penalty for all columns",
            "prefix": "One for each start of a name",
            "column": "One for each column",
            "each": "One for each column and each category value",
        }
        if own:
            words[OWN] = f"One for each of my {len(spec)} groups"
        with QSignalBlocker(self.ways):
            self.ways.clear()
            for key, text in words.items():
                self.ways.addItem(text, key)
            self.ways.setCurrentIndex(self.ways.findData(OWN if own else spec))

    def _way_chosen(self) -> None:
        if self.ways.currentData() not in (None, OWN):
            self.session.set_plan(groups=self.ways.currentData())

    def _estimate_changed(self) -> None:
        self.budget.show_estimate()
        self.ranges.refresh(self.chosen())
        self.values.refresh()
        self.advanced.refresh(self.chosen())  # which score is the usual one comes with it
        self._allow_start()
        self._tell(self.chosen())

    def _allow_start(self) -> None:
        estimate = self.session.estimate
        if self.session.is_going_on:
            self.primary.allow(False, "A run is going on. Stop it first.")
        elif fault := self.ranges.fault:
            self.primary.allow(False, fault)
        elif estimate and estimate.get("unusable"):
            self.primary.allow(False, estimate["sentence"])
        else:
            self.primary.allow(self.session.plan is not None)

    def _tell(self, entry: Mapping[str, Any] | None) -> None:
        summary, data = self.session.summary, self.session.data
        if entry is None or summary is None:
            return
        task = summary["task"]
        waiting, there = tested(summary, data)
        if self._nested(entry):
            sentences = [
                f"{self._tuned()} tuned on {whole(there)} rows. Then every row is "
                f"tested once: the tuning is repeated {OUTER_FOLDS} times, each time without a "
                "part of the rows, on which the result is tested."
            ]
        else:
            learned = there if data.test_file else there - waiting
            sentences = [
                "{these} tuned on {learned} {units}; the test set has {test} others.".format(
                    these=self._tuned(),
                    learned=whole(learned),
                    units="sequences" if task == "sequence" else units(task),
                    test=whole(waiting),
                )
            ]
        if entry["kind"] == "trials":
            sentences.append(self._of_a_trial(entry))
            if known := self._known(entry):
                sentences.append(known)
            if self.session.plan.model != SEVERAL:
                sentences += changed_in_words(self.session.plan)
            if lists_values(entry["name"]):
                sentences.append("The values that will be tried are listed below the strategies.")
        elif holds_out(entry["name"]):
            sentences.append(
                "A part of the training data is held out to see which "
                "penalties help; the last fit is on all of it."
            )
        else:
            sentences.append(
                "No rows are held out to score trials: the penalty is learned "
                "from the training data itself."
            )
        if reason := (self.session.estimate or {}).get("metric_reason"):
            sentences.append(reason)
        if power := (self.session.estimate or {}).get("power"):
            sentences.append(power)
        sentences.append("You can stop at any time. The best setting found so far is kept.")
        self.tell("What will happen", sentences)

    def _tuned(self) -> str:
        if self.session.plan.model == SEVERAL:
            return "Several models are"
        return f"{model_title(self.session)} is"

    def _nested(self, entry: Mapping[str, Any]) -> bool:
        """Whether every row will be tested."""
        summary, plan = self.session.summary, self.session.plan
        plan = plan.changed(data=self.session.data)
        return evaluation_of(plan, summary["task"], summary["rows"], entry["kind"]) == "nested"

    def _of_a_trial(self, entry: Mapping[str, Any]) -> str:
        """What one trial costs, and for strategies that average what becomes of the best."""
        plan = self.session.plan
        said = (
            f"Each trial fits the model {plan.folds} times, each time on other rows, and scores it "
            "on the rest."
        )
        if not any(option["name"] == "judged" for option in entry["options"]):
            return said
        judged = plan.options.get("judged", "automatic")
        if plan.model == SEVERAL:
            return self._of_several(judged)
        if judged == "validation":
            said = (
                "Each trial fits the model once, on four fifths of the training rows, and scores "
                "it on the others."
            )
        elif judged == "training" or (judged == "automatic" and _judges_itself(plan.model)):
            said = (
                "Each trial fits the model once, on all training data, and scores how well it "
                "explains them."
            )
            if self.session.summary["task"] == "topics":
                said = (
                    "Each trial fits the model once, on all training texts, and scores how likely "
                    "the second half of their words is, given the first (document completion)."
                )
        more = "At the end one model in ten is averaged, two of 20 trials, four of 40."
        return f"{said} {more}"

    def _of_several(self, judged: str) -> str:
        """What one trial of several models costs, and what becomes of the best."""
        plan = self.session.plan
        said = f"Each trial fits one model {plan.folds} times, each time on other rows."
        if judged == "validation":
            said = "Each trial fits one model once, on four fifths of the training rows."
        elif judged == "automatic":
            said += " Where rows are many, it is fitted once, on four fifths of them."
        said += " A trial that falls clearly behind is ended early."
        if plan.options.get("average", True):
            said += (
                " At the end the best models are averaged where that predicts better than the "
                "single best."
            )
        return said

    def _start(self) -> None:
        self.session.start()
        self.step_wanted.emit("tune")


def _judges_itself(name: str) -> bool:
    """Whether averages judge a model by the training rows, unless told."""
    model = MODELS.get(name)
    return model is not None and model.training_score is not None


def _small_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
