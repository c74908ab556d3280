"""Few rows divided into folds several times: scores, standard errors, and what averages see."""

import dataclasses

import numpy as np
import pytest

from core.estimators.multi_model import combined_setting
from core.tuning.averaging.ensemble import holdout_folds, predictions_by_fold
from core.tuning.candidate_models import usual_repeats
from core.tuning.events import RunStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import as_first_started, build_problem
from core.tuning.runs.trial_table import fold_error
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult

PLAN = Plan(DataPlan("sample:wine"), "auto", "race", trials=12, folds=4, seed=3)


@pytest.fixture(scope="module")
def problem(wine):
    return build_problem(PLAN, wine)


def test_few_rows_are_divided_three_times(problem, wine):
    splits = problem.splits
    assert (problem.fold_repeats, len(splits)) == (3, 12)
    for at in range(0, 12, 4):
        held = np.concatenate([rows for _, rows in splits[at : at + 4]])
        assert sorted(held) == sorted(problem.train_rows)
        for fit_rows, score_rows in splits[at : at + 4]:
            assert not set(fit_rows) & set(score_rows)
    first, second = ({tuple(rows) for _, rows in splits[at : at + 4]} for at in (0, 4))
    assert not first & second
    assert problem.validated_rows == len(problem.train_rows)
    # The first division is the only one where one is asked for.
    once = build_problem(PLAN.changed(options={"repeats": 1}), wine).splits
    for mine, other in zip(once, splits[:4], strict=True):
        np.testing.assert_array_equal(mine[1], other[1])


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "times"),
    [
        (150, 9, 6, 3),
        (500, 8, 2, 3),
        (501, 8, 2, 2),
        (1500, 8, 0, 2),
        (1501, 8, 2, 1),
        (280, 5000, 2, 1),
    ],
)
def test_more_rows_and_wide_tables_are_divided_less_often(rows, columns, classes, times):
    assert usual_repeats(rows, columns, classes) == times


def test_a_fold_holds_what_every_division_predicted_of_its_rows(problem):
    # A model that predicts the number of the row, and scores it by the division that asked.
    predictions = tuple(
        Predictions(rows.astype(float), scores=np.full(len(rows), float(at // 4)))
        for at, (_, rows) in enumerate(problem.splits)
    )
    outcome = TrialResult(0, combined_setting("svm", {}), (0.5,) * 12, predictions=predictions)
    folds, targets = holdout_folds(problem)
    assert len(folds) == 4
    classes, target = np.array(problem.dataset.classes), problem.dataset.target
    by_fold = predictions_by_fold(problem, outcome, folds)
    for fold, y, part, (_, rows) in zip(folds, targets, by_fold, problem.splits, strict=False):
        np.testing.assert_array_equal(fold, np.tile(rows, 3))
        np.testing.assert_array_equal(part.labels, fold)
        np.testing.assert_array_equal(part.scores, np.repeat([0.0, 1.0, 2.0], len(rows)))
        np.testing.assert_array_equal(classes[y], target[fold])


def test_another_division_of_the_same_rows_makes_no_score_more_certain():
    scores = [0.7, 0.8, 0.9, 0.8]
    assert fold_error(scores) == pytest.approx(np.std(scores, ddof=1) / 2)
    again = fold_error(scores * 3, repeats=3)
    assert again == pytest.approx(np.std(scores * 3, ddof=1) / 2)


def test_a_run_that_began_with_one_division_goes_on_with_it(problem):
    begun = RunStarted(metric=problem.metric.name, space=list(problem.space))
    assert len(as_first_started(problem, begun).splits) == 4
    assert len(as_first_started(problem, dataclasses.replace(begun, repeats=2)).splits) == 8
