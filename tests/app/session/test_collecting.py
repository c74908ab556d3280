"""The collector does not look through the events of a long run, and through all else as before."""

from __future__ import annotations

import gc

import pytest

from app.session.collecting import MANY, Spared
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
    spared, events = Spared(), events_of(MANY - 1)
    spared.add(len(events))
    assert looked_through(events) == len(events)
    assert gc.get_freeze_count() == 0


def test_of_a_long_run_only_the_latest_events_are_looked_through():
    spared, events = Spared(), []
    for _ in range(7):
        some = events_of(MANY // 2)
        events += some
        spared.add(len(some))
        assert looked_through(events) < MANY
    assert looked_through(events) == MANY // 2


def test_what_a_run_took_with_it_is_given_back_with_the_next():
    spared = Spared()
    spared.add(MANY)
    ring = []
    ring.append(ring)
    gc.freeze()
    events = events_of(MANY)
    spared.begin_again(len(events))
    assert looked_through(events) == 0
    spared.begin_again(3)
    assert looked_through([ring]) == 1
    assert gc.get_freeze_count() == 0
