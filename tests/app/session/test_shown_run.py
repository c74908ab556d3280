"""The run that is shown: its events, its state after any of them, and what the collector spares."""

from __future__ import annotations

import gc
import math

import pytest

from app.session import shown_run as module
from app.session.shown_run import MAX_UNFROZEN_EVENTS, FrozenEvents, ShownRun
from core.tuning.events import (
    Progress,
    RunFinished,
    RunResumed,
    RunStarted,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.run_results import Results
from core.tuning.runs.state import state_from_events


@pytest.fixture
def small(monkeypatch):
    """Few surrogates and moments, so that a short run has all that a long one has."""
    monkeypatch.setattr(module, "SURROGATES_KEPT", 6)
    monkeypatch.setattr(module, "KEPT_EVERY", 10)


def long_run(trials):
    yield RunStarted(plan={"strategy": "gp"}, total=trials)
    for number in range(trials):
        yield SurrogateFitted(trials=number)
        yield TrialStarted(number=number, reason="improve" if number else "default")
        if number % 7 == 3:
            yield TrialFailed(number=number, reason="It failed.")
        else:
            yield TrialFinished(number=number, score=math.sin(number), fits=5, took=0.5)
        if number % 11 == 5:
            yield TrialExcluded(number=number - 2)
        if number == trials // 2:
            yield RunResumed(done=number + 1, total=trials)
            yield TrialFinished(number=1, score=2.0, fits=5)  # told again
    yield RunFinished(results=Results(trials=trials))


def facts(state):
    return (
        state.numbers.tolist(),
        [trial.failure or trial.score for trial in state.trials],
        state.best_trial,
        state.default_trial,
        state.without_improvement,
        state.excluded,
        state.is_excluded.tolist(),
        state.fit_count,
        state.results,
    )


def test_every_moment_is_what_its_events_add_up_to(small):
    run = ShownRun(long_run(60), None)
    assert len(run.events) < len(list(long_run(60)))  # surrogates were forgotten
    for count in [*range(0, len(run.events), 7), *run.stops, len(run.events)]:
        assert facts(run.state_after(count)) == facts(state_from_events(run.events[:count]))
    assert facts(run.state) == facts(state_from_events(long_run(60)))


def test_stops_are_the_ends_of_trials_also_after_surrogates_were_forgotten(small):
    run = ShownRun(long_run(60), None)
    ends = [at for at, event in enumerate(run.events, start=1)
            if isinstance(event, (TrialFinished, TrialFailed))]  # fmt: skip
    assert run.stops == ends
    kept = [event.trials for event in run.events if isinstance(event, SurrogateFitted)]
    assert len(kept) <= 7
    assert (kept[0], kept[-1]) == (0, 59)


def test_a_moment_comes_from_the_last_one_that_was_kept(small, monkeypatch):
    run, fed = ShownRun(long_run(60), None), []
    consume = type(run.state).consume
    monkeypatch.setattr(
        type(run.state), "consume", lambda self, event: (fed.append(event), consume(self, event))
    )
    for count in range(len(run.events)):
        fed.clear()
        run.state_after(count)
        assert len(fed) <= 2 * module.KEPT_EVERY  # a little more where surrogates went


def test_how_a_run_rests_and_how_far_it_may_go_on():
    assert ShownRun([], None).phase == "idle"
    events = list(long_run(8))
    assert ShownRun(events[:9], None).phase == "interrupted"
    run = ShownRun(events, None)
    assert (run.phase, run.budget_for(20)) == ("finished", 20)


@pytest.fixture(autouse=True)
def as_before():
    yield
    gc.unfreeze()


def looked_through(events):
    ids = set(map(id, events))
    return sum(id(one) in ids for one in gc.get_objects())


def events_of(count):
    return [Progress(done=number) for number in range(count)]


def test_a_short_run_is_looked_through():
    gc.unfreeze()
    spared, events = FrozenEvents(), events_of(MAX_UNFROZEN_EVENTS - 1)
    spared.add_events(len(events))
    assert looked_through(events) == len(events)
    assert gc.get_freeze_count() == 0


def test_of_a_long_run_only_the_latest_events_are_looked_through():
    spared, events = FrozenEvents(), []
    for _ in range(7):
        some = events_of(MAX_UNFROZEN_EVENTS // 2)
        events += some
        spared.add_events(len(some))
        assert looked_through(events) < MAX_UNFROZEN_EVENTS
    assert looked_through(events) == MAX_UNFROZEN_EVENTS // 2


def test_what_a_run_took_with_it_is_given_back_with_the_next():
    spared = FrozenEvents()
    spared.add_events(MAX_UNFROZEN_EVENTS)
    ring = []
    ring.append(ring)
    gc.freeze()
    events = events_of(MAX_UNFROZEN_EVENTS)
    spared.begin_again(len(events))
    assert looked_through(events) == 0
    spared.begin_again(3)
    assert looked_through([ring]) == 1
    assert gc.get_freeze_count() == 0
