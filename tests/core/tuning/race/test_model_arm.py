"""What one of several models is expected to take, and which of its settings are screened."""

from dataclasses import replace

import pytest

from core.estimators.registry import MODELS
from core.tuning.candidate_models import TEXT_WIDTH, feature_count, minutes_for, usual_minutes
from core.tuning.events import HistoryDataset, HistoryRead, ModelScreened
from core.tuning.history.run_history import settings_in, warm_start_history
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.model_arm import ModelArm
from core.tuning.race.multi_model_study import MultiModelStudy
from core.tuning.runs.state import state_from_events
from core.tuning.scores.scoring import TrialResult


@pytest.fixture(scope="module")
def problem(wine):
    return build_problem(Plan(DataPlan("sample:wine"), "auto", "race", trials=4, folds=4), wine)


@pytest.fixture(scope="module")
def logistic(problem):
    return problem.single_model("logistic")


def arm_with_trial(problem, name, took, folds, **values):
    """A model with one trial, that took some seconds for some folds; and its default setting."""
    arm = ModelArm(name, problem.single_model(name), 1.0)
    setting = {**arm.problem.default, **values}
    estimate = None if len(folds) == 4 else sum(folds) / len(folds)
    number = arm.take_proposal(0).number
    arm.tell(TrialResult(number, setting, folds, took, estimate=estimate))
    return arm, arm.problem.default


def test_twice_the_trees_take_twice_the_time(problem):
    arm, default = arm_with_trial(problem, "forest", 2.0, (0.9,) * 4, n_estimators=100)
    for trees, seconds in ((100, 2.0), (200, 4.0)):
        expected = arm.expected_seconds({**default, "n_estimators": trees}, 90, 4)
        assert expected == pytest.approx(seconds, rel=0.02)


def test_a_trial_that_was_ended_early_tells_what_all_folds_take(problem):
    arm, default = arm_with_trial(problem, "knn", 0.5, (0.7, 0.6))
    assert arm.expected_seconds(default, 90, 4) == pytest.approx(1.0)


def test_axes_that_make_a_model_dearer_are_axes_of_it():
    for model in MODELS.values():
        for task in model.tasks:
            assert set(model.dearer) <= {axis.name for axis in model.space(task)}


def test_texts_are_given_the_time_of_a_wide_table():
    reviews = read_data(DataPlan("sample:reviews"))
    assert sum(column.kind == "text" for column in reviews.columns) == 1
    width, classes = feature_count(reviews), len(reviews.classes)
    assert width == reviews.features.shape[1] + TEXT_WIDTH
    minutes = usual_minutes(reviews)
    assert minutes == minutes_for(reviews.rows, width, classes)
    assert minutes > minutes_for(reviews.rows, 2, classes)


def known(*datasets):
    """What is known of a model with one axis: (distance, {C: score})."""
    return HistoryRead(
        axes=["C"],
        datasets=[
            HistoryDataset(
                id=str(at),
                statistics=[5.0, 1.0, 2.0],
                values=[[C] for C in trials],
                scores=[*trials.values()],
                maximize=True,
                starter=False,
                distance=float(distance),
            )
            for at, (distance, trials) in enumerate(datasets)
        ],
    )


@pytest.mark.parametrize(
    ("datasets", "expected"),
    [
        ([], []),
        ([(0, {1.0: 0.9})], []),  # the default itself
        ([(0, {1.02: 0.9})], []),  # next to it
        ([(2, {0.01: 0.9, 30.0: 0.8}), (1, {90.0: 0.7})], [90.0, 0.01]),  # the nearest first
        ([(1, {0.01: 0.9}), (2, {0.0101: 0.8}), (3, {30.0: 0.5})], [0.01, 30.0]),
        ([(1, {0.01: 0.9}), (2, {30.0: 0.5}), (3, {90.0: 0.5})], [0.01, 30.0]),  # two at most
        ([(1, {0.01: 0.8}), (1, {30.0: 0.9})], [30.0, 0.01]),  # as near: the better one
        ([(at, {1.0: 0.9}) for at in range(20)] + [(20, {30.0: 0.9})], []),  # too far away
    ],
)
def test_the_best_of_the_most_similar_datasets_are_recalled(logistic, datasets, expected):
    assert [axis.name for axis in logistic.space] == ["C"]
    part = warm_start_history(known(*datasets), logistic)
    assert [setting["C"] for setting in settings_in(part)] == expected
    assert warm_start_history(part, logistic) == part


def test_where_small_scores_are_good_the_smallest_is_best(logistic):
    read = known((1, {0.01: 0.9, 30.0: 0.2}))
    turned = replace(read, datasets=[replace(read.datasets[0], maximize=False)])
    assert settings_in(warm_start_history(turned, logistic)) == [{"C": 30.0}]


def screened(task, took, score):
    """A screening that took some seconds; without a score it failed."""
    return ModelScreened(
        model=task.model,
        setting=task.setting,
        score=score,
        rows=task.rows,
        took=took,
        failure="" if score is not None else "It took too long.",
        reason=task.reason,
    )


def study_of(logistic, *datasets):
    """A study of one model, and that model."""
    study = MultiModelStudy(logistic, {"logistic": logistic}, {"logistic": known(*datasets)})
    return study, study.arms["logistic"]


def test_all_screenings_of_a_model_share_the_time_of_one(logistic):
    study, arm = study_of(logistic, (1, {0.01: 0.9}), (2, {30.0: 0.9}))
    rows = len(logistic.splits[0][0])
    default, *past = study.pending_screenings(rows)
    assert [task.setting["C"] for task in past] == [0.01, 30.0]
    assert study.screening_limit(default, 5.0) == 5.0
    study.add_screening(screened(default, 2.0, 0.5))
    assert study.screening_limit(past[0], 5.0) == pytest.approx(3.0)
    study.add_screening(screened(past[0], 1.5, None))
    assert study.screening_limit(past[1], 5.0) == 0.0  # the default's would not fit
    assert study.pending_screenings(rows) == past[1:]
    assert arm.warm_start is None
    study.add_screening(screened(past[1], 0.1, 0.5))
    assert (arm.warm_start, arm.screening_score) == ({"C": 30.0}, 0.5)


def test_a_screening_that_failed_counts_for_nothing():
    state = state_from_events([ModelScreened(model="svm", failure="No.")])
    assert state.looks["svm"].score is None
    for score in (0.5, None):
        state.consume(ModelScreened(model="svm", score=score, reason="past"))
        assert state.looks["svm"].score == 0.5


def test_the_price_of_many_rows_is_a_constant_and_a_slope(logistic):
    study, arm = study_of(logistic)
    rows = len(logistic.splits[0][0]) // 2
    for task, took in zip(study.pending_screenings(rows), (1.1, 1.3), strict=True):
        study.add_screening(screened(task, took, 0.5))
    small = rows // 3
    slope = 0.2 / (rows - small)  # a second is paid whatever the rows
    expected = 4 * (1.1 + slope * (10_000 - small))
    assert arm.expected_seconds({}, 10_000, 4) == pytest.approx(expected)


def test_very_many_rows_are_screened_by_ten_times_as_many_and_slow_models_waited_for(logistic):
    study, arm = study_of(logistic)
    study._fit_rows = 100_000
    small, large = study.pending_screenings(1000)
    assert (small.rows, large.rows) == (1000, 10_000)
    study.add_screening(screened(small, 0.3, 0.5))
    # Ten times .3 s at most; part of the .3 s is paid once.
    assert study.screening_limit(large, 1.8) == pytest.approx(1.5)
    study.add_screening(screened(large, 1.2, 0.7))
    assert arm.screening_score == 0.7
    assert arm.expected_seconds({}, 100_000, 1) == pytest.approx(10.2)


def test_a_trial_that_took_too_long_is_expected_to_take_twice_as_long(logistic):
    study, arm = study_of(logistic)
    study.add_screening(screened(study.pending_screenings(10_000)[0], 0.1, 0.5))
    begun = study.ask(60.0)
    study.tell(TrialResult(begun.number, begun.setting, (), 15.0, failure="It took too long."))
    assert arm.expected_seconds({}, 1000, 5) == 30.0
