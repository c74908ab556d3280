from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.pages.model_page import ModelPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences as settings
from app.widgets.forms import OptionForm
from app.widgets.quiet_controls import QuietDoubleSpinBox
from app.worker.messages import HistorySummary
from core.extras import install_command
from core.options import Option
from core.tuning.guidance.guidance_records import RunEstimate
from core.tuning.history.dataset_records import HistoryCounts


def _shown(kind, session, qtbot):
    page = kind(session)
    qtbot.addWidget(page)
    page.resize(800, 900)
    page.show()
    return page


@pytest.fixture
def models(with_data, qtbot):
    return _shown(ModelPage, with_data, qtbot)


@pytest.fixture
def strategies(with_data, qtbot):
    """The page for one model, which has a choice of strategies."""
    with_data.choose_model("logistic")
    return _shown(StrategyPage, with_data, qtbot)


def test_only_models_that_fit_the_recommended_first_with_its_reason(models, clinic):
    advice = clinic[1]
    fitting = {m["name"] for m in advice["models"] if m["fits_task"]}
    best = next(m for m in advice["models"] if m["recommended"])
    lacking = {m["name"] for m in advice["models"] if m["install"]}
    assert set(models.cards.cards) == fitting | lacking
    first = next(iter(models.cards.cards.values()))
    assert first.choice.key == best["name"]
    assert best["reason"] in first.button.accessibleDescription()
    assert first.button.isChecked()


@pytest.fixture
def lacking(with_data, qtbot):
    """The page where one of the models lacks a package."""
    page = _shown(ModelPage, with_data, qtbot)
    lacking = {"fits_task": False, "needs": "jax", "install": install_command("deep"),
               "reason": "It needs jax, which is not installed."}  # fmt: skip
    models = [
        replace(entry, **lacking) if entry.name == "dlgm" else entry
        for entry in with_data.advice.models
    ]
    with_data.advice = replace(with_data.advice, models=models)
    page.refresh()
    return page


def test_a_model_that_lacks_a_package_says_what_installs_it(lacking, qapp, qtbot):
    card = lacking.cards.cards["dlgm"]
    command = install_command("deep")
    assert f"Needs jax: {command}" in [part.text() for part in card.findChildren(QLabel)]
    assert not card.button.isEnabled()
    assert "which is not installed" in card.button.accessibleDescription()
    before = lacking.session.plan.model
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert lacking.session.plan.model == before
    card.copy.click()
    assert qapp.clipboard().text() == command
    assert card.copy.accessibleName() == "Copy the command that installs jax"


def test_a_click_anywhere_on_a_card_chooses_it(models, qtbot):
    qtbot.mouseClick(models.cards.cards["svm"], Qt.MouseButton.LeftButton)
    assert models.session.plan.model == "svm"
    assert models.cards.cards["svm"].property("chosen")
    assert not models.cards.cards["logistic"].property("chosen")


def test_arrow_keys_choose_the_next_card(models, qtbot):
    models.activateWindow()
    cards = list(models.cards.cards.values())
    cards[0].button.setFocus()
    qtbot.keyClick(cards[0].button, Qt.Key.Key_Down)
    assert models.session.plan.model == cards[1].choice.key


def test_strategies_follow_the_model(strategies, clinic):
    advice = clinic[1]
    assert set(strategies.cards.cards) == {s["name"] for s in advice["strategies"]["logistic"]}
    strategies.session.choose_model("svm")
    assert set(strategies.cards.cards) == {s["name"] for s in advice["strategies"]["svm"]}


def test_each_strategy_has_its_own_controls(strategies, clinic):
    # A learner has groups and no trials, a sampler the reverse.
    strategies.session.choose_strategy("mm")
    assert strategies.groups.isVisible()
    assert not strategies.budget.trials.isVisible()
    strategies.session.choose_strategy("gp")
    assert not strategies.groups.isVisible()
    assert strategies.budget.trials.isVisible()
    entry = next(s for s in clinic[1]["strategies"]["logistic"] if s["name"] == "gp")
    assert strategies.budget.trials.value() == entry["default_trials"]
    # Every option of the strategy has a control.
    for name in ("mm", "gp", "hybrid"):
        strategies.session.choose_strategy(name)
        entry = next(s for s in clinic[1]["strategies"]["logistic"] if s["name"] == name)
        controls = strategies.advanced.strategy_form.controls
        described = [o["name"] if isinstance(o, dict) else o.name for o in entry["options"]]
        assert list(controls) == described
    # Choices and special numbers are said in words.
    strategies.session.choose_strategy("gp")
    controls = strategies.advanced.strategy_form.controls
    assert controls["kernel"].currentText() == "Smooth (Matérn 5/2, matern52)"
    assert controls["start_trials"].text() == "automatic"
    assert strategies.advanced.run_form.controls["metric"].currentText() == "The recommended one"
    assert strategies.advanced.run_form.controls["time_limit"].text() == "no limit"
    # The groups of the plan can be chosen here too.
    strategies.session.choose_strategy("mm")
    strategies.ways.setCurrentIndex(strategies.ways.findData("column"))
    assert strategies.session.plan.groups == "column"
    strategies.session.set_plan(groups={"a": ["age"], "b": ["ward", "smoker"]})
    assert strategies.ways.currentText() == "One for each of my 2 groups"


def test_minutes_and_trials_bound_the_plan(strategies):
    strategies.session.choose_strategy("gp")
    # With a limit of time the trials need none.
    usual = strategies.budget.trials.value()
    strategies.budget.minutes.setValue(2)
    assert strategies.budget.trials.text() == "no limit"
    strategies.budget.trials.setValue(30)
    strategies.budget.trials.setValue(0)
    assert strategies.session.plan.trials is None
    strategies.budget.minutes.setValue(0)
    assert strategies.budget.trials.value() == usual
    assert strategies.budget.trials.minimum() == 1
    strategies.budget.minutes.setValue(2.5)
    strategies.budget.trials.setValue(30)
    assert (strategies.session.plan.minutes, strategies.session.plan.trials) == (2.5, 30)
    strategies.budget.minutes.setValue(0)
    assert strategies.session.plan.minutes is None
    assert strategies.budget.minutes.text() == "no limit"


def test_the_estimate_is_shown_and_an_impossible_plan_cannot_start(strategies):
    session = strategies.session
    session.estimate = RunEstimate("about 3 minutes, 50 trials", 180.0, 50)
    session.estimate_changed.emit()
    assert strategies.budget.estimate.text() == "About 3 minutes, 50 trials."
    assert strategies.primary.isEnabled()
    session.estimate = RunEstimate("5 folds need 5 rows a class.", unusable=True)
    session.estimate_changed.emit()
    assert not strategies.primary.isEnabled()
    assert strategies.primary.toolTip() == "5 folds need 5 rows a class."


def test_start_begins_the_run_and_leads_on(strategies, qtbot):
    with qtbot.waitSignal(strategies.step_wanted) as wanted:
        strategies.primary.click()
    assert wanted.args == ["tune"]
    assert strategies.session.state == "running"
    assert not strategies.primary.isEnabled()


def test_advanced_is_folded_until_opened_and_stays_as_it_was_left(strategies, with_data, qtbot):
    assert not strategies.advanced.section.content.isVisible()
    strategies.advanced.section.button.click()
    assert strategies.advanced.section.content.isVisible()
    assert settings.stored_flag("folds/advanced")
    assert _shown(StrategyPage, with_data, qtbot).advanced.section.is_open


def test_options_of_the_run_go_into_the_plan(strategies):
    controls = strategies.advanced.run_form.controls
    controls["folds"].setValue(7)
    controls["seed"].setValue(42)
    controls["workers"].setValue(2)
    controls["time_limit"].setValue(1.5)
    controls["metric"].setCurrentIndex(controls["metric"].findData("auc"))
    controls["standardize"].setChecked(False)
    plan = strategies.session.plan
    assert (plan.folds, plan.seed, plan.workers, plan.time_limit) == (7, 42, 2, 1.5)
    assert (plan.metric, plan.standardize) == ("auc", False)


def test_the_values_of_a_grid_are_shown_before_the_start(strategies):
    session, card = strategies.session, strategies.values
    session.choose_strategy("grid")
    assert not card.isVisible()
    session.estimate = RunEstimate(
        "about 1 minute, 2 trials",
        60.0,
        2,
        settings=4,
        values={"C": [0.01, 1.0], "Kernel": ["a", "b"]},
    )
    session.estimate_changed.emit()
    assert card.isVisible()
    assert card.accessibleName() == "Values that will be tried"
    assert "4 settings. 2 of them" in card.accessibleDescription()
    cells = [[_cell(card, row, at) for at in (0, 1)] for row in (0, 1)]
    assert [row[0] for row in cells] == ["C", "Kernel"]
    assert [row[1].split() for row in cells] == [["0.01", "1"], ["a", "b"]]
    session.set_plan(trials=10)  # the next estimate is on its way
    assert card.isVisible()
    session.choose_strategy("gp")
    assert not card.isVisible()


def _cell(card, row, at):
    return card.table.itemAtPosition(row, at).widget().text()


def test_every_choice_of_every_strategy_has_words_that_name_it():
    from core.tuning.strategies.registry import STRATEGIES

    choices = [o for s in STRATEGIES.values() for o in s.options if o.kind == "choice"]
    assert len(choices) > 5
    for option in choices:
        for choice, words in zip(option.choices, option.choice_labels, strict=True):
            assert words[0].isupper()
            assert choice in words.lower()


OPTIONS = (
    Option("alpha", "Shape", "float", 2.0, "Help.", low=0, low_open=True),
    Option("steps", "Steps", "int", 10, "Help.", low=1, high=99),
    Option("kernel", "Kernel", "choice", "se", "Help.", choices=("se", "matern")),
    Option("warm", "Warm start", "bool", True, "Help."),
)


def test_a_form_shows_defaults_and_tells_changes(look, qtbot):
    form = OptionForm()
    qtbot.addWidget(form)
    told = []
    form.changed.connect(lambda *change: told.append(change))
    form.show_options(OPTIONS, {"steps": 20})
    assert not told
    assert form.controls["alpha"].value() == 2.0
    assert form.controls["steps"].value() == 20
    form.controls["steps"].setValue(1000)
    form.controls["kernel"].setCurrentIndex(1)
    form.controls["warm"].setChecked(False)
    assert told == [("steps", 99), ("kernel", "matern"), ("warm", False)]
    form.controls["alpha"].setValue(0)
    assert form.controls["alpha"].value() > 0


@pytest.mark.parametrize(
    ("typed", "value"), [("0.001", 0.001), ("1e-4", 1e-4), ("250", 250.0), ("1e-9", 1e-9)]
)
def test_small_numbers_can_be_typed(look, qtbot, typed, value):
    box = QuietDoubleSpinBox()
    qtbot.addWidget(box)
    box.setDecimals(12)
    box.setRange(0, 1e12)
    box.lineEdit().selectAll()
    qtbot.keyClicks(box.lineEdit(), typed)
    qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Return)
    assert box.value() == pytest.approx(value)
    assert box.valueFromText(box.textFromValue(value)) == pytest.approx(value)


def test_the_arrows_step_small_numbers_by_their_size(look, qtbot):
    box = QuietDoubleSpinBox()
    qtbot.addWidget(box)
    box.setDecimals(12)
    box.setRange(0, 100)
    box.setValue(0.005)
    box.stepBy(1)
    assert box.value() == pytest.approx(0.006)


def test_cards_of_strategies_that_use_the_history_say_what_it_holds(strategies, clinic):
    session = strategies.session
    entries = clinic[1]["strategies"]["logistic"]
    run_history = {entry["name"] for entry in entries if entry["uses_history"]}
    assert "transfer" in run_history
    session.history_summary = HistorySummary(HistoryCounts(34, 6, 20))
    session.history_summary_changed.emit()
    said = (
        "The history holds 34 datasets for this model, 6 of them similar to yours; "
        "20 shipped with Tunescope."
    )
    for name, card in strategies.cards.cards.items():
        assert (said in card.choice.paragraphs) == (name in run_history)
    session.choose_strategy("transfer")
    assert said in strategies.words[1]


def test_what_becomes_known_leaves_the_keyboard_where_it_is(strategies):
    strategies.activateWindow()
    strategies.cards.cards["transfer"].button.setFocus()
    strategies.session.history_summary = HistorySummary(HistoryCounts(1))
    strategies.session.history_summary_changed.emit()
    assert strategies.cards.cards["transfer"].button.hasFocus()


# Several models in one run -----------------------------------------------------------------------


@pytest.fixture
def several(with_data, qtbot):
    """The strategy page of the recommended choice."""
    return _shown(StrategyPage, with_data, qtbot)


def test_the_first_card_says_what_is_tried_and_what_is_not(models):
    card = models.cards.cards["auto"]
    assert card.choice.recommended
    assert card.button.isChecked()
    said = card.button.accessibleDescription()
    entry = models.session.advice["models"][0]
    assert f"It tries {len(entry['tries'])} models: logistic regression, " in said
    assert "Only tuned by themselves, from their own cards: vote of seven classifiers" in said
    assert "Chosen: “Find the best model”." in models.words[1]
    # A reason that speaks for a model is no warning.
    praised = models.cards.cards["logistic"]
    reason = praised.choice.reason
    voices = {part.text(): part.property("voice") for part in praised.findChildren(QLabel)}
    assert reason
    assert voices[reason] == "good"


def test_one_strategy_is_no_choice(several):
    assert not several.cards.isVisible()
    assert several.only.isVisible()
    assert several.title == "How to tune them?"
    assert several.only.accessibleName() == "Several models, the most promising next"
    assert several.words[1][0].startswith("Several models are tuned on 420 rows")
    several.session.choose_model("svm")
    assert several.cards.isVisible()
    assert not several.only.isVisible()


def test_minutes_options_and_costs_of_several_models(several):
    # The minutes are those that will be taken.
    entry = several.chosen_entry()
    assert several.budget.minutes.value() == entry["default_minutes"] == 1.0
    assert several.budget.minutes.text() == "1 minute"
    assert several.budget.trials.text() == "no limit"
    assert several.session.plan.minutes is None
    several.budget.minutes.setValue(3)
    assert several.session.plan.minutes == 3
    assert several.budget.minutes.text() == "3 minutes"
    several.budget.minutes.setValue(0)
    several.budget.trials.setValue(40)
    assert several.budget.minutes.text() == "no limit"
    assert (several.session.plan.minutes, several.session.plan.trials) == (None, 40)
    assert list(several.advanced.strategy_form.controls) == [
        "search",
        "average",
        "judged",
        "repeats",
    ]
    said = " ".join(several.words[1])
    assert "A trial that falls clearly behind is ended early." in said
    assert "averaged where that predicts better" in said
    assert "one model in ten" not in said
    several.session.set_option("average", False)
    assert "averaged" not in " ".join(several.words[1])
