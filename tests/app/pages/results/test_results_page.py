from __future__ import annotations

import gc
import math
import weakref
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from shiboken6 import isValid

from app.pages.results.results_page import ResultsPage
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import PenaltyStep, RunFinished, RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results

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


def test_without_results_it_says_when_they_come(page):
    assert page._nothing.isVisible()
    assert not page.primary.isEnabled()
    assert shown(page) == []


def test_results_are_a_headline_pictures_and_plain_words(page, still):
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


def test_learned_penalties_take_the_place_of_the_setting(page, still):
    steps = [PenaltyStep(step=n, objective=9.0 - n, penalties={"a": 1.0 + n, "b": math.exp(n)})
             for n in range(3)]  # fmt: skip
    results = replace(RESULTS, setting={}, groups={"a": 3.0, "b": 7.4}, optimism=None)
    still._show_run(ended(results, "penalties", steps, groups=("a", "b")), None)
    assert "Learned group penalties" in shown(page)
    assert "What did tuning change?" not in shown(page)
    assert len(page.penalties.record.run.steps) == 3


def test_another_run_takes_the_results_away(page, still):
    still._show_run(ended(), None)
    still._show_run([], None)
    assert shown(page) == []
    assert page.title == "Results"


def test_runs_of_the_same_data_are_wanted_side_by_side(page, still, tmp_path, qtbot):
    from core.tuning.runs.run_folder import RunFolder

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


def test_a_lone_run_has_nothing_to_be_compared_with(page, still, tmp_path):
    still._runs_root = tmp_path
    still._show_run(ended(), None)
    assert not page.compare_button.isEnabled()
    assert "no other run" in page.compare_button.toolTip()


def test_a_single_penalty_is_a_line_of_a_table_and_no_bar(page, still, qtbot):
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
