"""Trials that are ended early, and screenings on part of the rows."""

import dataclasses

import numpy as np
import pytest

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.scores.scoring import (
    CLEAR_ERRORS,
    Incumbent,
    TrialRequest,
    score_setting,
    score_trial,
)

DIGITS = DataPlan("sample:digits")
GOOD, BAD = {"C": 1.0, "gamma": 1 / 64}, {"C": 1e-2, "gamma": 1e-6}


@pytest.fixture(scope="module")
def work():
    return build_problem(Plan(DIGITS, "svm", "random", folds=4), read_data(DIGITS)).scoring_job()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_clearly_behind_by_standard_errors_of_the_mean_difference(sign):
    rival = Incumbent((0.5, 0.7, 0.6, 0.8), spread=0.1, sign=sign)
    edge = CLEAR_ERRORS * 0.1 / np.sqrt(3)
    assert rival.estimate([s - sign * (edge - 1e-9) for s in (0.5, 0.7, 0.6)]) is None
    # The mean over folds of the rival, and the gap seen so far.
    behind = rival.estimate([s - sign * (edge + 1e-9) for s in (0.5, 0.7, 0.6)])
    assert behind == pytest.approx(0.65 - sign * edge)
    assert rival.estimate([-sign * 9.0] * 2) is None  # a verdict rests on three folds
    assert rival.estimate([0.0, 0.0, 0.0, 0.0]) is None  # nothing is left to save
    assert rival.estimate([]) is None


def test_a_pair_that_differs_much_from_fold_to_fold_is_judged_by_its_own_spread():
    rival = Incumbent((0.5, 0.5, 0.5, 0.5), spread=0.01, sign=1.0)
    # Mean -0.2, standard deviation .26: the error of the mean is .15.
    assert rival.estimate([0.0, 0.5, 0.4]) is None
    assert rival.estimate([0.3, 0.3, 0.3]) == pytest.approx(0.3)


def test_a_poor_setting_is_ended_after_three_folds_and_a_good_one_never(work):
    best = score_setting(work, 0, GOOD)
    rival = Incumbent(best.fold_scores, spread=0.02, sign=1.0)
    behind = score_trial(work, TrialRequest(1, BAD, rival))
    assert len(behind.fold_scores) == 3
    whole = score_setting(work, 1, BAD)
    assert behind.fold_scores == whole.fold_scores[:3]
    assert behind.score == pytest.approx(whole.score, abs=0.1)
    again = score_trial(work, TrialRequest(2, GOOD, rival))
    assert (again.estimate, again.fold_scores) == (None, best.fold_scores)


def test_a_look_fits_a_part_of_the_first_fold(work):
    look, again = (score_trial(work, TrialRequest(-n, GOOD, screening_rows=300)) for n in (1, 2))
    assert len(look.fold_scores) == 1
    assert 0.85 < look.score <= score_setting(work, 0, GOOD).fold_scores[0] + 0.02
    assert look.fold_scores == again.fold_scores


def test_a_look_sees_rows_of_every_class(work):
    fold = work.folds[0]
    rare = fold.fit_y == fold.fit_y[0]
    rows = np.r_[np.flatnonzero(~rare), np.flatnonzero(rare)[:6]]
    seen = []

    class Spy:
        def __getitem__(self, at):
            seen.append(at)
            return fold.fit_X[rows][at]

    spied = dataclasses.replace(fold, fit_X=Spy(), fit_y=fold.fit_y[rows])
    request = TrialRequest(-1, GOOD, screening_rows=200)
    score_trial(dataclasses.replace(work, folds=(spied,)), request)
    assert len(seen[0]) == len(set(seen[0])) == 200
    assert np.sum(rare[rows][seen[0]]) >= 5


def test_numbers_are_looked_at_too():
    data = DataPlan("sample:prices")
    work = build_problem(Plan(data, "forest", "random", folds=3), read_data(data)).scoring_job()
    setting = {"n_estimators": 10, "max_features": 1.0, "min_samples_leaf": 1}
    look = score_trial(work, TrialRequest(-1, setting, screening_rows=100))
    assert look.failure == ""
    assert look.score > 0
