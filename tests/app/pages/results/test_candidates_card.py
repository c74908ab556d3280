"""The models that may be selected: shown with their scores, and selected at a click."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.pages.results.results_page import ResultsPage
from core.tuning.events import ModelSelected, RunFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder


@pytest.fixture
def page(still, qtbot, race, tmp_path):
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "auto", "race"), root=tmp_path)
    folder.close()
    still._show_run(list(race.run()), folder.path)
    made = ResultsPage(still)
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    return made


def test_the_one_that_was_taken_is_marked(page):
    cards = page.candidates.cards.cards
    assert list(cards) == ["best", "simplest", "default"]
    assert cards["best"].button.isChecked()
    assert cards["best"].choice.recommended
    assert "95\u00a0% confidence interval" in cards["best"].button.accessibleDescription()


def test_a_click_takes_another_one(page, still, qtbot):
    qtbot.mouseClick(page.candidates.cards.cards["simplest"], Qt.MouseButton.LeftButton)
    asked = still.worker.asked[-1]
    assert asked.pick == ModelSelected(kind="simplest")
    assert asked.folder == str(still.run_folder)
    assert still.state == "stopping"
    assert not page.candidates.isEnabled()


def test_a_click_on_the_taken_one_asks_nothing(page, still, qtbot):
    before = len(still.worker.asked)
    qtbot.mouseClick(page.candidates.cards.cards["best"], Qt.MouseButton.LeftButton)
    assert len(still.worker.asked) == before


def test_new_results_move_the_mark(page, still, race):
    after = race.results(taken="simplest", tested=False)
    events = [*race.run(), ModelSelected(kind="simplest"), RunFinished(results=after)]
    still._show_run(events, still.run_folder)
    cards = page.candidates.cards.cards
    assert cards["simplest"].button.isChecked()
    assert cards["best"].choice.recommended  # the run's own choice stays named


def test_the_settings_stand_under_the_words_of_their_own_models(page):
    model = page.setting.table.model()
    rows = [[model.index(row, at).data() for at in range(3)] for row in range(model.rowCount())]
    assert rows == [
        ["Model", "Support vector machine", "Logistic regression"],
        ["Cost of a wrong row (C)", "10", "–"],
        ["Detail of the boundary (gamma)", "0.01", "–"],
        ["Trust in the data (C)", "–", "1"],
    ]


def test_members_are_listed_with_their_models(page, still, race):
    settings = [one["setting"] for one in race.results()["candidates"][:2]]
    ensemble = {
        "members": [4, 3], "weights": [0.6, 0.4], "scores": [0.8, 0.75], "settings": settings,
        "effective": 1.9, "kind": "greedy", "held_out": {}, "single_held_out": {}, "left_out": [],
    }  # fmt: skip
    results = race.results(taken="average", ensemble=ensemble)
    still._show_run([race.begun(), RunFinished(results=results)], still.run_folder)
    model = page.members.table.model()
    cells = [[model.index(row, at).data() for at in range(5)] for row in range(3)]
    assert cells[0] == ["4", "60\u00a0%", "0.800", "Support vector machine", "C = 10, gamma = 0.01"]
    assert cells[1][3] == "Logistic regression"
    assert cells[2] == ["default", "–", "–", "Logistic regression", "C = 1"]
