"""One model of a run of several, against the fold of its own events picked by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.task import Task
from core.estimators.multi_model import combined_setting
from core.estimators.registry import MODELS
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    Event,
    LeaderboardEntry,
    ModelsCompared,
    ModelScreened,
    RunFinished,
    RunStarted,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.run_results import Results
from core.tuning.runs.model_runs import (
    ModelRunState,
    model_leaderboard,
    models_of,
    single_model_start,
    state_text,
)
from core.tuning.runs.state import RunState, state_from_events

NAMES = ("logistic", "svm")
AXIS = Axis("model", "Model", "choice", choices=NAMES, default="logistic")
BEGUN = RunStarted(
    plan={"model": "auto", "strategy": "race", "options": {"search": "gp"}, "folds": 5},
    dataset=DatasetFacts(task=Task.BINARY),
    space=[AXIS],
    averages=True,
    total=9,
)
SETTINGS = {"logistic": {"C": 1.0}, "svm": {"C": 2.0, "gamma": 0.1}}


def started(number, name, reason="improve"):
    return TrialStarted(
        number=number, setting=combined_setting(name, SETTINGS[name]), reason=reason
    )


def finished(number, name, score, **more):
    setting = combined_setting(name, SETTINGS[name])
    return TrialFinished(number=number, setting=setting, score=score, took=1.0, fits=5, **more)


NAMED, NUMBERS = st.sampled_from(NAMES), st.integers(0, 6)
EVENTS = st.lists(
    st.one_of(
        st.builds(started, NUMBERS, NAMED, st.sampled_from(["default", "improve"])),
        st.builds(finished, NUMBERS, NAMED, st.floats(0, 1, width=32), behind=st.booleans()),
        st.builds(
            lambda number, name: TrialFailed(
                number=number, setting=combined_setting(name, {}), reason="It failed."
            ),
            NUMBERS,
            NAMED,
        ),
        st.builds(TrialExcluded, number=NUMBERS, excluded=st.booleans()),
        st.just(RunFinished(results=Results(trials=1))),
    ),
    max_size=30,
)


def own_events(events: list[Event], name: str) -> list[Event]:
    """Those of one model, their settings without the key of the model, by hand."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, (TrialStarted, TrialFinished, TrialFailed)):
            if event.setting["model"] == name:
                setting = {key: v for key, v in event.setting.items() if key != "model"}
                found.append(replace(event, setting=setting))
        else:
            found.append(event)
    return found


def told(run: RunState) -> tuple:
    best = run.best_trial
    return (
        [(t.number, t.setting, t.failure, t.behind, t.reason) for t in run.trials],
        run.scores[np.isfinite(run.scores)].tolist(),
        None if best is None else best.score,
        run.excluded & set(run.row_of),
        run.finished,
        run.failed,
        None if run.ended is None else run.ended.results,
    )


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.sampled_from(NAMES))
def test_its_state_is_that_of_its_own_events(events, name):
    # A number belongs to one model: later events of it keep the first one's.
    of = {}
    kept = [
        event
        for event in events
        if not hasattr(event, "setting")
        or of.setdefault(event.number, event.setting["model"]) == event.setting["model"]
    ]
    whole = state_from_events([BEGUN])
    one = ModelRunState(name, whole)
    for event in kept:
        whole.consume(event)
        one.follow_run(whole)
    by_hand = state_from_events([single_model_start(BEGUN, name), *own_events(kept, name)])
    assert told(one.state) == told(by_hand)
    assert told(ModelRunState(name, whole).state) == told(by_hand)
    assert set(one.state.pending) == set(by_hand.pending)


def test_it_begins_with_the_models_own_space():
    alone = single_model_start(BEGUN, "svm")
    assert [axis["name"] for axis in alone.space] == [a.name for a in MODELS["svm"].space("binary")]
    assert (alone.plan["model"], alone.plan["strategy"]) == ("svm", "race")
    assert not alone.averages
    assert alone.total == 0
    assert single_model_start(BEGUN, "svm", modelled=True).plan["strategy"] == "gp"
    rare = [axis["name"] for axis in single_model_start(BEGUN, "svm", rare=True).space]
    assert rare[-1] == "class_weight"
    assert single_model_start(BEGUN, "not installed").space == []
    assert models_of(BEGUN) == NAMES


def test_a_first_look_with_class_weights_widens_the_space():
    whole = state_from_events([BEGUN])
    one = ModelRunState("svm", whole)
    first = one.state.started
    whole.consume(
        ModelScreened(model="svm", setting=combined_setting("svm", {"class_weight": "none"}))
    )
    assert one.follow_run(whole)
    assert one.state.started is not first
    assert one.state.started.space[-1]["name"] == "class_weight"


def test_an_exclusion_keeps_the_first_event():
    whole = state_from_events([BEGUN, finished(0, "svm", 0.9), finished(1, "svm", 0.8)])
    one = ModelRunState("svm", whole)
    first = one.state.started
    whole.consume(TrialExcluded(number=0))
    assert one.follow_run(whole)
    assert one.state.started is first
    assert one.state.best_trial.number == 1


def test_each_model_has_the_surrogate_that_was_fitted_to_it():
    whole = state_from_events([BEGUN, SurrogateFitted(model="svm", trials=3)])
    assert whole.surrogate is None
    assert ModelRunState("svm", whole).state.surrogate.trials == 3
    assert ModelRunState("logistic", whole).state.surrogate is None


# What counts -------------------------------------------------------------------------------------


def test_an_estimated_score_is_never_the_best():
    run = state_from_events([BEGUN, finished(0, "svm", 0.7), finished(1, "svm", 0.9, behind=True)])
    assert run.best_trial.number == 0
    assert run.best_rows(9).tolist() == [0]
    assert run.best_rows(9, estimates=True).tolist() == [1, 0]
    _, best = run.staircase()
    assert best.tolist() == [0.7, 0.7]
    run.consume(TrialExcluded(number=0))
    assert run.best_trial is None
    moment = run.snapshot()
    run.consume(finished(2, "svm", 0.6))
    assert run.best_trial.number == 2
    assert moment.restored_state().is_ended_early.tolist() == [False, True]


def test_the_default_setting_is_that_of_the_usual_model():
    events = [started(0, "svm", "default"), finished(0, "svm", 0.7)]
    run = state_from_events([BEGUN, *events])
    assert run.default_trial is None
    for event in (started(1, "logistic", "default"), finished(1, "logistic", 0.6)):
        run.consume(event)
    assert run.default_trial.number == 1


# How the models stand ----------------------------------------------------------------------------


def test_models_stand_by_the_surest_that_is_known():
    told = [
        LeaderboardEntry("logistic", 0, None, None, 0.9, 0.0, 0.0, 1.0, "waiting"),
        LeaderboardEntry("svm", 1, 0.5, 0.1, 0.4, 1.0, 0.0, 1.0, "tuned"),
    ]
    run = state_from_events([BEGUN, ModelsCompared(models=told)])
    assert [one.model for one in model_leaderboard(run)] == ["svm", "logistic"]
    assert model_leaderboard(run)[1].best_known_score == 0.9
    run.consume(finished(3, "logistic", 0.6, behind=True))
    run.consume(finished(4, "logistic", 0.7, behind=True))
    behind = model_leaderboard(run)[1]
    assert (behind.early, behind.estimate, behind.best_known_score, behind.state) == (
        2,
        0.7,
        0.7,
        "behind",
    )
    assert state_text(behind) == "clearly behind"


def test_before_trials_they_stand_by_the_first_look():
    run = state_from_events(
        [BEGUN, ModelScreened(model="svm", score=0.8), ModelScreened(model="logistic")]
    )
    assert [(one.model, one.best_known_score) for one in model_leaderboard(run)] == [
        ("svm", 0.8),
        ("logistic", None),
    ]
    run = state_from_events([replace(BEGUN, maximize=False), ModelScreened(model="svm", score=0.8),
                  ModelScreened(model="logistic", score=0.5)])  # fmt: skip
    assert [one.model for one in model_leaderboard(run)] == ["logistic", "svm"]
    failed = state_from_events([BEGUN, ModelScreened(model="svm", failure="No memory.")])
    assert state_text(model_leaderboard(failed)[-1]) == "Its screening failed: No memory."


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_no_numbers_do_not_count(score):
    run = state_from_events([BEGUN, finished(0, "svm", score)])
    assert run.best_trial is None
    assert ModelRunState("svm", run).state.failed == 1


def test_no_run_has_no_models():
    assert models_of(BEGUN) == NAMES
    assert models_of(RunStarted()) == ()
