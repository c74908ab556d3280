from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest

from app.views.parallel_coordinates import MAX_LINES
from core.tuning.events import TrialExcluded, TrialFinished
from core.tuning.runs.state import state_from_events


@pytest.mark.parametrize("maximize", [True, False])
def test_staircase_is_the_running_best(feed, streams, maximize):
    scores = np.random.default_rng(1).random(60)
    view = feed(streams.trials(scores.tolist(), maximize=maximize)).views["best"]
    best, running = view.marks["best"], (np.maximum if maximize else np.minimum).accumulate(scores)
    last = np.searchsorted(best.x, range(60), "right") - 1  # the last corner so far
    assert np.allclose(best.y[last], running)
    assert not (np.diff(best.x) * np.diff(best.y)).any()  # level or upright, never slanted
    assert view.marks["trials"].x.tolist() == list(range(60))
    assert view.marks["trials"].y.tolist() == scores.tolist()


def test_the_best_plot_is_said_tabled_and_pointed_at(feed, streams, dark, board, qtbot):
    view = feed(streams.trials()).views["best"]
    assert view.marks["failed"].x.tolist() == [2.0]
    assert "1 trial failed" in view.describe()
    assert view.marks["default"].value == 0.70
    view.grab()  # words are placed while painting
    box = view.marks["default"].label
    dots = [view.plot.vb.mapViewToScene(QPointF(n, s)) for n, s in enumerate(streams.scores) if s]
    assert box.width() > 0
    assert not any(box.contains(dot) for dot in dots)
    said = "Best 81.0\u00a0% after 8 of 20 trials. The default setting has 70.0\u00a0%."
    assert view.describe().startswith(said)
    assert {text[-1] for _, text in view.plot.left.shown_ticks()} == {"%"}
    rows = view.table_data()[1]
    assert [rows[2], rows[5]] == [[2, None, 0.72, "failed"], [5, 0.79, 0.80, ""]]
    assert QColor(view.marks["trials"]._outline.color()).name() == "#1f2933"
    scene = view.plot.vb.mapViewToScene(QPointF(4.0, 0.80))
    place = view.canvas.mapFromScene(scene)
    with qtbot.waitSignal(board.trial_selected) as chosen:
        QTest.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [4]
    feed([])
    assert (view.highlight.x.tolist(), view.highlight.y.tolist()) == ([4.0], [0.80])
    assert board.views["trials"].chosen_trial().number == 4
    board.select_trial(4)
    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    assert board.record.selected == 5


def test_ranges_are_held_while_scores_stay_inside(feed, board, streams):
    feed(streams.trials((0.5, 0.9, 0.6)))
    plot = board.views["best"].plot
    before = plot.vb.viewRange()
    feed([TrialFinished(number=9, setting=streams.setting(9), score=0.55)])
    assert plot.vb.viewRange() == before
    feed([TrialFinished(number=10, setting=streams.setting(10), score=0.99)])
    assert plot.vb.viewRange()[1][1] > 0.99


def test_the_table_sorts_and_cuts_nothing(feed, streams, board):
    view = feed(streams.trials()).views["trials"]
    columns = range(view.model.columnCount())
    last, failed = ([view.model.index(row, at).data() for at in columns] for row in (0, 5))
    assert last == ["7", "60.0\u00a0%", "0.001", "8", "rbf", "0.2 s", "promising"]
    assert (failed[0], failed[-1]) == ("2", "failed: the solver did not converge")
    for column in columns[:-1]:
        assert view.table.columnWidth(column) >= view.table.sizeHintForColumn(column)
    view.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.805)])
    shown = [view.model.trial_at(row).number for row in range(view.model.rowCount())]
    assert shown == [6, 8, 4, 5, 1, 3, 0, 7, 2]


def test_the_numbers_of_more_trials_than_were_planned_are_not_cut(board, streams):
    started, *events = streams.trials([0.5] * 10_001)
    board.show_run(state_from_events([replace(started, total=60), *events]))
    board.redraw_now()
    table = board.views["trials"].table
    assert table.model().index(0, 0).data() == "10000"
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)


def test_a_selected_trial_stays_selected_and_is_excluded_or_copied(feed, board, streams, qtbot):
    feed(streams.trials())
    view = board.views["trials"]
    words = [action.text() for action in view.menu_of(board.record.run.find_trial(3)).actions()]
    assert words[0] == "Exclude this trial"
    board.select_trial(6)
    feed([])
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.5)])
    assert view.chosen_trial().number == 6
    for excluded in (True, False):
        with qtbot.waitSignal(board.exclude_requested) as asked:
            QTest.keyClick(view.table, Qt.Key.Key_Delete)
        assert asked.args == [6, excluded]
        feed([TrialExcluded(number=6, excluded=excluded)])
    QTest.keySequence(view.table, QKeySequence(QKeySequence.StandardKey.Copy))
    assert "score 0.81" in QGuiApplication.clipboard().text()


def test_best_k_filters_every_plot(feed, board, streams):
    feed(streams.trials())
    board.set_best_k(2)
    feed([])
    clear, others = (board.views["best"].marks[name].x for name in ("trials", "others"))
    assert (clear.tolist(), others.tolist()) == ([4, 6], [0, 1, 3, 5, 7])
    assert board.views["trials"].model.rowCount() == 2
    assert len(board.views["parallel"].drawn_rows()) == 2
    assert board.views["parallel"].best_k.currentText() == "Best 2"


def test_the_better_a_trial_ranks_the_stronger_is_its_dot(feed, streams):
    view = feed(streams.trials()).views["ranks"]
    order = np.argsort([-s if s else np.inf for s in streams.scores], kind="stable")[:7]
    fifths = [view.marks[f"fifth {place}"] for place in range(5)]
    settings = [streams.setting(int(number)) for number in order]
    assert np.concatenate([dots.x for dots in fifths]) == pytest.approx(
        [np.log10(setting["C"]) for setting in settings]
    )
    assert np.concatenate([dots.y for dots in fifths]).tolist() == [s["depth"] for s in settings]
    assert (np.diff([dots._fill.color().alphaF() for dots in fifths]) < 0).all()
    assert (np.diff([dots.size for dots in fifths]) < 0).all()
    assert "The best of 7 trials is trial 6: Penalty weight (C) 1000, Depth 7." in view.describe()
    assert [row[:2] for row in view.table_data()[1]][:2] == [[1, 6], [2, 4]]
    view.choosers[1].setCurrentIndex(2)
    view.choosers[1].activated.emit(2)
    feed([])
    assert [text for _, text in view.plot.left.shown_ticks()] == ["linear", "rbf"]


def test_parallel_lines_go_through_their_settings(feed, streams):
    view = feed(streams.trials((0.1, 0.5, 0.9))).views["parallel"]
    corners = [line.y[:-1] for line in view.shades if len(line.y)]
    # the best is drawn last: C 0.1 of 0.001 to 1000, depth 3 of 1 to 9, the first of two kernels
    assert np.allclose(corners[-1], [2 / 6, 2 / 8, 0.25, 1.0])


def test_many_trials_have_few_lines(feed, streams):
    scores = np.random.default_rng(0).random(MAX_LINES + 30).tolist()
    view = feed(streams.trials(scores, total=300)).views["parallel"]
    assert len(view.drawn_rows()) == MAX_LINES
    for text in (view.describe(), view._caption.text()):
        assert f"the best {MAX_LINES} of {MAX_LINES + 30}" in text.lower()
    assert "Drawn" not in feed(streams.trials()).views["parallel"]._caption.text()
