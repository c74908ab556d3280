"""The pages of models and strategies: their cards, the budget, options, costs of mistakes."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.pages import install_line
from app.pages.model_page import ModelPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences as settings
from app.session.data_undo_stack import plan_for
from app.text.history_text import matching_counts_text
from app.widgets import model_pictures
from app.widgets.forms import OptionForm
from app.widgets.model_pictures import ModelPicture, ScaleDots, has_picture
from app.widgets.quiet_controls import QuietDoubleSpinBox
from app.worker.messages import HistorySummary
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.facts import model_scales, picture_kind, uncapitalized
from core.estimators.registry import MODELS
from core.json_reading import read_as
from core.options import Option
from core.tuning.events import DatasetFacts, RunStarted
from core.tuning.guidance.guidance_records import MissingModel, RunEstimate
from core.tuning.history.dataset_records import HistoryCounts
from core.tuning.results.result_facts import fact_sentences
from core.tuning.run_results import Results
from core.tuning.strategies.registry import STRATEGIES
from resources.theme import LIGHT


@pytest.fixture
def models(with_data, show):
    return show(ModelPage(with_data), 800, 900)


@pytest.fixture
def strategies(with_data, show):
    """The page for one model, which has a choice of strategies."""
    with_data.choose_model("logistic")
    return show(StrategyPage(with_data), 800, 900)


@pytest.fixture
def several(with_data, show):
    """The strategy page of the recommended choice, several models in one run."""
    return show(StrategyPage(with_data), 800, 900)


def test_a_copied_command_names_the_target_that_was_guessed(strategies, qapp):
    assert not strategies.session.plan.data.target
    strategies.copy_buttons.command.click()
    target = strategies.session.summary.target
    assert f"--target {target} " in qapp.clipboard().text()


def estimated(page, *given, **fields):
    """What a run of the plan takes has become known."""
    page.session.estimate = RunEstimate(*given, **fields)
    page.session.estimate_changed.emit()


def test_only_models_that_fit_the_recommended_first_with_its_reason(models, clinic):
    advice = clinic[1]
    fitting = {m["name"] for m in advice["models"] if m["fits_task"]}
    best = next(m for m in advice["models"] if m["recommended"])
    assert set(models.cards.cards) == fitting
    first = next(iter(models.cards.cards.values()))
    assert first.choice.key == best["name"]
    assert best["reason"] in first.button.accessibleDescription()
    assert first.button.isChecked()


@pytest.fixture
def lacking(models):
    """The page where one of the models lacks a package."""
    session = models.session
    given = {"fits_task": False, "lacking": [MissingModel("Deep model", "deep")],
             "reason": "It needs jax, which is not installed."}  # fmt: skip
    entries = [
        replace(entry, **given) if entry.name == "dlgm" else replace(entry, lacking=[])
        for entry in session.advice.models
        if entry.name == "dlgm" or not entry.install
    ]
    session.advice = replace(session.advice, models=entries)
    models.refresh()
    return models


def installing(monkeypatch, script):
    """The installer is this script of Python."""
    command = [sys.executable, "-c", script]
    monkeypatch.setattr(install_line.packages, "installing_command", lambda names: command)
    monkeypatch.setattr(install_line.packages, "installation_refusal", lambda given: None)


def test_models_that_cannot_be_used_are_folded_with_their_reasons(lacking):
    assert "dlgm" not in lacking.cards.cards
    assert lacking.unusable.button.accessibleName().startswith("Cannot be used here: deep latent")
    assert not lacking.unusable.words.isVisible()
    lacking.unusable.button.click()
    assert "It needs jax, which is not installed." in lacking.unusable.words.text()
    assert lacking.extras.isVisible()
    assert not lacking.joining.isVisible()
    assert lacking.other_data.button.accessibleName().startswith("For other data: linear regr")
    assert "It predicts numbers, and here classes" in lacking.other_data.words.text()


def test_a_package_is_installed_at_a_press_and_the_table_read_again(lacking, qtbot, monkeypatch):
    line = lacking.extras
    installing(monkeypatch, "print('Collecting jax')")
    assert "install deep model (up to 360 MB)" in line.button.accessibleName()
    with qtbot.waitSignal(line.installed, timeout=10_000):
        line.button.click()
        assert line.button.accessibleName() == "Cancel"
        assert "Installing, 0 s" in line.words.text()
    assert lacking.session.changes.reading is not None


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("print('Temporary failure in name resolution'); exit(1)", "is there a network"),
        ("print('ERROR: [Errno 13] Permission denied'); exit(1)", "no right to write"),
        ("print('ERROR: odd'); exit(2)", "The installer says: ERROR: odd"),
    ],
)
def test_a_failed_installation_is_one_sentence(lacking, qtbot, monkeypatch, script, words):
    line = lacking.extras
    installing(monkeypatch, script)
    line.button.click()
    qtbot.waitUntil(lambda: not line.is_going_on, timeout=10_000)
    assert words in line.words.text()
    assert line.words.text().startswith("Not installed. ")
    assert line.button.text() != "Cancel"


def test_an_installation_can_be_cancelled(lacking, qtbot, monkeypatch):
    line = lacking.extras
    installing(monkeypatch, "import time; time.sleep(60)")
    line.button.click()
    qtbot.waitUntil(lambda: line.process.processId() > 0)
    line.button.click()
    qtbot.waitUntil(lambda: not line.is_going_on, timeout=10_000)
    assert line.words.text().startswith("Cancelled.")


def test_where_nothing_can_be_added_the_line_says_why(lacking, monkeypatch):
    error = UnusableError("no right to write")
    monkeypatch.setattr(install_line.packages, "installation_refusal", lambda given: error)
    lacking.extras.button.click()
    assert lacking.extras.words.text() == "Not installed: no right to write."
    assert not lacking.extras.is_going_on


def test_rare_models_are_folded_until_one_is_chosen(models):
    rare = [entry for entry in models.session.advice.fitting_models if entry.rare]
    assert rare
    more = models.cards.more
    assert all(uncapitalized(entry.title) in more.button.accessibleName() for entry in rare)
    assert not models.cards.cards["vote7"].isVisible()
    models.session.choose_model("vote7")
    assert models.cards.cards["vote7"].isVisible()


def test_a_card_has_a_picture_and_scales_that_are_read_out(models):
    card = models.cards.cards["svm"]
    assert card.findChild(ModelPicture) is not None
    dots = card.findChild(ScaleDots)
    assert dots.accessibleName().startswith("quick: ")
    described = card.button.accessibleDescription()
    assert "readable: 2 of 5" in described
    assert " % of a chessboard of 16 fields)" in described
    assert card.sizeHint().height() >= dots.heightForWidth(300) > 0
    assert dots.heightForWidth(90) > 2 * dots.heightForWidth(2000)


def test_every_model_has_a_picture_in_colours_that_the_themes_replace():
    colours = {LIGHT.muted, *LIGHT.series}
    for name, model in MODELS.items():
        for task in () if name == "auto" else model.known_tasks:
            picture = f"{name}-{picture_kind(task)}"
            assert has_picture(picture)
            drawn = (model_pictures.FOLDER / f"{picture}.svg").read_text(encoding="utf-8")
            assert set(re.findall(r'"(#[^"]+)"', drawn)) <= colours
            assert not task.is_table or len(model_scales(name, task, model.complexity)) == 3


def test_an_arrow_key_or_a_click_anywhere_on_a_card_chooses_one(models, qtbot):
    models.activateWindow()
    first, second = list(models.cards.cards.values())[:2]
    first.button.setFocus()
    qtbot.keyClick(first.button, Qt.Key.Key_Down)
    assert models.session.plan.model == second.choice.key
    qtbot.mouseClick(models.cards.cards["svm"], Qt.MouseButton.LeftButton)
    assert models.session.plan.model == "svm"
    assert models.cards.cards["svm"].property("chosen")
    assert not models.cards.cards["logistic"].property("chosen")


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
    assert strategies.ways.currentText() == "My own groups"


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
    power = "With 60 test rows, only gains above some 13 points can be shown."
    assert power not in strategies.words[1]
    estimated(strategies, "about 3 minutes, 50 trials", 180.0, 50, power=power)
    assert strategies.budget.estimate.text() == "About 3 minutes, 50 trials."
    assert power in strategies.words[1]
    assert strategies.primary.isEnabled()
    estimated(strategies, "5 folds need 5 rows a class.", unusable=True)
    assert not strategies.primary.isEnabled()
    assert strategies.primary.toolTip() == "5 folds need 5 rows a class."
    # A file's or column's name keeps its letters.
    sentence = "birds.csv, column notes: the target is text with 90 different values."
    estimated(strategies, sentence, unusable=True)
    assert strategies.budget.estimate.text() == sentence


def test_start_begins_the_run_and_leads_on(strategies, qtbot):
    with qtbot.waitSignal(strategies.step_wanted) as wanted:
        strategies.primary.click()
    assert wanted.args == ["tune"]
    assert strategies.session.state == "running"
    assert not strategies.primary.isEnabled()


def test_advanced_is_folded_until_opened_and_its_options_go_into_the_plan(strategies, with_data):
    assert not strategies.advanced.section.content.isVisible()
    strategies.advanced.section.button.click()
    assert strategies.advanced.section.content.isVisible()
    assert settings.stored_flag("folds/advanced")
    assert StrategyPage(with_data).advanced.section.is_open
    controls = strategies.advanced.run_form.controls
    entered = {"folds": 7, "seed": 42, "workers": 2, "time_limit": 1.5}
    for name, value in entered.items():
        controls[name].setValue(value)
    controls["metric"].setCurrentIndex(controls["metric"].findData("auc"))
    controls["standardize"].setChecked(False)
    plan = strategies.session.plan
    assert {name: getattr(plan, name) for name in entered} == entered
    assert (plan.metric, plan.standardize) == ("auc", False)


def test_the_values_of_a_grid_are_shown_before_the_start(strategies):
    session, card = strategies.session, strategies.values
    session.choose_strategy("grid")
    assert not card.isVisible()
    values = {"C": [0.01, 1.0], "Kernel": ["a", "b"]}
    estimated(strategies, "about 1 minute, 2 trials", 60.0, 2, settings=4, values=values)
    assert card.isVisible()
    assert card.accessibleName() == "Values that will be tried"
    assert "4 settings. 2 of them" in card.accessibleDescription()
    cells = [
        [card.table.itemAtPosition(row, at).widget().text().split() for at in (0, 1)]
        for row in (0, 1)
    ]
    assert cells == [[["C"], ["0.01", "1"]], [["Kernel"], ["a", "b"]]]
    session.set_plan(trials=10)  # the next estimate is on its way
    assert card.isVisible()
    session.choose_strategy("gp")
    assert not card.isVisible()


def test_every_choice_of_every_strategy_has_words_that_name_it():
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
def test_small_numbers_can_be_typed_and_stepped_by_their_size(look, qtbot, typed, value):
    box = QuietDoubleSpinBox()
    qtbot.addWidget(box)
    box.setDecimals(12)
    box.setRange(0, 1e12)
    box.lineEdit().selectAll()
    qtbot.keyClicks(box.lineEdit(), typed)
    qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Return)
    assert box.value() == pytest.approx(value)
    assert box.valueFromText(box.textFromValue(value)) == pytest.approx(value)
    box.setValue(0.005)
    box.stepBy(1)
    assert box.value() == pytest.approx(0.006)


def test_cards_of_strategies_that_use_the_history_say_what_it_holds(strategies, clinic):
    session = strategies.session
    entries = clinic[1]["strategies"]["logistic"]
    using = {entry["name"] for entry in entries if entry["uses_history"]}
    assert "transfer" in using
    strategies.activateWindow()
    strategies.cards.cards["transfer"].button.setFocus()
    session.history_summary = HistorySummary(HistoryCounts(34, 6, 20))
    session.history_summary_changed.emit()
    assert strategies.cards.cards["transfer"].button.hasFocus()  # the keyboard stays where it is
    said = matching_counts_text(HistoryCounts(34, 6, 20))
    cards = strategies.cards.cards.items()
    assert {name for name, card in cards if said in card.choice.paragraphs} == using
    session.choose_strategy("transfer")
    assert said in strategies.words[1]


def test_the_first_card_says_what_is_tried(models):
    card = models.cards.cards["auto"]
    assert card.choice.recommended
    assert card.button.isChecked()
    said = card.button.accessibleDescription()
    entry = models.session.advice["models"][0]
    assert f"Tries {len(entry['tries'])} models in the minutes you give" in said
    assert "It tries logistic regression, " in said
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
    minutes, session = several.budget.minutes, several.session
    assert minutes.value() == several.chosen_entry()["default_minutes"] == 1.0
    assert minutes.text() == "1 minute"
    assert several.budget.trials.text() == "no limit"
    assert session.plan.minutes is None
    minutes.setValue(3)
    assert session.plan.minutes == 3
    assert minutes.text() == "3 minutes"
    minutes.setValue(0)
    several.budget.trials.setValue(40)
    assert minutes.text() == "no limit"
    assert (session.plan.minutes, session.plan.trials) == (None, 40)
    controls = several.advanced.strategy_form.controls
    assert list(controls) == ["search", "average", "judged", "repeats"]
    said = " ".join(several.words[1])
    assert "A trial that falls clearly behind is ended early." in said
    assert "averaged where that predicts better" in said
    assert "one model in ten" not in said
    session.set_option("average", False)
    assert "averaged" not in " ".join(several.words[1])


# What mistakes cost -------------------------------------------------------------------------------

REASON = "Only 4 % of the training rows are “sick”: …. The score is log loss instead."


def test_two_numbers_become_the_costs_of_the_plan(several):
    session, mistakes = several.session, several.mistakes
    first, second = (entry["label"] for entry in session.summary["classes"])
    assert mistakes.isVisible()
    assert session.plan.costs == {}
    control = mistakes.controls[second]
    assert control.accessibleName() == f"Calling “{second}” rows “{first}” costs"
    control.setValue(5.0)
    assert session.plan.costs == {first: 1.0, second: 5.0}
    assert "training rows alone" in mistakes.threshold_note.text()
    control.setValue(1.0)  # both the same again: no threshold is needed
    assert session.plan.costs == {}
    session.set_plan(costs={first: 3.0})
    assert [c.value() for c in mistakes.controls.values()] == [3.0, 1.0]
    for control in mistakes.controls.values():
        control.setValue(0)
    assert session.plan.costs == {first: 0.0, second: 0.0}  # which the worker refuses in words
    session.summary = replace(session.summary, task=Task.REGRESSION)
    several.refresh()
    assert not mistakes.isVisible()


def test_costs_belong_to_the_classes_of_their_target(with_data):
    first = with_data.summary["classes"][0]["label"]
    before = with_data.plan.changed(costs={first: 2.0})
    for change, costs in (({"test_size": 0.2}, {first: 2.0}), ({"target": "ward"}, {})):
        assert plan_for(replace(before.data, **change), with_data.advice, before).costs == costs


def test_the_score_that_is_recommended_is_named_with_its_reason(several):
    estimated(several, "about 1 second", 1.0, metric="log_loss", metric_reason=REASON)
    score = several.advanced.run_form.controls["metric"]
    assert score.currentText() == "The recommended one: Log loss"
    assert REASON in several.words[1]
    several.session.set_plan(metric="auc")
    assert score.currentText() == "Area under the ROC curve"


def test_the_results_say_what_mistakes_cost_and_why_the_score_is_this_one():
    sums = ("value", "theoretical", "cost", "theoretical_cost", "half_cost")
    costs = {
        "costs": {"healthy": 1.0, "sick": 30.0}, "of": "sick", "threshold": 0.019,
        "theoretical": 1 / 31, "out_of_fold": {**dict.fromkeys(sums, 0.5), "rows": 1050},
        "rows": 450, "tuned": {"mistakes": {"healthy": 90, "sick": 2}, "cost": 0.333},
        "half": {"mistakes": {"healthy": 4, "sick": 14}, "cost": 0.942},
        "baseline": {"mistakes": {"healthy": 428, "sick": 0}, "cost": 0.951, "says": "sick"},
    }  # fmt: skip
    gain = {"metric": "log_loss", "difference": 0.0, "low": -0.1, "high": 0.1, "real": False}
    results = {
        "metric": "log_loss", "test": {"log_loss": 0.1}, "default_test": {"log_loss": 0.1},
        "rows": 450, "gain": gain, "costs": costs, "metric_reason": REASON,
    }  # fmt: skip
    started = RunStarted(kind="penalties", dataset=DatasetFacts(test_rows=450))
    said = fact_sentences(read_as(Results, results), started)
    text = " ".join(said)
    assert "2 “sick” are called “healthy” and 90 “healthy” are called “sick”" in text
    assert "from a probability of 0.019 on" in text
    assert REASON in said


# Averages of models -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "judged", "told"),
    [
        ("eb-hyp", "", ("fits the model 5 times", "one model in ten is averaged, two of 20")),
        ("eb-hyp", "validation", ("fits the model once", "four fifths of the training rows")),
        ("eb-hyp", "training", ("fits the model once", "on all training data")),
        ("gp", "", ("fits the model 5 times",)),
    ],
)
def test_what_a_trial_costs_follows_what_judges_it(several, strategy, judged, told):
    session = several.session
    session.choose_model("svm")
    session.choose_strategy(strategy)
    if judged:
        session.set_option("judged", judged)
    said = " ".join(several.words[1])
    assert all(words in said for words in told)
    assert ("averaged" in said) == (strategy == "eb-hyp")
    of_averages = {"rule", "temperature", "weights", "judged"}
    assert bool(of_averages & set(several.advanced.strategy_form.controls)) == ("averaged" in said)
