"""What every picture of scores holds: one hopeless trial takes no room from the others."""

from __future__ import annotations

import numpy as np
import pytest

from app.views.result_views import RESULT_VIEWS
from app.worker.evaluator_process import evaluate_request
from core.tuning.run_results import Results
from core.tuning.scores.score import score_text

SHARE = 0.15  # of the axis, that the last improvement takes at least
GOOD = (0.90, 0.92, 0.91, 0.93)
LOSSES = (0.13, 0.11, 0.12, 0.10)


@pytest.fixture
def shown(board, feed, streams):
    """A board of a run of a surrogate, whose requests are answered at once."""
    board.evaluation_wanted.connect(lambda asked: board.take_evaluation(evaluate_request(asked)))

    def show(scores, maximize):
        # As in a run, the surrogate takes a hopeless trial for a bad one.
        warped = (
            np.clip(scores, np.sort(scores)[1], np.sort(scores)[-2]) if len(scores) > 4 else scores
        )
        feed([*streams.trials(scores, maximize=maximize), streams.surrogate(list(warped))])
        return feed([])

    return show


def shown_ranges(board):
    """The range of the score in every picture of the run."""
    best, belief = (board.views[name].plot.vb.viewRange()[1] for name in ("best", "slice"))
    bar, parallel = board.views["surface"].bar, board.views["parallel"]._score_range()
    return {"best": best, "belief": belief, "surface": (bar._low, bar._high), "parallel": parallel}


@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize(
    ("scores", "outlier", "maximize"),
    [(GOOD, 0.141, True), (LOSSES, 250.0, False), (LOSSES[::-1], -40.0, True)],
)
def test_one_hopeless_trial_flattens_no_picture(shown, scores, outlier, maximize, place):
    scores = [*scores[:place], outlier, *scores[place:]]
    board = shown(scores, maximize)
    for name, (low, high) in shown_ranges(board).items():
        assert SHARE * (high - low) <= 0.01, (name, low, high)
        assert low >= -0.01, name
    view = board.views["best"]
    view.grab()
    assert score_text(outlier, "accuracy") in [text for _, text in view.marks["beyond"].boxes]
    for name in ("best", "slice", "parallel"):
        assert board.views[name].whole_button.isVisible(), name
        board.views[name].whole_button.click()
    board.views["surface"].toggle_whole()
    board.redraw_now()
    ranges = shown_ranges(board)
    for name in ("best", "belief", "parallel"):
        assert ranges[name][0] <= outlier <= ranges[name][1], name
    mean = np.array(board.views["surface"].answer.mean)
    assert ranges["surface"] == pytest.approx((mean.min(), mean.max()))


@pytest.mark.parametrize(
    ("scores", "outlier", "maximize"), [(GOOD[::-1], 0.141, True), (LOSSES[::-1], 250.0, False)]
)
def test_a_hopeless_default_flattens_no_result(qtbot, scores, outlier, maximize):
    tuned, default = scores[:2]
    view = next(view for view in RESULT_VIEWS if view.name == "scores")()
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    view.show_results(
        Results(
            metric="accuracy",
            maximize=maximize,
            test={"accuracy": tuned},
            default_test={"accuracy": default},
            baseline_test={"accuracy": outlier},
        )
    )
    low, high = view.plot.vb.viewRange()[0]
    assert abs(tuned - default) >= SHARE * (high - low)


def test_no_axis_of_a_share_has_a_place_beyond_all(shown):
    for scores in ([1.0], [0.0, 0.2, 1.0], [0.97, 0.99, 1.0, 1.0]):
        board = shown(scores, True)
        for name in ("best", "slice"):
            ticks = [place for place, _ in board.views[name].plot.left.shown_ticks()]
            assert len(ticks) >= 2
            assert min(ticks) >= 0.0
            assert max(ticks) <= 1.0, name
