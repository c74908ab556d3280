"""The average while it forms, against a plain reckoning of the same with loops."""

import dataclasses
import math

import numpy as np
import pytest

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
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult

WINE = DataPlan("sample:wine")
PLAN = Plan(WINE, "logistic", "eb-hyp", trials=40, folds=3, seed=1)


@pytest.fixture(scope="module")
def wine():
    return read_data(WINE)


@pytest.fixture(scope="module")
def problem(wine):
    return build_problem(PLAN, wine)


def lots_of(problem):
    return [
        np.searchsorted(problem.dataset.classes, problem.dataset.target[rows])
        for _, rows in problem.splits
    ]


def made_up(problem, number, random):
    """An outcome whose models say random things, and their log losses by the formula."""
    said, scores = [], []
    for y in lots_of(problem):
        logits = random.normal(size=(len(y), 3))
        logits[np.arange(len(y)), y] += random.uniform(0, 2)
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        said.append(Predictions(np.argmax(p, axis=1), p, p))
        scores.append(float(-np.log(p[np.arange(len(y)), y]).mean()))
    return TrialResult(number, {"C": 1.0 + number}, tuple(scores), predictions=tuple(said))


def filled(problem, count, **options):
    problem = dataclasses.replace(problem, options=problem.options.changed(**options))
    random, ensemble, outcomes, last = (
        np.random.default_rng(3),
        SettingEnsemble(problem, 40),
        [],
        [],
    )
    for number in range(count):
        outcomes.append(made_up(problem, number, random))
        ensemble.add(outcomes[-1])
        last = list(ensemble.updates())
    return ensemble, outcomes, last


def by_loops(problem, outcomes, members):
    """Log loss of the average and of the single best, both chosen by the other folds."""
    average, single = [], []
    for lot, y in enumerate(lots_of(problem)):

        def elsewhere(outcome, lot=lot):
            return np.mean([s for at, s in enumerate(outcome.fold_scores) if at != lot])

        chosen = sorted(outcomes, key=elsewhere)[:members]
        mean = sum(outcome.predictions[lot].probabilities for outcome in chosen) / members
        average.append(-np.log(mean[np.arange(len(y)), y]).mean())
        single.append(chosen[0].fold_scores[lot])
    return np.mean(average), np.mean(single)


@pytest.mark.parametrize(("trials", "members"), [(5, 1), (19, 1), (20, 2), (40, 4)])
def test_the_tenth_is_averaged_and_judged_by_rows_that_chose_nobody(problem, trials, members):
    _, outcomes, (update, *_) = filled(problem, trials)
    best = sorted(outcomes, key=lambda outcome: outcome.score)[:members]
    assert update.members == [outcome.number for outcome in best]
    assert update.scores == [outcome.score for outcome in best]
    assert update.weights == [1 / members] * members
    assert update.effective == pytest.approx(members)
    assert update.finished == trials
    average, single = by_loops(problem, outcomes, members)
    assert update.average == pytest.approx(average)
    assert update.single == pytest.approx(single)


def test_greedy_weights_are_those_of_the_held_out_rows(problem):
    _, outcomes, (update, *_) = filled(problem, 40, weights="greedy")
    y = np.concatenate(lots_of(problem))
    logs = []
    for number in update.members:
        p = np.concatenate([said.probabilities for said in outcomes[number].predictions])
        logs.append(np.log(p[np.arange(len(y)), y]))
    np.testing.assert_allclose(update.weights, greedy_weights(np.stack(logs, axis=1)))


def test_what_is_kept_is_what_may_still_be_needed(problem):
    ensemble, outcomes, _ = filled(problem, 40)
    capacity = 40 // 10 + 1
    rankings = [sorted(outcomes, key=lambda o: o.score)]
    for lot in range(3):
        rankings.append(
            sorted(outcomes, key=lambda o, lot=lot: sum(o.fold_scores) - o.fold_scores[lot])
        )
    needed = {outcome.number for ranked in rankings for outcome in ranked[:capacity]}
    assert set(ensemble._predictions) == needed
    assert len(ensemble.models.trials_with_models) <= capacity


def test_a_row_that_members_dispute_comes_first_with_what_they_say(problem):
    _, outcomes, events = filled(problem, 40)
    (disagree,) = (event for event in events if isinstance(event, MembersDisagree))
    spreads = [row.spread for row in disagree.rows]
    assert spreads == sorted(spreads, reverse=True)
    held = np.concatenate([rows for _, rows in problem.splits])
    first = disagree.rows[0]
    at = int(np.flatnonzero(held == first.row)[0])
    for number, said in zip(disagree.members, first.said, strict=True):
        p = np.concatenate([part.probabilities for part in outcomes[number].predictions])
        np.testing.assert_allclose(said, p[at])
    p = np.array(first.said)
    mean = p.mean(axis=0)
    assert first.spread == pytest.approx(np.mean((p * np.log(p / mean)).sum(axis=1)))
    assert first.truth == str(problem.dataset.target[first.row])
    assert "alcohol" in first.about


def test_a_trial_taken_out_leaves_the_average_and_comes_back(problem):
    ensemble, outcomes, (update, *_) = filled(problem, 20)
    ranked = [o.number for o in sorted(outcomes, key=lambda o: o.score)]
    ensemble.exclude(TrialExcluded(number=ranked[0]))
    without = next(ensemble.updates())
    assert without.members == ranked[1:3]
    ensemble.exclude(TrialExcluded(number=ranked[0], excluded=False))
    assert next(ensemble.updates()).members == update.members


def test_a_member_whose_predictions_are_no_numbers_is_left_out_and_said(problem):
    ensemble, _outcomes, _ = filled(problem, 20)
    outcome = made_up(problem, 20, np.random.default_rng(0))
    broken = outcome.predictions[0].probabilities.copy()
    broken[0] = math.nan
    said = (
        dataclasses.replace(outcome.predictions[0], probabilities=broken),
        *outcome.predictions[1:],
    )
    ensemble.add(dataclasses.replace(outcome, predictions=said, fold_scores=(0.0, 0.0, 0.0)))
    update = next(ensemble.updates())
    assert 20 not in update.members
    assert [one.number for one in update.left_out] == [20]
    assert "left out" in update.left_out[0].reason


def test_after_a_resume_the_comparison_waits_for_what_is_known_again(problem):
    ensemble = SettingEnsemble(problem, 40)
    past = [TrialFinished(number=n, score=0.1 * n + 0.1) for n in range(15)]
    assert list(ensemble.replay_events(past)) == list(range(2 * ensemble.models.capacity))
    ensemble.add(made_up(problem, 15, np.random.default_rng(0)))
    update = next(ensemble.updates())
    assert isinstance(update, EnsembleUpdated)
    assert update.members == [0]
    assert (update.average, update.single) == (None, None)


def test_rows_held_out_once_are_judged_in_five_lots(wine):
    problem = build_problem(PLAN.changed(options={"judged": "validation"}), wine)
    ((fit_rows, held),) = problem.splits
    assert not set(fit_rows) & set(held)
    _ensemble, outcomes, (update, *_) = filled(problem, 20)
    y = np.searchsorted(problem.dataset.classes, problem.dataset.target[held])
    losses = {
        o.number: -np.log(o.predictions[0].probabilities[np.arange(len(y)), y]) for o in outcomes
    }
    averages, singles = [], []
    for lot in range(5):
        here = np.arange(len(y)) % 5 == lot
        rest = [at for at in range(5) if at != lot]

        def elsewhere(number, rest=rest):
            return np.mean([losses[number][np.arange(len(y)) % 5 == at].mean() for at in rest])

        one, two = sorted(losses, key=elsewhere)[:2]
        mean = (np.exp(-losses[one]) + np.exp(-losses[two])) / 2
        averages.append(-np.log(mean[here]).mean())
        singles.append(losses[one][here].mean())
    assert update.average == pytest.approx(np.mean(averages))
    assert update.single == pytest.approx(np.mean(singles))


def test_those_who_say_it_again_after_a_resume_are_those_whose_word_was_kept(problem):
    ensemble, outcomes, (update, *_) = filled(problem, 40)
    past = [
        TrialFinished(
            number=o.number, setting=o.setting, score=o.score, fold_scores=list(o.fold_scores)
        )
        for o in outcomes
    ]
    resumed = SettingEnsemble(problem, 40)
    assert set(resumed.replay_events(past)) == set(ensemble._predictions)
    for number in ensemble._predictions:
        resumed.add_recorded(next(o for o in outcomes if o.number == number))
    again = next(resumed.updates())
    assert (again.average, again.single) == pytest.approx((update.average, update.single))


def test_a_trial_that_was_left_out_stays_so_after_a_resume(problem):
    resumed = SettingEnsemble(problem, 40)
    left = OmittedTrial(
        0, "Trial 0 is left out of the average: its predictions are not all numbers."
    )
    past = [TrialFinished(number=n, score=0.1 * n + 0.1) for n in range(15)]
    assert 0 not in resumed.replay_events([*past, EnsembleUpdated(left_out=[left])])
    update = next(resumed.updates())
    assert update.members == [1]
    assert update.left_out == [left]
