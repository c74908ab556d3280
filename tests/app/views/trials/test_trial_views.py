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
    found = [as_step_function(view.stairs.x, view.stairs.y, n) for n in range(60)]
    assert np.allclose(found, running)
    changes_x, changes_y = np.diff(view.stairs.x), np.diff(view.stairs.y)
    assert not (changes_x * changes_y).any()  # level or upright, never slanted
    assert view.dots.x.tolist() == list(range(60))
    assert view.dots.y.tolist() == scores.tolist()


def test_failed_trials_are_marked_and_counted(feed, streams):
    view = feed(streams.trials()).views["best"]
    assert view.failed.x.tolist() == [2.0]
    assert "1 trials failed" in view.describe()


def test_default_line_and_its_words(feed, streams):
    board = feed(streams.trials())
    view = board.views["best"]
    assert view.default_line.value == 0.70
    view.grab()  # words are placed while painting
    box = view.default_line.label
    dots = [view.plot.vb.mapViewToScene(QPointF(n, s)) for n, s in enumerate(streams.scores) if s]
    assert box.width() > 0
    assert not any(box.contains(dot) for dot in dots)


def test_what_the_best_plot_says(feed, streams):
    view = feed(streams.trials()).views["best"]
    said = "Best 0.81 after 8 of 20 trials. The default setting has 0.7."
    assert view.describe().startswith(said)
    assert view.content.accessibleDescription().startswith(said)
    assert view.content.accessibleName() == "Best so far"


def test_twin_of_the_best_plot(feed, streams):
    headers, rows = feed(streams.trials()).views["best"].table_data()
    assert headers == ["trial", "accuracy", "best so far", "note"]
    assert rows[2] == [2, None, 0.72, "failed"]
    assert rows[5] == [5, 0.79, 0.80, ""]


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


def test_table_is_newest_first_and_says_why_a_trial_failed(feed, streams):
    model = feed(streams.trials()).views["trials"].model
    assert text_of(model, 0) == ["7", "0.6", "0.001", "8", "rbf", "0.25 s", "promising"]
    assert text_of(model, 5)[0] == "2"
    assert text_of(model, 5)[-1] == "failed: the solver did not converge"


def test_table_sorts_by_score_and_keeps_doing_so(feed, board, streams):
    feed(streams.trials())
    view = board.views["trials"]
    view.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.805)])
    shown = [view.model.trial_at(row).number for row in range(view.model.rowCount())]
    assert shown == [6, 8, 4, 5, 1, 3, 0, 7, 2]


def test_selection_stays_on_its_trial_while_rows_come(feed, board, streams):
    feed(streams.trials())
    board.select_trial(4)
    feed([])
    feed([TrialFinished(number=8, setting=streams.setting(8), score=0.5)])
    assert board.views["trials"].chosen_trial().number == 4


def test_columns_of_the_table_cut_nothing(feed, streams):
    view = feed(streams.trials()).views["trials"]
    for column in range(view.model.columnCount() - 1):
        assert view.table.columnWidth(column) >= view.table.sizeHintForColumn(column)


def test_delete_asks_to_exclude_and_copy_copies(feed, board, streams, qtbot):
    feed(streams.trials())
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


def test_menu_of_a_trial_says_what_it_does(feed, board, streams):
    feed(streams.trials())
    view = board.views["trials"]
    words = [action.text() for action in view.menu_of(board.record.run.find_trial(3)).actions()]
    assert words[0] == "Exclude this trial"


def test_best_k_filters_every_plot(feed, board, streams):
    feed(streams.trials())
    board.set_best_k(2)
    feed([])
    assert board.views["best"].dots.x.tolist() == [4.0, 6.0]
    assert board.views["best"].other_dots.x.tolist() == [0.0, 1.0, 3.0, 5.0, 7.0]
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


def test_a_click_on_a_dot_selects_its_trial_everywhere(feed, board, streams, qtbot):
    feed(streams.trials())
    view = board.views["best"]
    scene = view.plot.vb.mapViewToScene(QPointF(4.0, 0.80))
    place = view.canvas.mapFromScene(scene)
    with qtbot.waitSignal(board.trial_selected) as chosen:
        QTest.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [4]
    feed([])
    assert (view.highlight.x.tolist(), view.highlight.y.tolist()) == ([4.0], [0.80])
    assert board.views["trials"].chosen_trial().number == 4


def test_arrow_keys_go_from_trial_to_trial(feed, board, streams):
    feed(streams.trials())
    canvas = board.views["best"].canvas
    board.select_trial(4)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert board.record.selected == 5


def test_dots_keep_an_outline_until_there_are_many(feed, streams, dark):
    view = feed(streams.trials()).views["best"]
    assert QColor(view.dots._outline.color()).name() == "#1f2933"
