"""The average over models and settings, against a plain reckoning with loops."""

import dataclasses

import numpy as np
import pytest

from core.estimators.multi_model import combined_setting
from core.samplers.averaging import bagged_weights, greedy_mean_weights, greedy_weights
from core.tuning.events import EnsembleUpdated, TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.multi_model_ensemble import MAX_OF_MODEL, MultiModelEnsemble
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult, score_setting

WINE = DataPlan("sample:wine")


@pytest.fixture(scope="module")
def problem():
    options = {"repeats": 1}
    plan = Plan(
        WINE, "auto", "race", trials=30, folds=3, seed=1, metric="log_loss", options=options
    )
    return build_problem(plan, read_data(WINE))


def targets(problem):
    classes, target = problem.dataset.classes, problem.dataset.target
    return [np.searchsorted(classes, target[rows]) for _, rows in problem.splits]


def made_up(problem, number, random, model):
    """A trial whose models say random things, and their log losses by the formula."""
    said, scores = [], []
    for y in targets(problem):
        logits = random.normal(size=(len(y), 3))
        logits[np.arange(len(y)), y] += random.uniform(0, 2)
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        said.append(Predictions(np.argmax(p, axis=1), p, p))
        scores.append(float(-np.log(p[np.arange(len(y)), y]).mean()))
    return TrialResult(
        number, combined_setting(model, {"C": 1.0}), tuple(scores), predictions=tuple(said)
    )


def log_loss(y, p):
    return float(-np.log(p[np.arange(len(y)), y]).mean())


@pytest.fixture
def made(problem):
    random = np.random.default_rng(0)
    return [made_up(problem, n, random, ("svm", "forest")[n % 2]) for n in range(6)]


def filled(problem, outcomes):
    blend = MultiModelEnsemble(problem)
    for outcome in outcomes:
        blend.add(outcome)
    return blend


def test_average_and_single_best_are_judged_by_the_other_folds(problem, made):
    (event,) = filled(problem, made).updates()
    ys, single, greedy = targets(problem), [], []
    for lot in range(3):
        others = [at for at in range(3) if at != lot]
        losses = [np.mean([made[n].fold_scores[at] for at in others]) for n in range(6)]
        single.append(made[int(np.argmin(losses))].fold_scores[lot])
        order = np.argsort(losses, kind="stable")
        logs = np.column_stack(
            [
                np.concatenate(
                    [
                        np.log(
                            made[n].predictions[at].probabilities[np.arange(len(ys[at])), ys[at]]
                        )
                        for at in others
                    ]
                )
                for n in order
            ]
        )
        w = bagged_weights(
            lambda some, logs=logs: greedy_weights(logs[:, some], rounds=25),
            lambda weights, logs=logs: -np.log(np.exp(logs) @ weights),
            6,
        )
        mean = sum(
            w[k] * made[n].predictions[lot].probabilities for k, n in enumerate(order) if w[k] > 0
        )
        greedy.append(log_loss(ys[lot], mean))
    assert event.single == pytest.approx(np.mean(single))
    assert event.average == pytest.approx(np.mean(greedy))
    assert sum(event.weights) == pytest.approx(1)
    assert event.weights == sorted(event.weights, reverse=True)


def test_trials_ended_early_and_excluded_ones_are_no_members(problem, made):
    early = dataclasses.replace(made[0], estimate=0.01)
    blend = filled(problem, [early, *made[1:]])
    (event,) = blend.updates(last=True)
    assert 0 not in event.members
    best = event.members[0]
    blend.exclude(TrialExcluded(number=best))
    (event,) = blend.updates(last=True)
    assert best not in event.members
    blend.exclude(TrialExcluded(number=best, excluded=False))
    (event,) = blend.updates(last=True)
    assert best in event.members


def test_the_first_and_the_best_trials_of_every_model_may_be_members(problem, monkeypatch):
    monkeypatch.setattr("core.tuning.race.multi_model_ensemble.MAX_KEPT_BYTES", 0)
    random = np.random.default_rng(1)
    outcomes = [made_up(problem, n, random, "svm") for n in range(10)]
    rare = made_up(problem, 10, random, "mlp")
    worse = dataclasses.replace(rare, fold_scores=(9.0, 9.0, 9.0))
    blend = filled(problem, [*outcomes, worse])
    best = sorted(range(10), key=lambda n: outcomes[n].score)[:MAX_OF_MODEL]
    assert set(blend._candidates()) == {0, 1, 2, *best, 10}
    assert blend._candidates()[-1] == 10
    assert len(blend._trials) == len(blend._candidates())


def test_the_scores_of_the_end_are_corrected_for_the_choice_where_all_trials_are_known(
    problem, made
):
    blend = filled(problem, made)
    (midway,) = blend.updates()
    (end,) = blend.updates(last=True)  # though nothing is new
    assert midway.average_interval is None
    low, high = end.single_interval
    assert low < end.single < high
    resumed = MultiModelEnsemble(problem)
    finished = [TrialFinished(number=n, setting=made[n].setting, score=1.0) for n in range(6)]
    resumed.replay_events(finished)
    for outcome in made[:3]:
        resumed.add_recorded(outcome)
    (end,) = resumed.updates(last=True)
    assert end.single_interval is None


def test_nothing_is_said_again_before_something_is_new(problem, made):
    blend = filled(problem, made)
    assert len(list(blend.updates(last=True))) == 1
    assert list(blend.updates(last=True)) == []


def test_after_an_interruption_the_members_say_again_what_they_said(problem, made):
    (event,) = filled(problem, made).updates(last=True)
    past = [TrialFinished(number=o.number, setting=o.setting, score=o.score) for o in made] + [
        event
    ]
    blend = MultiModelEnsemble(problem)
    lacking = blend.replay_events(past)
    assert set(event.members) <= set(lacking)
    for number in lacking:
        blend.add_recorded(made[number])
    (again,) = blend.updates(last=True)
    assert isinstance(again, EnsembleUpdated)
    assert again.finished == 6


def test_greedy_mean_weights_against_brute_force():
    random = np.random.default_rng(4)
    y = random.normal(size=60)
    predictions = y[:, None] + random.normal(size=(60, 3)) * [0.5, 0.6, 0.9]
    w = greedy_mean_weights(predictions, y)
    grid = [np.array([a, b, 20 - a - b]) / 20 for a in range(21) for b in range(21 - a)]
    least = min(np.mean((predictions @ v - y) ** 2) for v in grid)
    found = np.mean((predictions @ w - y) ** 2)
    assert found <= least * 1.01
    assert w.sum() == pytest.approx(1)
    single = np.min(np.mean((predictions - y[:, None]) ** 2, axis=0))
    assert found <= single


def test_a_refit_is_priced_by_one_fit_whatever_the_folds_and_their_repeats():
    data = DataPlan("sample:iris")
    problem = build_problem(
        Plan(data, "auto", "race", minutes=1.0, options={"repeats": 3}), read_data(data)
    )
    setting = combined_setting("logistic", problem.single_model("logistic").default)
    outcome = dataclasses.replace(score_setting(problem.scoring_job(), 0, setting), took=15.0)
    assert len(outcome.fold_scores) == 15
    ensemble = MultiModelEnsemble(problem)
    ensemble.add(outcome)
    fold_rows = len(problem.splits[0][0])
    growth = (len(problem.train_rows) + problem.dataset.rows) / fold_rows
    assert ensemble._trials[0].refit_seconds == pytest.approx(growth, rel=1e-6)


def test_trials_that_predict_the_same_are_members_once(problem):
    random = np.random.default_rng(5)
    made = [made_up(problem, number, random, "svm") for number in range(8)]
    best = min(made, key=lambda result: result.score)
    nearly = [
        dataclasses.replace(p, probabilities=p.probabilities * (1 + 1e-5)) for p in best.predictions
    ]
    copies = [
        dataclasses.replace(best, number=8, predictions=tuple(nearly)),
        dataclasses.replace(best, number=9),
    ]
    blend = filled(problem, [*made, *copies])
    (event,) = blend.updates()
    assert len({best.number, 8, 9}.intersection(event.members)) == 1
    (alone,) = filled(problem, made).updates()
    assert event.members == alone.members
    assert event.weights == pytest.approx(alone.weights)
