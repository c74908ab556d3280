"""Allowed points: rounding, enumeration and neighbours agree with the axes' own conversions."""

import itertools
import math

import numpy as np
import pytest

from core.gp.domain import Condition, SearchDomain
from core.space import Axis, setting_at, unit_vector

SPACE = (
    Axis("rate", "", "float", 1e-4, 1e2, log=True),
    Axis("trees", "", "int", 1, 300, log=True),
    Axis("depth", "", "int", 2, 9),
    Axis("shape", "", "choice", choices=("round", "flat", None)),
    Axis("only", "", "int", 4, 4),
)


def test_snap_equals_the_axes_conversion():
    domain = SearchDomain(SPACE)
    points = np.random.default_rng(0).random((300, domain.width))
    expected = [unit_vector(SPACE, setting_at(SPACE, point)) for point in points]
    np.testing.assert_allclose(domain.snap_points(points), expected, atol=1e-6)


def test_size_and_everything():
    assert SearchDomain(SPACE).size == math.inf
    domain = SearchDomain(SPACE[2:])
    expected = [
        unit_vector(SPACE[2:], {"depth": depth, "shape": shape, "only": 4})
        for depth, shape in itertools.product(range(2, 10), ("round", "flat", None))
    ]
    assert domain.size == 24
    np.testing.assert_allclose(domain.all_points(), expected, atol=1e-12)


def test_spread_gives_every_value_its_share():
    domain = SearchDomain(SPACE[2:4])
    grid = (np.arange(240) + 0.5) / 240
    points = domain.points_from_uniforms(np.array(list(itertools.product(grid, grid[::80]))))
    settings = [setting_at(SPACE[2:4], point) for point in points]
    for depth in range(2, 10):
        assert sum(setting["depth"] == depth for setting in settings) == 90


def test_neighbours_differ_in_one_axis_and_are_allowed():
    domain = SearchDomain(SPACE)
    point = unit_vector(SPACE, {"rate": 1.0, "trees": 20, "depth": 5, "shape": None, "only": 4})
    near = domain.neighbours(point)
    np.testing.assert_allclose(domain.snap_points(near), near, atol=1e-9)
    settings = [setting_at(SPACE, other) for other in near]
    here = setting_at(SPACE, point)
    assert all(sum(s[name] != here[name] for name in s) == 1 for s in settings)
    assert {s["trees"] for s in settings} >= {18, 19, 20, 21, 22, 276}
    assert {s["depth"] for s in settings} == set(range(2, 10))
    assert {s["shape"] for s in settings} == {"round", "flat", None}


@pytest.mark.parametrize("low", [0, -3])
def test_whole_numbers_below_one(low):
    space = (Axis("k", "", "int", low, 40),)
    domain = SearchDomain(space)
    np.testing.assert_allclose(
        domain.all_points(), [unit_vector(space, {"k": k}) for k in range(low, 41)], atol=1e-12
    )


def test_settings_that_differ_in_what_is_hidden_are_one_point():
    conditions = (
        Condition("rate", "shape", frozenset({1})),
        Condition("trees", "depth", frozenset({2, 3})),
    )
    domain = SearchDomain(SPACE, conditions)
    uniforms = np.random.default_rng(0).random((200, len(SPACE)))
    points = domain.points_from_uniforms(uniforms)
    settings = [setting_at(SPACE, point) for point in points]
    rate_hidden = np.array([setting["shape"] == "flat" for setting in settings])
    trees_hidden = np.array([setting["depth"] <= 3 for setting in settings])
    assert 0 < rate_hidden.sum() < 200
    assert (points[rate_hidden, 0] == 0.5).all()
    assert (points[trees_hidden, 1] == 0.5).all()
    visible = domain.visible_entries(points)
    assert (visible[:, 0] == ~rate_hidden).all()
    assert (visible[:, 1] == ~trees_hidden).all()
    assert visible[:, 2:].all()
    unhidden = SearchDomain(SPACE).points_from_uniforms(uniforms)
    assert (points[visible] == unhidden[visible]).all()
    for point in points[:20]:
        neighbours = domain.neighbours(point)
        assert (neighbours == domain.snap_points(neighbours)).all()
        assert (neighbours != point).any(axis=1).all()
