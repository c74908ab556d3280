"""Training, validation and test rows: stratified by class; groups, sequences and units stay whole.

With times, the latest items test; folds are random in any case. Sequences are not stratified.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)

from core.datasets.dataset import Dataset
from core.datasets.splits.unit_splits import fold_of_items, majority, test_items
from core.errors import UnusableError

Split = tuple[np.ndarray, np.ndarray]
_MAX_MIXED_UNITS, _MIXED = 500, 0.05  # units that scikit-learn's slow search balances, if so mixed


def hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """Row numbers to train and to test on, sorted; UnusableError for too few items."""
    if not 0 < test_size < 1:
        fault = f"a test share of {test_size:g} is out of range"
        cure = "give a number between 0 and 1, such as 0.3"
        raise UnusableError(fault, where="test size", cure=cure)
    if dataset.times is not None:
        return _latest_hold_out(dataset, dataset.times, test_size)
    if (split := _whole_units_hold_out(dataset, test_size, seed)) is not None:
        return split
    if dataset.task.has_sequences:
        return _whole_sequences_hold_out(dataset, test_size, seed)
    rows = np.arange(dataset.rows)
    count = _test_count(dataset, dataset.rows, test_size)
    _refuse_lonely_class(dataset, rows)
    if dataset.row_groups is not None:
        train, test = _grouped_hold_out(dataset, test_size, seed)
    else:
        train, test = train_test_split(
            rows,
            test_size=max(count, len(dataset.classes)),
            random_state=seed,
            stratify=dataset.target if dataset.classes else None,
        )
    return np.sort(train), np.sort(test)


def _test_count(dataset: Dataset, units: int, test_size: float) -> int:
    count = round(units * test_size)
    if units < 4 or count < 1 or units - count < 2:
        word = dataset.task.item
        fault = f"{_count_text(units, word)} cannot be split into training and test {word}s"
        cure = f"give more {word}s, or another test share"
        raise UnusableError(fault, where=dataset.name, cure=cure)
    return count


def _count_text(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"


def _item_codes(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, int]:
    if dataset.task.has_sequences:
        return _sequence_codes(dataset, rows)
    return np.arange(len(rows)), len(rows)


def _unit_codes(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit and class (or 0) of some rows' items; a unit that is all of a class is divided."""
    assert dataset.units is not None
    items, count = _item_codes(dataset, rows)
    first = np.unique(items, return_index=True)[1]
    units = pd.factorize(dataset.units[rows][first])[0]
    if not dataset.classes or dataset.task.has_sequences:
        return units, np.zeros(count, dtype=np.int64)
    labels = pd.factorize(dataset.target[rows], sort=True)[0]
    pairs = np.unique(units.astype(np.int64) * (labels.max() + 1) + labels)
    unit, label = np.divmod(pairs, labels.max() + 1)
    sole_units = unit[np.bincount(label)[label] == 1]
    if len(sole_units):
        finer = np.arange(count) if dataset.row_groups is None else dataset.row_groups[rows]
        codes = pd.factorize(finer)[0] + units.max() + 1
        units = pd.factorize(np.where(np.isin(units, sole_units), codes, units))[0]
    return units, labels


def _whole_units_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split | None:
    """None where there are no units, or a class would miss a side."""
    if dataset.units is None:
        return None
    rows = np.arange(dataset.rows)
    items, item_count = _item_codes(dataset, rows)
    count = _test_count(dataset, item_count, test_size)
    if not dataset.task.has_sequences:
        _refuse_lonely_class(dataset, rows)
    units, labels = _unit_codes(dataset, rows)
    if units.max() < 1:
        return None
    width = int(labels.max()) + 1
    is_tested = test_items(units, labels, max(count, width), seed)
    sides = (labels[is_tested], labels[~is_tested])
    if any((np.bincount(side, minlength=width) == 0).any() for side in sides):
        return None
    return np.flatnonzero(~is_tested[items]), np.flatnonzero(is_tested[items])


def _latest_hold_out(dataset: Dataset, times: np.ndarray, test_size: float) -> Split:
    """Test on the latest items, without their groups and units in training; unknown times train."""
    rows = np.arange(dataset.rows)
    items, item_count = _item_codes(dataset, rows)
    count = _test_count(dataset, item_count, test_size)
    latest = np.full(item_count, -np.inf)
    np.maximum.at(latest, items, np.where(np.isnan(times), -np.inf, times))
    is_tested = (latest >= _test_start(latest, count))[items]
    train = ~is_tested
    if dataset.kept_together is not None:
        train &= ~np.isin(dataset.kept_together, dataset.kept_together[is_tested])
    _refuse_one_sided(dataset, train, is_tested)
    return np.flatnonzero(train), np.flatnonzero(is_tested)


def _test_start(times: np.ndarray, count: int) -> float:
    points, counts = np.unique(times, return_counts=True)
    later_counts = np.cumsum(counts[::-1])[::-1]
    later_counts = np.where(np.isfinite(points), later_counts, 0)
    later_counts[0] = 0  # some must come before
    gaps = np.where(later_counts > 0, np.abs(later_counts - count), np.inf)
    return float(points[np.argmin(gaps)])


def _refuse_one_sided(dataset: Dataset, train: np.ndarray, is_tested: np.ndarray) -> None:
    cure = "test on rows drawn at random, or give another share for the test"
    if train.sum() < 2:
        fault = "nearly all earlier rows belong together with the latest ones"
        raise UnusableError(fault, where=dataset.name, cure=cure)
    if not dataset.classes or dataset.task.has_sequences:
        return
    labels = np.unique(dataset.target[train])
    new = np.setdiff1d(dataset.target[is_tested], labels)
    if len(new):
        fault = f"class “{new[0]}” is only among the latest rows, so it cannot be learned"
        raise UnusableError(fault, where=f"{dataset.name}, column {dataset.target_name}", cure=cure)
    if len(np.unique(dataset.target[is_tested])) < 2:
        fault = "the latest rows are all of one class"
        raise UnusableError(fault, where=f"{dataset.name}, column {dataset.target_name}", cure=cure)


def _whole_sequences_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    codes, count = _sequence_codes(dataset, np.arange(dataset.rows))
    tested_sequences = np.random.default_rng(seed).permutation(count)
    tested_sequences = tested_sequences[: _test_count(dataset, count, test_size)]
    is_tested = np.zeros(count, dtype=bool)
    is_tested[tested_sequences] = True
    return np.flatnonzero(~is_tested[codes]), np.flatnonzero(is_tested[codes])


def _sequence_codes(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, int]:
    assert dataset.row_groups is not None
    codes, names = pd.factorize(dataset.row_groups[rows])
    return codes, len(names)


def _refuse_lonely_class(dataset: Dataset, rows: np.ndarray) -> None:
    if not dataset.classes:
        return
    labels, counts = np.unique(dataset.target[rows], return_counts=True)
    if counts.min() < 2:
        lonely = labels[counts.argmin()]
        purpose = "" if len(rows) == dataset.rows else " to train on"
        fault = f"class “{lonely}” has only one row{purpose}, too few to learn it and to test it"
        cure = "give more rows of this class, or leave it out"
        raise UnusableError(fault, where=f"{dataset.name}, column {dataset.target_name}", cure=cure)


def _grouped_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """Of ten draws of whole groups, that with class shares nearest the overall ones."""
    groups = dataset.row_groups
    assert groups is not None
    group_count = len(np.unique(groups))
    if group_count < 2:
        fault = "all rows belong to one group, which cannot be split"
        cure = "give another column the role group, or none"
        raise UnusableError(fault, where=dataset.name, cure=cure)
    tries = GroupShuffleSplit(n_splits=10, test_size=test_size, random_state=seed)
    candidates = list(tries.split(np.zeros(len(groups)), groups=groups))
    if not dataset.classes:
        return candidates[0]
    codes = np.searchsorted(np.array(dataset.classes), dataset.target)
    shares = np.bincount(codes, minlength=len(dataset.classes)) / len(codes)

    def share_deviation(split: Split) -> float:
        worst = 0.0
        for side in split:
            side_shares = np.bincount(codes[side], minlength=len(shares)) / len(side)
            is_empty = float((side_shares == 0).any())
            worst = max(worst, float(np.abs(side_shares - shares).max()), is_empty)
        return worst

    best = min(candidates, key=share_deviation)
    if share_deviation(best) >= 1:
        fault = "every split by groups leaves a class without rows to train or to test"
        cure = "give another column the role group, or none"
        raise UnusableError(fault, where=dataset.name, cure=cure)
    return best


def cross_validation_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split]:
    """Rows to fit and rows to score of each fold; UnusableError where there are too few."""
    if count < 2:
        raise UnusableError(f"{count} folds are too few", where="folds", cure="use two or more")
    if (unit_folds := _whole_units_folds(dataset, rows, count, seed)) is not None:
        return unit_folds
    if dataset.task.has_sequences:
        return _whole_sequences_folds(dataset, rows, count, seed)
    word = dataset.task.item
    if len(rows) < count:
        raise _too_few_for_folds(dataset, len(rows), word, count)
    _refuse_lonely_class(dataset, rows)
    target = dataset.target[rows]
    groups = None if dataset.row_groups is None else dataset.row_groups[rows]
    if groups is not None and len(np.unique(groups)) < count:
        raise _too_few_groups(dataset, len(np.unique(groups)), count)
    if groups is None and dataset.classes:
        divide = StratifiedKFold(_check_fold_count(target, count), shuffle=True, random_state=seed)
    elif groups is None:
        divide = KFold(count, shuffle=True, random_state=seed)
    elif dataset.classes:
        divide = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    else:
        divide = GroupKFold(count, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class with fewer rows than folds; a finding reports it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(divide.split(np.zeros(len(rows)), target, groups))
    return [(rows[fit], rows[score]) for fit, score in splits]


def _whole_units_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split] | None:
    """None for no units or fewer than folds; of fewer families than folds, each is a fold."""
    if dataset.units is None or not len(rows):
        return None
    if not dataset.task.has_sequences:
        _refuse_lonely_class(dataset, rows)
    units, labels = _unit_codes(dataset, rows)
    unit_count = int(units.max()) + 1
    if unit_count < count:
        if dataset.task.has_sequences and any(c.role == "group" for c in dataset.columns):
            raise _too_few_groups(dataset, unit_count, count)
        if not dataset.task.has_pairs or dataset.row_groups is None or unit_count < 2:
            return None
        count = unit_count  # few families are no error, since nobody asked to keep them together
    if labels.any():
        _check_fold_count(labels, count)
    fold = fold_of_items(units, labels, count, seed)
    mixed = float((majority(units, labels)[units] != labels).mean())
    if mixed > _MIXED and unit_count <= _MAX_MIXED_UNITS:
        balanced_fold = _balanced_folds(units, labels, count, seed)
        fold = balanced_fold if _is_learnable(balanced_fold, labels, count) else fold
    if not _is_learnable(fold, labels, count):
        return None
    return _splits_of_folds(rows, fold[_item_codes(dataset, rows)[0]], count)


def _splits_of_folds(rows: np.ndarray, fold: np.ndarray, count: int) -> list[Split]:
    return [(rows[fold != index], rows[fold == index]) for index in range(count)]


def _balanced_folds(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    divide = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    fold = np.zeros(len(units), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold_index, (_, scored_items) in enumerate(divide.split(units, labels, units)):
            fold[scored_items] = fold_index
    return fold


def _is_learnable(fold: np.ndarray, labels: np.ndarray, count: int) -> bool:
    table = np.zeros((int(labels.max()) + 1, count), dtype=np.int64)
    np.add.at(table, (labels, fold), 1)
    return bool((table.sum(axis=0) > 0).all() and ((table > 0).sum(axis=1) > 1).all())


def _too_few_groups(dataset: Dataset, group_count: int, count: int) -> UnusableError:
    fault = f"{group_count} groups of rows cannot make {count} folds"
    return UnusableError(fault, where=dataset.name, cure="use fewer folds")


def _too_few_for_folds(dataset: Dataset, units: int, word: str, count: int) -> UnusableError:
    fault = f"{_count_text(units, word)} to train on cannot make {count} folds"
    return UnusableError(fault, where=dataset.name, cure=f"use fewer folds or give more {word}s")


def _whole_sequences_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split]:
    codes, sequence_count = _sequence_codes(dataset, rows)
    if sequence_count < count:
        raise _too_few_for_folds(dataset, sequence_count, "sequence", count)
    fold = np.empty(sequence_count, dtype=np.int64)
    order = np.random.default_rng(seed).permutation(sequence_count)
    fold[order] = np.arange(sequence_count) % count
    return _splits_of_folds(rows, fold[codes], count)


def _check_fold_count(target: np.ndarray, count: int) -> int:
    largest = int(np.unique(target, return_counts=True)[1].max())
    if largest < count:
        fault = f"no class has {count} rows to train on, so there cannot be {count} folds"
        cure = f"use {max(2, largest)} folds or give more rows"
        raise UnusableError(fault, where="folds", cure=cure)
    return count
