from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures.scales import Scale, bounds_of, scale_of
from core.space import Axis
from core.wording import format_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01, "0.01"),
        (1.0, "1"),
        (100.0, "100"),
        (1234.5678, "1235"),
        (0.00012345, "0.000123"),
        (-0.5, "−0.5"),
        (0.0, "0"),
        (math.nan, "–"),
        (None, "–"),
        (1e-7, "10⁻⁷"),
        (2.5e9, "2.5×10⁹"),
    ],
)
def test_numbers_are_plain(value, text):
    assert format_number(value) == text


def test_log_axis_has_decades_in_plain_numbers():
    assert [text for _, text in Scale("log").ticks_between(-3, 3, 7)] == [
        "0.001", "0.01", "0.1", "1", "10", "100", "1000",
    ]  # fmt: skip


def test_few_decades_get_numbers_between():
    ticks = Scale("log").ticks_between(math.log10(0.3), math.log10(40), 8)
    assert [text for _, text in ticks] == ["0.5", "1", "2", "5", "10", "20"]
    assert np.allclose([10**place for place, _ in ticks], [0.5, 1, 2, 5, 10, 20])


def test_less_than_a_decade_still_has_two_ticks():
    assert len(Scale("log").ticks_between(math.log10(1.1), math.log10(1.9), 5)) >= 2


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
