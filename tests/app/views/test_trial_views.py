from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest

from core.tuning.events import TrialExcluded, TrialFinished


def as_step_function(x, y, at):
    """The value of a staircase given by its corners."""
    return y[np.flatnonzero(np.asarray(x) <= at)[-1]]


@pytest.mark.parametrize("maximize", [True, False])
def test_staircase_is_the_running_best(feed, streams, maximize):
    scores = np.random.default_rng(1).random(60)
    view = feed(streams.trials(scores.tolist(), maximize=maximize)).views["best"]
    running = (np.maximum if maximize else np.minimum).accumulate(scores)
    found = [as_step_function(view.marks["best"].x, view.marks["best"].y, n) for n in range(60)]
    assert np.allclose(found, running)
    changes_x, changes_y = np.diff(view.marks["best"].x), np.diff(view.marks["best"].y)
    assert not (changes_x * changes_y).any()  # level or upright, never slanted
    assert view.marks["trials"].x.tolist() == list(range(60))
    assert view.marks["trials"].y.tolist() == scores.tolist()


def test_the_best_plot_is_said_tabled_and_pointed_at(feed, streams, dark, board, qtbot):
    view = feed(streams.trials()).views["best"]
    assert view.marks["failed"].x.tolist() == [2.0]
    assert "1 trials failed" in view.describe()
    assert view.marks["default"].value == 0.70
    view.grab()  # words are placed while painting
    box = view.marks["default"].label
    dots = [view.plot.vb.mapViewToScene(QPointF(n, s)) for n, s in enumerate(streams.scores) if s]
    assert box.width() > 0
    assert not any(box.contains(dot) for dot in dots)
    said = "Best 81.0\u00a0% after 8 of 20 trials. The default setting has 70.0\u00a0%."
    assert view.describe().startswith(said)
    assert view.content.accessibleDescription().startswith(said)
    assert view.content.accessibleName() == "Best so far"
    headers, rows = view.table_data()
    assert headers == ["trial", "accuracy", "best so far", "note"]
    assert rows[2] == [2, None, 0.72, "failed"]
    assert rows[5] == [5, 0.79, 0.80, ""]
    assert QColor(view.marks["trials"]._outline.color()).name() == "#1f2933"
    scene = view.plot.vb.mapViewToScene(QPointF(4.0, 0.80))
    place = view.canvas.mapFromScene(scene)
    with qtbot.waitSignal(board.trial_selected) as chosen:
        QTest.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [4]
    feed([])
    assert (view.highlight.x.tolist(), view.highlight.y.tolist()) == ([4.0], [0.80])
    assert board.views["trials"].chosen_trial().number == 4
    canvas = board.views["best"].canvas
    board.select_trial(4)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert board.record.selected == 5


def test_ranges_are_held_while_scores_stay_inside(feed, board, streams):
    feed(streams.trials((0.5, 0.9)))
    plot = board.views["best"].plot
    before = plot.vb.viewRange()
    feed([TrialFinished(number=9, setting=streams.setting(9), score=0.7)])
    assert plot.vb.viewRange() == before
    feed([TrialFinished(number=10, setting=streams.setting(10), score=1.5)])
    assert plot.vb.viewRange()[1][1] > 1.5


def text_of(model, row):
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_the_table_sorts_and_cuts_nothing(feed, streams, board):
    view = feed(streams.trials()).views["trials"]
    model = view.model
    assert text_of(model, 0) == ["7", "60.0\u00a0%", "0.001", "8", "rbf", "0.2 s", "promising"]
    assert text_of(model, 5)[0] == "2"
    assert text_of(model, 5)[-1] == "failed: the solver did not converge"
    for column in range(view.model.columnCount() - 1):
        assert view.table.columnWidth(column) >= view.table.sizeHintForColumn(column)
    view.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.805)])
    shown = [view.model.trial_at(row).number for row in range(view.model.rowCount())]
    assert shown == [6, 8, 4, 5, 1, 3, 0, 7, 2]


def test_a_selected_trial_stays_selected_and_is_excluded_or_copied(feed, board, streams, qtbot):
    feed(streams.trials())
    view = board.views["trials"]
    words = [action.text() for action in view.menu_of(board.record.run.find_trial(3)).actions()]
    assert words[0] == "Exclude this trial"
    board.select_trial(4)
    feed([])
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.5)])
    assert board.views["trials"].chosen_trial().number == 4
    board.select_trial(6)
    feed([])
    table = board.views["trials"].table
    with qtbot.waitSignal(board.exclude_requested) as asked:
        QTest.keyClick(table, Qt.Key.Key_Delete)
    assert asked.args == [6, True]
    feed([TrialExcluded(number=6)])
    with qtbot.waitSignal(board.exclude_requested) as asked:
        QTest.keyClick(table, Qt.Key.Key_Delete)
    assert asked.args == [6, False]
    QTest.keySequence(table, QKeySequence(QKeySequence.StandardKey.Copy))
    assert "score 0.81" in QGuiApplication.clipboard().text()


def test_best_k_filters_every_plot(feed, board, streams):
    feed(streams.trials())
    board.set_best_k(2)
    feed([])
    assert board.views["best"].marks["trials"].x.tolist() == [4.0, 6.0]
    assert board.views["best"].marks["others"].x.tolist() == [0.0, 1.0, 3.0, 5.0, 7.0]
    assert board.views["trials"].model.rowCount() == 2
    assert len(board.views["parallel"].drawn_rows()) == 2
    assert board.views["parallel"].best_k.currentText() == "Best 2"


def test_parallel_lines_go_through_their_settings(feed, streams):
    view = feed(streams.trials((0.1, 0.5, 0.9))).views["parallel"]
    corners = [line.y[:-1] for line in view.shades if len(line.y)]
    best = corners[-1]  # the best is drawn last
    C, depth, kernel = 10.0 ** (2 - 3), 3, "linear"
    assert np.isclose(best[0], (np.log10(C) + 3) / 6)
    assert np.isclose(best[1], (depth - 1) / 8)
    assert np.isclose(best[2], 0.25 if kernel == "linear" else 0.75)
    assert best[3] == 1.0


def test_ten_thousand_trials_have_few_lines(feed, streams):
    scores = np.random.default_rng(0).random(1000).tolist()
    view = feed(streams.trials(scores, total=1000)).views["parallel"]
    assert len(view.drawn_rows()) == 250
    assert "250 of 1000" in view.describe()
