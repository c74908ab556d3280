"""Twenty trials of a quadratic function that is like one of an earlier dataset."""

import optuna
import optunahub

module = optunahub.load_module("samplers/tunescope_transfer")


def objective(trial: optuna.Trial) -> float:
    """A number to minimize."""
    x = trial.suggest_float("x", -5.0, 5.0)
    y = trial.suggest_float("y", -5.0, 5.0)
    return (x - 1.2) ** 2 + (y + 1.8) ** 2


# Logarithms of rows and of columns, and the number of classes: no rows of the earlier dataset.
xs = [float(x) for x in range(-5, 6)]
earlier = module.EarlierDataset(
    "earlier",
    statistics=(6.0, 2.3, 2.0),
    settings=tuple({"x": x, "y": -x} for x in xs),
    scores=tuple((x - 1.0) ** 2 + (2.0 - x) ** 2 for x in xs),
    maximize=False,
)
history = module.TuningHistory((earlier,), statistics=(6.2, 2.3, 2.0))
study = optuna.create_study(sampler=module.TransferSampler(seed=0, history=history))
study.optimize(objective, n_trials=20)
print(study.best_params, study.best_value)
