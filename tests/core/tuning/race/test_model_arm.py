"""What one of several models is expected to take, by hand."""

import pytest

from core.estimators.registry import MODELS
from core.tuning.candidate_models import TEXT_WIDTH, feature_count, minutes_for, usual_minutes
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.model_arm import ModelArm
from core.tuning.race.race_run import screening_row_count
from core.tuning.scores.scoring import TrialResult

WINE = DataPlan("sample:wine")


def contender(name):
    problem = build_problem(Plan(WINE, "auto", "race", trials=4, folds=4), read_data(WINE))
    return ModelArm(name, problem.single_model(name), 1.0)


def told(one, took, *folds, **values):
    """A trial that took some seconds for some folds."""
    started = one.take_proposal(one.started_count)
    setting = {**one.problem.default, **values}
    estimate = None if len(folds) == 4 else sum(folds) / len(folds)
    one.tell(TrialResult(started.number, setting, folds, took, estimate=estimate))


def test_twice_the_trees_take_twice_the_time():
    forest = contender("forest")
    told(forest, 2.0, 0.9, 0.8, 0.9, 0.9, n_estimators=100)
    default = forest.problem.default
    assert forest.expected_seconds({**default, "n_estimators": 100}, 90, 4) == pytest.approx(2.0)
    assert forest.expected_seconds({**default, "n_estimators": 200}, 90, 4) == pytest.approx(
        4.0, rel=0.02
    )


def test_a_trial_that_was_ended_early_tells_what_all_folds_take():
    neighbours = contender("knn")
    told(neighbours, 0.5, 0.7, 0.6)
    assert neighbours.expected_seconds(neighbours.problem.default, 90, 4) == pytest.approx(1.0)


def test_axes_that_make_a_model_dearer_are_axes_of_it():
    for model in MODELS.values():
        for task in model.tasks:
            names = {axis.name for axis in model.space(task)}
            assert set(model.dearer) <= names


@pytest.mark.parametrize(
    ("columns", "rows"), [(1, 1000), (400, 1000), (1000, 400), (1850, 250), (100_000, 250)]
)
def test_of_wide_tables_fewer_rows_are_looked_at(columns, rows):
    assert screening_row_count(columns) == rows


def test_texts_are_given_the_time_of_a_wide_table():
    reviews = read_data(DataPlan("sample:reviews"))
    texts = sum(column.kind == "text" for column in reviews.columns)
    assert texts == 1
    assert feature_count(reviews) == reviews.features.shape[1] + TEXT_WIDTH
    assert usual_minutes(reviews) == minutes_for(
        reviews.rows, feature_count(reviews), len(reviews.classes)
    )
    assert usual_minutes(reviews) > minutes_for(reviews.rows, 2, len(reviews.classes))
