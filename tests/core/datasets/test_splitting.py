"""Splits: complete, disjoint, with the classes' shares, groups of rows together, and repeatable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets.dataset import Dataset, DataSource
from core.datasets.dataset_summary import Column
from core.datasets.splitting import cross_validation_folds, hold_out
from core.errors import UnusableError


def dataset_of(target: list | np.ndarray, groups: np.ndarray | None = None) -> Dataset:
    target = np.asarray(target)
    classes = () if target.dtype.kind == "f" else tuple(np.unique(target).tolist())
    task = "regression" if not classes else "binary" if len(classes) == 2 else "multiclass"
    return Dataset(
        name="made.csv",
        source=DataSource("", "sample"),
        columns=(Column("x", "feature", "number"), Column("y", "target", "number")),
        table=pd.DataFrame({"x": np.arange(len(target), dtype=float)}),
        matrix=None,
        target=target,
        task=task,
        classes=classes,
        row_groups=groups,
    )


UNEVEN = np.repeat(["a", "b", "c"], [60, 30, 10])


def shares_of(rows: np.ndarray) -> list[int]:
    return [int(np.sum(UNEVEN[rows] == label)) for label in "abc"]


def test_hold_out_and_folds_keep_the_shares():
    data = dataset_of(UNEVEN)
    train, test = hold_out(data, 0.3, 0)
    assert sorted([*train, *test]) == list(range(100))
    assert shares_of(test) == [18, 9, 3]
    for _, score in cross_validation_folds(data, np.arange(100), 5, 1):
        assert shares_of(score) == [12, 6, 2]
    train, test = hold_out(dataset_of(np.linspace(0, 1, 50)), 0.3, 0)  # numbers have no shares
    assert (len(train), len(test)) == (35, 15)


def test_the_seed_decides():
    data = dataset_of(UNEVEN)
    np.testing.assert_array_equal(hold_out(data, 0.3, 5)[1], hold_out(data, 0.3, 5)[1])
    assert hold_out(data, 0.3, 5)[1].tolist() != hold_out(data, 0.3, 6)[1].tolist()
    first, again = (cross_validation_folds(data, np.arange(100), 5, 3) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("count", [2, 5, 10])
def test_folds_score_every_row_once(count):
    rows = np.arange(0, 100, 2)
    parts = cross_validation_folds(dataset_of(UNEVEN), rows, count, 0)
    assert len(parts) == count
    assert sorted(np.concatenate([score for _, score in parts])) == rows.tolist()
    for fit, score in parts:
        assert sorted([*fit, *score]) == rows.tolist()


@pytest.mark.parametrize("target", [UNEVEN, np.linspace(0, 1, 100)])
def test_groups_of_rows_stay_together(target):
    groups = np.random.default_rng(0).integers(0, 25, 100)
    data = dataset_of(target, groups)
    train, test = hold_out(data, 0.3, 0)
    assert sorted([*train, *test]) == list(range(100))
    assert not set(groups[train]) & set(groups[test])
    for fit, score in cross_validation_folds(data, train, 4, 0):
        assert not set(groups[fit]) & set(groups[score])
        assert sorted([*fit, *score]) == train.tolist()


def test_a_rare_class_is_on_both_sides_and_in_folds_without_a_warning():
    target = np.repeat(["a", "b"], [48, 2])
    train, test = hold_out(dataset_of(target), 0.3, 0)
    assert "b" in target[train]
    assert "b" in target[test]
    parts = cross_validation_folds(dataset_of(target[5:]), np.arange(45), 5, 0)
    assert all("b" in target[5:][fit] for fit, _ in parts)


LONELY, ONE_GROUP = dataset_of(["a"] * 20 + ["b"]), dataset_of(UNEVEN, np.zeros(100))
BY_CLASS = dataset_of(np.repeat(["a", "b"], 30), np.repeat([0, 1], 30))


@pytest.mark.parametrize(
    ("data", "count", "words"),
    [
        (LONELY, 0, "class “b” has only one row"),
        (LONELY, 5, "class “b” has only one row"),
        (dataset_of([0.1, 0.2, 0.3]), 0, "3 rows cannot be split"),
        (dataset_of([0.1, 0.2, 0.3, 0.4]), 5, "4 rows to train on cannot make 5 folds"),
        (dataset_of([*"ababcc"]), 5, "no class has 5 rows"),
        (dataset_of([0.1, 0.2]), 1, "1 folds are too few"),
        (ONE_GROUP, 0, "all rows belong to one group"),
        (ONE_GROUP, 5, "1 groups of rows cannot make"),
        (BY_CLASS, 0, "leaves a class without rows"),
    ],
)
def test_what_cannot_be_split(data, count, words):
    split = cross_validation_folds if count else hold_out
    arguments = (np.arange(data.rows), count, 0) if count else (0.3, 0)
    with pytest.raises(UnusableError, match=words) as caught:
        split(data, *arguments)
    assert caught.value.where
    assert caught.value.cure


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 1.5])
def test_shares_out_of_range(share):
    with pytest.raises(UnusableError, match="out of range"):
        hold_out(dataset_of(UNEVEN), share, 0)


def test_rows_of_a_matrix_are_split_alike():
    data = dataset_of(UNEVEN)
    other = replace(data, table=None, matrix=None)
    np.testing.assert_array_equal(hold_out(data, 0.3, 0)[0], hold_out(other, 0.3, 0)[0])
