"""Which rows train, validate and test: stratified by class, groups of rows kept together.

Sequences stay whole and are divided like rows of their own, whatever labels they hold. Where equal
or related items are units (`Dataset.units`), units stay whole. Where there are times, the latest
items test; folds are random in any case.
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
_UNITS = {"sequence": "sequence", "structure": "molecule", "topics": "text"}
_MOST_MIXED, _MIXED = 500, 0.05  # units that scikit-learn's slow search balances, if so mixed


def hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """Row numbers to train on and to test on, both sorted.

    Args:
        dataset: the rows.
        test_size: the share of rows to test on, above 0 and below 1.
        seed: of the shuffle.

    Raises:
        UnusableError: the share is out of range, or rows, classes or groups are too few.
    """
    if not 0 < test_size < 1:
        raise UnusableError(
            f"a test share of {test_size:g} is out of range",
            where="test size",
            cure="give a number between 0 and 1, such as 0.3",
        )
    if dataset.times is not None:
        return _latest_hold_out(dataset, dataset.times, test_size)
    if (found := _whole_units_hold_out(dataset, test_size, seed)) is not None:
        return found
    if dataset.task == "sequence":
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
    """How many rows, sequences, molecules or texts test."""
    count = round(units * test_size)
    if units < 4 or count < 1 or units - count < 2:
        word = _UNITS.get(dataset.task, "row")
        raise UnusableError(
            f"{_counted(units, word)} cannot be split into training and test {word}s",
            where=dataset.name,
            cure=f"give more {word}s, or another test share",
        )
    return count


def _counted(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"


def _items(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of the item (row, or sequence) of each of some rows, and how many there are."""
    if dataset.task == "sequence":
        return _sequences(dataset, rows)
    return np.arange(len(rows)), len(rows)


def _units(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The unit and the class of every item of some rows; classes are zeros where items have none.

    A unit that is all of a class is divided, or the class could not be learned and scored.
    """
    assert dataset.units is not None
    items, count = _items(dataset, rows)
    first = np.unique(items, return_index=True)[1]
    units = pd.factorize(dataset.units[rows][first])[0]
    if not dataset.classes or dataset.task == "sequence":
        return units, np.zeros(count, dtype=np.int64)
    labels = pd.factorize(dataset.target[rows], sort=True)[0]
    pairs = np.unique(units.astype(np.int64) * (labels.max() + 1) + labels)
    unit, label = np.divmod(pairs, labels.max() + 1)
    whole = unit[np.bincount(label)[label] == 1]
    if len(whole):
        finer = np.arange(count) if dataset.row_groups is None else dataset.row_groups[rows]
        codes = pd.factorize(finer)[0] + units.max() + 1
        units = pd.factorize(np.where(np.isin(units, whole), codes, units))[0]
    return units, labels


def _whole_units_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split | None:
    """Whole units are tested; None where there are none, or a class would miss a side."""
    if dataset.units is None:
        return None
    rows = np.arange(dataset.rows)
    items, found = _items(dataset, rows)
    count = _test_count(dataset, found, test_size)
    if dataset.task != "sequence":
        _refuse_lonely_class(dataset, rows)
    units, labels = _units(dataset, rows)
    if units.max() < 1:
        return None
    tested = test_items(units, labels, max(count, int(labels.max()) + 1), seed)
    sides = (np.bincount(labels[side], minlength=labels.max() + 1) for side in (tested, ~tested))
    if any((side == 0).any() for side in sides):
        return None
    return np.flatnonzero(~tested[items]), np.flatnonzero(tested[items])


def _latest_hold_out(dataset: Dataset, times: np.ndarray, test_size: float) -> Split:
    """The latest items are tested, those of one time on one side; items without a time train.

    What is kept together with a tested item is neither trained on nor tested.

    Raises:
        UnusableError: too few items, or a class that would miss a side.
    """
    rows = np.arange(dataset.rows)
    items, found = _items(dataset, rows)
    count = _test_count(dataset, found, test_size)
    latest = np.full(found, -np.inf)
    np.maximum.at(latest, items, np.where(np.isnan(times), -np.inf, times))
    tested = (latest >= _cut(latest, count))[items]
    train = ~tested
    if dataset.kept_together is not None:
        train &= ~np.isin(dataset.kept_together, dataset.kept_together[tested])
    _refuse_one_sided(dataset, train, tested)
    return np.flatnonzero(train), np.flatnonzero(tested)


def _cut(times: np.ndarray, count: int) -> float:
    """The time from which on items test: about `count` of them, some before and some after."""
    different, counts = np.unique(times, return_counts=True)
    later = np.cumsum(counts[::-1])[::-1]
    later = np.where(np.isfinite(different), later, 0)
    later[0] = 0  # some must come before
    return float(different[np.argmin(np.where(later > 0, np.abs(later - count), np.inf))])


def _refuse_one_sided(dataset: Dataset, train: np.ndarray, tested: np.ndarray) -> None:
    cure = "test on rows drawn at random, or give another share for the test"
    if train.sum() < 2:
        raise UnusableError(
            "nearly all earlier rows belong together with the latest ones",
            where=dataset.name,
            cure=cure,
        )
    if not dataset.classes or dataset.task == "sequence":
        return
    labels = np.unique(dataset.target[train])
    new = np.setdiff1d(dataset.target[tested], labels)
    if len(new):
        raise UnusableError(
            f"class “{new[0]}” is only among the latest rows, so it cannot be learned",
            where=f"{dataset.name}, column {dataset.target_name}",
            cure=cure,
        )
    if len(np.unique(dataset.target[tested])) < 2:
        raise UnusableError(
            "the latest rows are all of one class",
            where=f"{dataset.name}, column {dataset.target_name}",
            cure=cure,
        )


def _whole_sequences_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """A share of the sequences, drawn without regard to their labels."""
    codes, count = _sequences(dataset, np.arange(dataset.rows))
    tested = np.random.default_rng(seed).permutation(count)
    tested = tested[: _test_count(dataset, count, test_size)]
    chosen = np.zeros(count, dtype=bool)
    chosen[tested] = True
    return np.flatnonzero(~chosen[codes]), np.flatnonzero(chosen[codes])


def _sequences(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of the sequence that each of some rows belongs to, and how many there are."""
    assert dataset.row_groups is not None
    codes, names = pd.factorize(dataset.row_groups[rows])
    return codes, len(names)


def _refuse_lonely_class(dataset: Dataset, rows: np.ndarray) -> None:
    """A class with one row cannot be both learned and scored."""
    if not dataset.classes:
        return
    labels, counts = np.unique(dataset.target[rows], return_counts=True)
    if counts.min() < 2:
        lonely = labels[counts.argmin()]
        part = "" if len(rows) == dataset.rows else " to train on"
        raise UnusableError(
            f"class “{lonely}” has only one row{part}, too few to learn it and to test it",
            where=f"{dataset.name}, column {dataset.target_name}",
            cure="give more rows of this class, or leave it out",
        )


def _grouped_hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """Whole groups are tested; of ten tries the one whose class shares are nearest the whole's."""
    groups = dataset.row_groups
    assert groups is not None
    found = len(np.unique(groups))
    if found < 2:
        raise UnusableError(
            "all rows belong to one group, which cannot be split",
            where=dataset.name,
            cure="give another column the role group, or none",
        )
    tries = GroupShuffleSplit(n_splits=10, test_size=test_size, random_state=seed)
    candidates = list(tries.split(np.zeros(len(groups)), groups=groups))
    if not dataset.classes:
        return candidates[0]
    codes = np.searchsorted(np.array(dataset.classes), dataset.target)
    shares = np.bincount(codes, minlength=len(dataset.classes)) / len(codes)

    def unlike(split: Split) -> float:
        worst = 0.0
        for part in split:
            own = np.bincount(codes[part], minlength=len(shares)) / len(part)
            worst = max(worst, float(np.abs(own - shares).max()), float((own == 0).any()))
        return worst

    best = min(candidates, key=unlike)
    if unlike(best) >= 1:
        raise UnusableError(
            "every split by groups leaves a class without rows to train or to test",
            where=dataset.name,
            cure="give another column the role group, or none",
        )
    return best


def folds(dataset: Dataset, rows: np.ndarray, count: int, seed: int) -> list[Split]:
    """Folds of cross-validation: (rows to fit, rows to score) for each, as row numbers.

    Args:
        dataset: the data.
        rows: the row numbers to divide (usually the training rows).
        count: how many folds.
        seed: of the shuffle.

    Raises:
        UnusableError: fewer than two folds, fewer rows or groups than folds, a class with one row.
    """
    if count < 2:
        raise UnusableError(f"{count} folds are too few", where="folds", cure="use two or more")
    if (found := _whole_units_folds(dataset, rows, count, seed)) is not None:
        return found
    if dataset.task == "sequence":
        return _whole_sequences_folds(dataset, rows, count, seed)
    word = _UNITS.get(dataset.task, "row")
    if len(rows) < count:
        raise _too_few_for_folds(dataset, len(rows), word, count)
    _refuse_lonely_class(dataset, rows)
    target = dataset.target[rows]
    groups = None if dataset.row_groups is None else dataset.row_groups[rows]
    if groups is not None and len(np.unique(groups)) < count:
        raise _too_few_groups(dataset, len(np.unique(groups)), count)
    if groups is None and dataset.classes:
        divide = StratifiedKFold(_most_folds(target, count), shuffle=True, random_state=seed)
    elif groups is None:
        divide = KFold(count, shuffle=True, random_state=seed)
    elif dataset.classes:
        divide = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    else:
        divide = GroupKFold(count, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is missing from some folds; findings say so already.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = list(divide.split(np.zeros(len(rows)), target, groups))
    return [(rows[fit], rows[score]) for fit, score in parts]


def _whole_units_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split] | None:
    """Folds of whole units; None where there are none, or fewer than folds.

    Of fewer families of molecules than folds, each is a fold.
    """
    if dataset.units is None or not len(rows):
        return None
    if dataset.task != "sequence":
        _refuse_lonely_class(dataset, rows)
    units, labels = _units(dataset, rows)
    found = int(units.max()) + 1
    if found < count:
        if dataset.task == "sequence" and any(c.role == "group" for c in dataset.columns):
            raise _too_few_groups(dataset, found, count)
        if dataset.task != "structure" or dataset.row_groups is None or found < 2:
            return None
        count = found  # families are kept together unasked, so that few of them are no error
    if labels.any():
        _most_folds(labels, count)
    fold = fold_of_items(units, labels, count, seed)
    mixed = float((majority(units, labels)[units] != labels).mean())
    if mixed > _MIXED and found <= _MOST_MIXED:
        other = _balanced_folds(units, labels, count, seed)
        fold = other if _learnable(other, labels, count) else fold
    if not _learnable(fold, labels, count):
        return None
    of_row = fold[_items(dataset, rows)[0]]
    return [(rows[of_row != one], rows[of_row == one]) for one in range(count)]


def _balanced_folds(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """The fold of every item, where units have several classes (scikit-learn's search)."""
    divide = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    fold = np.zeros(len(units), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for one, (_, scored) in enumerate(divide.split(units, labels, units)):
            fold[scored] = one
    return fold


def _learnable(fold: np.ndarray, labels: np.ndarray, count: int) -> bool:
    """Whether no fold is empty and none has all of a class."""
    table = np.zeros((int(labels.max()) + 1, count), dtype=np.int64)
    np.add.at(table, (labels, fold), 1)
    return bool((table.sum(axis=0) > 0).all() and ((table > 0).sum(axis=1) > 1).all())


def _too_few_groups(dataset: Dataset, found: int, count: int) -> UnusableError:
    return UnusableError(
        f"{found} groups of rows cannot make {count} folds",
        where=dataset.name,
        cure="use fewer folds",
    )


def _too_few_for_folds(dataset: Dataset, units: int, word: str, count: int) -> UnusableError:
    return UnusableError(
        f"{_counted(units, word)} to train on cannot make {count} folds",
        where=dataset.name,
        cure=f"use fewer folds or give more {word}s",
    )


def _whole_sequences_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split]:
    codes, found = _sequences(dataset, rows)
    if found < count:
        raise _too_few_for_folds(dataset, found, "sequence", count)
    fold = np.empty(found, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(found)] = np.arange(found) % count
    return [(rows[fold[codes] != one], rows[fold[codes] == one]) for one in range(count)]


def _most_folds(target: np.ndarray, count: int) -> int:
    """Stratified folds need one class with as many rows; five rows of three classes have none."""
    largest = int(np.unique(target, return_counts=True)[1].max())
    if largest < count:
        raise UnusableError(
            f"no class has {count} rows to train on, so there cannot be {count} folds",
            where="folds",
            cure=f"use {max(2, largest)} folds or give more rows",
        )
    return count
