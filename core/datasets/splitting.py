"""Training, validation and test rows: stratified by class; groups, sequences and units stay whole.

With times, the latest items test; folds are random in any case. Sequences are not stratified.
Items may come in U units (copies, relatives), which are split whole and count for their most
frequent class:

    units   codes 0 … U − 1, one per item
    labels  codes of classes, one per item; zeros where there are none
"""

from __future__ import annotations

import heapq
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
from core.datasets.split_units import item_codes
from core.errors import UnusableError
from core.wording import count_text

_TRIES = 10  # shuffles, of which that with the nearest shares is used
_NEAR = 0.005  # distance of shares that needs no further try


def test_items(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """A mask of about `count` items: whole units; classes of two or more on both sides."""
    sizes = np.bincount(units)
    strata = majority(units, labels)
    quotas = _class_quotas(np.bincount(strata, weights=sizes), np.bincount(strata), count)
    members = [np.flatnonzero(strata == stratum) for stratum in range(len(quotas))]
    shares = np.bincount(labels) / len(labels)
    # Whole units rarely fit the shares of all classes at once, so the nearest of some draws is
    # taken.
    generator = np.random.default_rng(seed)
    best, min_distance = np.zeros(len(sizes), dtype=bool), np.inf
    for _ in range(_TRIES):
        is_tested = np.zeros(len(sizes), dtype=bool)
        for stratum_units, quota in zip(members, quotas, strict=True):
            shuffled = generator.permutation(stratum_units)
            is_tested[shuffled[_fill_quota(sizes[shuffled], int(quota))]] = True
        distance = _share_distance(is_tested[units], labels, shares, count)
        if distance < min_distance:
            best, min_distance = is_tested, distance
        if min_distance < _NEAR:
            break
    return best[units]


def fold_of_items(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """The fold (0 … k − 1) of every item: whole units, folds balanced in size and classes.

    Class by class, the largest units first, to the fold with least of it, fewest items, by `seed`.
    """
    sizes = np.bincount(units)
    strata = majority(units, labels)
    generator = np.random.default_rng(seed)
    fold, load = np.zeros(len(sizes), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for stratum in range(int(strata.max()) + 1):
        stratum_units = generator.permutation(np.flatnonzero(strata == stratum))
        stratum_units = stratum_units[np.argsort(-sizes[stratum_units], kind="stable")]
        order = generator.permutation(count).tolist()
        heap = [(0, int(load[f]), tie, f) for tie, f in enumerate(order)]
        heapq.heapify(heap)
        for unit, size in zip(stratum_units.tolist(), sizes[stratum_units].tolist(), strict=True):
            of_class, fold_size, tie, f = heap[0]
            fold[unit] = f
            heapq.heapreplace(heap, (of_class + size, fold_size + size, tie, f))
        for _, fold_size, _, f in heap:
            load[f] = fold_size
    return fold[units]


def majority(units: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The most frequent class of every unit, shape (U,); of ties the first."""
    width = int(labels.max()) + 1
    pairs, counts = np.unique(units.astype(np.int64) * width + labels, return_counts=True)
    unit, label = np.divmod(pairs, width)
    order = np.lexsort((-counts, unit))
    first = order[np.flatnonzero(np.diff(unit[order], prepend=-1))]
    return label[first]


def _class_quotas(weights: np.ndarray, units: np.ndarray, count: int) -> np.ndarray:
    exact = count * weights / weights.sum()
    quotas = np.floor(exact).astype(np.int64)
    largest_remainders = np.argsort(-(exact - quotas), kind="stable")[: count - int(quotas.sum())]
    quotas[largest_remainders] += 1
    return np.maximum(quotas, (units > 1).astype(np.int64))


def _fill_quota(sizes: np.ndarray, quota: int) -> np.ndarray:
    """Positions of units, in order, with about `quota` items; of two or more, one stays."""
    is_chosen = np.cumsum(sizes) <= quota
    remaining_items = quota - int(sizes[is_chosen].sum())
    for position in np.flatnonzero(~is_chosen & (sizes <= remaining_items)).tolist():
        if sizes[position] <= remaining_items:
            is_chosen[position] = True
            remaining_items -= int(sizes[position])
        if not remaining_items:
            break
    if remaining_items and not is_chosen.all():
        smallest = int(np.argmin(np.where(is_chosen, np.iinfo(np.int64).max, sizes)))
        nearer = abs(remaining_items - int(sizes[smallest])) < remaining_items
        is_chosen[smallest] = nearer or (len(sizes) > 1 and not is_chosen.any())
    if len(sizes) > 1 and is_chosen.all():
        is_chosen[int(np.argmin(sizes))] = False
    return np.flatnonzero(is_chosen)


def _share_distance(
    is_tested: np.ndarray, labels: np.ndarray, shares: np.ndarray, count: int
) -> float:
    inside = int(is_tested.sum())
    if not 0 < inside < len(labels):
        return 4.0
    distance = abs(inside - count) / len(labels)
    of_test = np.bincount(labels[is_tested], minlength=len(shares))
    of_train = np.bincount(labels, minlength=len(shares)) - of_test
    for counts in (of_test, of_train):
        distance = max(distance, float(np.abs(counts / counts.sum() - shares).max()))
        distance += float(bool(((counts == 0) & (shares > 0)).any()))
    return distance


Split = tuple[np.ndarray, np.ndarray]
_MAX_MIXED_UNITS, _MIXED = 500, 0.05  # units that scikit-learn's slow search balances, if so mixed
_OTHER_GROUPS = "give another column the role group, or none"


def hold_out(dataset: Dataset, test_size: float, seed: int) -> Split:
    """Row numbers to train and to test on, sorted; UnusableError for too few items."""
    if not 0 < test_size < 1:
        fault = f"a test share of {test_size:g} is out of range"
        cure = "give a number between 0 and 1, such as 0.3"
        raise UnusableError(fault, where="test size", cure=cure)
    rows, items = np.arange(dataset.rows), item_codes(dataset)
    item_count = int(items.max(initial=-1)) + 1
    count, word = round(item_count * test_size), dataset.task.item
    if item_count < 4 or count < 1 or item_count - count < 2:
        fault = f"{count_text(item_count, word)} cannot be split into training and test {word}s"
        raise _unusable(dataset, fault, f"give more {word}s, or another test share")
    # The latest rows test whatever the seed: what comes later is to be predicted.
    if dataset.times is not None:
        return _latest_hold_out(dataset, dataset.times, items, count)
    _refuse_lonely_class(dataset, rows)
    is_tested = _tested_items(dataset, rows, count, seed)
    # Sequences stay whole even where no unit joins several of them.
    if is_tested is None and dataset.task.has_sequences:
        is_tested = np.random.default_rng(seed).permutation(item_count).argsort() < count
    if is_tested is not None:
        return np.flatnonzero(~is_tested[items]), np.flatnonzero(is_tested[items])
    if dataset.row_groups is not None:
        return _grouped_hold_out(dataset, dataset.row_groups, test_size, seed)
    train, test = train_test_split(
        rows,
        # scikit-learn refuses fewer test rows than classes.
        test_size=max(count, len(dataset.classes)),
        random_state=seed,
        stratify=dataset.target if dataset.classes else None,
    )
    return np.sort(train), np.sort(test)


def cross_validation_folds(
    dataset: Dataset, rows: np.ndarray, count: int, seed: int
) -> list[Split]:
    """Rows to fit and rows to score of each fold; UnusableError where there are too few."""
    if count < 2:
        raise UnusableError(f"{count} folds are too few", where="folds", cure="use two or more")
    items, fold = item_codes(dataset, rows), _unit_folds(dataset, rows, count, seed)
    if fold is None and not dataset.task.has_sequences:
        return _row_folds(dataset, rows, count, seed)
    if fold is None:
        item_count = int(items.max(initial=-1)) + 1
        _refuse_too_few(dataset, item_count, count)
        fold = np.empty(item_count, dtype=np.int64)
        fold[np.random.default_rng(seed).permutation(item_count)] = np.arange(item_count) % count
    fold_of_row = fold[items]
    numbers = range(int(fold.max()) + 1)
    return [(rows[fold_of_row != number], rows[fold_of_row == number]) for number in numbers]


def _unusable(dataset: Dataset, fault: str, cure: str, *, target: bool = False) -> UnusableError:
    where = f"{dataset.name}, column {dataset.target_name}" if target else dataset.name
    return UnusableError(fault, where=where, cure=cure)


def _unit_codes(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit and class (or 0) of some rows' items; a unit that is all of a class is divided."""
    assert dataset.units is not None
    first = np.unique(item_codes(dataset, rows), return_index=True)[1]
    units = pd.factorize(dataset.units[rows][first])[0]
    if not dataset.classes or dataset.task.has_sequences:
        return units, np.zeros(len(first), dtype=np.int64)
    labels = pd.factorize(dataset.target[rows], sort=True)[0]
    pairs = np.unique(units.astype(np.int64) * (labels.max() + 1) + labels)
    unit, label = np.divmod(pairs, labels.max() + 1)
    sole_units = unit[np.bincount(label)[label] == 1]
    if len(sole_units):
        finer = np.arange(len(first)) if dataset.row_groups is None else dataset.row_groups[rows]
        codes = pd.factorize(finer)[0] + units.max() + 1
        units = pd.factorize(np.where(np.isin(units, sole_units), codes, units))[0]
    return units, labels


def _tested_items(dataset: Dataset, rows: np.ndarray, count: int, seed: int) -> np.ndarray | None:
    """A mask of items in whole units; None without units, or where a class would miss a side."""
    if dataset.units is None:
        return None
    units, labels = _unit_codes(dataset, rows)
    if units.max() < 1:
        return None
    is_tested = test_items(units, labels, max(count, int(labels.max()) + 1), seed)
    has_all = _counts_by_side(labels, is_tested.astype(np.int64), 2).all()
    return is_tested if has_all else None


def _counts_by_side(labels: np.ndarray, sides: np.ndarray, count: int) -> np.ndarray:
    """The number of items of every class in each of `count` parts, shape (classes, count)."""
    width = int(labels.max()) + 1
    return np.bincount(labels * count + sides, minlength=width * count).reshape(width, count)


def _latest_hold_out(dataset: Dataset, times: np.ndarray, items: np.ndarray, count: int) -> Split:
    """Test on the latest items, without their groups and units in training; unknown times train."""
    latest = np.full(int(items.max()) + 1, -np.inf)
    np.maximum.at(latest, items, np.where(np.isnan(times), -np.inf, times))
    points, counts = np.unique(latest, return_counts=True)
    gaps = np.abs(np.cumsum(counts[::-1])[::-1] - float(count))
    gaps[~np.isfinite(points)], gaps[0] = np.inf, np.inf  # some must come before
    is_tested = (latest >= points[np.argmin(gaps)])[items]
    train = ~is_tested
    if dataset.kept_together is not None:
        train &= ~np.isin(dataset.kept_together, dataset.kept_together[is_tested])
    _refuse_one_sided(dataset, train, is_tested)
    return np.flatnonzero(train), np.flatnonzero(is_tested)


def _refuse_one_sided(dataset: Dataset, train: np.ndarray, is_tested: np.ndarray) -> None:
    cure = "test on rows drawn at random, or give another share for the test"
    if train.sum() < 2:
        fault = "nearly all earlier rows belong together with the latest ones"
        raise _unusable(dataset, fault, cure)
    if not dataset.classes or dataset.task.has_sequences:
        return
    tested = np.unique(dataset.target[is_tested])
    new = np.setdiff1d(tested, dataset.target[train])
    if len(new):
        fault = f"class “{new[0]}” is only among the latest rows, so it cannot be learned"
        raise _unusable(dataset, fault, cure, target=True)
    if len(tested) < 2:
        raise _unusable(dataset, "the latest rows are all of one class", cure, target=True)


def _refuse_lonely_class(dataset: Dataset, rows: np.ndarray) -> None:
    if not dataset.classes or dataset.task.has_sequences:
        return
    labels, counts = np.unique(dataset.target[rows], return_counts=True)
    if counts.min() < 2:
        lonely = labels[counts.argmin()]
        purpose = "" if len(rows) == dataset.rows else " to train on"
        fault = f"class “{lonely}” has only one row{purpose}, too few to learn it and to test it"
        cure = "give more rows of this class, or leave it out"
        raise _unusable(dataset, fault, cure, target=True)


def _grouped_hold_out(dataset: Dataset, groups: np.ndarray, test_size: float, seed: int) -> Split:
    """Of ten draws of whole groups, that with class shares nearest the overall ones."""
    if len(np.unique(groups)) < 2:
        fault = "all rows belong to one group, which cannot be split"
        raise _unusable(dataset, fault, _OTHER_GROUPS)
    tries = GroupShuffleSplit(n_splits=10, test_size=test_size, random_state=seed)
    candidates = list(tries.split(np.zeros(len(groups)), groups=groups))
    if not dataset.classes:
        return candidates[0]
    codes = np.searchsorted(np.array(dataset.classes), dataset.target)
    shares = np.bincount(codes, minlength=len(dataset.classes)) / len(codes)

    def share_deviation(split: Split) -> float:
        sides = [np.bincount(codes[side], minlength=len(shares)) / len(side) for side in split]
        is_empty = any((side == 0).any() for side in sides)
        return max(float(is_empty), *(float(np.abs(side - shares).max()) for side in sides))

    best = min(candidates, key=share_deviation)
    if share_deviation(best) >= 1:
        fault = "every split by groups leaves a class without rows to train or to test"
        raise _unusable(dataset, fault, _OTHER_GROUPS)
    return best


def _row_folds(dataset: Dataset, rows: np.ndarray, count: int, seed: int) -> list[Split]:
    _refuse_too_few(dataset, len(rows), count)
    _refuse_lonely_class(dataset, rows)
    target = dataset.target[rows]
    groups = None if dataset.row_groups is None else dataset.row_groups[rows]
    if groups is None:
        kinds = (KFold, StratifiedKFold)
        _check_fold_count(dataset, target, count)
    else:
        kinds = (GroupKFold, StratifiedGroupKFold)
        _check_group_count(dataset, len(np.unique(groups)), count)
    divide = kinds[bool(dataset.classes)](count, shuffle=True, random_state=seed)
    return [(rows[fit], rows[score]) for fit, score in _divided(divide, target, groups)]


def _divided(
    divide: KFold | GroupKFold | StratifiedKFold | StratifiedGroupKFold,
    labels: np.ndarray,
    groups: np.ndarray | None,
) -> list[Split]:
    with warnings.catch_warnings():
        # A class with fewer rows than folds; a finding reports it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(divide.split(np.zeros(len(labels)), labels, groups))


def _unit_folds(dataset: Dataset, rows: np.ndarray, count: int, seed: int) -> np.ndarray | None:
    """The fold of every item; None for no units or fewer than folds."""
    if dataset.units is None or not len(rows):
        return None
    _refuse_lonely_class(dataset, rows)
    units, labels = _unit_codes(dataset, rows)
    unit_count = int(units.max()) + 1
    if unit_count < count:
        if dataset.task.has_sequences and any(c.role == "group" for c in dataset.columns):
            _check_group_count(dataset, unit_count, count)
        if not dataset.task.has_pairs or dataset.row_groups is None or unit_count < 2:
            return None
        count = unit_count  # few families are no error, since nobody asked to keep them together
    if labels.any():
        _check_fold_count(dataset, labels, count)
    folds = [fold_of_items(units, labels, count, seed)]
    mixed = float((majority(units, labels)[units] != labels).mean())
    if mixed > _MIXED and unit_count <= _MAX_MIXED_UNITS:
        divide = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
        balanced_fold = np.zeros(len(units), dtype=np.int64)
        for fold_index, (_, scored_items) in enumerate(_divided(divide, labels, units)):
            balanced_fold[scored_items] = fold_index
        folds.insert(0, balanced_fold)
    return next((fold for fold in folds if _is_learnable(fold, labels, count)), None)


def _is_learnable(fold: np.ndarray, labels: np.ndarray, count: int) -> bool:
    counts = _counts_by_side(labels, fold, count)
    return bool((counts.sum(axis=0) > 0).all() and ((counts > 0).sum(axis=1) > 1).all())


def _check_group_count(dataset: Dataset, groups: int, count: int) -> None:
    if groups < count:
        fault = f"{groups} groups of rows cannot make {count} folds"
        raise _unusable(dataset, fault, "use fewer folds")


def _refuse_too_few(dataset: Dataset, items: int, count: int) -> None:
    if items < count:
        word = dataset.task.item
        fault = f"{count_text(items, word)} to train on cannot make {count} folds"
        raise _unusable(dataset, fault, f"use fewer folds or give more {word}s")


def _check_fold_count(dataset: Dataset, labels: np.ndarray, count: int) -> None:
    largest = np.unique(labels, return_counts=True)[1].max() if dataset.classes else count
    if largest < count:
        fault = f"no class has {count} rows to train on, so there cannot be {count} folds"
        cure = f"use {max(2, largest)} folds or give more rows"
        raise UnusableError(fault, where="folds", cure=cure)
