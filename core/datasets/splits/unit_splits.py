"""Splits items that come in U units (copies, relatives), whole, stratified by class, into k folds.

    units   codes 0 … U − 1, one per item
    labels  codes of classes, one per item; zeros where there are none

A unit counts for the most frequent class of its items.
"""

from __future__ import annotations

import heapq

import numpy as np

_TRIES = 10  # shuffles, of which that with the nearest shares is used
_NEAR = 0.005  # distance of shares that needs no further try


def test_items(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """A mask of about `count` items: whole units; classes of two or more on both sides."""
    sizes = np.bincount(units)
    strata = majority(units, labels)
    quotas = _class_quotas(np.bincount(strata, weights=sizes), np.bincount(strata), count)
    members = [np.flatnonzero(strata == stratum) for stratum in range(len(quotas))]
    shares = np.bincount(labels) / len(labels)
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
