"""Twenty trials of a quadratic function of a number, an integer and a category."""

import optuna
import optunahub

module = optunahub.load_module("samplers/tunescope_variable")


def objective(trial: optuna.Trial) -> float:
    """A number to minimize."""
    x = trial.suggest_float("x", -5.0, 5.0)
    n = trial.suggest_int("n", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["round", "steep"])
    return (x - 1.0) ** 2 + (n - 20) ** 2 / 400 + (kind == "steep")


study = optuna.create_study(sampler=module.VariableSampler(seed=0))
study.optimize(objective, n_trials=20)
print(study.best_params, study.best_value)
