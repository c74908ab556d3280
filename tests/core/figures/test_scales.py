from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures.scales import Scale, bounds_of, near_range, scale_of, score_scale
from core.space import Axis
from core.tuning.scores.score import score_texts


def test_the_near_range_goes_from_the_best_to_the_middle_score_with_room():
    scores = np.array([0.10, 0.14, 0.11, 5.0, 0.12, np.nan, 0.13])
    assert near_range(scores, maximize=False) == pytest.approx((0.10, 0.10 + 1.25 * 0.03))
    assert near_range(-scores, maximize=True) == pytest.approx((-0.1375, -0.10))
    assert near_range(np.array([1.0, 9.0]), maximize=False) == (1.0, 9.0)
    assert near_range(np.full(5, 2.0), maximize=True) == (2.0, 2.0)
    assert near_range(scores, maximize=False, error=0.03) == pytest.approx((0.10, 0.22))
    assert near_range(scores, True, 2.0, (0.0, 9.0)) == pytest.approx((0.0, 5.0))
    assert np.isnan(near_range(np.array([np.nan]), maximize=True)).all()


@pytest.mark.parametrize(
    ("low", "high", "max_ticks", "labels"),
    [
        (-3, 3, 7, "0.001 0.01 0.1 1 10 100 1000"),
        (-6, 2, 5, "10⁻⁶ 0.0001 0.01 1 100"),  # a power of ten is written alike on every axis
        (math.log10(0.3), math.log10(40), 8, "0.5 1 2 5 10 20"),
        (math.log10(1.1), math.log10(1.9), 5, "1.2 1.4 1.6 1.8"),
    ],
)
def test_ticks_of_a_log_axis(low, high, max_ticks, labels):
    ticks = Scale("log").ticks_between(low, high, max_ticks)
    assert [text for _, text in ticks] == labels.split()
    in_figures = [float(text.replace("10⁻⁶", "1e-6")) for text in labels.split()]
    assert np.allclose([10**place for place, _ in ticks], in_figures)


def test_shares_are_told_in_percent_and_their_differences_in_points():
    ticks = score_scale("accuracy").ticks_between(0.80, 0.90, 3)
    assert ticks == [(0.8, "80\u00a0%"), (0.85, "85\u00a0%"), (0.9, "90\u00a0%")]
    assert [text for _, text in Scale("percent", unit="").ticks_between(0, 0.02, 3)] == [
        "0", "1", "2",
    ]  # fmt: skip
    assert score_scale("log_loss") == Scale()


def test_no_tick_stands_below_the_least():
    assert next(at for at, _ in Scale().ticks_between(-0.2, 1.0, 7)) < 0
    assert next(at for at, _ in Scale(min_tick=0.0).ticks_between(-0.2, 1.0, 7)) == 0


def test_whole_axis_has_whole_ticks():
    for most in range(2, 12):
        places = [place for place, _ in Scale("whole").ticks_between(-0.3, 7.3, most)]
        assert places == [round(place) for place in places]


@given(st.floats(-1e5, 1e5), st.floats(1e-4, 1e5), st.integers(2, 9))
def test_linear_ticks_are_few_even_inside_and_say_their_place(low, span, most):
    high = low + span
    ticks = Scale().ticks_between(low, high, most)
    places = [place for place, _ in ticks]
    slack = 1e-6 * max(1.0, abs(low), span)
    assert 2 <= len(ticks) <= max(most, 5)
    assert all(low - slack <= place <= high + slack for place in places)
    assert np.allclose(np.diff(places), places[1] - places[0], atol=slack)
    assert len({text for _, text in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("scale", "place", "word"),
    [
        (Scale(), 0.25, "0.25"),
        (Scale("percent"), 0.877, "87.7\u00a0%"),
        (Scale("whole"), 2.6, "3"),
        (Scale("log"), -2.0, "0.01"),
        (Scale("choice", ("linear", "rbf")), 0.8, "rbf"),
        (Scale("choice", ("linear",)), 4.0, "–"),
        (Scale(), float("nan"), "–"),
    ],
)
def test_a_place_is_said_as_its_value(scale, place, word):
    assert scale.label_at(place) == word


def test_numbers_that_are_compared_have_equally_many_decimals():
    assert score_texts([0.09, 0.0905, 0.1], "log_loss") == ["0.0900", "0.0905", "0.1000"]
    assert score_texts([250.0, 251.5], "mse") == ["250", "252"]
    assert score_texts([-5.189, -5.186], "mse") == ["−5.189", "−5.186"]
    assert score_texts([0.0], "mse") == ["0.000"]


def test_places_of_choices_and_missing_values():
    scale = Scale("choice", ("linear", "rbf"))
    assert scale.positions_of(["rbf", "linear"]).tolist() == [1.0, 0.0]
    assert math.isnan(scale.position_of("other"))
    assert math.isnan(Scale("log").position_of(-1.0))
    assert Scale("log").position_of(100) == 2.0


def test_scale_and_bounds_of_an_axis():
    log = Axis("C", "", "float", 1e-3, 1e3, log=True)
    whole = Axis("n", "", "int", 1, 9)
    choice = Axis("k", "", "choice", choices=(True, "b", 3))
    assert (scale_of(log).kind, bounds_of(log)) == ("log", (-3.0, 3.0))
    assert (scale_of(whole).kind, bounds_of(whole)) == ("whole", (1.0, 9.0))
    assert scale_of(choice).choices == ("True", "b", "3")
    assert bounds_of(choice) == (-0.5, 2.5)
