"""Which settings mattered: the share of the scores' variance that each explains by itself.

Functional ANOVA (Hutter, Hoos & Leyton-Brown 2014, "An efficient approach for assessing
hyperparameter importance"), by Optuna's evaluator: a forest learns the score from the setting, and
its variance over the whole space falls apart into what each setting explains alone and what only
several explain together.

| symbol | code | meaning |
| --- | --- | --- |
| B | ``RESAMPLES`` | resamples of the trials |
| v_i | | share of the variance that setting i explains alone |

The interval is a bootstrap of the trials: with few of them the forest knows little, and the
interval says so. Trials that gather where scores are good tell of the whole space all the same: the
forest's variance is taken over the space evenly.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution

from core.estimators.several import MODEL, divided
from core.space import Axis, axis_from_dict
from core.tuning.runs.competition import tunes_several
from core.tuning.runs.one_model import begun_alone
from core.tuning.runs.state import RunState

optuna.logging.set_verbosity(optuna.logging.WARNING)

FEWEST_TRIALS = 10
MOST_TRIALS = 200  # drawn at random from more
RESAMPLES = 20
TREES = 32
_TREES_AGAIN = 8  # of a resample
SECONDS = 6.0  # after which no further resample is drawn, once there are a few
_FEWEST_RESAMPLES = 8
_TOLD_EVERY = 0.5  # seconds


def settings_mattered(state: RunState) -> Iterator[dict[str, Any]]:
    """What is known so far, several times, and the answer; plain data.

    Yields:
        ``settings``, [{name, label, share, low, high}] with the largest share first (shares of the
        variance, 0 … 1); ``together``, the share that no setting explains alone; ``trials`` used of
        ``of``; ``metric``; ``model`` they are of; ``resamples``; ``done``. Where nothing can be
        said only ``problem``, a sentence, and ``done``.
    """
    axes, trials = _asked(state)
    if len(axes) < 2 or len(trials) < FEWEST_TRIALS:
        needed = f"It takes two settings and {FEWEST_TRIALS} trials to tell."
        yield {"problem": needed, "done": True}
        return
    scores = np.array([score for _, score in trials])
    if np.ptp(scores) == 0:
        yield {"problem": "Every trial had the same score: no setting mattered.", "done": True}
        return
    generator = np.random.default_rng(int(state.started.plan.get("seed") or 0))
    kept = trials
    if len(trials) > MOST_TRIALS:
        drawn = np.sort(generator.choice(len(trials), MOST_TRIALS, replace=False))
        kept = [trials[at] for at in drawn]
    about = {
        "metric": state.started.metric,
        "model": _model(state),
        "trials": len(kept),
        "of": len(trials),
    }
    mean = _shares(axes, kept, TREES, 0)
    begun = told = time.monotonic()
    found: list[np.ndarray] = []
    while len(found) < RESAMPLES:
        if len(found) >= _FEWEST_RESAMPLES and time.monotonic() - begun > SECONDS:
            break
        again = [kept[at] for at in generator.integers(len(kept), size=len(kept))]
        if np.ptp([score for _, score in again]) > 0:
            found.append(_shares(axes, again, _TREES_AGAIN, len(found) + 1))
        if time.monotonic() - told > _TOLD_EVERY:
            yield {**about, **_told(axes, mean, found), "done": False}
            told = time.monotonic()
    yield {**about, **_told(axes, mean, found), "done": True}


def _told(axes: Sequence[Axis], mean: np.ndarray, found: Sequence[np.ndarray]) -> dict[str, Any]:
    low, high = np.percentile(found, [2.5, 97.5], axis=0) if len(found) > 1 else (mean, mean)
    settings = [
        {
            "name": axis.name,
            "label": axis.label,
            "share": float(mean[at]),
            "low": float(min(low[at], mean[at])),
            "high": float(max(high[at], mean[at])),
        }
        for at, axis in enumerate(axes)
    ]
    settings.sort(key=lambda one: -float(str(one["share"])))
    together = float(max(0.0, 1.0 - mean.sum()))
    return {"settings": settings, "together": together, "resamples": len(found)}


def _model(state: RunState) -> str:
    """The model whose settings these are: of several the one that was best."""
    started = state.started
    if tunes_several(started) and state.best is not None:
        return str(state.best.setting.get(MODEL, ""))
    return str(started.plan.get("model", ""))


def _asked(state: RunState) -> tuple[list[Axis], list[tuple[dict[str, Any], float]]]:
    """The axes with more than one value, and (setting, score) of the trials that count."""
    started = state.started
    scored = [state.trials[row] for row in np.flatnonzero(state.scored_rows)]
    if not tunes_several(started):
        axes = [axis_from_dict(axis) for axis in started.space]
        told = [(trial.setting, float(trial.score)) for trial in scored]
    else:
        name = _model(state)
        axes = [axis_from_dict(axis) for axis in begun_alone(started, name).space]
        told = [
            (divided(trial.setting)[1], float(trial.score))
            for trial in scored
            if trial.setting.get(MODEL) == name
        ]
    axes = [axis for axis in axes if _can_vary(axis)]
    names = {axis.name for axis in axes}
    return axes, [one for one in told if names <= one[0].keys() and np.isfinite(one[1])]


def _can_vary(axis: Axis) -> bool:
    return len(axis.choices) > 1 if axis.kind == "choice" else axis.high > axis.low


def _shares(
    axes: Sequence[Axis],
    trials: Sequence[tuple[dict[str, Any], float]],
    trees: int,
    seed: int,
) -> np.ndarray:
    """The share of the variance that each axis explains alone, shape (axes,)."""
    kinds = {axis.name: _distribution(axis) for axis in axes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(storage=optuna.storages.InMemoryStorage())
        study.add_trials(
            [
                optuna.trial.create_trial(
                    params={axis.name: _value(axis, setting[axis.name]) for axis in axes},
                    distributions=kinds,
                    value=score,
                )
                for setting, score in trials
            ]
        )
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=seed)
        found = evaluator.evaluate(study)
    shares = np.array([max(0.0, float(found.get(axis.name, 0.0))) for axis in axes])
    return np.nan_to_num(shares)


def _distribution(axis: Axis) -> Any:
    """Optuna's distribution of an axis: of its unit interval, and of a choice's places.

    Optuna's evaluator takes the variance over the values as they are; over a logarithmic range
    nearly all of them lie in its last decade.
    """
    if axis.kind == "choice":
        return CategoricalDistribution(tuple(range(len(axis.choices))))
    return FloatDistribution(0.0, 1.0)


def _value(axis: Axis, value: Any) -> float | int:
    if axis.kind == "choice":
        return next((at for at, one in enumerate(axis.choices) if one == value), 0)
    return axis.to_unit(value)[0]
