"""Coordinates of settings, and which settings of the earlier trials are usable."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.gp.transfer.earlier_trials import (
    Coordinates,
    DatasetTrials,
    earlier_trials,
    standardized_statistics,
    usable_points,
)
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis, unit_vector

SHARES = (
    Axis("w1", "", "float", 0.0, 1.0),
    Axis("w2", "", "float", 0.0, 1.0),
    Axis("w3", "", "float", 0.0, 2.0),
)
CHOICE = Axis("kind", "", "choice", choices=("a", "b", "c"))


def test_two_choices_are_at_distance_one():
    found = Coordinates((CHOICE,)).transform(np.eye(3))
    assert np.linalg.norm(found[0] - found[2]) == pytest.approx(1.0)


def test_a_simplex_is_seen_as_shares_of_its_values():
    coordinates = Coordinates((*SHARES, CHOICE), ("w1", "w2", "w3", "kind", "unknown"))
    setting = {"w1": 0.2, "w2": 0.3, "w3": 1.5, "kind": "b"}
    seen = coordinates.transform(unit_vector((*SHARES, CHOICE), setting)[None, :])[0]
    assert seen[:3] == pytest.approx([0.1, 0.15, 0.75])
    half = {**setting, "w1": 0.1, "w2": 0.15, "w3": 0.75}
    again = coordinates.transform(unit_vector((*SHARES, CHOICE), half)[None, :])[0]
    assert again == pytest.approx(seen)


def test_all_zero_are_equal_shares():
    coordinates = Coordinates(SHARES, ("w1", "w2", "w3"))
    assert coordinates.transform(np.zeros((1, 3)))[0] == pytest.approx([1 / 3] * 3)
    assert not coordinates.pulled_back(np.zeros((1, 3)), np.ones((1, 3))).any()


@pytest.mark.parametrize(
    ("value", "seen"),
    [(0.5, 0.5), (7.0, 1.0), (-1, 0.0), (math.nan, None), ("0.5", None), (True, None)],
)
def test_numbers_are_moved_into_their_range_or_refused(value, seen):
    points = usable_points((SHARES[0],), [{"w1": value}])[1]
    assert points.tolist() == ([] if seen is None else [[seen]])


def test_choices_must_be_known_and_nothing_missing():
    settings = [{"kind": "c", "more": 1}, {"kind": "d"}, {}, {"kind": "a"}]
    rows, points = usable_points((CHOICE,), settings)
    assert rows.tolist() == [0, 3]
    assert points.tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    "axis",
    [
        Axis("x", "", "float", 1e-3, 10.0, log=True),
        Axis("x", "", "int", 1, 30, log=True),
        Axis("x", "", "int", -3, 4),
        Axis("x", "", "float", 2.0, 2.0),
    ],
)
def test_columns_of_numbers_are_the_unit_vectors_of_settings(axis):
    settings = [{"x": value} for value in (axis.low, axis.high, 2.5, 7, -9, 99.0)]
    expected = [
        unit_vector((axis,), {"x": min(axis.high, max(axis.low, setting["x"]))})
        for setting in settings
    ]
    assert usable_points((axis,), settings)[1] == pytest.approx(np.array(expected))


def test_nearest_datasets_come_first_and_those_without_trials_do_not(monkeypatch):
    told = [
        DatasetTrials((3.0, 0, 0), [{"w1": 0.3}], [1.0]),
        DatasetTrials((0.5, 0, 0), [{"w1": 0.1}, {}, {"w1": 0.2}], [1.0, 2.0, math.inf]),
        DatasetTrials((0.1, 0, 0), [{}], [1.0]),
        DatasetTrials((1.0, 0, 0), [{"w1": 0.7}, {"w1": 0.8}], [1.0, 2.0]),
    ]

    found = earlier_trials(told, (0.0, 0, 0), SHARES[:1])
    assert found.datasets == (1, 3, 0)
    assert found.used_trials == ((0,), (0, 1), (0,))
    assert found.points[:, 0].tolist() == [0.1, 0.7, 0.8, 0.3]
    assert found.d.tolist() == [1, 2, 2, 3]
    assert found.nearest(1).points.tolist() == [[0.1]]
    assert earlier_trials(told, (0.0, 0, 0), SHARES[:1], max_datasets=2).datasets == (1, 3)
    assert earlier_trials([], (0.0, 0, 0), SHARES[:1]).points.shape == (0, 1)
    # The nearest datasets that have so many trials; all that were named of a recorded surface.
    monkeypatch.setattr("core.gp.transfer.earlier_trials.MAX_TRIALS", 2)
    assert earlier_trials(told, (0.0, 0, 0), SHARES[:1]).datasets == (1, 3)
    assert earlier_trials(told, (0.0, 0, 0), SHARES[:1], order=[1, 3, 0]).datasets == (1, 3, 0)


def test_likeness_is_the_memorys_own():
    statistics = np.random.default_rng(0).standard_normal((6, 3))
    statistics[:, 2] = 2.0
    earlier = tuple(
        EarlierDataset(str(k), tuple(row), (), ()) for k, row in enumerate(statistics[:5])
    )
    history = TuningHistory(earlier, tuple(statistics[5]))
    far = np.linalg.norm(standardized_statistics(statistics)[:5], axis=1)
    assert far == pytest.approx(history.distances())
