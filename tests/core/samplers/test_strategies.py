"""Every registered sampler runs with its defaults, gives reasons, and repeats itself."""

import pytest

from core.errors import UnusableError
from core.space import Axis
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import NamedOptions

SAMPLED = [name for name, one in STRATEGIES.items() if one.kind == "trials" and not one.several]
REASONS = {"random", "grid", "improve", "explore", "sample", "tpe", "cma-es"}


@pytest.mark.parametrize("name", SAMPLED)
def test_runs_in_a_mixed_space_and_repeats_itself(name, mixed, hill, run):
    one = run(STRATEGIES[name].sampler(mixed, {}, 7), hill, 14)
    two = run(STRATEGIES[name].sampler(mixed, {}, 7), hill, 14)
    assert [t.params for t in one.trials] == [t.params for t in two.trials]
    assert all(trial.user_attrs["reason"] in REASONS for trial in one.trials)
    for trial in one.trials:
        assert 1e-3 <= trial.params["C"] <= 1e3
        assert trial.params["shape"] in {"a", "b", "c"}


@pytest.mark.parametrize("name", SAMPLED)
def test_runs_on_one_axis_and_on_an_axis_without_range(name, run):
    space = (Axis("x", "", "float", 0, 1), Axis("k", "", "int", 3, 3))
    study = run(STRATEGIES[name].sampler(space, {}, 0), lambda s: s["x"] * s["k"], 8, space)
    assert all(trial.params["k"] == 3 for trial in study.trials)


def test_own_reasons_of_the_peers(mixed, hill, run):
    tpe = run(STRATEGIES["tpe"].sampler(mixed, {"start_trials": 3}, 0), hill, 5)
    assert [t.user_attrs["reason"] for t in tpe.trials] == ["random"] * 3 + ["tpe"] * 2
    cma = run(STRATEGIES["cma-es"].sampler(mixed, {}, 0), hill, 5)
    assert cma.trials[-1].user_attrs["reason"] == "cma-es"


def test_options_reach_the_sampler(mixed):
    given = {"rule": "printed", "tau": "2.5", "kernel": "se", "start_trials": 0}
    options = STRATEGIES["variable"].sampler(mixed, given, 0).options
    assert (options.rule, options.tau, options.kernel) == ("printed", 2.5, "se")
    assert options.start_trials == 0
    assert STRATEGIES["hybrid"].sampler(mixed, {}, 0).options.tau == 0.8
    assert STRATEGIES["gp"].sampler(mixed, {}, 0).options.start_trials == -1


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("gp", {"kernel": "cubic"}, "se, matern32"),
        ("hybrid", {"tau": 1.5}, "0 to 1"),
        ("random", {"points": 3}, "no such option"),
    ],
)
def test_wrong_options_are_refused(name, options, said, mixed):
    with pytest.raises(UnusableError, match=said):
        STRATEGIES[name].sampler(mixed, options, 0)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_option_has_its_value(name):
    strategy = STRATEGIES[name]
    values = strategy.option_values({})
    assert {option.name: getattr(values, option.name) for option in strategy.options} == {
        option.name: option.default for option in strategy.options
    }


def test_options_without_a_class_are_read_by_name():
    options = NamedOptions({"size": 3, "judged": "validation"})
    assert (options["size"], options.get("size"), options.size, dict(**options)) == (
        *(3, 3, 3),
        {"size": 3, "judged": "validation"},
    )
    assert (options.get("depth", 1), options.judged, options.average) == (1, "validation", True)
    assert options.changed(size=4).items() >= {("size", 4)}


def test_random_draws_by_the_logarithm(mixed, hill, run):
    study = run(STRATEGIES["random"].sampler(mixed, {}, 1), hill, 400)
    below_one = sum(trial.params["C"] < 1 for trial in study.trials) / 400
    assert below_one == pytest.approx(0.5, abs=0.08)
    for depth in range(1, 13):
        assert any(trial.params["depth"] == depth for trial in study.trials)
