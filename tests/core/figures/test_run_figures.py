"""The figures of a run's trials: the rows of those that ran at the same time."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.run_figures import SOONEST, _lanes_of


def lanes_by_search(spans):
    """The first lane that is free for each span, by looking at all of them."""
    ends = []
    for start, end in spans:
        free = [lane for lane, busy_until in enumerate(ends) if busy_until <= start + SOONEST]
        lane = free[0] if free else len(ends)
        ends[lane : lane + 1] = [end]
        yield lane


@pytest.mark.parametrize("mean_seconds", [0.01, 1.0, 30.0])
def test_each_trial_is_drawn_in_the_first_row_that_is_free(mean_seconds):
    random = np.random.default_rng(0)
    starts = np.sort(np.round(random.uniform(0.0, 100.0, 300), 2))
    spans = [(start, start + random.exponential(mean_seconds)) for start in starts]
    assert _lanes_of(spans) == list(lanes_by_search(spans))


class Second(float):
    """Counts how often it is compared."""

    compared = 0

    def __lt__(self, other):
        Second.compared += 1
        return float(self) < float(other)

    def __le__(self, other):
        Second.compared += 1
        return float(self) <= float(other)

    __hash__ = float.__hash__

    def __eq__(self, other):
        Second.compared += 1
        return float(self) == float(other)


def test_rows_of_many_trials_at_a_time_are_not_searched_one_by_one():
    count = 2000
    spans = [(start / count, Second(10.0 + start)) for start in range(count)]
    assert _lanes_of(spans) == list(range(count))
    assert Second.compared < 20 * count
