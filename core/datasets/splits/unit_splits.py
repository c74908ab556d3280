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
MOST_CODES = 2**62


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
    wanted = _quotas(np.bincount(strata, weights=sizes), np.bincount(strata), count)
    members = [np.flatnonzero(strata == one) for one in range(len(wanted))]
    shares = np.bincount(labels) / len(labels)
    generator = np.random.default_rng(seed)
    best, least = np.zeros(len(sizes), dtype=bool), np.inf
    for _ in range(TRIES):
        tested = np.zeros(len(sizes), dtype=bool)
        for own, quota in zip(members, wanted, strict=True):
            shuffled = generator.permutation(own)
            tested[shuffled[_filling(sizes[shuffled], int(quota))]] = True
        far = _far(tested[units], labels, shares, count)
        if far < least:
            best, least = tested, far
        if least < NEAR:
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
    for one in range(int(strata.max()) + 1):
        own = generator.permutation(np.flatnonzero(strata == one))
        own = own[np.argsort(-sizes[own], kind="stable")]
        heap = [(0, int(load[f]), int(tie), int(f)) for tie, f in _shuffled(count, generator)]
        heapq.heapify(heap)
        for unit, size in zip(own.tolist(), sizes[own].tolist(), strict=True):
            of_class, whole, tie, f = heap[0]
            fold[unit] = f
            heapq.heapreplace(heap, (of_class + size, whole + size, tie, f))
        for _, whole, _, f in heap:
            load[f] = whole
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


def _quotas(weights: np.ndarray, units: np.ndarray, count: int) -> np.ndarray:
    """Items to test of every class: its share of `count` by largest remainders.

    At least one where a class has two units.
    """
    exact = count * weights / weights.sum()
    quotas = np.floor(exact).astype(np.int64)
    most = np.argsort(-(exact - quotas), kind="stable")[: count - int(quotas.sum())]
    quotas[most] += 1
    return np.maximum(quotas, (units > 1).astype(np.int64))


def _filling(sizes: np.ndarray, quota: int) -> np.ndarray:
    """Places of units, in their order, that hold `quota` items or as near as they can.

    Of two units or more, one is taken and one is left.
    """
    taken = np.cumsum(sizes) <= quota
    left = quota - int(sizes[taken].sum())
    for place in np.flatnonzero(~taken & (sizes <= left)).tolist():
        if sizes[place] <= left:
            taken[place] = True
            left -= int(sizes[place])
        if not left:
            break
    if left and not taken.all():
        smallest = int(np.argmin(np.where(taken, MOST_CODES, sizes)))
        nearer = abs(left - int(sizes[smallest])) < left
        taken[smallest] = nearer or (len(sizes) > 1 and not taken.any())
    if len(sizes) > 1 and taken.all():
        taken[int(np.argmin(sizes))] = False
    return np.flatnonzero(taken)


def _far(tested: np.ndarray, labels: np.ndarray, shares: np.ndarray, count: int) -> float:
    """How far a split is from the shares wanted; 1 more for a class that one side has not."""
    inside = int(tested.sum())
    if not 0 < inside < len(labels):
        return 4.0
    far = abs(inside - count) / len(labels)
    of_test = np.bincount(labels[tested], minlength=len(shares))
    of_train = np.bincount(labels, minlength=len(shares)) - of_test
    for counts in (of_test, of_train):
        far = max(far, float(np.abs(counts / counts.sum() - shares).max()))
        far += float(bool(((counts == 0) & (shares > 0)).any()))
    return far
