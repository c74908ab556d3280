"""The one reducer of a run's events, also of one model of several, against recomputations."""

from __future__ import annotations

import math
import random
import sys
from dataclasses import replace
from itertools import chain
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.task import Task
from core.estimators.multi_model import combined_setting
from core.estimators.registry import MODELS
from core.space import Axis
from core.tuning.event_lines import to_json
from core.tuning.events import (
    DatasetFacts,
    EnsembleUpdated,
    Event,
    FoldTested,
    HyperGradientStep,
    JointSurfaceFitted,
    LeaderboardEntry,
    ModelsCompared,
    ModelScreened,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.run_results import Results
from core.tuning.runs import run_folder
from core.tuning.runs.model_runs import (
    ModelRunState,
    model_leaderboard,
    models_of,
    single_model_start,
    state_text,
)
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.runs.trial_table import GrowingArray

NUMBERS = st.integers(0, 7)
SCORES = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 0.4, math.nan, math.inf]), st.floats(-1e6, 1e6, width=32)
)
TRIAL_EVENTS = st.one_of(
    st.builds(TrialStarted, number=NUMBERS, reason=st.sampled_from(["random", "improve"])),
    st.builds(
        TrialFinished, number=NUMBERS, score=SCORES, fits=st.integers(1, 9), took=st.floats(0, 9)
    ),
    st.builds(TrialFailed, number=NUMBERS, reason=st.just("It failed.")),
    st.builds(TrialExcluded, number=NUMBERS, excluded=st.booleans()),
    st.builds(RunResumed, done=st.just(3), total=st.integers(1, 30)),
    st.builds(EnsembleUpdated, finished=NUMBERS, members=st.just([0]), weights=st.just([1.0])),
    st.builds(FoldTested, fold=st.integers(0, 5), folds=st.just(5)),
    st.just(RunStopped(because="it was stopped", results=Results(trials=1))),
)
STEP_EVENTS = st.one_of(
    st.builds(PenaltyStep, step=NUMBERS, fits=st.integers(0, 50)),
    st.builds(RunResumed, done=st.just(2)),
    st.just(RunFinished(results=Results(trials=0))),
)
RUNS = st.builds(
    lambda maximize, events: [
        RunStarted(maximize=maximize, total=8),
        TrialStarted(number=0, reason="default"),
        *events,
    ],
    st.booleans(),
    st.lists(TRIAL_EVENTS, max_size=40),
)


def recomputed(events):
    """What counts, from the whole list: a plain restatement without any running sum."""
    maximize = events[0].maximize
    ended = [e for e in events if isinstance(e, (TrialFinished, TrialFailed))]
    last = {e.number: e for e in ended}  # a resumed run may tell a trial again
    out = {e.number: e.excluded for e in events if isinstance(e, TrialExcluded)}
    scores = {
        number: e.score
        for number, e in last.items()
        if isinstance(e, TrialFinished) and math.isfinite(e.score)
    }
    counting = [number for number in scores if not out.get(number)]
    best = None
    if counting:
        top = (max if maximize else min)(scores[number] for number in counting)
        best = next(number for number in counting if scores[number] == top)
    scored = list(scores)  # in the order in which the trials ended first
    return {
        "numbers": list(last),
        "scores": [scores.get(number, math.nan) for number in last],
        "best": best,
        "default": scores.get(0),
        "without": 0 if best is None else len(scored) - 1 - scored.index(best),
        "finished": len(scores),
        "failed": len(last) - len(scores),
        "fits": sum(e.fits for e in last.values() if isinstance(e, TrialFinished)),
        "competing": [number in counting for number in last],
        "pending": {e.number for at, e in enumerate(events) if isinstance(e, TrialStarted)
                    and not any(n.number == e.number for n in events[at:]
                                if isinstance(n, (TrialFinished, TrialFailed)))},
    }  # fmt: skip


def found(state):
    return {
        "numbers": state.numbers.tolist(),
        "scores": np.where(np.isfinite(state.scores), state.scores, math.nan).tolist(),
        "best": state.best_trial.number if state.best_trial else None,
        "default": state.default_trial.score if state.default_trial else None,
        "without": state.without_improvement,
        "finished": state.finished,
        "failed": state.failed,
        "fits": state.fit_count,
        "competing": state.competing.tolist(),
        "pending": set(state.pending),
    }


def same(one, other):
    assert np.array_equal(one.pop("scores"), other.pop("scores"), equal_nan=True)
    assert one == other


@given(RUNS)
@settings(max_examples=100, deadline=None)
def test_the_state_equals_a_recomputation_from_the_list(events):
    state = state_from_events(events)
    same(found(state), recomputed(events))
    sign = -1.0 if state.maximize else 1.0
    counting = np.flatnonzero(state.competing).tolist()
    ranked = sorted(counting, key=lambda row: (sign * state.scores[row], row))
    assert all(state.best_rows(k).tolist() == ranked[:k] for k in range(len(ranked) + 2))
    assert [state.trials[row] for row in ranked[:1]] == (
        [state.best_trial] if state.best_trial else []
    )
    assert state.took == pytest.approx(sum(t.took for t in state.trials if not t.failure))


@given(RUNS, st.data())
@settings(max_examples=60, deadline=None)
def test_a_moment_is_the_state_of_the_events_until_then_whatever_came_after(events, data):
    at = data.draw(st.integers(1, len(events)))
    later = data.draw(st.integers(at, len(events)))
    state = state_from_events(events[:at])
    moment = state.snapshot()
    for event in events[at:]:
        state.consume(event)
    again = moment.restored_state()
    same(found(again), recomputed(events[:at]))
    assert again.ensembles == state_from_events(events[:at]).ensembles
    for event in events[at:later]:
        again.consume(event)
    same(found(again), recomputed(events[:later]))
    same(found(state), recomputed(events))  # the run itself is as it was
    assert [t.failure for t in again.trials] == [
        t.failure for t in state_from_events(events[:later]).trials
    ]


@given(st.lists(STEP_EVENTS, max_size=20))
def test_a_learner_has_steps_and_the_last_one_counts_the_fits(events):
    state = state_from_events([RunStarted(kind="penalties"), *events])
    steps = [e for e in events if isinstance(e, PenaltyStep)]
    assert state.steps == steps
    assert (state.done_count, state.last_step) == (len(steps), steps[-1] if steps else None)
    assert state.fit_count == (steps[-1].fits if steps else 0)
    gradient = HyperGradientStep(step=0, fits=3)
    state = state_from_events([RunStarted(kind="penalties"), gradient])
    assert (state.done_count, state.fit_count, state.last_step) == (1, 3, gradient)


def test_a_trial_that_was_excluded_before_a_resume_is_not_the_best_afterwards():
    state = state_from_events([
        RunStarted(total=4),
        *trial(0, 0.7, "default"), *trial(1, 0.9), TrialExcluded(number=1),
        RunResumed(done=2, total=4), *trial(1, 0.9), *trial(2, 0.8),
    ])  # fmt: skip
    assert (state.best_trial.number, state.without_improvement) == (2, 0)
    assert len(state.trials) == 3


def trial(number, score, reason="random"):
    setting = {"C": float(number)}
    return (
        TrialStarted(number=number, setting=setting, reason=reason),
        TrialFinished(number=number, setting=setting, score=score, fits=5),
    )


def test_the_end_is_undone_by_going_on_and_results_come_with_it():
    state = state_from_events([RunStarted(total=4), *trial(0, 0.7), RunStopped(results=Results())])
    assert state.results == Results()
    state.consume(RunResumed(done=1, total=9))
    assert (state.results, state.ended, state.total) == (None, None, 9)
    state.consume(RunFailed(sentence="No."))
    assert (state.results, state.ended.sentence) == (None, "No.")


def test_another_run_begins_anew_and_a_notice_is_kept_once():
    run = [RunStarted(total=4), *trial(0, 0.7), TrialExcluded(number=0)]
    state = state_from_events([*run, RunStarted(), *[RemarkMade(sentence="a")] * 2])
    assert (state.done_count, state.best_trial, state.default_trial) == (0, None, None)
    assert (state.excluded, state.notices) == (set(), ("a",))


@pytest.mark.parametrize(("maximize", "sign"), [(True, 1.0), (False, -1.0)])
def test_a_predicted_response_becomes_a_score_once_the_dataset_has_a_mean(maximize, sign):
    surface = JointSurfaceFitted(expected=1.5, deviation=0.5, maximize=maximize)
    state = state_from_events([RunStarted(maximize=maximize), surface, *trial(0, 0.9, "past")])
    assert state.prediction(state.trials[0]) is None
    state.consume(replace(surface, trials=2, mean=0.8, scale=0.1, settled=True))
    expected = (pytest.approx(0.8 + sign * 0.15), pytest.approx(0.05))
    assert state.prediction(state.trials[0]) == expected


def test_an_event_costs_the_same_in_a_long_run():
    """The interpreter's steps are counted: after 2,000 trials an event takes those of the 20th."""

    def steps(trials):
        past = (event for number in range(trials) for event in trial(number, math.sin(number)))
        state, taken = state_from_events([RunStarted(), *past]), 0

        def count(frame, kind, _argument):
            nonlocal taken
            frame.f_trace_opcodes = True
            taken += kind == "opcode"
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            for event in trial(trials, -2.0):
                state.consume(event)
                assert state.fit_count >= 0
                assert state.without_improvement >= 0
        finally:
            sys.settrace(before)
        return taken

    assert steps(2_000) < 2 * steps(20)


@pytest.mark.parametrize("width", [None, 3])
def test_an_array_that_grows_holds_what_was_appended_whenever_it_is_asked(width):
    draw, grown, rows = random.Random(0), GrowingArray(float, width), []
    for _ in range(300):
        rows.append(draw.random() if width is None else [draw.random() for _ in range(width)])
        grown.append(rows[-1])
        if draw.random() < 0.05:
            assert grown.rows.tolist() == rows
    assert grown.rows.tolist() == rows
    assert grown.rows.dtype == float
    part = grown.first(7)
    part.append(rows[9])
    assert (part.rows.tolist(), grown.rows.tolist()) == ([*rows[:7], rows[9]], rows)


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


NAMED, FEW = st.sampled_from(NAMES), st.integers(0, 6)
EVENTS = st.lists(
    st.one_of(
        st.builds(started, FEW, NAMED, st.sampled_from(["default", "improve"])),
        st.builds(finished, FEW, NAMED, st.floats(0, 1, width=32), behind=st.booleans()),
        st.builds(
            TrialFailed,
            number=FEW,
            setting=NAMED.map(lambda name: combined_setting(name, {})),
            reason=st.just("It failed."),
        ),
        st.builds(TrialExcluded, number=FEW, excluded=st.booleans()),
        st.just(RunFinished(results=Results(trials=1))),
    ),
    max_size=30,
)


TIMES = attrgetter("seconds")
BEATS = st.builds(Progress, st.floats(0, 9), done=NUMBERS, seconds_left=st.floats(0, 9))


@given(RUNS, EVENTS, st.lists(BEATS, max_size=9), st.randoms())
@settings(max_examples=25, deadline=None)
def test_a_run_that_is_read_adds_up_to_what_it_was(
    tmp_path_factory, of_one, of_several, beats, draw
):
    folder = tmp_path_factory.mktemp("run")
    for events in (of_one, [BEGUN, *of_several]):
        places = sorted(draw.randrange(1, len(events) + 1) for _ in beats)
        for place, beat in zip(places[::-1], sorted(beats, key=TIMES)[::-1], strict=True):
            events.insert(place, beat)
        lines = [f"{to_json(event)}\n" for event in events]
        (folder / "events.jsonl").write_text("".join(lines), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_folder, "READ_AT_ONCE", 700)  # a run of several blocks
            blocks = list(run_folder.RunFolder(folder).read_blocks(beats=False))
        state = state_from_events(events)
        read = state_from_events(chain.from_iterable(blocks))
        same(found(read), found(state))
        facts = attrgetter("number", "setting", "failure", "behind", "reason", "took", "ended")
        assert list(map(facts, read.trials)) == list(map(facts, state.trials))
        for name in ("seconds", "seconds_left", "excluded", "ended", "ensembles", "total", "steps"):
            assert getattr(read, name) == getattr(state, name)


def own_events(events: list[Event], name: str) -> list[Event]:
    """Those of one model, their settings without the key of the model, by hand."""
    own: list[Event] = []
    for event in events:
        if isinstance(event, (TrialStarted, TrialFinished, TrialFailed)):
            setting = dict(event.setting)
            if setting.pop("model") != name:
                continue
            event = event.with_fields(setting=setting)
        own.append(event)
    return own


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


@settings(max_examples=60, deadline=None)
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
    assert (alone.averages, alone.total) == (False, 0)
    assert single_model_start(BEGUN, "svm", modelled=True).plan["strategy"] == "gp"
    assert single_model_start(BEGUN, "svm", rare=True).space[-1].name == "class_weight"
    assert single_model_start(BEGUN, "not installed").space == []
    assert (models_of(BEGUN), models_of(RunStarted())) == (NAMES, ())


def test_a_first_look_with_class_weights_widens_the_space():
    whole = state_from_events([BEGUN])
    one = ModelRunState("svm", whole)
    first, weighed = one.state.started, combined_setting("svm", {"class_weight": "none"})
    whole.consume(ModelScreened(model="svm", setting=weighed))
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
    assert state_from_events([BEGUN, *events]).default_trial is None
    events += [started(1, "logistic", "default"), finished(1, "logistic", 0.6)]
    assert state_from_events([BEGUN, *events]).default_trial.number == 1


# How the models stand ----------------------------------------------------------------------------


def standing(*events, begun=BEGUN):
    return model_leaderboard(state_from_events([begun, *events]))


def test_models_stand_by_the_surest_that_is_known():
    told = [
        LeaderboardEntry("logistic", 0, None, None, 0.9, 0.0, 0.0, 1.0, "waiting"),
        LeaderboardEntry("svm", 1, 0.5, 0.1, 0.4, 1.0, 0.0, 1.0, "tuned"),
    ]
    first, second = standing(ModelsCompared(models=told))
    assert (first.model, second.model, second.best_known_score) == ("svm", "logistic", 0.9)
    early = (finished(n, "logistic", score, behind=True) for n, score in ((3, 0.6), (4, 0.7)))
    behind = standing(ModelsCompared(models=told), *early)[1]
    assert (behind.early, behind.estimate, behind.best_known_score) == (2, 0.7, 0.7)
    assert (behind.state, state_text(behind)) == ("behind", "clearly behind")


def test_before_trials_they_stand_by_the_first_look():
    looks = ModelScreened(model="svm", score=0.8), ModelScreened(model="logistic")
    rows = standing(*looks)
    assert [(row.model, row.best_known_score) for row in rows] == [("svm", 0.8), ("logistic", None)]
    less = replace(BEGUN, maximize=False)
    rows = standing(looks[0], ModelScreened(model="logistic", score=0.5), begun=less)
    assert [row.model for row in rows] == ["logistic", "svm"]
    failed = standing(ModelScreened(model="svm", failure="No memory."))[-1]
    assert state_text(failed).endswith("failed: No memory.")


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_no_numbers_do_not_count(score):
    run = state_from_events([BEGUN, finished(0, "svm", score)])
    assert run.best_trial is None
    assert ModelRunState("svm", run).state.failed == 1
