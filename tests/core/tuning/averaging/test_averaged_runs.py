"""Runs that average: from the first trial to one model, resumed, stopped, and in every mode."""

import functools
import threading
import time
import warnings
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from run_events import InProcess, about, of
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.errors import UnusableError
from core.tuning.averaging import averaged_model as at_the_end
from core.tuning.events import (
    EnsembleUpdated,
    RunFinished,
    TrialExcluded,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.conclude import conclude
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import fit_warnings_ignored
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:wine"), "logistic", "eb-hyp", trials=21, folds=3, seed=2, refit=False)


def events_of(plan, dataset, **given):
    return list(tune(plan, dataset, executor=InProcess, **given))


def up_to(number, events):
    """The events until a trial ends."""
    return events[: events.index(next(filter(about(number, TrialFinished), events))) + 1]


@pytest.fixture(scope="module")
def run_of(wine, tmp_path_factory):
    """The plan, events and folder of a run with some options, made once."""

    @functools.cache
    def run(**options):
        plan = PLAN.changed(options=options)
        folder = RunFolder.create(plan, path=tmp_path_factory.mktemp("runs") / "run")
        return plan, events_of(plan, wine, folder=folder), folder

    return run


@pytest.fixture
def events(run_of):
    return run_of()[1]


def test_every_trial_is_followed_by_the_members(events):
    updates = of(EnsembleUpdated, events)
    assert [update.finished for update in updates] == list(range(1, 22))
    assert [len(update.members) for update in updates] == [1] * 19 + [2] * 2
    assert all(update.average is not None for update in updates)
    drawn = [event.candidates for event in of(TrialStarted, events) if event.reason == "sample"]
    assert 1.0 <= min(drawn) <= max(drawn) <= 4096


def test_the_model_taken_away_is_the_mean_of_its_members(run_of, wine):
    _, events, folder = run_of()
    problem, results = build_problem(PLAN, wine), events[-1].results
    ranked = sorted(of(TrialFinished, events), key=lambda trial: trial.score)
    assert results["ensemble"]["members"] == [trial.number for trial in ranked[:2]]
    assert results["ensemble"]["settings"] == [trial.setting for trial in ranked[:2]]
    X, y = problem.test_data
    mean = 0.0
    for trial in ranked[:2]:
        most = problem.estimator(trial.setting).max_iter
        model = LogisticRegression(C=trial.setting["C"], max_iter=most)
        mean += make_pipeline(StandardScaler(), model).fit(*problem.training_data).predict_proba(X)
    np.testing.assert_allclose(best_of(folder).predict_proba(X), mean / 2, atol=1e-5)
    assert results["test"]["log_loss"] == pytest.approx(log_loss(y, mean / 2), rel=1e-3)
    assert results["metric"] == "log_loss"


@pytest.mark.parametrize("judged", ["cv", "validation"])
@pytest.mark.parametrize("weights", ["uniform", "greedy"])
def test_a_resumed_run_ends_in_the_same_average_with_the_same_scores(run_of, wine, weights, judged):
    plan, events, _ = run_of(weights=weights, judged=judged)
    again = events_of(plan, wine, past=up_to(18, events))
    whole = {update.finished: update for update in of(EnsembleUpdated, events)}
    resumed = of(EnsembleUpdated, again)
    assert [update.finished for update in resumed] == [20, 21]
    for update in resumed:
        before = whole[update.finished]
        assert (update.average, update.single) == pytest.approx((before.average, before.single))
    before, after = events[-1].results, again[-1].results
    for key in ("members", "weights", "held_out", "single_held_out"):
        assert before["ensemble"][key]
        assert after["ensemble"][key] == pytest.approx(before["ensemble"][key])
    assert after["validation"] == pytest.approx(before["validation"])
    assert after["test"] == pytest.approx(before["test"])
    fresh = {event.number for event in of((TrialStarted, TrialFinished), again)}
    assert fresh == {19, 20}  # those that predict again are no trials


@pytest.mark.parametrize("weights", ["uniform", "tempered", "greedy"])
def test_a_run_cut_before_its_update_weighs_as_the_update_would(run_of, wine, weights):
    plan, events, _ = run_of(weights=weights, judged="cv")
    ended = events[-1].results
    updateless = [e for e in events if not isinstance(e, (EnsembleUpdated, RunFinished))]
    for past in (events[:-1], updateless):
        results = conclude(plan, wine, past).results
        assert results["test"] == pytest.approx(ended["test"])
        assert results["ensemble"]["members"] == ended["ensemble"]["members"]
        np.testing.assert_allclose(results["ensemble"]["weights"], ended["ensemble"]["weights"])


def test_a_trial_that_is_taken_out_is_no_member(events, wine):
    past = up_to(19, events)
    best = min(of(TrialFinished, past), key=lambda trial: trial.score)
    requests = deque([TrialExcluded(number=best.number)])
    rest = events_of(PLAN, wine, past=past, requests=requests)
    assert best.number not in rest[-1].results["ensemble"]["members"]


@pytest.mark.slow
def test_numbers_are_averaged_too():
    plan = Plan(DataPlan("sample:diabetes"), "elastic-net", "eb-hyp", trials=20, folds=3)
    dataset = read_data(plan.data)
    results = events_of(plan, dataset)[-1].results
    problem = build_problem(plan, dataset)
    X, y = problem.test_data
    settings = results["ensemble"]["settings"]
    assert len(settings) == 2
    pipelines = [problem.pipeline(s).fit(*problem.training_data) for s in settings]
    mean = np.mean([pipeline.predict(X) for pipeline in pipelines], axis=0)
    assert results["test"]["mse"] == pytest.approx(mean_squared_error(y, mean))


def test_held_out_once_members_stay_as_the_trials_fitted_them(run_of, wine):
    plan, events, _ = run_of(weights="uniform", judged="validation")
    results, problem = events[-1].results, build_problem(plan, wine)
    ((rows, _),) = problem.splits
    X, y = problem.test_data
    mean = 0.0
    for setting in results["ensemble"]["settings"]:
        pipeline = problem.pipeline(setting).fit(wine.features.iloc[rows], wine.target[rows])
        mean += pipeline.predict_proba(X) / 2
    assert results["test"]["log_loss"] == pytest.approx(log_loss(y, mean), rel=1e-6)
    assert results["fits"] == 21


@pytest.mark.slow
@pytest.mark.parametrize("model", ["svm", "vote7"])
def test_models_without_probabilities_get_them(wine, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = events_of(PLAN.changed(model=model, trials=1), wine)[-1].results
    assert 0 < results["test"]["log_loss"] < np.log(3)


def test_a_member_that_cannot_be_fitted_is_left_out_and_said(events, wine, monkeypatch):
    best = events[-1].results["ensemble"]["settings"][0]
    fit_estimator = at_the_end.scoring.fit_estimator

    def failing(work, setting, fold):
        if setting == best:
            raise ValueError("no")
        return fit_estimator(work, setting, fold)

    monkeypatch.setattr(at_the_end.scoring, "fit_estimator", failing)
    results = conclude(PLAN, wine, events[:-1]).results
    ensemble = results["ensemble"]
    assert (len(ensemble["members"]), ensemble["weights"]) == (1, [1.0])
    assert ensemble["left_out"][0].reason in results["remarks"]
    assert "ValueError: no" in ensemble["left_out"][0].reason


def test_members_are_fitted_without_the_folds_being_prepared_again(events, wine, monkeypatch):
    monkeypatch.delattr("core.tuning.problem.Problem.fold_data")
    results = conclude(PLAN, wine, events[:-1]).results
    assert results["ensemble"]["members"] == events[-1].results["ensemble"]["members"]


def test_few_trials_are_said(events, wine):
    results = conclude(PLAN, wine, up_to(3, events)).results
    assert len(results["ensemble"]["members"]) == 1
    assert any("one member" in remark for remark in results["remarks"])


def test_models_of_the_target_are_not_judged_by_the_rows_they_fitted(wine):
    with pytest.raises(UnusableError, match="rows that it has not seen"):
        build_problem(PLAN.changed(options={"judged": "training"}), wine)


@pytest.mark.slow
def test_topics_judged_by_their_own_texts_are_averaged_by_document():
    options = {"judged": "training"}
    plan = Plan(DataPlan("sample:texts"), "lda", "eb-hyp", options=options, trials=20, seed=4)
    texts = read_data(plan.data)
    events = events_of(plan, texts)
    started, results = events[0], events[-1].results
    assert (started.metric, started.judged) == ("training_completion", "training")
    assert started.maximize
    assert (results["metric"], results["validation"]) == ("completion", {})
    assert results["fits"] == 20
    problem = build_problem(plan, texts)
    X, _ = problem.test_data
    logs = []
    for setting in results["ensemble"]["settings"]:
        model = problem.pipeline(setting).fit(*problem.training_data)
        logs.append(model[-1].completion(model[:-1].transform(X)))
    assert len(logs) == 2
    by_document = np.log((np.exp(logs[0][:, 0]) + np.exp(logs[1][:, 0])) / 2)
    expected = by_document.sum() / logs[0][:, 1].sum()
    assert results["test"]["completion"] == pytest.approx(expected, rel=1e-6)
    ranked = sorted(of(TrialFinished, events), key=lambda trial: -trial.score)
    assert results["ensemble"]["members"] == [trial.number for trial in ranked[:2]]
    assert all(update.average is None for update in of(EnsembleUpdated, events))


def test_topics_can_be_judged_by_texts_held_out():
    options = {"judged": "validation"}
    plan = Plan(DataPlan("sample:texts"), "lda", "eb-hyp", options=options, trials=1, seed=4)
    events = events_of(plan, read_data(plan.data))
    assert events[0].metric == "completion"
    assert of(EnsembleUpdated, events)[-1].average is not None


def test_a_fit_that_warns_after_another_has_ended_is_no_fault():
    entered, ended = threading.Event(), threading.Event()

    def fit(number):
        if number == 1:
            entered.wait(10)
        with fit_warnings_ignored():
            entered.set()
            if number == 1:
                ended.wait(10)
                warnings.warn("it has not converged", ConvergenceWarning, stacklevel=1)
            else:
                time.sleep(0.2)  # until the other one has its own filters
        ended.set()
        return number

    assert at_the_end._fit_in_parallel(fit, [0, 1], SimpleNamespace(refits_at_once=2)) == [0, 1]
