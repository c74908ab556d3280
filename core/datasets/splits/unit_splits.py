"""Splits of items that come in units (copies, relatives): whole units, stratified by class, fast.

U: units; k: folds. Items are rows, or whole sequences. All functions take

    units   codes 0 … U − 1, one an item
    labels  codes of classes, one an item; zeros where there are none

and answer for items. A unit counts for the class that most of its items have.
"""

from __future__ import annotations

import heapq

import numpy as np

TRIES = 10  # shuffles among which the one with the nearest shares is taken
NEAR = 0.005  # a split whose shares are off by less needs no further try
MAX_CODE = 2**62


def test_items(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Which items to test on: whole units, about `count` items, classes in their shares.

    Every class with two units or more has one on either side, as far as its units are its own.

    Args:
        units, labels: as above; at least two units.
        count: how many items are wanted.
        seed: of the shuffles.

    Returns:
        A mask over the items.
    """
    sizes = np.bincount(units)
    strata = majority(units, labels)
    quotas = _class_quotas(np.bincount(strata, weights=sizes), np.bincount(strata), count)
    members = [np.flatnonzero(strata == stratum) for stratum in range(len(quotas))]
    shares = np.bincount(labels) / len(labels)
    generator = np.random.default_rng(seed)
    best, min_distance = np.zeros(len(sizes), dtype=bool), np.inf
    for _ in range(TRIES):
        is_tested = np.zeros(len(sizes), dtype=bool)
        for stratum_units, quota in zip(members, quotas, strict=True):
            shuffled = generator.permutation(stratum_units)
            is_tested[shuffled[_fill_quota(sizes[shuffled], int(quota))]] = True
        distance = _share_distance(is_tested[units], labels, shares, count)
        if distance < min_distance:
            best, min_distance = is_tested, distance
        if min_distance < NEAR:
            break
    return best[units]


def fold_of_items(units: np.ndarray, labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """The fold (0 … k − 1) of every item: whole units, folds alike in size and classes.

    Class by class, the largest units first, each goes to the fold that has least of its class so
    far (of those, the one with fewest items). With k units or more no fold is empty.

    Args:
        units, labels: as above.
        count: k.
        seed: decides among units and folds that are alike.
    """
    sizes = np.bincount(units)
    strata = majority(units, labels)
    generator = np.random.default_rng(seed)
    fold, load = np.zeros(len(sizes), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for stratum in range(int(strata.max()) + 1):
        stratum_units = generator.permutation(np.flatnonzero(strata == stratum))
        stratum_units = stratum_units[np.argsort(-sizes[stratum_units], kind="stable")]
        heap = [(0, int(load[f]), int(tie), int(f)) for tie, f in _shuffled(count, generator)]
        heapq.heapify(heap)
        for unit, size in zip(stratum_units.tolist(), sizes[stratum_units].tolist(), strict=True):
            of_class, fold_size, tie, f = heap[0]
            fold[unit] = f
            heapq.heapreplace(heap, (of_class + size, fold_size + size, tie, f))
        for _, fold_size, _, f in heap:
            load[f] = fold_size
    return fold[units]


def _shuffled(count: int, generator: np.random.Generator) -> enumerate:
    return enumerate(generator.permutation(count).tolist())


def majority(units: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The class that most items of every unit have, shape (U,); of equals the first."""
    width = int(labels.max()) + 1
    pairs, counts = np.unique(units.astype(np.int64) * width + labels, return_counts=True)
    unit, label = np.divmod(pairs, width)
    order = np.lexsort((-counts, unit))
    first = order[np.flatnonzero(np.diff(unit[order], prepend=-1))]
    return label[first]


def _class_quotas(weights: np.ndarray, units: np.ndarray, count: int) -> np.ndarray:
    """Items to test of every class: its share of `count` by largest remainders.

    At least one where a class has two units.
    """
    exact = count * weights / weights.sum()
    quotas = np.floor(exact).astype(np.int64)
    largest_remainders = np.argsort(-(exact - quotas), kind="stable")[: count - int(quotas.sum())]
    quotas[largest_remainders] += 1
    return np.maximum(quotas, (units > 1).astype(np.int64))


def _fill_quota(sizes: np.ndarray, quota: int) -> np.ndarray:
    """Places of units, in their order, that hold `quota` items or as near as they can.

    Of two units or more, one is taken and one is left.
    """
    is_chosen = np.cumsum(sizes) <= quota
    items_left = quota - int(sizes[is_chosen].sum())
    for position in np.flatnonzero(~is_chosen & (sizes <= items_left)).tolist():
        if sizes[position] <= items_left:
            is_chosen[position] = True
            items_left -= int(sizes[position])
        if not items_left:
            break
    if items_left and not is_chosen.all():
        smallest = int(np.argmin(np.where(is_chosen, MAX_CODE, sizes)))
        nearer = abs(items_left - int(sizes[smallest])) < items_left
        is_chosen[smallest] = nearer or (len(sizes) > 1 and not is_chosen.any())
    if len(sizes) > 1 and is_chosen.all():
        is_chosen[int(np.argmin(sizes))] = False
    return np.flatnonzero(is_chosen)


def _share_distance(
    is_tested: np.ndarray, labels: np.ndarray, shares: np.ndarray, count: int
) -> float:
    """How far a split is from the shares wanted; 1 more for a class that one side has not."""
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
