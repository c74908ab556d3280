"""The collector does not look through the events of a long run, and through all else as before."""

from __future__ import annotations

import gc

import pytest

from app.session.frozen_events import MAX_UNFROZEN_EVENTS, FrozenEvents
from core.tuning.events import Progress


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
