"""Tests of how often garbage is looked for while starting."""

from __future__ import annotations

import gc

import pytest

from core import garbage_collection


@pytest.fixture
def threshold():
    before = gc.get_threshold()
    yield before
    gc.unfreeze()
    gc.set_threshold(*before)


def test_starting_looks_seldom_and_afterwards_as_before(threshold):
    garbage_collection.collect_rarely()
    before = sum(one["collections"] for one in gc.get_stats())
    cycles = [[[]] for _ in range(20_000)]
    assert sum(one["collections"] for one in gc.get_stats()) == before
    garbage_collection.restore_collection()
    assert gc.get_threshold() == threshold
    assert gc.get_freeze_count() >= len(cycles)


def test_where_nothing_was_changed_nothing_is_set_back(threshold):
    frozen = gc.get_freeze_count()
    garbage_collection.restore_collection()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (threshold, frozen)
