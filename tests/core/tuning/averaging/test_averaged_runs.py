"""Runs that average: from the first trial to one model, resumed, stopped, and in every mode."""

import threading
import time
import warnings
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
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

WINE = DataPlan("sample:wine")
PLAN = Plan(WINE, "logistic", "eb-hyp", trials=21, folds=3, seed=2, refit=False)


@pytest.fixture(scope="module")
def wine():
    return read_data(WINE)


@pytest.fixture(scope="module")
def finished(wine, tmp_path_factory):
    folder = RunFolder.create(PLAN, path=tmp_path_factory.mktemp("runs") / "run")
    return list(tune(PLAN, wine, folder=folder)), folder


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def by_scikit_learn(problem, setting):
    """A logistic regression on standardized columns as the run's members are."""
    X, y = problem.training_data
    model = LogisticRegression(C=setting["C"], max_iter=problem.estimator(setting).max_iter)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def test_every_trial_is_followed_by_the_members(finished):
    events, _ = finished
    updates = of(EnsembleUpdated, events)
    assert [update.finished for update in updates] == list(range(1, 22))
    assert [len(update.members) for update in updates] == [1] * 19 + [2] * 2
    assert all(update.average is not None for update in updates)
    drawn = [event for event in of(TrialStarted, events) if event.reason == "sample"]
    assert drawn
    assert all(1.0 <= event.candidates <= 4096 for event in drawn)


def test_the_model_taken_away_is_the_mean_of_its_members(finished, wine):
    events, folder = finished
    problem, last = build_problem(PLAN, wine), events[-1]
    assert isinstance(last, RunFinished)
    told = last.results["ensemble"]
    ranked = sorted(of(TrialFinished, events), key=lambda trial: trial.score)
    assert told["members"] == [trial.number for trial in ranked[:2]]
    assert told["settings"] == [trial.setting for trial in ranked[:2]]
    X, y = problem.test_data
    members = [by_scikit_learn(problem, setting) for setting in told["settings"]]
    each = [member.predict_proba(X) for member in members]
    kept = best_of(folder)
    np.testing.assert_allclose(kept.predict_proba(X), (each[0] + each[1]) / 2, atol=1e-5)
    mean = log_loss(y, (each[0] + each[1]) / 2)
    assert last.results["test"]["log_loss"] == pytest.approx(mean, rel=1e-3)
    assert last.results["metric"] == "log_loss"


@pytest.mark.parametrize("weights", ["uniform", "greedy"])
def test_a_resumed_run_ends_in_the_same_average(finished, wine, weights):
    plan = PLAN.changed(options={"weights": weights})
    events = finished[0] if weights == "uniform" else list(tune(plan, wine))
    cut = next(at for at, e in enumerate(events) if isinstance(e, TrialFinished) and e.number == 18)
    again = list(tune(plan, wine, past=events[: cut + 1]))
    before, after = events[-1].results, again[-1].results
    assert after["ensemble"]["members"] == before["ensemble"]["members"]
    assert after["ensemble"]["weights"] == pytest.approx(before["ensemble"]["weights"])
    assert after["test"] == pytest.approx(before["test"])


@pytest.mark.parametrize("judged", ["cv", "validation"])
@pytest.mark.parametrize("weights", ["uniform", "greedy"])
def test_a_resumed_run_keeps_what_its_average_scored_on_held_out_rows(wine, weights, judged):
    plan = PLAN.changed(options={"weights": weights, "judged": judged})
    events = list(tune(plan, wine))
    cut = next(at for at, e in enumerate(events) if isinstance(e, TrialFinished) and e.number == 18)
    again = list(tune(plan, wine, past=events[: cut + 1]))
    whole = {update.finished: update for update in of(EnsembleUpdated, events)}
    resumed = of(EnsembleUpdated, again)
    assert [update.finished for update in resumed] == [20, 21]
    for update in resumed:
        before = whole[update.finished]
        assert (update.average, update.single) == pytest.approx((before.average, before.single))
    before, after = events[-1].results, again[-1].results
    for key in ("held_out", "single_held_out"):
        assert before["ensemble"][key]
        assert after["ensemble"][key] == pytest.approx(before["ensemble"][key])
    assert after["validation"] == pytest.approx(before["validation"])
    fresh = [e.number for e in again if isinstance(e, (TrialStarted, TrialFinished))]
    assert set(fresh) == {19, 20}  # those that said it again are no trials


def test_stopping_keeps_the_average_of_what_there_was(finished, wine):
    events, _ = finished
    last = conclude(PLAN, wine, [e for e in events if not isinstance(e, RunFinished)])
    assert last.results["test"] == pytest.approx(events[-1].results["test"])


def test_a_trial_that_is_taken_out_is_no_member(wine):
    requests, members = deque(), []
    for event in tune(PLAN, wine, requests=requests):
        if isinstance(event, TrialFinished) and event.number == 19:
            best = min(of(TrialFinished, members), key=lambda trial: trial.score)
            requests.append(TrialExcluded(number=best.number))
        members.append(event)
    assert best.number not in members[-1].results["ensemble"]["members"]


@pytest.mark.parametrize("weights", ["uniform", "tempered", "greedy"])
def test_a_run_cut_before_its_update_weighs_as_the_update_would(wine, weights):
    plan = PLAN.changed(options={"weights": weights})
    events = list(tune(plan, wine))
    without = [e for e in events if not isinstance(e, (EnsembleUpdated, RunFinished))]
    last = conclude(plan, wine, without)
    told, whole = last.results["ensemble"], events[-1].results["ensemble"]
    assert told["members"] == whole["members"]
    np.testing.assert_allclose(told["weights"], whole["weights"])


def test_numbers_are_averaged_too():
    plan = Plan(DataPlan("sample:diabetes"), "elastic-net", "eb-hyp", trials=20, folds=3)
    dataset = read_data(plan.data)
    last = list(tune(plan, dataset))[-1]
    problem = build_problem(plan, dataset)
    X, y = problem.test_data
    told = last.results["ensemble"]
    assert len(told["members"]) == 2
    mean = np.zeros(len(y))
    for setting in told["settings"]:
        mean += problem.pipeline(setting).fit(*problem.training_data).predict(X) / 2
    assert last.results["test"]["mse"] == pytest.approx(mean_squared_error(y, mean))


def test_held_out_once_members_stay_as_the_trials_fitted_them(wine):
    plan = PLAN.changed(options={"judged": "validation"})
    last = list(tune(plan, wine))[-1]
    problem = build_problem(plan, wine)
    ((fit_rows, _),) = problem.splits
    X, y = problem.test_data
    mean = 0.0
    for setting in last.results["ensemble"]["settings"]:
        pipeline = problem.pipeline(setting)
        pipeline.fit(wine.features.iloc[fit_rows], wine.target[fit_rows])
        mean = mean + pipeline.predict_proba(X) / 2
    assert last.results["test"]["log_loss"] == pytest.approx(log_loss(y, mean), rel=1e-6)
    assert last.results["fits"] == 21


@pytest.mark.parametrize("model", ["svm", "vote7"])
def test_models_without_probabilities_get_them(wine, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        last = list(tune(PLAN.changed(model=model, trials=3), wine))[-1]
    assert 0 < last.results["test"]["log_loss"] < np.log(3)


def test_a_member_that_cannot_be_fitted_is_left_out_and_said(finished, wine, monkeypatch):
    events, _ = finished
    best = events[-1].results["ensemble"]["settings"][0]
    whole = at_the_end.fit_estimator

    def failing(work, setting, fold):
        if setting == best:
            raise ValueError("no")
        return whole(work, setting, fold)

    monkeypatch.setattr(at_the_end, "fit_estimator", failing)
    last = conclude(PLAN, wine, [e for e in events if not isinstance(e, RunFinished)])
    told = last.results["ensemble"]
    assert len(told["members"]) == 1
    assert told["weights"] == [1.0]
    assert told["left_out"][0].reason in last.results["remarks"]
    assert "ValueError: no" in told["left_out"][0].reason


def test_few_trials_are_said(wine):
    last = list(tune(PLAN.changed(trials=4), wine))[-1]
    assert len(last.results["ensemble"]["members"]) == 1
    assert any("one member" in remark for remark in last.results["remarks"])


def test_models_of_the_target_are_not_judged_by_the_rows_they_fitted(wine):
    with pytest.raises(UnusableError, match="rows that it has not seen"):
        build_problem(PLAN.changed(options={"judged": "training"}), wine)


def test_topics_judged_by_their_own_texts_are_averaged_by_document():
    plan = Plan(DataPlan("sample:texts"), "lda", "eb-hyp", trials=20, seed=4)
    texts = read_data(plan.data)
    events = list(tune(plan, texts))
    started, last = events[0], events[-1]
    assert (started.metric, started.judged, started.maximize) == (
        "training_completion",
        "training",
        True,
    )
    results = last.results
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
    plan = Plan(DataPlan("sample:texts"), "lda", "eb-hyp", options=options, trials=2, seed=4)
    events = list(tune(plan, read_data(plan.data)))
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
