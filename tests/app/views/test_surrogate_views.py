from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage

from app.views.surrogate_view import expected_text
from app.worker.evaluator_process import evaluate_request, surface_of
from core.figures.scales import Scale
from core.gp import evaluator
from core.gp.regression import Surrogate


@pytest.fixture
def looked(board, feed, streams):
    """A board whose requests to evaluate are answered at once, in this process."""
    asked = []

    def look(request):
        asked.append(request)
        board.take_evaluation(evaluate_request(request))

    board.evaluation_wanted.connect(look)
    feed([*streams.trials(), streams.surrogate()])
    feed([])
    board.asked = asked
    return board


def test_an_expectation_does_not_promise_the_impossible():
    share, number, free = Scale("percent"), Scale(), (-math.inf, math.inf)
    assert expected_text(0.81, 0.02, share, (0.0, 1.0)) == "81.0 ± 2.0\u00a0%"
    at_limit = expected_text(0.99, 0.04, share, (0.0, 1.0))
    assert at_limit.replace("\u00a0", " ") == "99.0 % (95.0 % to 100.0 %)"
    assert expected_text(0.05, 0.1, number, (0.0, math.inf)) == "0.05 (0 to 0.15)"
    assert expected_text(0.05, 0.1, number, free) == "0.05 ± 0.1"


def test_the_slice_equals_the_evaluator_and_is_said(looked, streams, feed):
    view = looked.views["slice"]
    found = evaluator.slice_through(surface_of(Surrogate, streams.surrogate()), streams.space, "C")
    mean, sd = np.array(found["mean"]), np.array(found["sd"])
    assert np.allclose(view.mean.x, np.log10(found["x"]))
    assert np.allclose(view.mean.y, mean)
    assert np.allclose(view.wide_band.high, mean + 2 * sd)
    assert np.allclose(view.band.low, mean - sd)
    assert np.allclose(view.promise.y, found["acquisition"])
    assert len(view.mean.x) <= 500
    assert sorted(view.trials.clear.y.tolist()) == sorted(s for s in streams.scores if s)
    assert view.trials.best.y.tolist() == [0.81]
    assert np.isclose(view.next.value, -1.5)  # a quarter of the way from 0.001 to 1000
    assert view.next_below.value == view.next.value
    upper, lower = (plot.vb.sceneBoundingRect() for plot in view.canvas.plots)
    assert np.allclose([upper.left(), upper.right()], [lower.left(), lower.right()])
    assert view.plot.vb.viewRange()[0] == view.below.vb.viewRange()[0]
    view.grab()
    drawn = sorted(view.below.bottom.drawn, key=lambda pair: pair[0].left())
    assert {"0.001", "1", "1000"} <= {text for _, text in drawn}
    assert all(a.right() <= b.left() for (a, _), (b, _) in itertools.pairwise(drawn))
    assert re.match(
        r"Slice along Penalty weight \(C\) .* Best 81.0.% at .* Next trial at .* [\d.]+ ± [\d.]+.%",
        view.describe(),
    )
    headers, rows = view.table_data()
    assert (headers[0], len(rows)) == ("Penalty weight (C)", len(view.answer["x"]) + 7)
    before = len(looked.asked)
    feed([])
    assert len(looked.asked) == before
    view.choosers[0].setCurrentIndex(2)
    view.choosers[0].activated.emit(2)
    feed([])
    assert view.answer.axis == "kernel"
    assert [text for _, text in view.below.bottom.shown_ticks()] == ["linear", "rbf"]
    levels = view.mean.y[np.isfinite(view.mean.y)].reshape(2, 2)
    assert np.allclose(levels[:, 0], levels[:, 1])


def test_one_request_at_a_time_and_late_answers_are_dropped(board, feed, streams):
    asked = []
    board.evaluation_wanted.connect(asked.append)
    feed([*streams.trials(), streams.surrogate()])
    feed([streams.surrogate()])
    assert sorted(request.view for request in asked) == ["slice", "surface"]
    late = replace(evaluate_request(asked[0]), number=-1)
    board.take_evaluation(late)
    assert not board.views[late.view].has_content()


def test_the_surface_equals_the_evaluator(looked, streams):
    view = looked.views["surface"]
    found = evaluator.surface(
        surface_of(Surrogate, streams.surrogate()), streams.space, "C", "depth"
    )
    assert np.allclose(view.image.image, found["mean"])
    assert "over Penalty weight (C) and Depth, from " in view.describe()
    assert {text[-1] for _, text in view.bar._scale_ticks()} == {"%"}
    headers, rows = view.table_data()
    assert (headers[:2], len(rows)) == (["Penalty weight (C)", "Depth"], 60 * 9)
    rect = view.image.mapRectToParent(view.image.boundingRect())
    assert rect.left() < -3.0 < 3.0 < rect.right()
    assert np.isclose(rect.top(), 0.5)
    assert np.isclose(rect.bottom(), 9.5)
    assert np.isnan(view.contours.x).sum() == len(found["contours"])
    assert np.allclose(view.contours.x[0], np.log10(found["contours"][0]["x"][0]))
    best = looked.record.run.best_trial
    place = QPointF(np.log10(best.setting["C"]), best.setting["depth"])
    assert [*view.trials.best.x, *view.trials.best.y] == [place.x(), place.y()]
    assert int(view.image.mapFromParent(place).y()) == best.setting["depth"] - 1
    view.choosers[0].setCurrentIndex(view.choosers[1].currentIndex())
    view.choosers[0].activated.emit(view.choosers[0].currentIndex())
    assert view.choosers[0].currentData() != view.choosers[1].currentData()


@pytest.mark.parametrize("maximize", [True, False])
def test_the_better_end_of_a_surface_is_bright_and_marked(board, feed, streams, maximize):
    board.evaluation_wanted.connect(lambda asked: board.take_evaluation(evaluate_request(asked)))
    feed([*streams.trials(maximize=maximize), streams.surrogate()])
    feed([])
    view = board.views["surface"]
    mean, smooth = np.array(view.answer.mean), QImage(view.image.getPixmap().toImage())
    places = [np.unravel_index(at, mean.shape) for at in (mean.argmax(), mean.argmin())]
    high, low = (smooth.pixelColor(int(x), int(y)).lightnessF() for y, x in places)
    assert (high - low if maximize else low - high) > 0.3
    assert view.bar.better_label == ("↑ better" if maximize else "↓ better")
