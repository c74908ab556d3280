"""The space: unit vectors and settings are each other's inverse, and whole numbers share fairly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_reading import read_as
from core.space import Axis, default_setting, setting_at, unit_vector

LOG = Axis("C", "Penalty", "float", 1e-3, 1e3, log=True, default=1.0)
PLAIN = Axis("ratio", "Share", "float", 0.0, 1.0, default=0.5)
WHOLE = Axis("depth", "Depth", "int", 1, 6, default=3)
WHOLE_LOG = Axis("trees", "Trees", "int", 10, 1000, log=True, default=100)
CHOICE = Axis("kernel", "Kernel", "choice", choices=("rbf", "poly", None), default="rbf")
SPACE = (LOG, PLAIN, WHOLE, WHOLE_LOG, CHOICE)


def test_a_log_axis_counts_factors():
    assert LOG.to_unit(1.0) == pytest.approx([0.5])
    assert LOG.from_unit([0.75]) == pytest.approx(10**1.5)


def test_a_choice_takes_one_entry_each():
    assert CHOICE.to_unit("poly") == [0.0, 1.0, 0.0]
    assert CHOICE.from_unit([0.2, 0.1, 0.7]) is None
    assert CHOICE.width == 3


@given(st.floats(1e-3, 1e3), st.integers(1, 6), st.integers(10, 1000))
def test_to_the_cube_and_back(c, depth, trees):
    setting = {"C": c, "ratio": 0.25, "depth": depth, "trees": trees, "kernel": None}
    back = setting_at(SPACE, unit_vector(SPACE, setting))
    assert back.pop("C") == pytest.approx(setting.pop("C"))
    assert back.pop("ratio") == pytest.approx(setting.pop("ratio"))
    assert back == setting


def test_every_whole_number_has_the_same_share_of_the_cube():
    values = [WHOLE.from_unit([u]) for u in (np.arange(6000) + 0.5) / 6000]
    assert [values.count(depth) for depth in range(1, 7)] == [1000] * 6


def test_the_ends_are_reached_and_never_passed():
    for axis in (LOG, PLAIN, WHOLE, WHOLE_LOG):
        assert axis.from_unit([-0.1]) == pytest.approx(axis.low)
        assert axis.from_unit([1.1]) == pytest.approx(axis.high)


def test_defaults_and_plain_dicts():
    assert default_setting(SPACE)["trees"] == 100
    assert tuple(read_as(Axis, axis.as_dict()) for axis in SPACE) == SPACE


def test_an_axis_varies_where_it_has_more_than_one_value():
    number = Axis("C", "Cost", "float", 0.1, 9.0, default=1.0)
    choice = Axis("k", "Kernel", "choice", choices=("a", "b"), default="a")
    assert number.is_free
    assert choice.is_free
    assert not replace(number, high=0.1).is_free
    assert not replace(choice, choices=("a",)).is_free
