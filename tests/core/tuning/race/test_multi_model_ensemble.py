"""The average over models and settings, against a plain reckoning with loops."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_trials import class_codes, log_losses, made_up_trial

from core.estimators.multi_model import combined_setting
from core.samplers.averaging import bagged_weights, greedy_weights
from core.tuning.events import TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.race.multi_model_ensemble import MAX_OF_MODEL, MultiModelEnsemble

PLAN = Plan(
    DataPlan("sample:wine"),
    "auto",
    "race",
    trials=30,
    folds=3,
    seed=1,
    metric="log_loss",
    options={"repeats": 1},
)


@pytest.fixture(scope="module")
def problem(wine):
    return build_problem(PLAN, wine)


def trials_of(problem, models, seed):
    """A made-up trial of each of these models."""
    random = np.random.default_rng(seed)
    return [
        made_up_trial(problem, number, random, combined_setting(model, {"C": 1.0}))
        for number, model in enumerate(models)
    ]


@pytest.fixture(scope="module")
def trials(problem):
    return trials_of(problem, ["svm", "forest"] * 3, 0)


def ensemble_of(problem, trials):
    ensemble = MultiModelEnsemble(problem)
    for trial in trials:
        ensemble.add(trial)
    return ensemble


def last_update(ensemble):
    (event,) = ensemble.updates(last=True)
    return event


def test_average_and_single_best_are_judged_by_the_other_folds(problem, trials):
    event = last_update(ensemble_of(problem, trials))
    codes, single, greedy = class_codes(problem), [], []

    def probabilities(number, fold):
        return trials[number].predictions[fold].probabilities

    for fold in range(3):
        others = [other for other in range(3) if other != fold]
        losses = [np.mean([trial.fold_scores[other] for other in others]) for trial in trials]
        order = np.argsort(losses, kind="stable")
        single.append(trials[order[0]].fold_scores[fold])
        logs = -np.column_stack(
            [
                np.concatenate([log_losses(codes[at], probabilities(n, at)) for at in others])
                for n in order
            ]
        )
        w = bagged_weights(
            lambda some, logs=logs: greedy_weights(logs[:, some], rounds=25),
            lambda weights, logs=logs: -np.log(np.exp(logs) @ weights),
            6,
        )
        mean = sum(w[k] * probabilities(n, fold) for k, n in enumerate(order) if w[k] > 0)
        greedy.append(log_losses(codes[fold], mean).mean())
    midway = next(ensemble_of(problem, trials).updates())
    assert midway.average_interval is None
    assert (midway.single, midway.average) == pytest.approx((np.mean(single), np.mean(greedy)))
    assert sum(event.weights) == pytest.approx(1)
    assert event.weights == sorted(event.weights, reverse=True)


def test_trials_ended_early_and_excluded_ones_are_no_members(problem, trials):
    ensemble = ensemble_of(problem, [replace(trials[0], estimate=0.01), *trials[1:]])
    members = last_update(ensemble).members
    assert 0 not in members
    for excluded in (True, False):
        ensemble.exclude(TrialExcluded(number=members[0], excluded=excluded))
        assert (members[0] in last_update(ensemble).members) is not excluded


def test_the_first_and_the_best_trials_of_every_model_may_be_members(problem, monkeypatch):
    monkeypatch.setattr("core.tuning.race.multi_model_ensemble.MAX_KEPT_BYTES", 0)
    *common, rare = trials_of(problem, ["svm"] * 10 + ["mlp"], 1)
    ensemble = ensemble_of(problem, [*common, replace(rare, fold_scores=(9.0, 9.0, 9.0))])
    best = sorted(range(10), key=lambda n: common[n].score)[:MAX_OF_MODEL]
    candidates = ensemble._candidates()
    assert set(candidates) == {0, 1, 2, *best, 10}
    assert candidates[-1] == 10
    assert len(ensemble._trials) == len(candidates)


def test_the_scores_of_the_end_are_corrected_for_the_choice_where_all_trials_are_known(
    problem, trials
):
    ensemble = ensemble_of(problem, trials)
    next(ensemble.updates())
    end = last_update(ensemble)  # though nothing is new
    assert list(ensemble.updates(last=True)) == []
    low, high = end.single_interval
    assert low < end.single < high
    resumed = MultiModelEnsemble(problem)
    resumed.replay_events(
        [TrialFinished(number=n, setting=trials[n].setting, score=1.0) for n in range(6)]
    )
    for trial in trials[:3]:
        resumed.add_recorded(trial)
    assert last_update(resumed).single_interval is None


def test_after_an_interruption_the_members_predict_again(problem, trials):
    event = last_update(ensemble_of(problem, trials))
    past = [TrialFinished(number=t.number, setting=t.setting, score=t.score) for t in trials]
    resumed = MultiModelEnsemble(problem)
    lacking = resumed.replay_events([*past, event])
    assert set(event.members) <= set(lacking)
    for number in lacking:
        resumed.add_recorded(trials[number])
    assert last_update(resumed).finished == 6


def test_a_refit_is_priced_by_one_fit_whatever_the_folds_and_their_repeats(wine):
    problem = build_problem(PLAN.changed(options={"repeats": 3}), wine)
    (trial,) = trials_of(problem, ["logistic"], 0)
    assert len(trial.fold_scores) == 9
    ensemble = ensemble_of(problem, [replace(trial, took=9.0)])
    growth = (len(problem.train_rows) + wine.rows) / len(problem.splits[0][0])
    assert ensemble._trials[0].refit_seconds == pytest.approx(growth, rel=1e-6)


def test_members_that_cost_too_much_to_refit_leave_the_average():
    ensemble = MultiModelEnsemble.__new__(MultiModelEnsemble)
    ensemble._problem = SimpleNamespace(minutes=1.0, refits_at_once=1)
    ensemble._trials = {n: SimpleNamespace(refit_seconds=s) for n, s in enumerate((1.0, 30.0, 5.0))}
    # Of 12 seconds the second member alone would take 30.
    assert ensemble._affordable({0: 0.5, 1: 0.3, 2: 0.2}) == pytest.approx({0: 5 / 7, 2: 2 / 7})
    assert ensemble._affordable({1: 1.0}) == {1: 1.0}  # the last one stays


def test_trials_that_predict_the_same_are_members_once(problem):
    trials = trials_of(problem, ["svm"] * 8, 5)
    best = min(trials, key=lambda trial: trial.score)
    nearly = tuple(replace(p, probabilities=p.probabilities * (1 + 1e-5)) for p in best.predictions)
    copies = [replace(best, number=8, predictions=nearly), replace(best, number=9)]
    event = next(ensemble_of(problem, [*trials, *copies]).updates())
    assert len({best.number, 8, 9}.intersection(event.members)) == 1
    alone = next(ensemble_of(problem, trials).updates())
    assert (event.members, event.weights) == (alone.members, pytest.approx(alone.weights))
