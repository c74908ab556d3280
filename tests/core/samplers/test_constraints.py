"""Constraints of a study: feasible trials come first, and settings that violate one are avoided."""

import math

import numpy as np
import optuna
import pytest
from scipy.stats import norm

from core.gp.kernels import Hyperparameters, Stationary
from core.gp.proposal import feasibility_slopes, log_feasibility
from core.gp.regression import ExactPosterior
from core.samplers.bayes import EbHypSampler, GpSampler
from core.samplers.proposing_sampler import RandomSampler
from core.samplers.transfer.joint_surrogate import TransferSampler

needs_version_5 = pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="an Optuna without set_constraint"
)


def search(sampler, constraint, trials):
    """Maximizes x + y over the square [0, 2]² where the constraint is at most 0."""

    def score(trial):
        x, y = (trial.suggest_float(name, 0.0, 2.0) for name in "xy")
        trial.set_constraint("region", constraint(x, y))
        return x + y

    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(score, n_trials=trials)
    return study


def disc(x, y):
    return x * x + y * y - 1.0


def is_feasible(study):
    return np.array([trial.constraints["region"] <= 0.0 for trial in study.trials])


@needs_version_5
def test_the_best_point_of_a_disc_is_found():
    # x + y is largest where the line touches the circle, at √2; in the whole square it is 4.
    study = search(GpSampler(seed=0), disc, 24)
    assert is_feasible(study).sum() >= 4
    assert math.sqrt(2.0) - 0.01 <= study.best_value <= math.sqrt(2.0)
    assert study.sampler.surrogate.incumbent == pytest.approx(
        [study.best_params["x"] / 2, study.best_params["y"] / 2], abs=0.02
    )


@needs_version_5
def test_a_small_region_is_searched_for_first():
    # One part in 200 of the square, and violations of up to ten thousand.
    study = search(
        GpSampler(seed=1), lambda x, y: math.expm1(5.0 * (math.hypot(x - 0.3, y - 0.5) - 0.08)), 24
    )
    assert not is_feasible(study)[:4].any()  # the start is spread evenly
    assert is_feasible(study).sum() >= 4
    assert study.best_value > 0.85  # at most 0.8 + 0.08 √2


@needs_version_5
@pytest.mark.parametrize("kind", [EbHypSampler, TransferSampler])
def test_other_samplers_leave_what_is_not_feasible(kind):
    study, at_random = search(kind(seed=0), disc, 24), search(RandomSampler(seed=0), disc, 24)
    assert is_feasible(study)[12:].mean() > 2.0 * is_feasible(at_random).mean()


@needs_version_5
def test_a_constraint_that_is_always_kept_or_infinite_is_borne():
    def score(trial):
        x = trial.suggest_float("x", 0.0, 2.0)
        trial.set_constraint("kept", -1.0)
        trial.set_constraint("broken", math.inf if x > 1.0 else -math.inf)
        if trial.number % 2:
            trial.set_constraint("now and then", x - 1.5)
        return x

    study = optuna.create_study(sampler=GpSampler(seed=0), direction="maximize")
    study.optimize(score, n_trials=14)
    assert 0.9 < study.best_value <= 1.0


def test_constraints_of_an_older_study_count_as_those_of_a_name():
    def proposal(notes_of):
        study = optuna.create_study(sampler=GpSampler(seed=0))
        axes = {name: optuna.distributions.FloatDistribution(0.0, 2.0) for name in "xy"}
        for x, y in np.random.default_rng(0).random((8, 2)) * 2.0:
            trial = optuna.create_trial(
                params={"x": x, "y": y},
                distributions=axes,
                value=-x - y,
                system_attrs=notes_of(x, y),
            )
            study.add_trial(trial)
        return study.ask(axes).params

    listed = proposal(lambda x, y: {"constraints": [disc(x, y)]})
    assert listed == proposal(lambda x, y: {"constraints:disc": disc(x, y)})
    assert listed != proposal(lambda x, y: {})


def test_the_probability_that_all_constraints_are_kept():
    random = np.random.default_rng(0)
    constraints = []
    for threshold in (-0.3, 0.6):
        X, kernel = random.random((6, 2)), Hyperparameters(np.full(2, 0.4), 1.0, 1e-4)
        surface = ExactPosterior(Stationary("matern52", kernel), X, random.standard_normal(6))
        constraints.append((surface, threshold))
    points = random.random((5, 2))
    value, slope = feasibility_slopes(constraints, points)
    expected = 0.0
    for surface, threshold in constraints:
        mean, sd = surface.posterior(points)
        expected = expected + norm.logsf(threshold, mean, sd)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(log_feasibility(constraints, points), expected)
    for k in range(2):
        step = 1e-5 * np.eye(2)[k]
        ahead, behind = (log_feasibility(constraints, points + s) for s in (step, -step))
        np.testing.assert_allclose(slope[:, k], (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-6)
