"""The Results page: words, pictures and tables, and the model that a person selects."""

from __future__ import annotations

import gc
import math
import weakref
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from shiboken6 import isValid

from app.pages.results_page import ResultsPage
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import DatasetFacts, ModelSelected, PenaltyStep, RunFinished, RunStarted
from core.tuning.plan import DataPlan, Plan
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
def page(still, qtbot):
    made = ResultsPage(still)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def shown(page):
    return [card.accessibleName() for card in page._cards if card.isVisible()]


def test_a_page_that_ends_takes_along_the_views_that_its_run_does_not_want(still, qapp):
    made = ResultsPage(still)
    still._show_run(ended(), None)
    views = [weakref.ref(card) for card in made._cards]
    made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    del made
    gc.collect()
    assert [view() for view in views if view() is not None and isValid(view())] == []


def test_results_are_a_headline_pictures_and_plain_words(page, still, tmp_path):
    still._runs_root = tmp_path
    assert page._nothing.isVisible()  # none are there yet
    assert not page.primary.isEnabled()
    assert shown(page) == []
    still._show_run(ended(), None)
    assert page.title == "Tuning gained 3.7 points, likely real"
    assert shown(page) == [
        "Was tuning worth it?",
        "What did tuning change?",
        "Where is it wrong?",
        "How good is it by other measures?",
    ]
    assert "the tuned model is right on 71" in page.words[1][0]
    wanted = []
    page.step_wanted.connect(wanted.append)
    page.primary.click()
    assert wanted == ["export"]
    assert not page.compare_button.isEnabled()
    assert "no other run" in page.compare_button.toolTip()
    still._show_run([], None)
    assert shown(page) == []
    assert page.title == "Results"


def test_learned_penalties_take_the_place_of_the_setting(page, still, qtbot):
    steps = [PenaltyStep(step=n, objective=9.0 - n, penalties={"a": 1.0 + n, "b": math.exp(n)})
             for n in range(3)]  # fmt: skip
    results = replace(RESULTS, setting={}, groups={"a": 3.0, "b": 7.4}, optimism=None)
    still._show_run(ended(results, "penalties", steps, groups=("a", "b")), None)
    assert "Learned group penalties" in shown(page)
    assert "What did tuning change?" not in shown(page)
    assert len(page.penalties.record.run.steps) == 3
    # A single penalty is a line of a table and no bar.
    steps = [
        PenaltyStep(step=n, objective=9.0 - n, penalties={"all": 1.0 + 2 * n}) for n in range(3)
    ]
    results = replace(RESULTS, setting={}, groups={"all": 5.0}, optimism=None)
    still._show_run(ended(results, "penalties", steps, groups=("all",)), None)
    assert "Learned group penalties" not in shown(page)
    assert "Which penalty was learned?" in shown(page)
    said = page.setting.table.accessibleDescription()
    assert said == "Penalty on large weights (λ), 5, 1"
    table = page.setting.table  # as high as its one row, not a quarter page
    qtbot.waitUntil(lambda: table.height() < 110)


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
    qtbot.waitUntil(page.compare_button.isEnabled)
    with qtbot.waitSignal(page.comparison_wanted) as wanted:
        page.compare_button.click()
    assert wanted.args == [[str(folder) for folder in folders]]


@pytest.fixture
def page_of_several(still, qtbot, race, tmp_path):
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "auto", "race"), root=tmp_path)
    folder.close()
    still._show_run(list(race.run()), folder.path)
    made = ResultsPage(still)
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    return made


def test_the_one_that_was_taken_is_marked(page_of_several):
    cards = page_of_several.candidates.cards.cards
    assert list(cards) == ["best", "simplest", "default"]
    assert cards["best"].button.isChecked()
    assert cards["best"].choice.recommended
    assert "95\u00a0% confidence interval" in cards["best"].button.accessibleDescription()
    # The settings stand under the words of their own models.
    model = page_of_several.setting.table.model()
    rows = [[model.index(row, at).data() for at in range(3)] for row in range(model.rowCount())]
    assert rows == [
        ["Model", "Support vector machine", "Logistic regression"],
        ["Cost of a wrong row (C)", "10", "–"],
        ["Detail of the boundary (gamma)", "0.01", "–"],
        ["Trust in the data (C)", "–", "1"],
    ]


def test_a_click_takes_another_one_and_asks_nothing_for_the_taken_one(
    page_of_several, still, qtbot
):
    before = len(still.worker.asked)
    qtbot.mouseClick(page_of_several.candidates.cards.cards["best"], Qt.MouseButton.LeftButton)
    assert len(still.worker.asked) == before
    qtbot.mouseClick(page_of_several.candidates.cards.cards["simplest"], Qt.MouseButton.LeftButton)
    asked = still.worker.asked[-1]
    assert asked.pick == ModelSelected(kind="simplest")
    assert asked.folder == str(still.run_folder)
    assert still.state == "stopping"
    assert not page_of_several.candidates.isEnabled()


def test_new_results_move_the_mark_and_list_the_members(page_of_several, still, race):
    after = race.results(taken="simplest", tested=False)
    events = [*race.run(), ModelSelected(kind="simplest"), RunFinished(results=after)]
    still._show_run(events, still.run_folder)
    cards = page_of_several.candidates.cards.cards
    assert cards["simplest"].button.isChecked()
    assert cards["best"].choice.recommended  # the run's own choice stays named
    settings = [one["setting"] for one in race.results()["candidates"][:2]]
    ensemble = {
        "members": [4, 3], "weights": [0.6, 0.4], "scores": [0.8, 0.75], "settings": settings,
        "effective": 1.9, "kind": "greedy", "held_out": {}, "single_held_out": {}, "left_out": [],
    }  # fmt: skip
    results = race.results(taken="average", ensemble=ensemble)
    still._show_run([race.begun(), RunFinished(results=results)], still.run_folder)
    model = page_of_several.members.table.model()
    cells = [[model.index(row, at).data() for at in range(5)] for row in range(3)]
    assert cells[0] == [
        "4",
        "60\u00a0%",
        "80.0\u00a0%",
        "Support vector machine",
        "C = 10, gamma = 0.01",
    ]
    assert cells[1][3] == "Logistic regression"
    assert cells[2] == ["default", "–", "–", "Logistic regression", "C = 1"]
