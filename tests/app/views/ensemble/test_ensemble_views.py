from __future__ import annotations

import importlib
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QAbstractButton

from app.text.number_format import format_aligned
from app.views.ensemble.ensemble_view import near_the_best
from app.views.registry import VIEWS
from app.worker.evaluator_process import evaluate_request
from core.tuning.events import TrialFinished

OURS = ("members", "average", "disagreement", "focus")


@pytest.fixture
def averaged(monkeypatch):
    """The module of streams of averages, which lies beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("ensemble_streams")


@pytest.fixture
def shown(board, feed, averaged):
    """A board fed with a whole run, or with what is given."""

    def show(*args, **given):
        return feed(averaged.run(*args, **given))

    return show


def test_strategies_that_average_show_their_surrogate():
    from core.tuning.strategies.registry import STRATEGIES

    averaging = {name: one.surrogate for name, one in STRATEGIES.items() if one.averages}
    assert averaging == {"eb-hyp": "scores", "race": ""}  # of several models each has its own


def test_the_views_are_there_for_averages_only(averaged, streams):
    wanting = {name for name, view in VIEWS.items() if view.wants(averaged.begun())}
    assert set(OURS) <= wanting
    assert {"slice", "surface", "predicted", "trials"} <= wanting
    for strategy in ("gp", "random", "transfer"):
        started = streams.begun(strategy=strategy)
        assert not any(VIEWS[name].wants(started) for name in OURS)


@pytest.mark.parametrize("name", OURS)
def test_an_empty_view_says_what_comes_and_when(shown, name):
    board = shown(1, ends=False)
    view = board.views[name]
    if name in ("members", "average"):
        assert view.has_content()
    else:
        assert not view.has_content()
        assert len(view._empty.text()) > 20


# -- who is in the average ---------------------------------------------------------------------


def test_members_are_filled_as_high_as_they_weigh_and_the_best_comes_first(shown, averaged):
    view = shown(40).views["members"]
    best = [int(n) for n in np.argsort(averaged.scores_of(40), kind="stable")]
    assert view.ranked_trials() == best
    assert view.columns.heights[:4] == [25.0] * 4
    assert view.columns.filled == [True] * 4 + [False] * (len(view.columns.filled) - 4)
    assert set(view.columns.heights[4:]) == {0.0}


def test_every_member_says_its_own_score(shown, averaged):
    view = shown(40).views["members"]
    scores = averaged.scores_of(40)
    said = [float(text) for _, _, text in view.words.words]
    assert np.allclose(said, np.sort(scores)[:4], atol=5e-5)
    assert len({len(text) for _, _, text in view.words.words}) == 1
    headers, rows = view.table_data()
    assert headers[3] == "log loss"
    assert len(rows) == 40
    assert rows[0][1:4] == [view.ranked_trials()[0], 25.0, pytest.approx(scores.min())]
    assert rows[4][2] == 0.0


def test_members_and_others_are_counted_in_words(shown):
    view = shown(40).views["members"]
    assert "4 of 40 models are averaged" in view.describe()
    assert view.legend.entries[0].words.startswith("4 in the average")
    assert view.legend.entries[1].words.startswith("36 others")


def test_hundreds_of_trials_keep_every_member_in_sight(shown):
    view = shown(400).views["members"]
    assert sum(view.columns.filled) == 40
    assert "360 others" in view.legend.entries[1].words
    step = view.plot.vb.width() / len(view.columns.heights)
    assert step > 3  # pixels from bar to bar
    drawn = sorted(view.plot.bottom.drawn, key=lambda pair: pair[0].left())
    view.grab()
    assert all(a.right() <= b.left() for (a, _), (b, _) in itertools.pairwise(drawn))


@pytest.mark.parametrize("kind", ["tempered", "greedy"])
def test_other_weights_are_drawn_as_they_are(shown, averaged, kind):
    view = shown(100, kind).views["members"]
    assert view.columns.heights[:10] == pytest.approx(
        [100 * weight for weight in averaged.weights_of(kind, 10)]
    )
    assert sum(view.columns.heights) == pytest.approx(100)


def test_words_above_bars_stay_within_the_plot(shown):
    view = shown(40).views["members"]
    for x, height, _ in view.words.words:
        top = view.plot.vb.mapFromViewToItem(view.plot.vb, QPointF(x, height)).y()
        metrics = view.plot.left.metrics
        tall = metrics.height()
        if view.words.upright:
            tall = max(metrics.horizontalAdvance(text) for _, _, text in view.words.words)
        assert top - 4 - tall >= -1


def test_a_model_that_is_left_out_says_why(shown, averaged):
    best = int(np.argmin(averaged.scores_of(40)))
    view = shown(40, left_out=(best,)).views["members"]
    assert view.columns.crossed[0]
    assert not view.columns.filled[0]
    assert f"Trial {best} is left out: it fails." in view.describe()
    assert f"Trial {best} is left out" in view._trial_text(best)
    assert "left out" in view.table_data()[1][0][-1]


def test_a_click_anywhere_on_a_bar_selects_its_trial_everywhere(shown, qtbot, feed):
    board = shown(40)
    view = board.views["members"]
    third = view.ranked_trials()[2]
    place = view.plot.vb.mapViewToScene(QPointF(2, 9.0))
    assert view.canvas.number_at(QPointF(view.canvas.mapFromScene(place))) == third
    view.canvas.picked.emit(third)
    feed([])
    assert board.record.selected == third
    assert view.highlight.x.tolist() == [2.0]
    assert board.views["best"].highlight.x.tolist() == [third]
    assert "weight 25\u00a0% of the average" in view._trial_text(third)


def test_it_follows_the_run(shown, feed, averaged):
    board = shown(19, ends=False)
    assert "19 trials the average has one member" in board.views["members"].describe()
    scores = averaged.scores_of(40)
    feed([TrialFinished(number=19, setting=averaged.setting_of(19), score=float(scores[19]))])
    feed([averaged.updated(scores[:20])])
    assert sum(board.views["members"].columns.filled) == 2


# -- average against single best ---------------------------------------------------------------


def test_both_lines_are_those_of_the_events(shown, averaged):
    view = shown(40).views["average"]
    updates = [averaged.updated(averaged.scores_of(40)[: n + 1]) for n in range(40)]
    assert view.average_line.x.tolist() == list(range(1, 41))
    assert np.allclose(view.average_line.y, [u.average for u in updates])
    assert np.allclose(view.single_line.y, [u.single for u in updates])
    assert view.average_dots.symbol != view.single_dots.symbol
    assert view.divergence.value == 20
    assert "two members or more" in view.legend.entries[0].words


def test_bad_first_trials_do_not_press_the_lines_together(shown, feed, averaged):
    board = shown(40, ends=False)
    view = board.views["average"]
    bad = replace(averaged.updated(averaged.scores_of(40)[:1]), average=9.0, single=9.0)
    view.plot.forget_ranges()
    feed([bad])
    low, high = view.plot.vb.viewRange()[1]
    ends = [view.average_line.y[-1], view.single_line.y[-1]]
    assert low <= min(ends)
    assert max(ends) <= high < 1.0
    assert "up to 9" in view.legend.entries[-1].words


def test_the_ends_are_named_without_overlap(shown):
    view = shown(40).views["average"]
    view.grab()
    names = [text for _, _, text, _ in view.ends._ends]
    assert names[0].startswith("average 0.08")
    assert names[1].startswith("single best 0.09")
    one, other = sorted(view.ends.rects, key=lambda rect: rect.top())
    assert one.bottom() <= other.top() + 0.5
    right = view.plot.vb.sceneBoundingRect().right()
    assert max(rect.right() for rect in view.ends.rects) <= right + 1
    view.setFixedWidth(230)  # a window that becomes narrow
    view.grab()
    right = view.plot.vb.sceneBoundingRect().right()
    assert max(rect.right() for rect in view.ends.rects) <= right + 1


def test_who_is_ahead_is_said_with_how_much(shown, feed, averaged):
    board = shown(40, ends=False)
    view = board.views["average"]
    assert "The average is ahead by 0.0069." in view.describe()
    worse = replace(averaged.updated(averaged.scores_of(40)), average=0.2, single=0.1)
    feed([worse])
    assert "The single best is ahead by 0.1." in view.describe()


@pytest.mark.parametrize(
    ("options", "words"), [({"judged": "training"}, "No rows are held out"), ({}, "resumed")]
)
def test_without_fair_rows_it_says_why(shown, options, words):
    view = shown(12, fair=False, ends=False, **options).views["average"]
    assert not view.has_content()
    assert words in view._empty.text()


# -- where the members disagree ----------------------------------------------------------------


def test_every_member_has_a_dot_in_every_row_and_the_truth_is_marked(shown):
    board = shown(40)
    view = board.views["disagreement"]
    said = board.record.run.disagreement
    assert len(view.dots.x) == 12 * 4
    first = [100 * given[1] for given in said.rows[0].said]
    assert sorted(view.dots.x[view.dots.y == 0]) == pytest.approx(sorted(first))
    true = [100.0 * (row.truth == "malignant") for row in said.rows]
    assert view.truth.x.tolist() == true
    assert view.plot.bottom.title == "probability of “malignant” in %"
    assert f"between {min(first):.0f} % and {max(first):.0f} %" in view.describe()


def test_of_many_classes_the_true_one_is_shown_and_the_table_has_all(shown):
    classes = ("setosa", "versicolor", "virginica")
    board = shown(40, classes=classes)
    view = board.views["disagreement"]
    row = board.record.run.disagreement.rows[0]
    at = classes.index(row.truth)
    expected = sorted(100 * given[at] for given in row.said)
    assert sorted(view.dots.x[view.dots.y == 0]) == pytest.approx(expected)
    headers, rows = view.table_data()
    assert len(headers) == 4 + 4 * 3
    assert rows[0][4:7] == row.said[0]


def test_numbers_are_drawn_as_they_are(board, feed, averaged):
    feed(averaged.run(40))
    told = averaged.disagree([3, 20], classes=())
    view = feed([told]).views["disagreement"]
    assert sorted(view.dots.x[view.dots.y == 0]) == pytest.approx(sorted(told.rows[0].said))
    assert set(view.truth.x) == {3.2}
    low, high = view.plot.vb.viewRange()[0]
    assert low <= view.dots.x.min()
    assert view.dots.x.max() <= high


def test_the_selected_member_is_ringed_in_every_row(shown, feed):
    board = shown(40)
    view = board.views["disagreement"]
    board.select_trial(view.disagreement.members[1])
    feed([])
    assert len(view.picked.x) == 12


def test_one_member_disagrees_with_nobody(shown):
    view = shown(12, ends=False).views["disagreement"]
    assert not view.has_content()
    assert "20 trials" in view._empty.text()


# -- focus, and what others show of it ---------------------------------------------------------


def test_candidates_are_drawn_on_a_logarithmic_scale(shown):
    view = shown(40).views["focus"]
    assert view.line.x.tolist() == list(range(4, 40))
    assert view.line.y[0] == pytest.approx(np.log10(4096 / 5**1.4 + 1))
    assert view.plot.vb.viewRange()[1][1] > np.log10(4096)
    assert view.table_data()[1][0] == [4, pytest.approx(4096 / 5**1.4 + 1)]


def test_the_slice_shows_its_guess_once(board, shown, feed, streams):
    board.evaluation_wanted.connect(lambda asked: board.take_evaluation(evaluate_request(asked)))
    view = shown(20, ends=False).views["slice"]
    assert view.below not in view.canvas.plots
    assert view.below.scene() is None
    assert view.plot.bottom.labelled
    assert view.plot.bottom.title == "Penalty weight (C)"
    feed([*streams.trials(), streams.surrogate()])
    feed([])
    assert view.below in view.canvas.plots
    assert view.below.scene() is not None
    assert not view.plot.bottom.labelled
    assert view.plot.bottom.title == ""


def test_members_are_noted_in_the_table_of_trials(shown):
    board = shown(40)
    model = board.views["trials"].model
    member = board.record.run.ensemble.members[1]
    notes = {trial.number: model.note_text(trial) for trial in board.record.run.trials}
    assert notes[member] == "in the average, 25\u00a0%"
    assert sum("in the average" in note for note in notes.values()) == 4
    assert "likely good" in notes.values()


@pytest.mark.parametrize("name", OURS)
def test_every_view_has_a_twin_and_words(shown, name):
    view = shown(40).views[name]
    headers, rows = view.table_data()
    assert rows
    assert {len(row) for row in rows} == {len(headers)}
    assert view.accessibleDescription().startswith(view.question)
    view.show_table(True)
    assert view._data_table.model().rowCount() == len(rows)


def test_the_near_range_leaves_out_what_is_far_from_the_best():
    values = np.array([0.1, 0.11, 0.12, 0.13, 0.14, 5.0])
    assert near_the_best(values, maximize=False) == (0.1, 0.14)
    assert near_the_best(-values, maximize=True) == (-0.14, -0.1)
    assert near_the_best(np.array([1.0, 9.0]), maximize=False) == (1.0, 9.0)
    assert near_the_best(np.full(5, 2.0), maximize=True) == (2.0, 2.0)


def test_numbers_that_are_compared_have_equally_many_decimals():
    assert format_aligned([0.09, 0.0905, 0.1]) == ["0.0900", "0.0905", "0.1000"]
    assert format_aligned([250.0, 251.5]) == ["250", "252"]
    assert format_aligned([0.0]) == ["0.000"]
    assert format_aligned([-5.189, -5.186]) == ["−5.189", "−5.186"]
    assert format_aligned([0.5, 0.5]) == ["0.500", "0.500"]


@pytest.mark.parametrize("percent", [100, 200])
def test_every_picture_and_button_has_a_name_at_any_text_size(shown, feed, look, percent):
    board = shown(40)
    look.change_look(percent=percent)
    feed([])
    for name in OURS:
        view = board.views[name]
        assert view.canvas.accessibleName() == view.title
        assert view.canvas.focusPolicy() & Qt.FocusPolicy.TabFocus
        for button in view.findChildren(QAbstractButton):
            if button.isVisible():
                assert button.accessibleName()
                assert min(button.width(), button.height()) >= 24


def test_views_hold_in_one_narrow_column_and_in_the_dark(shown, board, feed, dark):
    board.resize(420, 700)
    shown(40)
    dark()
    feed([])
    for name in OURS:
        view = board.views[name]
        for plot in view.canvas.plots:
            right = plot.vb.sceneBoundingRect().right()
            assert right <= view.canvas.width(), name
            assert plot.vb.width() > 60, name
