"""What is remembered between starts: choices of a plan, and where trials run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_folders import put_loop, put_other_kind, put_pipe, put_terabyte
from PySide6.QtCore import QSettings

from app.dialogs.settings_dialog import ExecutionSettings
from app.pages.data.data_page import DataPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences, remembered_choices
from app.preferences import preferences as settings
from app.session.data_undo_stack import plan_for, with_model, with_strategy
from app.session.session import chosen_cluster
from app.worker.engine import check_cluster
from app.worker.messages import Cluster, ClusterChecked
from core.tuning.plan import DataPlan, Plan

DATA = DataPlan("sample:clinic")


@pytest.fixture
def page(with_data, show):
    with_data.choose_model("logistic")
    made = show(StrategyPage(with_data))
    made.session.choose_strategy("hybrid")
    return made


def _fresh(clinic, strategy):
    """The plan that somebody gets who opens other data and takes this strategy."""
    plan = with_model(plan_for(DATA, clinic[1], None), "logistic", clinic[1])
    return with_strategy(plan, strategy, clinic[1])


def test_options_trials_and_minutes_are_offered_again_but_not_score_and_seed(page, clinic):
    assert _fresh(clinic, "hybrid").options == {}
    page.advanced.strategy_form.controls["tau"].setValue(0.5)
    kernel = page.advanced.strategy_form.controls["kernel"]
    kernel.setCurrentIndex(kernel.findData("se"))
    page.budget.minutes.setValue(3)
    page.budget.trials.setValue(25)
    for name, value in (("workers", 2), ("seed", 42), ("folds", 7)):
        page.advanced.run_form.controls[name].setValue(value)
    plan = _fresh(clinic, "hybrid")
    assert plan.options == {"tau": 0.5, "kernel": "se"}
    assert (plan.minutes, plan.trials, plan.workers) == (3, 25, 2)
    assert (plan.seed, plan.folds) == (0, 7)
    settings.forget_all()
    assert _fresh(clinic, "hybrid").minutes is None


def test_each_strategy_has_options_of_its_own(page, clinic):
    page.advanced.strategy_form.controls["tau"].setValue(0.5)
    page.budget.trials.setValue(25)
    other = _fresh(clinic, "random")
    assert (other.options, other.trials) == ({}, None)
    page.session.choose_strategy("random")
    page.session.choose_strategy("hybrid")
    assert page.session.plan.options == {"tau": 0.5}
    assert page.budget.trials.value() == 25


def test_back_to_the_usual_values(page, clinic):
    advanced = page.advanced
    tau = advanced.strategy_form.controls["tau"]
    advanced.section.button.click()
    assert not advanced.usual.isEnabled()
    for value, differs in ((0.5, True), (0.8, False), (0.5, True)):
        tau.setValue(value)
        assert advanced._differs.isVisible() is differs
    page.budget.minutes.setValue(3)
    advanced.usual.click()
    assert tau.value() == pytest.approx(0.8)
    assert page.session.plan.minutes is None
    assert not advanced.usual.isEnabled()
    plan = _fresh(clinic, "hybrid")
    assert (plan.options, plan.minutes, plan.strategy) == ({}, None, "hybrid")


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


@pytest.mark.parametrize("put", [put_pipe, put_loop, put_terabyte, put_other_kind])
@pytest.mark.parametrize("name", ["settings.ini", "settings.ini.lock"])
def test_what_is_no_file_of_settings_is_left_alone_and_named(tmp_path, put, name):
    put(tmp_path / name)
    before = (tmp_path / name).lstat()
    settings.use_file(tmp_path / "settings.ini")
    assert settings.text_percent() == 100
    settings.remember("look/text_percent", 150)
    settings.settings_store().sync()
    assert settings.text_percent() == 150  # until the window closes
    fault = settings.settings_fault()
    assert fault.startswith(f"{tmp_path / name}: these settings cannot be read (")
    assert "until then the window begins with the defaults" in fault
    assert (tmp_path / name).lstat() == before


def test_the_file_of_settings_is_where_qt_has_it():
    settings.use_file(None)
    ini, user = QSettings.Format.IniFormat, QSettings.Scope.UserScope
    usual_path = QSettings(ini, user, "Tunescope", "tunescope").fileName()
    assert settings.settings_file() == Path(usual_path)


def test_options_that_no_longer_exist_or_fit_are_left_out(clinic):
    options = {"tau": 7.0, "kernel": "se", "gone": 1}
    remembered_choices.remember_plan(Plan(DATA, "svm", "hybrid", options=options))
    assert _fresh(clinic, "hybrid").options == {"kernel": "se"}


def test_the_share_for_the_test_is_offered_again(with_data, show):
    page = show(DataPage(with_data))
    page.question.spin.setValue(20)
    page.session.open_sample("iris")
    assert with_data.worker.data_wanted == DataPlan("sample:iris", test_size=0.2)


# Where trials run -----------------------------------------------------------------------------


@pytest.fixture
def where(qtbot):
    made = ExecutionSettings()
    qtbot.addWidget(made)
    return made


def choose(where, place):
    where.box.setCurrentIndex(where.box.findData(place))


def test_trials_run_here_unless_something_else_was_chosen(where):
    assert chosen_cluster() is None
    assert where.scheduler.isHidden()
    assert "nothing is sent" in where.hint.text()
    choose(where, preferences.LOCAL)
    assert chosen_cluster() == Cluster("local")
    assert where.scheduler.isHidden()
    # An answer is waited for and shown.
    wanted = []
    where.attempt_wanted.connect(lambda: wanted.append(where.answer.text()))
    where.button.click()
    assert wanted == ["Waiting for an answer …"]
    where.show_answer(ClusterChecked("It answers.", "Nothing protects it."))
    assert where.answer.text() == "It answers. Nothing protects it."


def test_a_scheduler_and_its_certificates(where):
    choose(where, preferences.SCHEDULER)
    assert not where.scheduler.isHidden()
    assert "training rows are sent" in where.hint.text()
    entered = (" tls://n:1 ", "a.pem", "b.pem", "c.pem")
    for name, text in zip(preferences.CLUSTER_FIELDS, entered, strict=True):
        where.fields[name].setText(text)
        where.fields[name].textEdited.emit(text)
    assert chosen_cluster() == Cluster("tls://n:1", "a.pem", "b.pem", "c.pem")
    where.fields["address"].clear()
    where.show_choice()
    assert where.fields["address"].text() == "tls://n:1"


def test_an_address_that_is_none_is_one_sentence():
    found = check_cluster(Cluster("nowhere"))
    assert not found.fine
    assert found.sentence.startswith("option cluster: “nowhere” is no address")
