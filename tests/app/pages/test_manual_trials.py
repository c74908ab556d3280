"""A setting that a person enters: the dialog, and the trial that it becomes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.pages.tune_page import ManualTrials, SettingDialog, TunePage
from app.session.shown_run import ShownRun
from app.worker import messages as m
from core.estimators.multi_model import MODEL
from core.space import Axis
from core.tuning.events import RunFinished, RunStarted, SettingRequested, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results

C = Axis("C", "Cost of a wrong row", "float", 0.01, 1000, log=True, default=1.0)
TREES = Axis("trees", "Trees", "int", 10, 500, log=True, default=100)
KERNEL = Axis("kernel", "Kernel", "choice", choices=("rbf", "linear"), default="rbf")
FIXED = Axis("tol", "Tolerance", "float", 0.5, 0.5, default=0.5)
AXES = (C, TREES, KERNEL, FIXED)
BEGINS = {"C": 3.0, "trees": 50, "kernel": "linear", "tol": 0.5}


@pytest.fixture
def dialog(look, qtbot):
    made = SettingDialog(AXES, BEGINS)
    qtbot.addWidget(made)
    made.show()
    return made


def enter(field, text):
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)


def test_it_begins_with_a_setting_and_gives_what_was_entered(dialog):
    assert dialog.fields["C"].text() == "3"
    assert dialog.fields["kernel"].currentText() == "linear"
    assert not dialog.fields["tol"].isEnabled()
    enter(dialog.fields["C"], "0.25")
    enter(dialog.fields["trees"], "77")
    dialog.fields["kernel"].setCurrentIndex(0)
    dialog.try_button.click()
    assert dialog.setting == {"C": 0.25, "trees": 77, "kernel": "rbf", "tol": 0.5}
    assert not dialog.isVisible()


def test_return_tries_and_esc_does_not(dialog):
    QTest.keyClick(dialog.fields["C"], Qt.Key.Key_Return)
    assert dialog.setting == BEGINS
    again = SettingDialog(AXES, BEGINS)
    again.show()
    QTest.keyClick(again.fields["C"], Qt.Key.Key_Escape)
    assert (again.setting, again.isVisible()) == ({}, False)
    again.deleteLater()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("C", "", "C: a number is missing"),
        ("C", "much", "C: “much” is not a number"),
        ("C", "2000", "lies outside of what this run searches, from 0.01 to 1000"),
        ("trees", "20.5", "trees: 20.5 is not a whole number"),
        ("trees", "nan", "trees: nan has no end"),
    ],
)
def test_what_cannot_be_tried_is_said_under_its_field(dialog, name, text, says):
    enter(dialog.fields[name], text)
    dialog.try_button.click()
    assert dialog.isVisible()
    assert dialog.setting == {}
    assert says in dialog.faults[name].text()
    assert [n for n, fault in dialog.faults.items() if fault.isVisible()] == [name]
    enter(dialog.fields[name], "50")
    dialog.try_button.click()
    assert dialog.setting[name] == 50


def accept_soon(value):
    """Enter a value into the dialog that will open, and press its button."""

    def press():
        dialog = QApplication.activeModalWidget()
        dialog.fields["C"].setText(value)
        dialog.try_button.click()

    QTimer.singleShot(50, press)


def run(ended=True, several=False, kind="trials"):
    plan = Plan(DataPlan("x.csv"), "auto" if several else "svm", "race" if several else "random")
    space = [C] if kind == "trials" else []
    if several:
        space = [Axis(MODEL, "Model", "choice", choices=("svm", "forest"))]
    events = [RunStarted(plan=plan.as_dict(), total=9, space=space, kind=kind)]
    events += [TrialFinished(number=n, setting={"C": 1.0 + n}, score=0.1 * n) for n in range(3)]
    return [*events, RunFinished(because="done", results=Results())] if ended else events


def test_it_begins_with_the_best_or_with_the_trial_that_is_selected(still, qtbot, monkeypatch):
    still._replace_run(ShownRun(run(), None))
    by_hand = ManualTrials(still)
    qtbot.addWidget(by_hand.button)
    begun = []
    monkeypatch.setattr(SettingDialog, "exec", lambda self: begun.append(self.fields["C"].text()))
    by_hand.show_run(still.shown.state)
    by_hand.ask_setting()
    by_hand.take_trial(1)
    by_hand.ask_setting()
    by_hand.take_trial(99)  # that is not there
    by_hand.ask_setting()
    assert begun == ["3", "2", "3"]


@pytest.mark.parametrize(
    ("events", "offered"),
    [(run(), True), (run(several=True), False), (run(kind="penalties"), False)],
)
def test_it_is_there_for_runs_that_search_the_settings_of_one_model(still, qtbot, events, offered):
    still._replace_run(ShownRun(events, None))
    page = TunePage(still)
    qtbot.addWidget(page)
    assert page.manual_trials.button.isHidden() is not offered


def test_a_running_and_a_paused_run_are_told_and_it_becomes_a_trial(opened, qtbot):
    page = TunePage(opened)
    qtbot.addWidget(page)
    opened.set_plan(trials=12, options={"trial_seconds": 0.05})
    page.primary.click()
    qtbot.waitUntil(lambda: len(opened.events) > 3, timeout=30_000)
    opened.try_setting({"C": 0.5})
    wanted = lambda: [e.setting for e in opened.events if isinstance(e, SettingRequested)]  # noqa: E731
    qtbot.waitUntil(lambda: wanted() == [{"C": 0.5}], timeout=30_000)
    page.pause_button.click()
    qtbot.waitUntil(lambda: opened.state == "paused", timeout=30_000)
    opened.try_setting({"C": 0.25})
    page.manual_trials.entered.emit()
    assert page.words[1][0].endswith("The setting that you entered is tried then.")
    page.resume_button.click()
    qtbot.waitUntil(lambda: wanted() == [{"C": 0.5}, {"C": 0.25}], timeout=30_000)
    opened.stop()
    qtbot.waitUntil(lambda: opened.state == "finished", timeout=30_000)


def test_a_run_that_ended_goes_on_for_it_alone(still, tmp_path):
    still._replace_run(ShownRun(run(), tmp_path))
    still.try_setting({"C": 7.5})
    asked = [one for one in still.worker.asked if isinstance(one, m.Tune)][-1]
    assert asked.settings == ({"C": 7.5},)
    assert asked.more_trials == 3 - 9  # what was done, and what is wanted beyond that
    assert asked.folder == str(tmp_path)


def test_what_was_not_tried_when_the_worker_died_comes_first_when_the_run_goes_on(still, tmp_path):
    still._replace_run(ShownRun(run(ended=False), tmp_path))
    still.state = "running"
    told = []
    still._requests.send_control = told.append
    still.try_setting({"C": 7.5})
    still.try_setting({"C": 8.5})
    assert [one.setting for one in told] == [{"C": 7.5}, {"C": 8.5}]
    still.shown.add_event(SettingRequested(setting={"C": 7.5}))  # recorded: the folder keeps it
    still.state = "interrupted"
    still.resume()
    asked = [one for one in still.worker.asked if isinstance(one, m.Tune)][-1]
    assert asked.settings == ({"C": 8.5},)
    still.shown.add_event(SettingRequested(setting={"C": 8.5}))
    assert still.shown.wanted == []


def test_the_button_asks_and_tells_the_session(still, qtbot, monkeypatch):
    still._replace_run(ShownRun(run(), None))
    page = TunePage(still)
    qtbot.addWidget(page)
    page.show()
    tried = []
    monkeypatch.setattr(still, "try_setting", tried.append)
    accept_soon("12")
    page.manual_trials.button.click()
    assert tried == [{"C": 12.0}]
