from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from core.figures.penalty_figures import PenaltyRow, by_penalty, penalty_rows
from resources.theme import LIGHT


def lines_of(view):
    """The groups whose lines have a name and a colour."""
    return {name[5:] for name in view.marks if name.startswith("line ")}


def test_lines_bars_and_objective_equal_the_steps(feed, streams, assert_words_fit):
    board = feed(streams.penalties())
    view = board.views["trajectory"]
    assert lines_of(view) == {"noise", "useful", "more"}
    assert view.marks["line noise"].x.tolist() == [0, 1, 2, 3, 4]
    assert np.allclose(view.marks["line noise"].y, [0, 0.5, 1, 1.5, 2])  # log10 of C
    assert view.table_data()[0] == ["step", "more", "useful", "noise"]
    given = [("off", 0.1, True), ("large", 9.0), ("gone", math.nan), ("s", 1.0)]
    ranked = by_penalty(PenaltyRow(*fields) for fields in given)
    assert [row.name for row in ranked] == ["s", "large", "gone", "off"]
    view = board.views["penalties"]
    assert [row.name for row in penalty_rows(view.run)] == ["more", "useful", "noise"]
    ends = [end for _, _, end in view.marks["bars"].bars]
    assert np.allclose(ends[:2], [0.0, 1.0])
    assert view.marks["bars"]._hatched == [False, False, True]
    words = [text for _, _, text in view.marks["penalties"].words]
    assert words == ["λ = 1", "λ = 10", "switched off"]
    assert "1 switched off" in view.describe()
    rows = [[name, round(penalty, 6), note] for name, penalty, *_, note in view.table_data()[1]]
    assert rows == [["more", 1.0, ""], ["useful", 10.0, ""], ["noise", 100.0, "switched off"]]
    assert_words_fit(view, "penalties")
    view = board.views["objective"]
    assert view.marks["line"].y.tolist() == [100.0, 50.0, 25.0, 12.5, 6.25]
    assert view.describe() == "Objective 6.25 at step 4, from 100 at the start."


@pytest.mark.parametrize("penalty", [0.2, 40.0, math.inf])
def test_what_is_switched_off_has_the_longest_bar_whatever_its_penalty(feed, streams, penalty):
    first, *steps, _ = streams.penalties()
    given = {"noise": penalty, "useful": 3.0, "more": 60.0}
    view = feed([first, replace(steps[-1], penalties=given, switched_off=["noise"])]).views[
        "penalties"
    ]
    ends = [end for _, _, end in view.marks["bars"].bars]
    assert np.allclose(ends[:2], np.log10([3.0, 60.0]))
    assert ends[2] > ends[1] + 0.1
    assert view.marks["bars"]._hatched == [False, False, True]


@pytest.mark.parametrize("count", [3, 8, 40])
def test_end_labels_never_overlap_and_fit(feed, streams, count):
    groups = [f"group {n}" for n in range(count)]
    view = feed(streams.penalties(groups, off=())).views["trajectory"]
    view.grab()
    # λ falls with the number: of many groups the most extreme are named
    assert lines_of(view) == ({*groups[:6], *groups[-6:]} if count > 12 else {*groups})
    assert np.isnan(view.marks["others"].x).sum() == max(0, count - 12)
    rects = sorted(view.marks["names"].rects, key=lambda rect: rect.top())
    assert len(rects) == min(count, 12)
    assert all(a.bottom() <= b.top() + 0.5 for a, b in itertools.pairwise(rects))
    area = view.plot.vb.sceneBoundingRect()
    assert all(rect.right() <= area.right() + 1 for rect in rects)


def test_light_colours_have_an_ink_outline(feed, streams):
    view = feed(streams.penalties([f"g{n}" for n in range(6)], off=())).views["trajectory"]
    for name in ("g4", "g5"):
        line = view.marks[f"line {name}"]
        assert line._pen.color().name().upper() in LIGHT.outlined
        assert line._under.color().name() == LIGHT.ink.lower()


def test_many_groups_scroll(feed, streams):
    groups = [f"g{n}" for n in range(80)]
    view = feed(streams.penalties(groups, off=())).views["penalties"]
    assert view.scroll_bar.isVisible()
    low, high = view.plot.vb.viewRange()[1]
    assert high - low < 80
    view.scroll_bar.setValue(view.scroll_bar.maximum())
    assert view.plot.vb.viewRange()[1][1] >= 79
    labels = [text for _, text in view.plot.left.shown_ticks()]
    assert labels[-1] == "g0"  # the largest penalty: the least important


def test_a_step_without_an_objective_leaves_a_gap(feed, board, streams):
    events = list(streams.penalties())
    lost = events[3].__class__(**{**vars(events[3]), "objective": math.nan})
    view = feed([*events[:3], lost, *events[4:]]).views["objective"]
    assert np.isnan(view.marks["line"].y).sum() == 1
    assert len(view.marks["line"]._starts) == 2  # of four segments two are gone


def test_gradient_has_its_own_pictures(feed, streams):
    board = feed(streams.gradient())
    path = board.views["path"]
    # λ on a log axis as in every other picture, though the learner moves its logarithm.
    assert path.plot.left.title == board.views["penalties"].plot.bottom.title == "penalty (λ)"
    assert np.allclose(path.marks["line a"].y, np.log10(np.exp([0.0, 4.0, 8.0, 12.0])))
    bounds = [name for name in path.marks if name.startswith("bound")]
    assert len(bounds) == 2
    assert path.plot.vb.viewRange()[1][1] >= math.log10(math.exp(13.0))
    assert "At a bound: a." in path.describe()
    assert np.allclose(path.table_data()[1][-1][1:3], np.exp([-3.0, 12.0]))
    assert board.views["holdout"].marks["line"].y.tolist() == [10.0, 9.0, 8.0, 7.0]
    assert np.isclose(board.views["penalties"].table_data()[1][-1][1], math.exp(12.0))
