"""Whether an average of several models is taken, or the single best."""

import numpy as np
import pytest
from made_up_trials import made_up_trial

from core.estimators.multi_model import combined_setting
from core.samplers.averaging import BAG_ROUNDS, bagged_weights, greedy_weights
from core.tuning.averaging.averaged_model import with_choice_of_test_rows
from core.tuning.averaging.ensemble import with_corrected_scores
from core.tuning.events import EnsembleUpdated, RunStarted, TrialFailed, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.results import candidates
from core.tuning.results.candidates import AVERAGE, BEST, SIMPLEST, candidates_of
from core.tuning.results.conclude import evaluate_and_keep
from core.tuning.results.test_evaluation import EvaluationContext
from core.tuning.results.tuned_model import fit_tuned_model, refit_on_all_rows
from core.tuning.run_results import evaluation_text
from core.tuning.runs.run_clock import ABANDONED, RunClock
from core.tuning.runs.state import state_from_events

FOLDS = [0.90, 0.94, 0.92, 0.92]  # their standard deviation is .0163, the mean's error half of it


@pytest.fixture(scope="module")
def problem(wine):
    plan = Plan(DataPlan("sample:wine"), "auto", "race", trials=4, folds=4, options={"repeats": 1})
    return build_problem(plan, wine)


def settings_of(problem, *names):
    """The default settings of models."""
    return [{**problem.single_model(name).default, **combined_setting(name, {})} for name in names]


def state_of(settings, update):
    """A run of trials, and what was told of their average."""
    trials = [
        TrialFinished(number=n, setting=setting, score=0.92 - n / 100, fold_scores=FOLDS)
        for n, setting in enumerate(settings)
    ]
    return state_from_events([RunStarted(averages=True), *trials, update])


def update_of(average, single):
    return EnsembleUpdated(
        finished=2,
        members=[0, 1],
        weights=[0.5, 0.5],
        scores=[0.92, 0.91],
        effective=2.0,
        average=average,
        single=single,
        kind="greedy",
    )


@pytest.fixture
def state(problem):
    return state_of(settings_of(problem, "naive-bayes", "knn"), update_of(0.93, 0.92))


@pytest.mark.parametrize(
    ("average", "single", "kind"),
    [(0.93, 0.92, "average"), (0.915, 0.92, "average"), (0.90, 0.92, "best")],
)
def test_the_single_best_is_taken_where_it_is_ahead_by_a_standard_error(
    problem, average, single, kind
):
    state = state_of(settings_of(problem, "naive-bayes", "knn"), update_of(average, single))
    assert fit_tuned_model(problem, state, None, {}).kind == kind


def result_of(events):
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value


def test_a_member_of_the_average_is_tested_alone_without_another_fit(problem, state, monkeypatch):
    fits = []
    monkeypatch.setattr(candidates, "fit_with_remarks", lambda *given: fits.append(given))
    course = EvaluationContext(problem, state, RunClock(0.0))
    results = result_of(evaluate_and_keep(course, ""))
    assert results["taken"] == "average"
    (told,) = (one for one in results["candidates"] if one["kind"] == candidates.BEST)
    assert not fits
    X, y = problem.test_data
    alone = problem.pipeline(told["setting"]).fit(*problem.training_data)
    assert told["test"]["accuracy"] == pytest.approx(np.mean(alone.predict(X) == y))


def test_the_rows_that_tested_an_average_choose_the_weights_of_the_one_that_is_kept(problem, state):
    tested = fit_tuned_model(problem, state, None, {})
    kept, remarks = refit_on_all_rows(problem, tested)
    weights = dict(zip(kept.ensemble.members, kept.ensemble.weights, strict=True))
    X, labels = problem.test_data
    y = np.searchsorted(problem.dataset.classes, labels)
    own = [
        model.predict_proba(tested.pipeline[0].transform(X))
        for model in tested.pipeline[-1].estimators_
    ]
    logs = np.log(np.stack([p[np.arange(len(y)), y] for p in own], axis=1).clip(1e-12))
    by_test = bagged_weights(
        lambda members: greedy_weights(logs[:, members], rounds=BAG_ROUNDS),
        lambda w: -np.log(np.exp(logs) @ w),
        2,
    )
    share = len(y) / problem.dataset.rows
    for member in range(2):
        expected = (1 - share) * 0.5 + share * by_test[member]
        assert weights[member] == pytest.approx(expected)
    assert sum(weights.values()) == pytest.approx(1.0)
    assert kept.pipeline[-1].weights == pytest.approx(kept.ensemble.weights)
    assert not remarks
    course = EvaluationContext(problem, state, RunClock(0.0))
    results = result_of(evaluate_and_keep(course, ""))
    assert results.ensemble.weights == pytest.approx(kept.ensemble.weights)
    assert evaluation_text(results).endswith("all 178 rows, which also chose its weights.")
    single_rows = problem.with_rows(problem.fitted_rows, problem.test_rows[:0])
    assert with_choice_of_test_rows(single_rows, kept.pipeline, kept.ensemble) is kept.ensemble


def test_a_trial_that_ran_when_the_time_was_up_has_not_failed(problem, state):
    for number, reason in ((90, ABANDONED), (91, "It crashed.")):
        state.consume(TrialFailed(number=number, setting={"model": "knn"}, reason=reason))
    course = EvaluationContext(problem, state, RunClock(0.0))
    assert result_of(evaluate_and_keep(course, "")).failed == 1


def test_a_run_states_the_corrected_scores(problem):
    random, settings = (
        np.random.default_rng(0),
        settings_of(problem, "knn", "forest", "naive-bayes"),
    )
    folds_by_trial = {
        n: made_up_trial(problem, n, random, setting, lift=(2.0, 2.0)).predictions
        for n, setting in enumerate(settings)
    }
    update = with_corrected_scores(problem, update_of(0.9, 0.85), folds_by_trial)
    state = state_of(settings, update)
    offered = {candidate.kind: candidate for candidate in candidates_of(problem, state)}
    best, average = offered[BEST], offered[AVERAGE]
    assert (best.score, best.interval) == (update.single, update.single_interval)
    assert (average.score, average.interval) == (update.average, update.average_interval)
    assert update.single_interval[0] < update.single < update.single_interval[1]
    assert update.single < update.average  # three independent guesses
    if SIMPLEST in offered:  # less optimistic by as much as the best
        raw = state.find_trial(offered[SIMPLEST].number).score
        assert offered[SIMPLEST].score - raw == pytest.approx(best.score - 0.92)
    model = fit_tuned_model(problem, state, None, {})
    assert model.kind == AVERAGE
    assert model.validation == {"accuracy": update.average}
    assert model.validation_interval == update.average_interval
