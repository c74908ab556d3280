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


def test_hold_out_keeps_the_shares() -> None:
    data = dataset_of(UNEVEN)
    train, test = hold_out(data, 0.3, 0)
    assert sorted([*train, *test]) == list(range(100))
    assert [int(np.sum(UNEVEN[test] == label)) for label in "abc"] == [18, 9, 3]


def test_the_seed_decides() -> None:
    data = dataset_of(UNEVEN)
    np.testing.assert_array_equal(hold_out(data, 0.3, 5)[1], hold_out(data, 0.3, 5)[1])
    assert hold_out(data, 0.3, 5)[1].tolist() != hold_out(data, 0.3, 6)[1].tolist()
    first, again = (cross_validation_folds(data, np.arange(100), 5, 3) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one[1], other[1])


def test_regression_is_held_out_too() -> None:
    train, test = hold_out(dataset_of(np.linspace(0, 1, 50)), 0.3, 0)
    assert (len(train), len(test)) == (35, 15)


@pytest.mark.parametrize("count", [2, 5, 10])
def test_folds_score_every_row_once(count: int) -> None:
    rows = np.arange(0, 100, 2)
    parts = cross_validation_folds(dataset_of(UNEVEN), rows, count, 0)
    assert len(parts) == count
    assert sorted(np.concatenate([score for _, score in parts])) == rows.tolist()
    for fit, score in parts:
        assert sorted([*fit, *score]) == rows.tolist()


def test_folds_are_stratified() -> None:
    for _, score in cross_validation_folds(dataset_of(UNEVEN), np.arange(100), 5, 1):
        assert [int(np.sum(UNEVEN[score] == label)) for label in "abc"] == [12, 6, 2]


@pytest.mark.parametrize("target", [UNEVEN, np.linspace(0, 1, 100)])
def test_groups_of_rows_stay_together(target: np.ndarray) -> None:
    groups = np.random.default_rng(0).integers(0, 25, 100)
    data = dataset_of(target, groups)
    train, test = hold_out(data, 0.3, 0)
    assert sorted([*train, *test]) == list(range(100))
    assert not set(groups[train]) & set(groups[test])
    for fit, score in cross_validation_folds(data, train, 4, 0):
        assert not set(groups[fit]) & set(groups[score])
        assert sorted([*fit, *score]) == train.tolist()


def test_a_class_with_fewer_rows_than_folds_is_split_without_a_warning() -> None:
    target = np.repeat(["a", "b"], [40, 3])
    parts = cross_validation_folds(dataset_of(target), np.arange(43), 5, 0)
    assert all("b" in target[fit] for fit, _ in parts)


def refused(data: Dataset, words: str, count: int = 0) -> None:
    def split() -> object:
        return (
            cross_validation_folds(data, np.arange(data.rows), count, 0)
            if count
            else hold_out(data, 0.3, 0)
        )

    with pytest.raises(UnusableError, match=words) as caught:
        split()
    assert caught.value.where
    assert caught.value.cure


def test_what_cannot_be_split() -> None:
    lonely = dataset_of(["a"] * 20 + ["b"])
    refused(lonely, "class “b” has only one row")
    refused(lonely, "class “b” has only one row", 5)
    refused(dataset_of([0.1, 0.2, 0.3]), "3 rows cannot be split")
    refused(dataset_of([0.1, 0.2, 0.3, 0.4]), "4 rows to train on cannot make 5 folds", 5)
    refused(dataset_of(["a", "b", "a", "b", "c", "c"]), "no class has 5 rows", 5)
    refused(dataset_of([0.1, 0.2]), "1 folds are too few", 1)
    one_group = dataset_of(UNEVEN, np.zeros(100))
    refused(one_group, "all rows belong to one group")
    refused(one_group, "1 groups of rows cannot make", 5)
    by_class = dataset_of(np.repeat(["a", "b"], 30), np.repeat([0, 1], 30))
    refused(by_class, "leaves a class without rows")
    for share in (0.0, 1.0, -1, 1.5):
        with pytest.raises(UnusableError, match="out of range"):
            hold_out(dataset_of(UNEVEN), share, 0)


def test_a_class_of_two_rows_is_on_both_sides() -> None:
    target = np.repeat(["a", "b"], [48, 2])
    train, test = hold_out(dataset_of(target), 0.3, 0)
    assert "b" in target[train]
    assert "b" in target[test]


def test_rows_of_a_matrix_are_split_alike() -> None:
    data = dataset_of(UNEVEN)
    other = replace(data, table=None, matrix=None)
    np.testing.assert_array_equal(hold_out(data, 0.3, 0)[0], hold_out(other, 0.3, 0)[0])
