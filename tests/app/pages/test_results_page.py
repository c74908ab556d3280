"""The Results page: words, pictures, tables, the selected model, ranges that were too narrow."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QLabel
from shiboken6 import isValid

from app.pages import results_page
from app.pages.results_page import DETAILS, TABS, ResultsPage
from app.pages.shared_cards import RangeEdgeNotice
from app.pages.tune_page import TunePage
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    ModelSelected,
    PenaltyStep,
    RunFinished,
    RunStarted,
    TrialFinished,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.answer import Answer
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder

RESULTS = read_as(Results, {
    "setting": {"C": 3.0}, "default_setting": {"C": 1.0}, "groups": {}, "switched_off": [],
    "metric": "accuracy", "maximize": True, "validation": {"accuracy": 0.889},
    "test": {"accuracy": 0.877, "auc": 0.93}, "default_test": {"accuracy": 0.84, "auc": 0.9},
    "test_interval": [0.8, 0.94], "default_interval": [0.75, 0.9],
    "gain": {"metric": "accuracy", "difference": 0.037, "low": 0.004, "high": 0.07, "real": True},
    "optimism": 0.012, "right": {"tuned": 71, "default": 68, "rows": 81},
    "confusion": {"labels": ["no", "yes"], "tuned": [[40, 5], [5, 31]],
                  "default": [[38, 7], [6, 30]]},
    "calibration": None, "remarks": [], "fits": 200, "trials": 40, "failed": 0, "seconds": 16.0,
    "stopped_because": "the budget was spent", "seed": 0,
})  # fmt: skip
SPACE = [Axis("C", "Cost of a wrong row", "float", 0.1, 10.0, log=True)]


def ended(results=RESULTS, kind="trials", steps=(), groups=()):
    plan = Plan(DataPlan("x.csv"), "svm", "gp").as_dict()
    started = RunStarted(plan=plan, kind=kind, space=SPACE if kind == "trials" else [],
                         groups=dict.fromkeys(groups, 2),
                         dataset=DatasetFacts(test_rows=81, fingerprint="f"))  # fmt: skip
    return [started, *steps, RunFinished(because="done", results=results)]


@pytest.fixture
def page(still, show):
    return show(ResultsPage(still), 900, 700)


def shown(page):
    """The titles of the cards of all tabs; the page is left at its first one."""
    titles = []
    for tab in TABS if page.tabs.isVisible() else ():
        page.show_tab(tab)
        titles += [card.accessibleName() for card in page._cards if card.isVisible()]
    if titles:
        page.show_tab(TABS[0])
    return titles


def test_a_page_that_ends_takes_along_the_views_that_its_run_does_not_want(still, qapp):
    made = ResultsPage(still)
    still._show_run(ended(), None)
    made.visited()
    views = [weakref.ref(card) for card in made._cards]
    made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    del made
    gc.collect()
    assert [view() for view in views if view() is not None and isValid(view())] == []


def test_a_page_that_is_visited_while_it_is_made_is_whole(still, show):
    made = ResultsPage(still)
    steps = made.steps()
    started = [next(steps) for _ in range(3)]
    still._show_run(ended(), None)
    made.visited()
    assert next(steps, None) is None
    assert set(started) < set(made._cards)
    assert all(made.isAncestorOf(card) for card in started)
    assert "What did tuning change?" in shown(show(made, 900, 700))


@pytest.mark.parametrize(
    ("step", "label", "page_name"),
    [("leak", "See the columns", "data"), ("rows", "Open more rows", "data"), ("export", "", "")],
)
def test_what_comes_next_has_its_button(page, still, qtbot, monkeypatch, step, label, page_name):
    answer = Answer("Right for all.", "Neither better nor worse.", "Next.", step, is_gain=True)
    monkeypatch.setattr(results_page, "answer_of", lambda *arguments: answer)
    still._show_run(ended(), None)
    assert page.step_button.isVisible() == bool(label)
    assert page.step_button.text() == label
    if label:
        with qtbot.waitSignal(page.step_wanted) as wanted:
            page.step_button.click()
        assert wanted.args == [page_name]


def test_results_are_a_headline_pictures_and_plain_words(page, still, tmp_path, qtbot):
    still._runs_root = tmp_path
    assert page._nothing.isVisible()  # none are there yet
    assert not page.primary.isEnabled()
    assert shown(page) == []
    still._show_run(ended(), None)
    assert page.title.startswith("Right for 88 of 100 new rows")
    assert shown(page) == [
        "Was tuning worth it?",
        "What did tuning change?",
        "Where is it wrong?",
        "The whole result in words",
        "How good is it by other measures?",
    ]
    first_words = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    assert len(" ".join(first_words).split()) < 120
    assert sum(len(sentence.split()) for sentence in page.words[1]) <= 60
    page.show_tab(DETAILS)
    assert "the tuned model is right on 71" in page.facts._label.text()
    qtbot.waitUntil(lambda: page.facts.height() == page.facts.heightForWidth(page.facts.width()))
    wanted = []
    page.step_wanted.connect(wanted.append)
    page.primary.click()
    assert wanted == ["export"]
    assert not page.compare_button.isVisible()
    still._show_run([], None)
    assert shown(page) == []
    assert page.title == "Results"


def test_learned_penalties_take_the_place_of_the_setting(page, still, qtbot):
    def show_penalties(**groups):
        steps = [PenaltyStep(step=n, objective=9.0 - n, penalties=groups) for n in range(3)]
        results = replace(RESULTS, setting={}, groups=groups, optimism=None)
        still._show_run(ended(results, "penalties", steps, groups=groups), None)
        return shown(page)

    cards = show_penalties(a=3.0, b=7.4)
    assert "Learned group penalties" in cards
    assert "What did tuning change?" not in cards
    assert len(page.penalties.record.run.steps) == 3
    # A single penalty is a line of a table and no bar.
    cards = show_penalties(all=5.0)
    assert "Learned group penalties" not in cards
    assert "Which penalty was learned?" in cards
    table = page.setting.table
    assert table.accessibleDescription() == "Penalty on large weights (λ), 5, 5"
    qtbot.waitUntil(lambda: table.height() < 110)  # as high as its one row, not a quarter page


def test_runs_of_the_same_data_are_wanted_side_by_side(page, still, tmp_path, qtbot):
    still._runs_root = tmp_path
    folders = []
    for score, strategy in ((0.8, "random"), (0.9, "gp")):
        folder = RunFolder.create(Plan(DataPlan("x.csv"), "svm", strategy), root=tmp_path)
        for event in ended(replace(RESULTS, test={"accuracy": score})):
            folder.append(event)
        folder.close()
        folders.append(folder.path)
    still._show_run(ended(), folders[0])
    still.runs.reload()
    qtbot.waitUntil(page.compare_button.isVisible)
    with qtbot.waitSignal(page.comparison_wanted) as wanted:
        page.compare_button.click()
    assert wanted.args == [[str(folder) for folder in folders]]


def test_a_hidden_page_shows_the_run_when_it_is_shown(page, still):
    page.hide()
    still._show_run(ended(), None)
    still._show_run([], None)
    still._show_run(ended(), None)
    assert not page._wanted  # nothing was drawn for nobody
    page.show()
    assert shown(page)
    assert not page._nothing.isVisible()


@pytest.fixture
def page_of_several(still, show, race, tmp_path):
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "auto", "race"), root=tmp_path)
    folder.close()
    still._show_run(list(race.run()), folder.path)
    return show(ResultsPage(still), 900, 900)


def cells(card, rows, columns):
    model = card.table.model()
    return [[model.index(row, at).data() for at in range(columns)] for row in range(rows)]


def test_the_one_that_was_taken_is_marked_and_a_click_takes_another(page_of_several, still, qtbot):
    buttons = page_of_several.candidates.buttons
    assert list(buttons) == ["best", "simplest", "default"]
    assert buttons["best"].isChecked()
    told = buttons["best"].accessibleDescription()
    assert told.startswith("the run’s choice Accuracy: 80.0\u00a0% in validation")
    assert "95\u00a0% confidence interval" in told
    assert page_of_several.candidates.accessibleName() == "Which model do you want?"
    # The settings stand under the words of their own models.
    assert cells(page_of_several.setting, 4, 3) == [
        ["Model", "Support vector machine", "Logistic regression"],
        ["Cost of a wrong row (C)", "10", "–"],
        ["Detail of the boundary (gamma)", "0.01", "–"],
        ["Trust in the data (C)", "–", "1"],
    ]
    before = len(still.worker.asked)
    buttons["best"].click()
    assert len(still.worker.asked) == before  # it is the taken one
    buttons["simplest"].click()
    asked = still.worker.asked[-1]
    assert asked.pick == ModelSelected(kind="simplest")
    assert asked.folder == str(still.run_folder)
    assert still.state == "stopping"
    assert not buttons["simplest"].isEnabled()


def test_new_results_move_the_mark_and_list_the_members(page_of_several, still, race):
    after = race.results(taken="simplest", tested=False)
    events = [*race.run(), ModelSelected(kind="simplest"), RunFinished(results=after)]
    still._show_run(events, still.run_folder)
    buttons = page_of_several.candidates.buttons
    assert buttons["simplest"].isChecked()
    assert "the run’s choice" in buttons["best"].accessibleDescription()  # stays named
    settings = [one["setting"] for one in race.results()["candidates"][:2]]
    ensemble = {
        "members": [4, 3], "weights": [0.6, 0.4], "scores": [0.8, 0.75], "settings": settings,
        "effective": 1.9, "kind": "greedy", "held_out": {}, "single_held_out": {}, "left_out": [],
    }  # fmt: skip
    results = race.results(taken="average", ensemble=ensemble)
    still._show_run([race.begun(), RunFinished(results=results)], still.run_folder)
    svm = ["4", "60\u00a0%", "80.0\u00a0%", "Support vector machine", "C = 10, gamma = 0.01"]
    first, second, default = cells(page_of_several.members, 3, 5)
    assert (first, second[3]) == (svm, "Logistic regression")
    assert default == ["default", "–", "–", "Logistic regression", "C = 1"]


# The best lies at the edge of its range -------------------------------------------------------


C = Axis("C", "Cost of a wrong row", "float", 0.01, 1000, log=True, default=1.0)
GAMMA = Axis("gamma", "Reach of a row", "float", 0.001, 10, log=True, default=0.1)
PLAN = Plan(DataPlan("sample:clinic"), "svm", "random", trials=6, fixed={"shrinking": True})


def events(best, ended=True):
    yield RunStarted(plan=PLAN.as_dict(), total=6, space=[C, GAMMA])
    for n in range(6):
        last = n == 5
        setting = best if last else {"C": 1.0 + n, "gamma": 0.1}
        yield TrialFinished(number=n, setting=setting, score=0.9 if last else 0.5)
    if ended:
        yield RunFinished(because="done", results=Results())


def show_run(session, best, ended=True):
    session._show_run(list(events(best, ended)), None)


@pytest.fixture
def line(with_data, qtbot):
    made = RangeEdgeNotice(with_data)
    qtbot.addWidget(made)
    return made


EDGE = {"C": 1000.0, "gamma": 0.1}


def said(line, best=EDGE):
    show_run(line.session, best)
    line.show_run(line.session.shown.state)
    return line.words.text() if not line.isHidden() else ""


def test_it_names_the_setting_and_the_button_widens_its_range_in_the_plan(line):
    assert said(line, {"C": 30.0, "gamma": 0.1}) == ""  # in the middle of its range
    assert said(line) == "The best C lies at the edge of its range: widen it."
    assert line.button.text() == "Widen it"
    wanted = []
    line.widened.connect(lambda: wanted.append(True))
    line.button.click()
    plan = line.session.plan
    assert (plan.model, plan.strategy) == ("svm", "random")
    assert plan.ranges == {"C": [0.01, 50000.0]}
    assert plan.fixed == {"shrinking": True}
    assert wanted == [True]
    assert "So does one other setting" in said(line, {"C": 0.01, "gamma": 10.0})
    assert line.button.text() == "Widen them"
    line.button.click()
    assert set(line.session.plan.ranges) == {"C", "gamma"}
    assert line.session.plan.ranges["C"][0] < 0.01
    assert line.session.plan.ranges["gamma"][1] > 10
    # Nothing is said while the run goes on.
    show_run(line.session, EDGE)
    line.session.state = "running"
    line.show_run(line.session.shown.state)
    assert line.isHidden()


def test_a_click_before_the_data_are_open_again_is_no_crash(line):
    said(line)
    plan, other = line.session.plan, DataPlan("other.csv")
    for closed in (None, plan.changed(data=other)):
        line.session.plan = closed
        line.session.plan_changed.emit()
        assert not line.button.isEnabled()
        assert line.button.accessibleDescription() == "The data of this run are not open."
        line.session.widen_ranges({"C": (1.0, 2.0)})
        assert line.session.plan is closed
    line.session.plan = plan
    line.session.plan_changed.emit()
    assert line.button.isEnabled()


@pytest.mark.parametrize("kind", [TunePage, ResultsPage])
def test_both_pages_say_it_and_lead_to_the_strategy(with_data, show, kind):
    page = show(kind(with_data), 900, 700)
    steps = []
    page.step_wanted.connect(steps.append)
    assert not page.edge_notice.isVisible()
    show_run(with_data, EDGE, ended=kind is TunePage)
    assert page.edge_notice.isVisible()
    page.edge_notice.button.click()
    assert steps == ["strategy"]
    assert with_data.plan.ranges == {"C": [0.01, 50000.0]}
