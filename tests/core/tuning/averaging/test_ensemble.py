"""The average while it forms, against a plain reckoning of the same with loops."""

import dataclasses
import math

import numpy as np
import pytest
from made_up_trials import class_codes, log_losses, made_up_trial

from core.samplers.averaging import greedy_weights
from core.tuning.averaging.ensemble import SettingEnsemble
from core.tuning.events import (
    EnsembleUpdated,
    MembersDisagree,
    OmittedTrial,
    TrialExcluded,
    TrialFinished,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem

PLAN = Plan(DataPlan("sample:wine"), "logistic", "eb-hyp", trials=40, folds=3, seed=1)


@pytest.fixture(scope="module")
def problem(wine):
    return build_problem(PLAN, wine)


def filled(problem, count, **options):
    """An ensemble, the trials that it was given, and the events after the last one."""
    problem = dataclasses.replace(problem, options=problem.options.changed(**options))
    random, ensemble = np.random.default_rng(3), SettingEnsemble(problem, 40)
    trials, events = [], []
    for number in range(count):
        trials.append(made_up_trial(problem, number, random, {"C": 1.0 + number}))
        ensemble.add(trials[-1])
        events = list(ensemble.updates())
    return ensemble, trials, events


def finished_event(trial):
    scores = list(trial.fold_scores)
    return TrialFinished(
        number=trial.number, setting=trial.setting, score=trial.score, fold_scores=scores
    )


def cross_fitted(losses, parts, members):
    """The mean log loss of the average and of the single best, each chosen by the other parts.

    `losses`: −log p of every row by trial, `parts` the rows of each part.
    """
    average, single = [], []
    for part in parts:
        others = [other for other in parts if other is not part]
        chosen = sorted(losses, key=lambda n: np.mean([losses[n][o].mean() for o in others]))
        mean = sum(np.exp(-losses[n][part]) for n in chosen[:members]) / members
        average.append(-np.log(mean).mean())
        single.append(losses[chosen[0]][part].mean())
    return np.mean(average), np.mean(single)


def losses_of(problem, trials):
    """−log p of all held-out rows, by trial; and where each fold's rows begin."""
    codes = class_codes(problem)
    losses = {
        trial.number: np.concatenate(
            [log_losses(y, p.probabilities) for y, p in zip(codes, trial.predictions, strict=True)]
        )
        for trial in trials
    }
    return losses, np.cumsum([len(y) for y in codes])[:-1]


@pytest.mark.parametrize(("count", "members"), [(5, 1), (19, 1), (20, 2), (40, 4)])
def test_the_tenth_is_averaged_and_judged_by_rows_that_chose_nobody(problem, count, members):
    _, trials, (update, *_) = filled(problem, count)
    best = sorted(trials, key=lambda trial: trial.score)[:members]
    assert update.members == [trial.number for trial in best]
    assert update.scores == [trial.score for trial in best]
    assert update.weights == [1 / members] * members
    assert update.effective == pytest.approx(members)
    assert update.finished == count
    losses, ends = losses_of(problem, trials)
    parts = np.split(np.arange(len(losses[0])), ends)
    assert (update.average, update.single) == pytest.approx(cross_fitted(losses, parts, members))


def test_rows_held_out_once_are_judged_in_five_parts(wine):
    problem = build_problem(PLAN.changed(options={"judged": "validation"}), wine)
    ((fit_rows, held),) = problem.splits
    assert not set(fit_rows) & set(held)
    _, trials, (update, *_) = filled(problem, 20)
    losses, _ = losses_of(problem, trials)
    parts = [np.arange(at, len(held), 5) for at in range(5)]
    assert (update.average, update.single) == pytest.approx(cross_fitted(losses, parts, 2))


def test_greedy_weights_are_those_of_the_held_out_rows(problem):
    _, trials, (update, *_) = filled(problem, 40, weights="greedy")
    losses, _ = losses_of(problem, trials)
    logs = -np.stack([losses[number] for number in update.members], axis=1)
    np.testing.assert_allclose(update.weights, greedy_weights(logs))


def test_what_is_kept_is_what_may_still_be_needed_also_after_a_resume(problem):
    ensemble, trials, (update, *_) = filled(problem, 40)
    capacity = 40 // 10 + 1
    rankings = [sorted(trials, key=lambda trial: trial.score)]
    for fold in range(3):
        rankings.append(
            sorted(trials, key=lambda t, at=fold: sum(t.fold_scores) - t.fold_scores[at])
        )
    needed = {trial.number for ranked in rankings for trial in ranked[:capacity]}
    assert set(ensemble._predictions) == needed
    assert len(ensemble.models.trials_with_models) <= capacity
    resumed = SettingEnsemble(problem, 40)
    assert set(resumed.replay_events(list(map(finished_event, trials)))) == needed
    for number in needed:
        resumed.add_recorded(trials[number])
    again = next(resumed.updates())
    assert (again.average, again.single) == pytest.approx((update.average, update.single))


def test_a_row_that_members_dispute_comes_first_with_what_they_say(problem):
    _, trials, events = filled(problem, 40)
    (disagree,) = (event for event in events if isinstance(event, MembersDisagree))
    spreads = [row.spread for row in disagree.rows]
    assert spreads == sorted(spreads, reverse=True)
    held = np.concatenate([rows for _, rows in problem.splits])
    first = disagree.rows[0]
    at = int(np.flatnonzero(held == first.row)[0])
    for number, said in zip(disagree.members, first.said, strict=True):
        p = np.concatenate([part.probabilities for part in trials[number].predictions])
        np.testing.assert_allclose(said, p[at])
    p = np.array(first.said)
    assert first.spread == pytest.approx(np.mean((p * np.log(p / p.mean(axis=0))).sum(axis=1)))
    assert first.truth == str(problem.dataset.target[first.row])
    assert "alcohol" in first.about


def test_a_trial_taken_out_leaves_the_average_and_comes_back(problem):
    ensemble, trials, (update, *_) = filled(problem, 20)
    ranked = [trial.number for trial in sorted(trials, key=lambda trial: trial.score)]
    for excluded, members in ((True, ranked[1:3]), (False, update.members)):
        ensemble.exclude(TrialExcluded(number=ranked[0], excluded=excluded))
        assert next(ensemble.updates()).members == members


def test_a_member_whose_predictions_are_no_numbers_is_left_out_also_after_a_resume(problem):
    ensemble, trials, _ = filled(problem, 20)
    first, *others = trials[0].predictions
    broken = np.where(np.arange(len(first.labels))[:, None] == 0, math.nan, first.probabilities)
    predictions = (dataclasses.replace(first, probabilities=broken), *others)
    best = dataclasses.replace(
        trials[0], number=20, predictions=predictions, fold_scores=(0.0, 0.0, 0.0)
    )
    ensemble.add(best)
    update = next(ensemble.updates())
    assert 20 not in update.members
    (left_out,) = update.left_out
    assert (left_out.number, "left out" in left_out.reason) == (20, True)
    resumed = SettingEnsemble(problem, 40)
    past = [*map(finished_event, [*trials, best]), update]
    assert 20 not in resumed.replay_events(past)
    again = next(resumed.updates())
    assert (again.members, again.left_out) == (update.members, [OmittedTrial(20, left_out.reason)])


def test_after_a_resume_the_comparison_waits_for_what_is_known_again(problem):
    ensemble = SettingEnsemble(problem, 40)
    past = [TrialFinished(number=n, score=0.1 * n + 0.1) for n in range(15)]
    assert list(ensemble.replay_events(past)) == list(range(2 * ensemble.models.capacity))
    ensemble.add(made_up_trial(problem, 15, np.random.default_rng(0), {"C": 1.0}))
    update = next(ensemble.updates())
    assert isinstance(update, EnsembleUpdated)
    assert (update.members, update.average, update.single) == ([0], None, None)
