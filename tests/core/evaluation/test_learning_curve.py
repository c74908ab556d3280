"""Parts of the training rows: nested, with all classes, groups whole."""

from __future__ import annotations

import itertools

import numpy as np

from core.evaluation.learning_curve import SHARES, mean_with_interval, nested_parts


def test_every_part_holds_the_smaller_ones_and_the_last_is_all():
    parts = nested_parts(None, None, 100, SHARES, 0)
    assert [len(part) for part in parts] == [10, 25, 50, 75, 100]
    for small, large in itertools.pairwise(parts):
        assert set(small) < set(large)


def test_a_rare_class_is_in_every_part():
    labels = np.zeros(500, dtype=int)
    labels[:10] = 1
    for part in nested_parts(labels, None, 500, SHARES, 1):
        assert (labels[part] == 1).sum() >= 2
    shares = [np.mean(labels[part]) for part in nested_parts(labels, None, 500, SHARES, 1)]
    assert max(shares) < 0.05


def test_groups_come_in_one_piece():
    groups = np.repeat(np.arange(50), 4)
    half = nested_parts(None, groups, 200, (0.5, 1.0), 2)[0]
    assert len(np.unique(groups[half])) == 25


def test_an_interval_holds_the_chance_of_the_parts():
    drawn = np.array([[0.5] * 1000, [0.7] * 1000])  # test rows that tell no chance at all
    low, high = mean_with_interval(drawn, 0)
    assert (low, high) == (0.5, 0.7)
