"""Views of runs that average their best models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app.worker.evaluator_process import evaluate_request
from core.figures.member_figures import ranked_trials, shown_members
from core.tuning.events import TrialFinished
from core.tuning.scores.score import score_text


@pytest.fixture
def shown(board, feed, ensemble):
    """A board fed with a whole run, or with what is given."""

    def show(*args, **given):
        return feed(ensemble.run(*args, **given))

    return show


def test_members_are_bars_as_long_as_they_weigh_and_the_best_comes_first(
    shown, ensemble, assert_words_fit
):
    view = shown(40).views["members"]
    scores = ensemble.scores_of(40)
    best = [int(n) for n in np.argsort(scores, kind="stable")]
    assert view.plot.left.position_scale.choices[0].endswith(f"trial {best[0]}")
    assert view.shown_figure().y.scale.choices == tuple(
        f"Support vector machine, trial {n}" for n in best[:4]
    )
    assert [end for _, _, end in view.marks["bars"].bars] == [25.0] * 4
    words = [text.split(" · ") for _, _, text in view.marks["weights"].words]
    assert {weight for weight, _ in words} == {"25\u00a0%"}
    assert np.allclose([float(score) for _, score in words], np.sort(scores)[:4], atol=5e-5)
    assert len({len(score) for _, score in words}) == 1
    assert_words_fit(view, "weights")
    rows = view.table_data()[1]
    assert [row[1] for row in rows] == best
    assert rows[0][2:4] == [25.0, pytest.approx(scores.min())]
    assert rows[4][2] == 0.0
    assert "4 of 40 models are averaged" in view.describe()
    assert "36 other trials" in view._caption.text()


def test_a_model_that_is_left_out_says_why(shown, ensemble):
    best = int(np.argmin(ensemble.scores_of(40)))
    view = shown(40, left_out=(best,)).views["members"]
    assert view.marks["weights"].words[0][2] == "left out"
    for text in (view.describe(), view._trial_text(best), view.table_data()[1][0][-1]):
        assert f"Trial {best} is left out: it fails." in text


def test_a_click_anywhere_on_a_bar_selects_its_trial_everywhere(shown, qtbot, feed):
    board = shown(40)
    view = board.views["members"]
    third = shown_members(view.run, ranked_trials(view.run))[2]
    place = view.plot.vb.mapViewToScene(QPointF(9.0, 2.0))
    assert view.canvas.number_at(QPointF(view.canvas.mapFromScene(place))) == third
    view.canvas.picked.emit(third)
    feed([])
    assert board.record.selected == third
    assert view.highlight.y.tolist() == [2.0]
    assert board.views["best"].highlight.x.tolist() == [third]
    assert "weight 25\u00a0% of the average" in view._trial_text(third)


def test_it_follows_the_run(shown, feed, ensemble):
    board = shown(19, ends=False)
    assert "19 trials the average has one member" in board.views["members"].describe()
    assert not board.views["disagreement"].has_content()
    assert "20 trials" in board.views["disagreement"]._empty.text()
    scores = ensemble.scores_of(40)
    feed([TrialFinished(number=19, setting=ensemble.setting_of(19), score=float(scores[19]))])
    feed([ensemble.updated(scores[:20])])
    assert board.views["members"].row_count == 2


def test_the_average_and_the_single_best_are_those_of_the_events_and_named(shown, ensemble):
    view = shown(40).views["average"]
    # One line stands for both while the average has one member: it begins with the second.
    updates = [ensemble.updated(ensemble.scores_of(40)[: n + 1]) for n in range(19, 40)]
    assert view.marks["average line"].x.tolist() == list(range(20, 41))
    default = view.run.unchosen_default
    assert f"the default setting {score_text(default, 'log_loss')}." in view.describe()
    assert np.allclose(view.marks["average line"].y, [u.average for u in updates])
    assert np.allclose(view.marks["single line"].y, [u.single for u in updates])
    assert view.marks["average"].symbol != view.marks["single"].symbol
    view.grab()
    average, single = [text for _, _, text in view.marks["names"]._ends]
    assert (average[:12], single[:16]) == ("average 0.08", "single best 0.09")
    one, other = sorted(view.marks["names"].rects, key=lambda rect: rect.top())
    assert one.bottom() <= other.top() + 0.5
    right = view.plot.vb.sceneBoundingRect().right()
    assert max(rect.right() for rect in view.marks["names"].rects) <= right + 1
    view.setFixedWidth(230)  # a window that becomes narrow
    view.grab()
    assert max(rect.right() for rect in view.marks["names"].rects) <= right + 1


def test_who_is_ahead_is_said_and_bad_first_trials_press_nothing(shown, feed, ensemble):
    board = shown(40, ends=False)
    view = board.views["average"]
    assert "The average is ahead by 0.00693." in view.describe()
    worse = replace(ensemble.updated(ensemble.scores_of(40)), average=0.2, single=0.1)
    feed([worse])
    assert "The single best is ahead by 0.1." in view.describe()
    bad = replace(ensemble.updated(ensemble.scores_of(40)[:20]), average=9.0, single=9.0)
    view.plot.forget_ranges()
    feed([bad])
    low, high = view.plot.vb.viewRange()[1]
    ends = [view.marks[f"{name} line"].y[-1] for name in ("average", "single")]
    assert low <= min(ends) <= max(ends) <= high < 1.0
    view.grab()
    assert "9" in [text for _, text in view.marks["beyond"].boxes]


@pytest.mark.parametrize(
    ("options", "words"), [({"judged": "training"}, "No rows are held out"), ({}, "resumed")]
)
def test_without_fair_rows_it_says_why(shown, options, words):
    view = shown(22, fair=False, ends=False, **options).views["average"]
    assert not view.has_content()
    assert words in view._empty.text()


def test_every_member_has_a_dot_in_every_row_and_the_selected_is_ringed(shown, feed):
    board = shown(40)
    view = board.views["disagreement"]
    said = board.record.run.disagreement
    assert len(view.marks["members"].x) == 12 * 4
    first = [100 * given[1] for given in said.rows[0].said]
    assert sorted(view.marks["members"].x[view.marks["members"].y == 0]) == pytest.approx(
        sorted(first)
    )
    true = [100.0 * (row.truth == "malignant") for row in said.rows]
    assert view.marks["truth"].x.tolist() == true
    assert view.plot.bottom.title == "probability of “malignant” in %"
    assert [entry.words for entry in view.painter.legend.entries][1] == "truth"
    assert f"between {min(first):.0f} % and {max(first):.0f} %" in view.describe()
    board.select_trial(view.run.disagreement.members[1])
    feed([])
    assert len(view.marks["selected"].x) == 12


def test_of_many_classes_the_true_one_is_shown_and_the_table_has_all(shown):
    classes = ("setosa", "versicolor", "virginica")
    view = shown(40, classes=classes).views["disagreement"]
    row = view.run.disagreement.rows[0]
    at = classes.index(row.truth)
    expected = sorted(100 * given[at] for given in row.said)
    assert sorted(view.marks["members"].x[view.marks["members"].y == 0]) == pytest.approx(expected)
    assert view.table_data()[1][0][4:] == [share for shares in row.said for share in shares]


def test_numbers_are_drawn_as_they_are(board, feed, ensemble):
    feed(ensemble.run(40))
    told = ensemble.disagree([3, 20], classes=())
    view = feed([told]).views["disagreement"]
    assert sorted(view.marks["members"].x[view.marks["members"].y == 0]) == pytest.approx(
        sorted(told.rows[0].said)
    )
    assert set(view.marks["truth"].x) == {3.2}
    (low, high), x = view.plot.vb.viewRange()[0], view.marks["members"].x
    assert low <= x.min() <= x.max() <= high


def test_candidates_and_notes_of_members(shown):
    board = shown(40)
    view = board.views["focus"]
    assert view.marks["line"].x.tolist() == list(range(4, 40))
    assert view.marks["line"].y[0] == pytest.approx(np.log10(4096 / 5**1.4 + 1))
    assert view.plot.vb.viewRange()[1][1] > np.log10(4096)
    assert view.table_data()[1][0] == [4, pytest.approx(4096 / 5**1.4 + 1)]
    model = board.views["trials"].model
    member = board.record.run.ensemble.members[1]
    notes = {trial.number: model.note_text(trial) for trial in board.record.run.trials}
    assert notes[member] == "in the average, 25\u00a0%"
    assert sum("in the average" in note for note in notes.values()) == 4
    assert "likely good" in notes.values()


def test_the_slice_shows_its_guess_once(board, shown, feed, streams):
    board.evaluation_wanted.connect(lambda asked: board.take_evaluation(evaluate_request(asked)))
    view = shown(20, ends=False).views["slice"]
    for has_second, title in ((False, "Penalty weight (C)"), (True, "")):
        if has_second:
            feed([*streams.trials(), streams.surrogate()])
            feed([])
        assert (view.below in view.canvas.plots) is has_second
        assert (view.below.scene() is not None) is has_second
        assert (view.plot.bottom.labelled, view.plot.bottom.title) == (not has_second, title)


def test_views_hold_in_one_narrow_column(shown, board):
    board.resize(420, 700)
    shown(40)
    for name in ("members", "average", "disagreement", "focus"):
        box, canvas = board.views[name].plot.vb, board.views[name].canvas
        assert box.sceneBoundingRect().right() <= canvas.width(), name
        assert box.width() > 60, name
