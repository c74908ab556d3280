"""One model of a run of several, against the fold of its own events picked by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.estimators.registry import MODELS
from core.estimators.several import of_model
from core.space import Axis
from core.tuning.events import (
    Event,
    ModelLooked,
    ModelsCompared,
    RunFinished,
    RunStarted,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.payloads import ModelStanding
from core.tuning.runs.one_model import OneModel, begun_alone, models_of
from core.tuning.runs.standings import standings, state_in_words
from core.tuning.runs.state import RunState, folded

NAMES = ("logistic", "svm")
AXIS = Axis("model", "Model", "choice", choices=NAMES, default="logistic")
BEGUN = RunStarted(
    plan={"model": "auto", "strategy": "race", "options": {"search": "gp"}, "folds": 5},
    dataset={"task": "binary"},
    space=[AXIS.as_dict()],
    averages=True,
    total=9,
)
SETTINGS = {"logistic": {"C": 1.0}, "svm": {"C": 2.0, "gamma": 0.1}}


def started(number, name, reason="improve"):
    return TrialStarted(number=number, setting=of_model(name, SETTINGS[name]), reason=reason)


def finished(number, name, score, **more):
    setting = of_model(name, SETTINGS[name])
    return TrialFinished(number=number, setting=setting, score=score, took=1.0, fits=5, **more)


NAMED, NUMBERS = st.sampled_from(NAMES), st.integers(0, 6)
EVENTS = st.lists(
    st.one_of(
        st.builds(started, NUMBERS, NAMED, st.sampled_from(["default", "improve"])),
        st.builds(finished, NUMBERS, NAMED, st.floats(0, 1, width=32), behind=st.booleans()),
        st.builds(
            lambda number, name: TrialFailed(
                number=number, setting=of_model(name, {}), reason="It failed."
            ),
            NUMBERS,
            NAMED,
        ),
        st.builds(TrialExcluded, number=NUMBERS, excluded=st.booleans()),
        st.just(RunFinished(results={"trials": 1})),
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
    best = run.best
    return (
        [(t.number, t.setting, t.failure, t.behind, t.reason) for t in run.trials],
        run.scores[np.isfinite(run.scores)].tolist(),
        None if best is None else best.score,
        run.excluded & set(run.row_of),
        run.finished,
        run.failed,
        None if run.ended is None else run.ended.results,
    )


@settings(max_examples=150, deadline=None)
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
    whole = folded([BEGUN])
    one = OneModel(name, whole)
    for event in kept:
        whole.consume(event)
        one.follow(whole)
    by_hand = folded([begun_alone(BEGUN, name), *own_events(kept, name)])
    assert told(one.state) == told(by_hand)
    assert told(OneModel(name, whole).state) == told(by_hand)
    assert set(one.state.pending) == set(by_hand.pending)


def test_it_begins_with_the_models_own_space():
    alone = begun_alone(BEGUN, "svm")
    assert [axis["name"] for axis in alone.space] == [a.name for a in MODELS["svm"].space("binary")]
    assert (alone.plan["model"], alone.plan["strategy"]) == ("svm", "race")
    assert not alone.averages
    assert alone.total == 0
    assert begun_alone(BEGUN, "svm", modelled=True).plan["strategy"] == "gp"
    rare = [axis["name"] for axis in begun_alone(BEGUN, "svm", rare=True).space]
    assert rare[-1] == "class_weight"
    assert begun_alone(BEGUN, "not installed").space == []
    assert models_of(BEGUN) == NAMES


def test_a_first_look_with_class_weights_widens_the_space():
    whole = folded([BEGUN])
    one = OneModel("svm", whole)
    first = one.state.started
    whole.consume(ModelLooked(model="svm", setting=of_model("svm", {"class_weight": "none"})))
    assert one.follow(whole)
    assert one.state.started is not first
    assert one.state.started.space[-1]["name"] == "class_weight"


def test_an_exclusion_keeps_the_first_event():
    whole = folded([BEGUN, finished(0, "svm", 0.9), finished(1, "svm", 0.8)])
    one = OneModel("svm", whole)
    first = one.state.started
    whole.consume(TrialExcluded(number=0))
    assert one.follow(whole)
    assert one.state.started is first
    assert one.state.best.number == 1


def test_each_model_has_the_surrogate_that_was_fitted_to_it():
    whole = folded([BEGUN, SurrogateFitted(model="svm", trials=3)])
    assert whole.surrogate is None
    assert OneModel("svm", whole).state.surrogate.trials == 3
    assert OneModel("logistic", whole).state.surrogate is None


# What counts -------------------------------------------------------------------------------------


def test_an_estimated_score_is_never_the_best():
    run = folded([BEGUN, finished(0, "svm", 0.7), finished(1, "svm", 0.9, behind=True)])
    assert run.best.number == 0
    assert run.best_rows(9).tolist() == [0]
    assert run.best_rows(9, estimates=True).tolist() == [1, 0]
    _, best = run.staircase()
    assert best.tolist() == [0.7, 0.7]
    run.consume(TrialExcluded(number=0))
    assert run.best is None
    moment = run.moment()
    run.consume(finished(2, "svm", 0.6))
    assert run.best.number == 2
    assert moment.state().early.tolist() == [False, True]


def test_the_default_setting_is_that_of_the_usual_model():
    events = [started(0, "svm", "default"), finished(0, "svm", 0.7)]
    run = folded([BEGUN, *events])
    assert run.default is None
    for event in (started(1, "logistic", "default"), finished(1, "logistic", 0.6)):
        run.consume(event)
    assert run.default.number == 1


# How the models stand ----------------------------------------------------------------------------


def test_models_stand_by_the_surest_that_is_known():
    told = [
        ModelStanding("logistic", 0, None, None, 0.9, 0.0, 0.0, 1.0, "waiting"),
        ModelStanding("svm", 1, 0.5, 0.1, 0.4, 1.0, 0.0, 1.0, "tuned"),
    ]
    run = folded([BEGUN, ModelsCompared(models=told)])
    assert [one.model for one in standings(run)] == ["svm", "logistic"]
    assert standings(run)[1].known == 0.9
    run.consume(finished(3, "logistic", 0.6, behind=True))
    run.consume(finished(4, "logistic", 0.7, behind=True))
    behind = standings(run)[1]
    assert (behind.early, behind.estimate, behind.known, behind.state) == (2, 0.7, 0.7, "behind")
    assert state_in_words(behind) == "clearly behind"


def test_before_trials_they_stand_by_the_first_look():
    run = folded([BEGUN, ModelLooked(model="svm", score=0.8), ModelLooked(model="logistic")])
    assert [(one.model, one.known) for one in standings(run)] == [("svm", 0.8), ("logistic", None)]
    run = folded([replace(BEGUN, maximize=False), ModelLooked(model="svm", score=0.8),
                  ModelLooked(model="logistic", score=0.5)])  # fmt: skip
    assert [one.model for one in standings(run)] == ["logistic", "svm"]
    failed = folded([BEGUN, ModelLooked(model="svm", failure="No memory.")])
    assert state_in_words(standings(failed)[-1]) == "The first look at it failed: No memory."


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_no_numbers_do_not_count(score):
    run = folded([BEGUN, finished(0, "svm", score)])
    assert run.best is None
    assert OneModel("svm", run).state.failed == 1


def test_no_run_has_no_models():
    assert models_of(BEGUN) == NAMES
    assert models_of(RunStarted()) == ()
