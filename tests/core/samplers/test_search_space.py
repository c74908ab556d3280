"""Optuna's distributions to axes and back, and the grid over them: coarse before fine, an end."""

from __future__ import annotations

import math

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from core.errors import UnusableError
from core.gp.domain import Condition
from core.samplers.grid import GridSampler, check_grid, grid_values
from core.samplers.search_space import SearchSpace, SeenParameters, distributions
from core.space import Axis

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
    stepped = SearchSpace({"step": KINDS["step"], "int step": KINDS["int step"]})
    assert stepped.setting(np.zeros(2)) == {"step": 0.5, "int step": 10}
    assert stepped.setting(np.ones(2)) == {"step": 2.25, "int step": 90}


def test_distributions_of_axes(mixed):
    assert distributions(mixed) == {
        "C": FloatDistribution(1e-3, 1e3, log=True),
        "depth": IntDistribution(1, 12),
        "shape": CategoricalDistribution(("a", "b", "c")),
    }
    assert [axis.name for axis in SearchSpace(distributions(mixed)).axes] == ["C", "depth", "shape"]


def in_order(space, points):
    return GridSampler(space, points=points).settings(SearchSpace(distributions(space)))


def test_coarse_levels_come_first():
    settings = in_order((Axis("x", "", "float"), Axis("y", "", "float")), 7)
    assert len(settings) == 49
    coarse = [(k + 0.5) / 7 for k in (1, 3, 5)]
    assert settings[0] == {"x": pytest.approx(0.5), "y": pytest.approx(0.5)}
    values = [value for setting in settings[:9] for value in setting.values()]
    assert sorted(set(np.round(values, 9))) == pytest.approx(coarse)


def test_everything_once_in_a_mixed_space(mixed):
    values = grid_values(mixed, points=5)
    assert values["shape"] == ["a", "b", "c"]
    assert len(values["C"]) == len(values["depth"]) == 5
    assert values["C"] == sorted(values["C"])
    settings = in_order(mixed, 5)
    assert len(settings) == 75 == len({tuple(setting.values()) for setting in settings})


def test_whole_numbers_are_never_more_than_there_are():
    space = (Axis("k", "", "int", 1, 4), Axis("j", "", "int", 1, 1000, log=True))
    values = grid_values(space, points=9)
    assert values["k"] == [1, 2, 3, 4]
    assert len(set(values["j"])) == len(values["j"]) <= 9


def test_powers_of_two_and_given_values():
    space = (Axis("C", "", "float", 2.0**-10, 2.0**10, log=True),)
    assert grid_values(space, powers_of_two=True) == {"C": [2.0**k for k in range(-10, 11)]}
    assert grid_values(space, values={"C": [1, 10, 100]}) == {"C": [1, 10, 100]}


@pytest.mark.parametrize(("axes", "most"), [(1, 31), (2, 512), (3, 512), (6, 729)])
def test_the_automatic_grid_is_of_bearable_size(axes, most):
    space = tuple(Axis(f"x{k}", "", "float") for k in range(axes))
    assert math.prod(len(values) for values in grid_values(space).values()) <= most


def test_never_repeats_and_says_when_it_is_done(mixed, hill, run):
    sampler = GridSampler(mixed, points=3)
    study = optuna.create_study(sampler=sampler)
    seen = set()
    while not sampler.exhausted:
        trial = study.ask(distributions(mixed))
        seen.add(tuple(trial.params.values()))
        study.tell(trial, hill(trial.params))
        assert trial.user_attrs["reason"] == "grid"
    assert len(seen) == len(study.trials) == 27
    assert sampler.finished_reason
    study.tell(study.ask(distributions(mixed)), 0.0)  # a study may go on


def test_an_unanswered_or_failed_trial_is_not_tried_again(mixed):
    study = optuna.create_study(sampler=GridSampler(mixed, points=3))
    asked = [study.ask(distributions(mixed)) for _ in range(5)]
    study.tell(asked[2], state=optuna.trial.TrialState.FAIL)
    asked += [study.ask(distributions(mixed)) for _ in range(5)]
    assert len({tuple(trial.params.values()) for trial in asked}) == 10


def test_a_grid_beyond_reason_is_refused():
    space = tuple(Axis(f"x{k}", "", "float") for k in range(5))
    with pytest.raises(ValueError, match="too large"):
        in_order(space, 30)
    # In a sentence, before it starts.
    check_grid(grid_values(space, points=15))
    with pytest.raises(UnusableError, match="24,300,000 settings"):
        check_grid(grid_values(space, points=30))


def branching(trial):
    """A parameter of one choice, another of two layers."""
    shape = trial.suggest_categorical("shape", ["a", "b", "c"])
    trial.suggest_float("rate", 0.0, 1.0)
    if shape == "c":
        trial.suggest_categorical("kind", ["x", "y"])
    if trial.suggest_int("layers", 1, 3) >= 2:
        trial.suggest_float("second", 1.0, 9.0, log=True)
    trial.suggest_float("changing", 0.0, 1.0 + trial.number)
    return 0.0


def test_conditions_are_read_from_what_trials_had():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    seen = SeenParameters(study.study_name)
    seen.read(study)
    assert seen.space(with_conditions=True) is None
    for trials in (1, 4, 40):
        study.optimize(branching, trials)
        seen.read(study)
    space = seen.space(with_conditions=True)
    assert list(space.described) == ["kind", "layers", "rate", "second", "shape"]
    assert space.conditions == (
        Condition("kind", "shape", frozenset({0, 1})),
        Condition("second", "layers", frozenset({1})),
    )
    common = seen.space(with_conditions=False)
    assert list(common.described) == ["layers", "rate", "shape"]
    assert common.conditions == ()
    for trial in study.trials:
        unit = space.to_unit_vector(trial.params)
        np.testing.assert_allclose(space.domain.snap_points(unit[None, :])[0], unit, atol=1e-6)
        assert space.contains(trial.params)
    assert not space.contains({"layers": 1, "rate": 0.5})
