"""What the Strategy page says of averages, of power, and of what mistakes cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.pages.strategy_page import StrategyPage
from app.session.data_undo_stack import plan_for
from core.datasets.task import Task
from core.json_reading import read_as
from core.tuning.events import DatasetFacts, RunStarted
from core.tuning.guidance.guidance_records import RunEstimate
from core.tuning.results.result_facts import fact_sentences
from core.tuning.run_results import Results

REASON = "Only 4 % of the training rows are “sick”: …. The score is log loss instead."


@pytest.fixture
def page(with_data, qtbot):
    made = StrategyPage(with_data)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    return made


def first_and_second(page):
    return [one["label"] for one in page.session.summary["classes"]]


def test_two_numbers_become_the_costs_of_the_plan(page):
    first, second = first_and_second(page)
    assert page.mistakes.isVisible()
    assert page.session.plan.costs == {}
    control = page.mistakes.controls[second]
    assert control.accessibleName() == f"To call a “{second}” row “{first}” costs"
    control.setValue(5.0)
    assert page.session.plan.costs == {first: 1.0, second: 5.0}
    assert "training rows alone" in page.mistakes.threshold_note.text()
    control.setValue(1.0)  # both the same again: no threshold is needed
    assert page.session.plan.costs == {}
    page.session.set_plan(costs={first: 3.0})
    assert [c.value() for c in page.mistakes.controls.values()] == [3.0, 1.0]


def test_both_at_nothing_is_a_plan_that_the_worker_refuses_in_words(page):
    for control in page.mistakes.controls.values():
        control.setValue(0)
    assert set(page.session.plan.costs.values()) == {0.0}


def test_it_is_there_for_two_classes_only(page):
    page.session.summary = replace(page.session.summary, task=Task.REGRESSION)
    page.refresh()
    assert not page.mistakes.isVisible()


def test_the_score_that_is_recommended_is_named_with_its_reason(page):
    page.session.estimate = RunEstimate(
        "about 1 second", 1.0, metric="log_loss", metric_reason=REASON
    )
    page.session.estimate_changed.emit()
    score = page.advanced.run_form.controls["metric"]
    assert score.currentText() == "The recommended one: Log loss"
    assert REASON in page.words[1]
    page.session.set_plan(metric="auc")
    assert score.currentText() == "Area under the ROC curve"


def test_costs_belong_to_the_classes_of_their_target(with_data):
    first, _ = [one["label"] for one in with_data.summary["classes"]]
    before = with_data.plan.changed(costs={first: 2.0})
    same = plan_for(replace(before.data, test_size=0.2), with_data.advice, before)
    assert same.costs == {first: 2.0}
    other = plan_for(replace(before.data, target="ward"), with_data.advice, before)
    assert other.costs == {}


def test_the_results_say_what_mistakes_cost_and_why_the_score_is_this_one():
    way = {"mistakes": {"healthy": 90, "sick": 2}, "cost": 0.333}
    out_of_fold = dict.fromkeys(
        ("value", "theoretical", "cost", "theoretical_cost", "half_cost"), 0.5
    )
    out_of_fold |= {"rows": 1050}
    costs = {
        "costs": {"healthy": 1.0, "sick": 30.0}, "of": "sick", "threshold": 0.019,
        "theoretical": 1 / 31, "out_of_fold": out_of_fold, "rows": 450,
        "tuned": way, "half": {"mistakes": {"healthy": 4, "sick": 14}, "cost": 0.942},
        "baseline": {"mistakes": {"healthy": 428, "sick": 0}, "cost": 0.951, "says": "sick"},
    }  # fmt: skip
    results = {
        "setting": {}, "default_setting": {}, "metric": "log_loss", "validation": {},
        "test": {"log_loss": 0.1}, "default_test": {"log_loss": 0.1}, "groups": {}, "rows": 450,
        "gain": {"metric": "log_loss", "difference": 0.0, "low": -0.1, "high": 0.1, "real": False},
        "trials": 0, "fits": 9, "seconds": 1.0, "costs": costs, "metric_reason": REASON,
    }  # fmt: skip
    said = fact_sentences(
        read_as(Results, results), RunStarted(kind="penalties", dataset=DatasetFacts(test_rows=450))
    )
    text = " ".join(said)
    assert "2 “sick” are called “healthy” and 90 “healthy” are called “sick”" in text
    assert "from a probability of 0.019 on" in text
    assert REASON in said


@pytest.fixture
def averaging_page(with_data, qtbot):
    made = StrategyPage(with_data)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    with_data.choose_model("svm")
    with_data.choose_strategy("eb-hyp")
    return made


def test_an_average_says_what_becomes_of_the_best(averaging_page, with_data):
    said = " ".join(averaging_page.words[1])
    assert "Each trial fits the model 5 times" in said
    assert "one model in ten is averaged, two of 20 trials, four of 40" in said
    with_data.choose_strategy("gp")
    assert "averaged" not in " ".join(averaging_page.words[1])


@pytest.mark.parametrize(
    ("judged", "words"),
    [("validation", "on four fifths of the training rows"), ("training", "on all training data")],
)
def test_what_a_trial_costs_follows_what_judges_it(averaging_page, with_data, judged, words):
    with_data.set_option("judged", judged)
    said = " ".join(averaging_page.words[1])
    assert "Each trial fits the model once" in said
    assert words in said


def test_its_options_stand_in_the_form(averaging_page):
    averaging_page.advanced.section.button.click()
    assert {"rule", "temperature", "weights", "judged"} <= set(
        averaging_page.advanced.strategy_form.controls
    )


def test_the_power_is_told_before_the_start(with_data, qtbot):
    page = StrategyPage(with_data)
    qtbot.addWidget(page)
    power = "With 60 test rows, only gains above some 13 points can be shown."
    assert power not in page.words[1]
    with_data.estimate = RunEstimate("soon", 1.0, power=power)
    with_data.estimate_changed.emit()
    assert power in page.words[1]
