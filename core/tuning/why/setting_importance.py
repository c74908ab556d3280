"""Which settings mattered: the share of the scores' variance that each explains alone.

Functional ANOVA (Hutter, Hoos & Leyton-Brown 2014, "An efficient approach for assessing
hyperparameter importance"), by Optuna's evaluator: a forest predicts the score from the setting,
and its variance over the whole space is divided among settings and their interactions.

| symbol | code | meaning |
| --- | --- | --- |
| B | ``RESAMPLES`` | resamples of the trials |
| v_i | | share of the variance that setting i explains alone |

The interval is a bootstrap of the trials. The forest's variance is taken over the space evenly,
however the trials gather.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from core.estimators.multi_model import MODEL, split_model_setting
from core.space import Axis, Setting
from core.tuning.runs.model_runs import single_model_start
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import tunes_several
from core.tuning.why.answer_types import NoAnswer, SettingImportance, SettingShare

optuna.logging.set_verbosity(optuna.logging.WARNING)

MIN_TRIALS = 10
MAX_TRIALS = 200  # drawn at random from more
RESAMPLES = 20
TREES = 32
_RESAMPLE_TREES = 8  # of a resample
SECONDS = 6.0  # after which no further resample is drawn, once there are a few
_MIN_RESAMPLES = 8
_REPORT_SECONDS = 0.5  # seconds


def setting_importance(state: RunState) -> Iterator[SettingImportance | NoAnswer]:
    """Partial answers, then the answer."""
    axes, trials = _axes_and_trials(state)
    if len(axes) < 2 or len(trials) < MIN_TRIALS:
        yield NoAnswer(f"It takes two settings and {MIN_TRIALS} trials to tell.", done=True)
        return
    scores = np.array([score for _, score in trials])
    if np.ptp(scores) == 0:
        yield NoAnswer("Every trial had the same score: no setting mattered.", done=True)
        return
    generator = np.random.default_rng(state.started.run_plan.seed)
    used_trials = trials
    if len(trials) > MAX_TRIALS:
        drawn_indices = np.sort(generator.choice(len(trials), MAX_TRIALS, replace=False))
        used_trials = [trials[index] for index in drawn_indices]
    mean = _variance_shares(axes, used_trials, TREES, 0)
    start_time = last_report_seconds = time.monotonic()
    resampled_shares: list[np.ndarray] = []

    def importance_so_far(done: bool) -> SettingImportance:
        return SettingImportance(
            metric=state.started.metric,
            model=_model_name(state),
            trials=len(used_trials),
            of=len(trials),
            settings=_setting_shares(axes, mean, resampled_shares),
            together=float(max(0.0, 1.0 - mean.sum())),
            resamples=len(resampled_shares),
            done=done,
        )

    while len(resampled_shares) < RESAMPLES:
        if len(resampled_shares) >= _MIN_RESAMPLES and time.monotonic() - start_time > SECONDS:
            break
        n, seed = len(used_trials), len(resampled_shares) + 1
        resample = [used_trials[index] for index in generator.integers(n, size=n)]
        if np.ptp([score for _, score in resample]) > 0:
            resampled_shares.append(_variance_shares(axes, resample, _RESAMPLE_TREES, seed))
        if time.monotonic() - last_report_seconds > _REPORT_SECONDS:
            yield importance_so_far(done=False)
            last_report_seconds = time.monotonic()
    yield importance_so_far(done=True)


def _setting_shares(
    axes: Sequence[Axis], mean: np.ndarray, resampled_shares: Sequence[np.ndarray]
) -> list[SettingShare]:
    low = high = mean
    if len(resampled_shares) > 1:
        low, high = np.percentile(resampled_shares, [2.5, 97.5], axis=0)
    columns = (mean, np.minimum(low, mean), np.maximum(high, mean))
    shares = zip(axes, *(column.tolist() for column in columns), strict=True)
    settings = [SettingShare(axis.name, axis.label, *share) for axis, *share in shares]
    return sorted(settings, key=lambda setting: -setting.share)


def _model_name(state: RunState) -> str:
    started = state.started
    if tunes_several(started) and state.best_trial is not None:
        return str(state.best_trial.setting.get(MODEL, ""))
    return started.run_plan.model


def _axes_and_trials(state: RunState) -> tuple[list[Axis], list[tuple[Setting, float]]]:
    started = state.started
    trials = [state.trials[row] for row in np.flatnonzero(state.scored_rows)]
    if not tunes_several(started):
        axes, pairs = started.space, [(trial.setting, float(trial.score)) for trial in trials]
    else:
        name = _model_name(state)
        axes = single_model_start(started, name).space
        pairs = [
            (split_model_setting(trial.setting)[1], float(trial.score))
            for trial in trials
            if trial.setting.get(MODEL) == name
        ]
    axes = [axis for axis in axes if axis.is_free]
    names = {axis.name for axis in axes}
    return axes, [pair for pair in pairs if names <= pair[0].keys() and np.isfinite(pair[1])]


def _variance_shares(
    axes: Sequence[Axis], trials: Sequence[tuple[Setting, float]], trees: int, seed: int
) -> np.ndarray:
    # Over raw values of a logarithmic range nearly all of the variance lies in its last decade.
    kinds: dict[str, BaseDistribution] = {
        axis.name: CategoricalDistribution(tuple(range(len(axis.choices))))
        if axis.kind == "choice"
        else FloatDistribution(0.0, 1.0)
        for axis in axes
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(storage=optuna.storages.InMemoryStorage())
        for setting, score in trials:
            params = {axis.name: _unit_value(axis, setting[axis.name]) for axis in axes}
            trial = optuna.trial.create_trial(params=params, distributions=kinds, value=score)
            study.add_trial(trial)
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=seed)
        importances = evaluator.evaluate(study)
    shares = np.array([max(0.0, float(importances.get(axis.name, 0.0))) for axis in axes])
    return np.nan_to_num(shares)


def _unit_value(axis: Axis, value: Any) -> float | int:
    if axis.kind == "choice":
        return next((index for index, choice in enumerate(axis.choices) if choice == value), 0)
    return axis.to_unit(value)[0]
