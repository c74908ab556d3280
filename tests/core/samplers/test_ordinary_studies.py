"""The samplers in studies of others: finite spaces, conditional parameters, several objectives."""

import numpy as np
import optuna
import pytest

from core.samplers.bayes import EbHypSampler, GpSampler, HybridSampler, VariableSampler
from core.samplers.transfer.joint_surrogate import TransferSampler

KINDS = [GpSampler, HybridSampler, VariableSampler, EbHypSampler, TransferSampler]


@pytest.mark.parametrize("kind", KINDS)
def test_an_ordinary_study_goes_on_where_all_was_tried(kind):
    study = optuna.create_study(sampler=kind())
    study.optimize(lambda t: t.suggest_int("k", 1, 5), n_trials=12)
    tried = [trial.params["k"] for trial in study.trials]
    assert len(tried) == 12
    assert set(tried) == {1, 2, 3, 4, 5}
    assert study.sampler.exhausted


def test_a_noisy_objective_is_measured_again_where_it_pays():
    """Of two arms whose noise is ten times their difference the better one is tried more often."""
    random = np.random.default_rng(0)
    study = optuna.create_study(sampler=GpSampler(), direction="maximize")
    study.optimize(
        lambda t: t.suggest_categorical("arm", ["a", "b", "c"]).count("b") + random.normal(0, 0.5),
        n_trials=40,
    )
    arms = [trial.params["arm"] for trial in study.trials]
    assert min(map(arms.count, "abc")) >= 1
    assert arms.count("b") > 20


@pytest.mark.parametrize("kind", [GpSampler, EbHypSampler, TransferSampler])
def test_conditional_parameters_are_drawn_beside_what_all_trials_have(kind):
    """The branch that is better is found, and both branches' own parameters stay in range."""

    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        if trial.suggest_categorical("kind", ["flat", "deep"]) == "deep":
            return (x - 0.5) ** 2 + 0.1 * trial.suggest_int("depth", 1, 3)
        return (x - 0.5) ** 2 + 1 + 0.1 * trial.suggest_float("width", 0, 1)

    study = optuna.create_study(sampler=kind(seed=1))
    study.optimize(objective, n_trials=25)
    kinds = [trial.params["kind"] for trial in study.trials]
    assert {"flat", "deep"} == set(kinds)
    assert kinds[10:].count("deep") > 8
    assert study.best_value < 0.3
    assert {trial.params["depth"] for trial in study.trials if "depth" in trial.params} > {1}


def test_a_range_that_changes_between_trials_is_drawn_by_itself():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return x + 0.01 * trial.suggest_int("k", 0, trial.number)

    study = optuna.create_study(sampler=GpSampler())
    study.optimize(objective, n_trials=20)
    assert all(0 <= trial.params["k"] <= trial.number for trial in study.trials)
    assert study.best_params["x"] < 0.05


def test_two_objectives_are_refused_in_one_sentence():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=GpSampler())
    with pytest.raises(ValueError, match=r"one objective, and the study has 2; .*NSGAIISampler"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), 1.0), n_trials=1)
