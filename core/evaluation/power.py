"""How many rows: the gain that a test set of some size can show, and nested parts of training rows.

| symbol | code | meaning |
| --- | --- | --- |
| n | ``rows`` | test rows |
| Δ | ``gain`` | the true difference of the models' probabilities of being right |
| ψ | ``discordance`` | the share of rows that exactly one of them has right, ≥ Δ |

A gain is shown where the interval of the difference lies above 0: for shares of rows where the
exact McNemar test rejects. ψ is one in ten unless more is known, or the gain where it is larger.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from core.evaluation.paired_tests import FOLD_ROW_WEIGHT, LEVEL
from core.evaluation.unit_intervals import t_quantile

DISCORDANCE = 0.1
POWER = 0.8
_TAILS = 8.0  # standard deviations of the number of discordant rows that are summed over


def mcnemar_power(rows: int, gain: float, discordance: float = DISCORDANCE) -> float:
    """The probability that the exact McNemar test shows a gain on n rows.

    Σ_d P(d discordant rows) P(so many of them won that the two-sided test rejects | d).
    """
    psi = max(discordance, gain)
    if rows < 1 or psi <= 0.0:
        return 0.0
    # Far from ψ n the probabilities are too small to count, and for many rows too many to sum.
    margin = _TAILS * math.sqrt(rows * psi * (1.0 - psi)) + _TAILS
    counts = np.arange(max(1, int(rows * psi - margin)), min(rows, int(rows * psi + margin)) + 1)
    of_count = np.exp(_log_binomial(counts, rows, psi))
    max_lost = _max_lost(counts, (1.0 - LEVEL) / 2)
    lost_share = (1.0 - gain / psi) / 2  # the probability that a discordant row is lost
    shown_share = special.bdtr(np.maximum(max_lost, 0), counts, lost_share)
    return float(of_count @ np.where(max_lost >= 0, shown_share, 0.0))


def smallest_gain(rows: float, *, folds: int = 0, units: int = 0) -> float:
    """The smallest gain of a share that is shown with the power `POWER`; 1.0 if none is.

    `folds` of nested cross-validation, 0 for one test set; `units`: groups of rows, 0 for single
    rows.
    """
    counted_rows = rows * FOLD_ROW_WEIGHT if folds else rows
    if not units:
        return _gain_with_power(lambda gain: mcnemar_power(round(counted_rows), gain), 1.0)

    def power_of_gain(gain: float) -> float:
        variance = max(DISCORDANCE, gain) - gain**2
        return t_power(gain, math.sqrt(variance / counted_rows), units)

    return _gain_with_power(power_of_gain, 1.0)


def t_power(gain: float, error: float, units: int) -> float:
    """The probability that a t interval over units lies above 0; normal for `units` 0."""
    needed = t_quantile(units - 1.0 if units else math.inf)
    if not units:
        return float(special.ndtr(gain / error - needed))
    # The distribution is not computed far out.
    return 1.0 - float(special.nctdtr(units - 1.0, min(gain / error, 30.0), min(needed, 25.0)))


def smallest_r2_gain(rows: float, r2: float = 0.5, *, folds: int = 0, units: int = 0) -> float:
    """The smallest gain of R² that is shown with the power `POWER`; 1 − r2 if none is.

    The tuned model is taken to explain a part u of what the default model leaves as error, so that
    e_default = e + u with e and u independent and normal, Var(u) = Δ and Var(e) = 1 − R² − Δ in
    units of Var(y). A row's difference e_default² − e² = 2eu + u² has variance 4 Var(e) Δ + 2Δ².
    R² is the default model's; the others as for `smallest_gain`.
    """
    unexplained = 1.0 - r2
    counted_rows = rows * FOLD_ROW_WEIGHT if folds else rows

    def power_of_gain(gain: float) -> float:
        deviation = math.sqrt(4.0 * (unexplained - gain) * gain + 2.0 * gain**2)
        return t_power(gain, deviation / math.sqrt(counted_rows), units)

    return _gain_with_power(power_of_gain, unexplained)


def _gain_with_power(power_of_gain: Callable[[float], float], max_gain: float) -> float:
    # Just below the largest gain, at which nothing is left to vary.
    low, high = 0.0, max_gain * (1.0 - 1e-9)
    if power_of_gain(high) < POWER:
        return max_gain
    while high - low > 1e-5 * max_gain:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_gain(middle) >= POWER else (middle, high)
    return high


def _log_binomial(counts: np.ndarray, rows: int, share: float) -> np.ndarray:
    ways = special.gammaln(rows + 1.0) - special.gammaln(counts + 1.0)
    ways -= special.gammaln(rows - counts + 1.0)
    return ways + special.xlogy(counts, share) + special.xlog1py(rows - counts, -share)


def _max_lost(counts: np.ndarray, tail: float) -> np.ndarray:
    """The most lost rows of d discordant ones with which the test rejects; −1 where none is few."""
    rough = counts / 2 + special.ndtri(tail) * np.sqrt(counts) / 2
    max_lost = np.floor(rough).astype(int) + 2
    for _ in range(6):  # the normal quantile is off by a row or two
        above = (max_lost >= 0) & (special.bdtr(np.maximum(max_lost, 0), counts, 0.5) > tail)
        max_lost = np.where(above, max_lost - 1, max_lost)
    return np.maximum(max_lost, -1)


Array = np.ndarray


def nested_parts(
    labels: Array | None, groups: Array | None, rows: int, shares: Sequence[float], seed: int
) -> list[np.ndarray]:
    """Indices of the rows of each part, sorted; every part holds the smaller ones.

    Each class of `labels`, (rows,), has two rows at least in every part; rows of one of `groups`,
    (rows,), stay together. `shares` grow, the last is 1; `seed` is that of the order.
    """
    generator = np.random.default_rng(seed)
    if groups is not None:
        _, groups = np.unique(groups, return_inverse=True)
        position = generator.permutation(int(groups.max()) + 1)[groups]
        order = np.lexsort((np.arange(rows), position))
    else:
        order = generator.permutation(rows)
    if labels is not None:
        order = _spread_classes(order, labels[order], keep=groups is not None)
    return [np.sort(order[: max(2, round(share * rows))]) for share in shares]


def _spread_classes(order: np.ndarray, labels: np.ndarray, keep: bool) -> np.ndarray:
    """The same rows, two of every class first, then every class evenly."""
    rank, size = np.zeros(len(order)), np.zeros(len(order))
    for code in np.unique(labels):
        class_rows = np.flatnonzero(labels == code)
        rank[class_rows], size[class_rows] = np.arange(len(class_rows)), len(class_rows)
    first = np.where(rank < 2, 0, 1)
    sort_key = np.arange(len(order)) if keep else (rank + 0.5) / size
    return order[np.lexsort((sort_key, first))]
