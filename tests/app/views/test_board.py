from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from app.views.board import grid_positions
from app.views.registry import VIEWS
from app.views.slice_views import shown_heights
from core.space import Axis
from core.tuning.events import RunStarted, TrialFinished, TrialStarted
from core.tuning.runs.state import state_from_events
from core.tuning.scores.score import score_text
from resources.theme import DARK


def test_every_view_is_registered_under_its_name_and_says_what_it_is():
    for name, view in VIEWS.items():
        assert view.name == name
        assert view.title
        assert view.question.rstrip(".").split()
        assert view.waiting.endswith(".")


@pytest.mark.parametrize(
    ("wide", "wanted"),
    [
        ([0, 0, 0, 0, 1], [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1), (2, 0, 2)]),
        ([0, 0, 0], [(0, 0, 1), (0, 1, 1), (1, 0, 2)]),
        ([1, 0, 0], [(0, 0, 2), (1, 0, 1), (1, 1, 1)]),
        ([0, 1], [(0, 0, 2), (1, 0, 2)]),
    ],
)
def test_places_leave_no_hole(wide, wanted):
    assert grid_positions([SimpleNamespace(wide=bool(w)) for w in wide]) == wanted


def test_rows_fill_the_board_and_a_third_shows_its_head(feed, streams, board, qapp):
    board = feed(streams.penalties())
    assert board.verticalScrollBar().maximum() == 0
    bottoms = {v.geometry().bottom() for n, v in board.views.items() if n != "trajectory"}
    assert len(bottoms) == 1
    assert board.viewport().height() - bottoms.pop() <= 2
    board = feed(streams.trials())
    assert board.verticalScrollBar().maximum() > 0
    assert board.views["parallel"].geometry().top() < board.viewport().height()
    view = board.views["best"]
    view._table_button.setChecked(True)
    assert view._stack.currentWidget() is view._data_table
    assert view._data_table.model().index(1, 1).data() == "0.72"
    view.copy_table()
    lines = qapp.clipboard().text().splitlines()
    assert lines[::3] == [
        "trial\taccuracy\tbest so far\tnote",
        "2\t\t0.72\tfailed",
        "5\t0.79\t0.8\t",
    ]
    view._table_button.setChecked(False)
    assert view._stack.currentWidget() is view.content
    events = list(streams.trials())
    before = [view.table_data() for view in board.views.values() if view.has_content()]
    for count, trials in ((1, 0), (12, 4), (len(events), 8)):
        board.show_run(state_from_events(events[:count]), onward=count > 1)
        feed([])
        assert len(board.views["trials"].table_data()[1]) == trials
    assert [v.table_data() for v in board.views.values() if v.has_content()] == before


def test_only_what_is_seen_is_drawn(board, feed, streams, qtbot):
    board.consume(streams.begun())
    qtbot.waitUntil(lambda: not board.views["best"].dirty)
    board.hide()
    for event in list(streams.trials())[1:]:
        board.consume(event)
    qtbot.wait(100)
    assert board.views["best"].dirty
    board.show()
    qtbot.waitUntil(lambda: not board.views["best"].dirty)
    assert len(board.views["best"].marks["trials"].x) == 7


def test_what_took_long_to_draw_rests(feed, board, streams, qtbot, monkeypatch):
    feed(list(streams.trials())[:3])
    best = board.views["best"]
    drawn = []

    def slow():
        drawn.append(time.monotonic())
        time.sleep(0.05)
        best.dirty = False

    monkeypatch.setattr(best, "redraw", slow)
    for event in list(streams.trials())[3:]:
        board.consume(event)
        qtbot.wait(60)
    qtbot.waitUntil(lambda: len(drawn) >= 2)
    gaps = [after - before for before, after in pairwise(drawn)]
    assert min(gaps) > 5 * 0.05  # by itself it would come with every tick
    before = time.monotonic()
    board.set_best_k(3)
    qtbot.waitUntil(lambda: drawn[-1] > before)
    assert drawn[-1] - before < 5 * 0.05  # what a person asks for does not wait


def test_dark_theme_reaches_the_plots(feed, streams, dark):
    board = feed(streams.penalties())
    dark()
    feed([])
    assert board.views["objective"].marks["line"]._pen.color().name() == DARK.model.lower()


def test_what_a_person_waits_for_is_drawn_at_once_however_often(feed, board, streams, qapp):
    events = list(streams.trials())
    feed(events)
    board._timer.setInterval(60_000)  # only what is wanted now is drawn
    for count in (12, 15, 18, len(events)):
        board.show_run(state_from_events(events[:count]), onward=True)
        seen = [view for view in board.views.values() if view.is_seen]
        assert all(view.dirty for view in seen)
        assert len(seen) >= 3
        for _ in range(2 * len(seen)):
            qapp.processEvents()
        assert not any(view.dirty for view in seen)


def test_what_has_nothing_to_show_gives_its_room_to_the_others(feed, board, streams):
    feed(streams.trials())
    predicted = board.views["predicted"]
    assert [view for view in board.views.values() if not view.isVisible()] == [predicted]
    assert predicted not in board.shown_views()
    setting = streams.setting(8)
    feed([TrialStarted(number=8, setting=setting, expected=0.8, uncertainty=0.1),
          TrialFinished(number=8, setting=setting, score=0.79)])  # fmt: skip
    assert predicted.isVisible()
    feed(streams.trials())  # another run: it has nothing to show again
    assert not predicted.isVisible()


def test_a_baseline_that_is_far_off_is_told_at_the_edge(feed, board, streams):
    for baseline, drawn in ((0.7, True), (-5.0, False)):
        events = list(streams.trials())
        events[0] = replace(events[0], baseline=baseline)
        view = feed(events).views["best"]
        assert f"The baseline has {score_text(baseline, 'accuracy')}." in view.describe()
        low, high = view.plot.vb.viewRange()[1]
        assert (low <= baseline <= high) is drawn
        view.grab()
        area = view.plot.vb.mapRectToScene(view.plot.vb.rect())
        assert area.contains(view.marks["baseline"].label)


def test_a_band_of_nothing_known_does_not_press_the_trials_together():
    band = [np.array([-12.0, 0.9]), np.array([13.0, 1.1])]
    share, free, near = (0.0, 1.0), (-np.inf, np.inf), (0.56, 0.96)
    assert shown_heights(near, band, True, share) == pytest.approx((0.56, 1.0))
    assert shown_heights(near, band, True, free) == pytest.approx((0.56, 1.04))
    assert shown_heights(near, band, False, share) == pytest.approx((0.48, 0.96))
    assert shown_heights((0.56, 0.56), band, True, free) == pytest.approx((0.56, 1.208))


def test_views_of_pairs_give_their_room_where_all_but_one_setting_are_fixed():
    cost = Axis("C", "Cost", "float", 0.1, 9.0, log=True)
    reach = replace(cost, name="gamma", label="Reach")
    plan = {"model": "svm", "strategy": "gp"}
    for fixed in ({"high": 0.1}, {"kind": "choice", "choices": ("a",)}):
        alone = RunStarted(plan=plan, kind="trials", space=[cost, replace(reach, **fixed)])
        both = RunStarted(plan=plan, kind="trials", space=[cost, reach])
        for name in ("parallel", "surface"):
            assert VIEWS[name].wants(both)
            assert not VIEWS[name].wants(alone)
