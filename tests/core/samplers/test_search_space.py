"""Optuna's distributions to axes and back."""

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from core.samplers.search_space import SearchSpace, distributions

KINDS = {
    "plain": FloatDistribution(-2, 3),
    "log": FloatDistribution(1e-4, 10, log=True),
    "step": FloatDistribution(0.5, 2.25, step=0.25),
    "int": IntDistribution(-3, 9),
    "int log": IntDistribution(1, 500, log=True),
    "int step": IntDistribution(10, 90, step=20),
    "choice": CategoricalDistribution(("x", None, 3.5)),
}


def test_every_setting_is_contained_and_comes_back():
    space = SearchSpace(KINDS)
    width = sum(axis.width for axis in space.axes)
    for unit in np.random.default_rng(0).random((200, width)):
        setting = space.setting(unit)
        for name, kind in KINDS.items():
            assert kind._contains(kind.to_internal_repr(setting[name]))
        again = space.setting(space.to_unit_vector(setting))
        for name, value in setting.items():
            assert again[name] == (pytest.approx(value) if isinstance(value, float) else value)


def test_stepped_numbers_reach_both_ends():
    space = SearchSpace({"step": KINDS["step"], "int step": KINDS["int step"]})
    assert space.setting(np.zeros(2)) == {"step": 0.5, "int step": 10}
    assert space.setting(np.ones(2)) == {"step": 2.25, "int step": 90}


def test_distributions_of_axes(mixed):
    assert distributions(mixed) == {
        "C": FloatDistribution(1e-3, 1e3, log=True),
        "depth": IntDistribution(1, 12),
        "shape": CategoricalDistribution(("a", "b", "c")),
    }
    assert [axis.name for axis in SearchSpace(distributions(mixed)).axes] == ["C", "depth", "shape"]
