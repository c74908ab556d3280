import pytest

from app.pages.data.data_page import DataPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences as settings
from app.preferences import remembered_choices
from app.session.data_undo_stack import plan_for, with_model, with_strategy
from core.tuning.plan import DataPlan, Plan

DATA = DataPlan("sample:clinic")


@pytest.fixture
def page(with_data, qtbot):
    with_data.choose_model("logistic")
    made = StrategyPage(with_data)
    qtbot.addWidget(made)
    made.show()
    made.session.choose_strategy("hybrid")
    return made


def _fresh(clinic, strategy):
    """The plan that somebody gets who opens other data and takes this strategy."""
    plan = with_model(plan_for(DATA, clinic[1], None), "logistic", clinic[1])
    return with_strategy(plan, strategy, clinic[1])


def test_options_trials_and_minutes_are_offered_again(page, clinic):
    assert _fresh(clinic, "hybrid").options == {}
    page.advanced.strategy_form.controls["tau"].setValue(0.5)
    kernel = page.advanced.strategy_form.controls["kernel"]
    kernel.setCurrentIndex(kernel.findData("se"))
    page.budget.minutes.setValue(3)
    page.budget.trials.setValue(25)
    page.advanced.run_form.controls["workers"].setValue(2)
    plan = _fresh(clinic, "hybrid")
    assert plan.options == {"tau": 0.5, "kernel": "se"}
    assert (plan.minutes, plan.trials, plan.workers) == (3, 25, 2)


def test_each_strategy_has_options_of_its_own(page, clinic):
    page.advanced.strategy_form.controls["tau"].setValue(0.5)
    page.budget.trials.setValue(25)
    other = _fresh(clinic, "random")
    assert (other.options, other.trials) == ({}, None)
    page.session.choose_strategy("random")
    page.session.choose_strategy("hybrid")
    assert page.session.plan.options == {"tau": 0.5}
    assert page.budget.trials.value() == 25


def test_score_and_seed_are_of_one_run(page, clinic):
    page.advanced.run_form.controls["seed"].setValue(42)
    page.advanced.run_form.controls["folds"].setValue(7)
    plan = _fresh(clinic, "hybrid")
    assert (plan.seed, plan.folds) == (0, 7)


def test_back_to_the_usual_values(page, clinic):
    advanced = page.advanced
    advanced.section.button.click()
    assert not advanced.usual.isEnabled()
    assert not advanced._differs.isVisible()
    advanced.strategy_form.controls["tau"].setValue(0.5)
    page.budget.minutes.setValue(3)
    assert advanced._differs.isVisible()
    advanced.usual.click()
    assert advanced.strategy_form.controls["tau"].value() == pytest.approx(0.8)
    assert page.session.plan.minutes is None
    assert not advanced.usual.isEnabled()
    plan = _fresh(clinic, "hybrid")
    assert (plan.options, plan.minutes, plan.strategy) == ({}, None, "hybrid")


def test_an_option_set_to_its_default_is_usual(page):
    page.advanced.strategy_form.controls["tau"].setValue(0.5)
    page.advanced.strategy_form.controls["tau"].setValue(0.8)
    assert not page.advanced._differs.isVisible()


def test_a_plan_on_the_way_stays_as_it_is(page, clinic):
    page.budget.minutes.setValue(3)
    before = page.session.plan.changed(minutes=None)
    assert plan_for(DATA, clinic[1], before) == before.changed(data=DATA)


@pytest.mark.parametrize("spoilt", ["", "{", "[1]", '{"options": 3, "trials": -1, "folds": "x"}'])
def test_spoilt_settings_count_as_forgotten(clinic, spoilt):
    for key in ("choices/hybrid", "choices/every strategy"):
        settings.remember(key, spoilt)
    plan = _fresh(clinic, "hybrid")
    assert plan == Plan(DATA, plan.model, "hybrid", groups=plan.groups)


def test_options_that_no_longer_exist_or_fit_are_left_out(clinic):
    options = {"tau": 7.0, "kernel": "se", "gone": 1}
    remembered_choices.remember_plan(Plan(DATA, "svm", "hybrid", options=options))
    assert _fresh(clinic, "hybrid").options == {"kernel": "se"}


def test_the_share_for_the_test_is_offered_again(with_data, qtbot):
    page = DataPage(with_data)
    qtbot.addWidget(page)
    page.question.spin.setValue(20)
    page.session.open_sample("iris")
    assert with_data.worker.asked[-1].data == DataPlan("sample:iris", test_size=0.2)


def test_forgetting_choices_forgets_these_too(page, clinic):
    page.budget.minutes.setValue(3)
    settings.forget_all()
    assert _fresh(clinic, "hybrid").minutes is None
