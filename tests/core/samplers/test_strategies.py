"""Every sampler runs with its defaults, gives reasons, and repeats itself."""

import optuna
import pytest

from core.errors import UnusableError
from core.samplers.bayes import EbHypSampler, GpSampler, HybridSampler, VariableSampler
from core.samplers.proposing_sampler import AnnotatedTpeSampler
from core.samplers.search_space import distributions
from core.samplers.transfer.joint_surrogate import TransferSampler
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


@pytest.mark.parametrize(
    "kind", [GpSampler, HybridSampler, VariableSampler, EbHypSampler, TransferSampler]
)
def test_an_ordinary_study_goes_on_where_all_was_tried(kind):
    study = optuna.create_study(sampler=kind())
    study.optimize(lambda t: t.suggest_int("k", 1, 5), n_trials=12)
    tried = [trial.params["k"] for trial in study.trials]
    assert len(tried) == 12
    assert set(tried) == {1, 2, 3, 4, 5}
    assert study.sampler.exhausted


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
    assert dict(**options) == {"size": 3, "judged": "validation"}
    assert (options["size"], options.size, options.get("depth", 1)) == (3, 3, 1)
    assert (options.judged, options.average) == ("validation", True)
    assert options.changed(size=4)["size"] == 4


def test_random_draws_by_the_logarithm(mixed, hill, run):
    trials = run(STRATEGIES["random"].sampler(mixed, {}, 1), hill, 400).trials
    assert sum(trial.params["C"] < 1 for trial in trials) / 400 == pytest.approx(0.5, abs=0.08)
    assert {trial.params["depth"] for trial in trials} == set(range(1, 13))


def test_tpe_reads_running_trials_as_optuna_does(mixed):
    def asked(sampler):
        study = optuna.create_study(sampler=sampler)
        axes = distributions(mixed)
        for value in range(12):
            study.tell(study.ask(axes), float(value))
        return [study.ask(axes).params for _ in range(6)]

    peer = optuna.samplers.TPESampler(seed=0, n_startup_trials=10)
    assert asked(AnnotatedTpeSampler(seed=0)) == asked(peer)
