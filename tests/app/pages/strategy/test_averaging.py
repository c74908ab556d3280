from __future__ import annotations

import pytest

from app.pages.strategy.strategy_page import StrategyPage


@pytest.fixture
def page(with_data, qtbot):
    made = StrategyPage(with_data)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    with_data.choose_model("svm")
    with_data.choose_strategy("eb-hyp")
    return made


def test_an_average_says_what_becomes_of_the_best(page, with_data):
    said = " ".join(page.words[1])
    assert "Each trial fits the model 5 times" in said
    assert "one model in ten is averaged, two of 20 trials, four of 40" in said
    with_data.choose_strategy("gp")
    assert "averaged" not in " ".join(page.words[1])


@pytest.mark.parametrize(
    ("judged", "words"),
    [("validation", "on four fifths of the training rows"), ("training", "on all training data")],
)
def test_what_a_trial_costs_follows_what_judges_it(page, with_data, judged, words):
    with_data.set_option("judged", judged)
    said = " ".join(page.words[1])
    assert "Each trial fits the model once" in said
    assert words in said


def test_its_options_stand_in_the_form(page):
    page.advanced.section.button.click()
    assert {"rule", "temperature", "weights", "judged"} <= set(page.advanced.strategy_form.controls)
