"""The models of a run in a table and over time, and one of them looked at alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.views.race_board import MODEL, PICTURE, SEEN, STATE, TRIALS, common_range
from core.figures.scales import near_range
from core.tuning.events import ModelsCompared, SurrogateFitted, TrialExcluded
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.state import RunState, state_from_events
from resources.theme import LIGHT


@pytest.fixture
def shown(feed, race):
    return feed(race.run(ends=False))


def column(table, at, role=Qt.ItemDataRole.DisplayRole):
    model = table.model()
    return [model.index(row, at).data(role) for row in range(model.rowCount())]


def told(table, at):
    """A column as a screen reader tells it."""
    return column(table, at, Qt.ItemDataRole.AccessibleTextRole)


def test_the_board_says_and_draws_who_leads_with_which_error(shown):
    table = shown.views["models"].table
    assert column(table, MODEL) == ["Average of 2", "Support vector machine",
                                    "Logistic regression", "Random forest"]  # fmt: skip
    assert told(table, PICTURE) == [
        "accuracy 82.0\u00a0%", "accuracy 80.0 ± 1.0\u00a0%", "accuracy 75.0 ± 1.0\u00a0%",
        "accuracy about 66.0\u00a0%",
    ]  # fmt: skip
    view = shown.views["models"]
    assert view.labels == ["+2.0", "80.0", "75.0", "66.0"]
    assert column(table, TRIALS) == ["", "3", "2", "0 + 2"]
    assert column(table, SEEN) == ["", "all · 5", "all · 5", "all · 2"]
    assert told(table, SEEN)[3] == "168 of 168 rows of a fold, 2 folds"
    assert column(table, STATE) == ["leads", "next", "waits", "clearly behind"]
    assert told(table, STATE)[1].startswith("next: the best accuracy is expected to rise")
    assert view.next.text().startswith("Next: a support vector machine, because")
    assert "by 0.4 points in about 2 s." in view.next.text()
    assert view.next.text() in view.describe()
    headers, rows = view.table_data()
    average, first, _, last = (dict(zip(headers, row, strict=True)) for row in rows)
    # 81 % where the best has 79 %, on rows that chose neither: two points before its 80 % here.
    assert (average["model"], average["best"]) == ("average", pytest.approx(0.82))
    assert "Average: by its lead over the best, on rows that chose neither." in view._caption.text()
    assert first == first | {"model": "svm", "best": 0.8, "over baseline": pytest.approx(0.3)}
    assert first == first | {"standard error": 0.01, "expected improvement": 0.004}
    assert first == first | {"rows": 168, "folds": 5}
    assert last == last | {"ended early": 2, "estimate of those ended early": 0.66}
    picture = table.grab().toImage()
    ratio = picture.devicePixelRatio()
    spanned, found = view.range, view.leaderboard
    head = table.horizontalHeader().height()
    for row, expected in ((0, LIGHT.model), (1, LIGHT.observed), (2, LIGHT.muted)):
        box = view.picture_box(table.visualRect(table.model().index(row, PICTURE)))
        x = box.left() + spanned.position_of(found[row].best) * box.width()
        colour = picture.pixelColor(int((x + 2) * ratio), int((box.center().y() + head) * ratio))
        assert colour.name().upper() == expected


def test_models_are_listed_before_their_first_trial(feed, race):
    board = feed([race.begun(), *race.looks(failed=("forest",))])
    view = board.views["models"]
    assert told(view.table, PICTURE) == [
        "accuracy screening 72.0\u00a0%", "accuracy screening 69.0\u00a0%", "accuracy –",
    ]  # fmt: skip
    assert column(view.table, STATE)[-1] == "screening failed"
    assert told(view.table, STATE)[-1] == "Its screening failed: There was not enough memory."
    assert "3 of 3 done" in view.next.text()
    view = feed([race.begun()]).views["models"]
    assert len(column(view.table, MODEL)) == 3
    assert set(column(view.table, STATE)) == {"waits"}
    odd = ModelsCompared(models=[replace(race.standing("svm", 2, 0.8), model="gone")], next="gone")
    assert column(feed([race.begun(), odd]).views["models"].table, MODEL) == ["gone"]


def test_at_the_end_nothing_is_next_and_models_without_a_trial_are_named(feed, race):
    view = feed(race.run()).views["models"]
    leads = "The average leads by 2.0 points, before a support vector machine with 80.0\u00a0%."
    assert view.next.text().startswith(leads)
    assert column(view.table, STATE)[0] == "leads"
    assert not {"next", "waits", "tuning"} & set(column(view.table, STATE))
    *events, end = race.run()
    end = replace(end, results=race.results(untried={"forest": 180.0}))
    view = feed([*events, end]).views["models"]
    assert view.next.text() == "2 of 3 models tried; a random forest would have needed 3 min more."


def test_the_picture_has_the_range_of_every_picture_of_scores(race):
    found = model_leaderboard(state_from_events(race.run(ends=False)))
    scores = np.array([row.best_known_score for row in found if row.best_known_score is not None])
    low, high = near_range(scores, maximize=True)
    near, far = common_range(found, (low + high) / 2), common_range(found, low - 1.0)
    assert (near.low, near.high) == (far.low, far.high) == pytest.approx((low, high + 0.01))
    assert (near.baseline, far.baseline) == ((low + high) / 2, None)
    assert near.position_of(float(scores.min())) < 0.0  # a triangle at the edge
    assert common_range(found, None, maximize=False).low <= scores.min()


# One model alone ---------------------------------------------------------------------------------


def test_a_model_is_looked_at_alone_by_click_and_key(shown, qtbot, qapp):
    table = shown.views["models"].table
    box = table.visualRect(table.model().index(1, MODEL))
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert shown.record.model == "svm"
    shown.redraw_now()
    assert [trial.number for trial in shown.record.run.trials] == [1, 4, 5, 7]
    assert [axis["name"] for axis in shown.record.axes] == ["C", "gamma"]
    assert {"models", "parallel", "best", "trials"} <= set(shown.views)
    assert "members" not in shown.views
    assert shown.views["best"].accessibleName() == "Best so far: Support vector machine"
    assert shown.views["models"].accessibleName() == "Models"
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert shown.record.model == ""
    assert "members" in shown.views
    assert shown.views["best"].accessibleName() == "Best so far"
    table.setCurrentIndex(table.model().index(3, MODEL))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    shown.redraw_now()
    assert shown.record.model == "forest"
    assert [index.row() for index in table.selectionModel().selectedRows()] == [3]
    heights = shown.views["parallel"].drawn_rows()
    assert len(heights) == 2  # both were ended early: their lines are estimates
    table.setCurrentIndex(table.model().index(0, MODEL))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    shown.redraw_now()
    assert shown.record.model == ""
    assert not table.selectionModel().selectedRows()


def test_a_looked_at_model_goes_on_with_the_run_and_leaves_with_it(feed, board, race, streams):
    events = list(race.run(ends=False))
    feed(events[:20])
    board.look_at("svm")
    feed(events[20:])
    assert [trial.number for trial in board.record.run.trials] == [1, 4, 5, 7]
    assert board.record.run.best_trial.score == 0.80
    board.select_trial(7)
    feed([TrialExcluded(number=4)])
    assert board.record.run.best_trial.number == 7
    assert board.record.selected == 7
    feed(streams.trials())
    assert board.record.model == ""
    assert "models" not in board.views
    assert board.views["best"].accessibleName() == "Best so far"


def test_the_model_of_scores_of_one_model_comes_to_its_pictures(feed, board, race):
    feed(race.run(ends=False))
    board.look_at("svm")
    assert "slice" not in board.views
    fitted = SurrogateFitted(model="svm", trials=2, points=[[0.5, 0.5], [0.2, 0.1]],
                             responses=[0.7, 0.8], numbers=[1, 4], lengths=[0.3, 0.3],
                             incumbent=[0.2, 0.1], next=[0.4, 0.4])  # fmt: skip
    feed([fitted])
    assert {"slice", "surface", "predicted"} <= set(board.views)
    assert board.record.run.surrogate is fitted
    board.look_at("logistic")
    assert "slice" not in board.views


# Trials of several models ------------------------------------------------------------------------


def test_trials_of_several_models_say_which_how_and_when_they_ended(shown):
    view = shown.views["trials"]
    row = view.model.row_of(4)
    cells = [view.model.index(row, at).data() for at in range(6)]
    assert cells[1:4] == ["80.0\u00a0%", "Support vector machine", "C = 10, gamma = 0.01"]
    tip = view.model.index(row, 3).data(Qt.ItemDataRole.ToolTipRole)
    assert "Cost of a wrong row (C) = 10" in tip
    assert view.table_data()[1][0][2] == "Support vector machine"
    said = "ended early: clearly behind after 2 of 5 folds"
    cells = [view.model.index(view.model.row_of(2), at).data() for at in (1, 5)]
    assert cells == ["≈ 61.0\u00a0%", said]
    assert said in view._trial_text(2)
    shown.select_trial(2)
    shown.redraw_now()
    assert view._detail.text() == f"Trial 2 was {said}."
    view = shown.views["best"]
    assert view.marks["others"].x.tolist() == [2.0, 6.0]
    assert view.run.best_trial.number == 4
    assert view.run.default_trial.number == 0  # that of the usual model, not of any
    table = shown.views["trials"]
    table.model.sort(2, Qt.SortOrder.AscendingOrder)
    names = [table.model.index(row, 2).data() for row in range(table.model.rowCount())]
    assert list(dict.fromkeys(names)) == [
        "Logistic regression", "Support vector machine", "Random forest",
    ]  # fmt: skip
    assert len([*itertools.groupby(names)]) == 3
    table.record.show_run(RunState())  # the run was deleted while it was shown
    table.table.fit_columns()
    assert table.table.columnWidth(0) > 0


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_every_column_is_reached_at_any_size_of_text(shown, look, qapp, percent):
    look.change_look(percent=percent)
    shown.redraw_now()
    qapp.processEvents()
    table = shown.views["models"].table
    seen = [at for at in range(table.model().columnCount()) if not table.isColumnHidden(at)]
    wide = sum(table.columnWidth(at) for at in seen)
    assert {MODEL, PICTURE, STATE} <= set(seen)
    assert percent > 100 or {SEEN, TRIALS} <= set(seen)
    assert wide <= table.viewport().width() or table.horizontalScrollBar().maximum() > 0
