"""Few rows divided into folds several times: scores, standard errors, and what averages see."""

import dataclasses

import numpy as np
import pytest

from core.estimators.multi_model import combined_setting
from core.tuning.averaging.ensemble import holdout_folds, predictions_by_fold
from core.tuning.candidate_models import usual_repeats
from core.tuning.events import RunFinished, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import as_first_started, build_problem, read_data
from core.tuning.runs.trial_table import fold_error
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult
from core.tuning.tune import tune

WINE = DataPlan("sample:wine")


def problem_of(**options):
    plan = Plan(WINE, "auto", "race", trials=12, folds=4, seed=3, options=options)
    return build_problem(plan, read_data(WINE))


def test_few_rows_are_divided_three_times():
    problem = problem_of()
    assert problem.fold_repeats == 3
    splits = problem.splits
    assert len(splits) == 12
    for at in range(0, 12, 4):
        held = np.concatenate([rows for _, rows in splits[at : at + 4]])
        assert sorted(held) == sorted(problem.train_rows)
        for fit_rows, score_rows in splits[at : at + 4]:
            assert not set(fit_rows) & set(score_rows)
    first, second = ({tuple(rows) for _, rows in splits[at : at + 4]} for at in (0, 4))
    assert not first & second
    assert problem.validated_rows == len(problem.train_rows)


def test_the_first_division_is_the_only_one_where_one_is_asked_for():
    once, thrice = problem_of(repeats=1), problem_of(repeats=3)
    for mine, other in zip(once.splits, thrice.splits[:4], strict=True):
        np.testing.assert_array_equal(mine[1], other[1])
    assert len(once.splits) == 4


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "times"),
    [(150, 9, 6, 3), (500, 8, 2, 3), (501, 8, 2, 2), (1500, 8, 0, 2), (1501, 8, 2, 1)],
)
def test_more_rows_are_divided_less_often(rows, columns, classes, times):
    assert usual_repeats(rows, columns, classes) == times


def test_wide_tables_are_divided_once():
    assert usual_repeats(280, 5000, 2) == 1


def test_a_lot_holds_what_every_division_said_of_its_rows():
    problem = problem_of()
    # A model that says the number of the row, and in which division it was asked.
    said = tuple(
        Predictions(rows.astype(float), scores=np.full(len(rows), float(at // 4)))
        for at, (_, rows) in enumerate(problem.splits)
    )
    outcome = TrialResult(0, combined_setting("svm", {}), (0.5,) * 12, predictions=said)
    lots, targets = holdout_folds(problem)
    assert len(lots) == 4
    classes, target = problem.dataset.classes, problem.dataset.target
    for lot, y, part, split in zip(
        lots, targets, predictions_by_fold(problem, outcome, lots), problem.splits, strict=False
    ):
        np.testing.assert_array_equal(lot, np.tile(split[1], 3))
        np.testing.assert_array_equal(part.labels, lot)
        np.testing.assert_array_equal(part.scores, np.repeat([0.0, 1.0, 2.0], len(split[1])))
        np.testing.assert_array_equal(np.array(classes)[y], target[lot])


def test_another_division_of_the_same_rows_makes_no_score_more_certain():
    scores = [0.7, 0.8, 0.9, 0.8]
    by_hand = np.std(scores, ddof=1) / 2
    assert fold_error(scores) == pytest.approx(by_hand)
    again = fold_error(scores * 3, repeats=3)
    assert again == pytest.approx(np.std(scores * 3, ddof=1) / 2)


def test_a_run_that_began_with_one_division_goes_on_with_it():
    problem = problem_of()
    space = list(problem.space)
    begun = RunStarted(metric=problem.metric.name, space=space)
    assert len(as_first_started(problem, begun).splits) == 4
    assert len(as_first_started(problem, dataclasses.replace(begun, repeats=2)).splits) == 8


def test_trials_of_a_run_are_scored_on_every_division():
    plan = Plan(WINE, "auto", "race", trials=14, folds=3, seed=1)
    events = list(tune(plan, read_data(WINE)))
    begun = next(event for event in events if isinstance(event, RunStarted))
    assert begun.repeats == 3
    whole = [e for e in events if isinstance(e, TrialFinished) and not e.behind]
    assert whole
    assert {len(event.fold_scores) for event in whole} == {9}
    ended = events[-1]
    assert isinstance(ended, RunFinished)
    assert 0.5 < ended.results["test"]["accuracy"] <= 1
