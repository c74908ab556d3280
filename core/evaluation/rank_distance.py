"""How far a row lies from training rows, by ranks, and the distance that 1 % of them exceed.

| symbol | code | meaning |
| --- | --- | --- |
| z | ``rank_scores`` | normal score of a value: Φ⁻¹ of its rank, a logarithm beyond the last |
| V, λ | ``loadings``, ``deviations`` | the main components of the clipped z, and their variances |
| t | | V'z / √λ, how far a row lies along them |
| u | | what they leave of z, divided by the share of a column that is left (``residuals``) |
| D | | ‖(u, t)‖₂, where many columns are odd, and ‖(u, t)‖₈, where one is |

A category's z is Φ⁻¹(1 − s/2), where s is the share of rows of categories as rare as it. A missing
value says nothing. The limit of D is that of cross-conformal prediction (Vovk 2015): every training
row is measured by the others, in folds of whole units, and of n distances the ⌊0.01 (n + 1)⌋-th
largest is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr, ndtri

from core.records import Record

ALARM_SHARE = 0.01  # of ordinary rows that are called unlike
MIN_ROWS = 20
_EXTREME = 3  # the last rank from each end that has a knot: a few odd rows do not move it
_KNOTS = 9
_GROWTH = 1.5  # of the score beyond the knots, so that heavy tails do not hide the other columns
_NEVER = 6.0  # score of a category where no training row's was alone, or where all were equal
_LEAST_SHARE = 0.2  # of a column that the components leave
_MAX_COMPONENTS = 20
_POWERS = (2, 8)


@dataclass(frozen=True)
class ColumnRanks(Record):
    """The ranks of one column: of numbers the knots, of categories the scores; or none."""

    edge: float = 0.0  # z at the last knot; that of the first is -edge, with equal steps between
    slopes: list[float] = field(default_factory=list)  # the unit per z below and above the knots
    knots: list[float] = field(default_factory=list)
    rarity: list[float] = field(default_factory=list)  # z of every category's code, then a new one

    def rank_scores(self, values: np.ndarray) -> np.ndarray:
        """The z of numbers, or of codes (-1 for a new category), (n,); NaN for missing."""
        if self.rarity:
            codes = np.nan_to_num(values).astype(int)  # -1 is the last one
            return np.where(np.isnan(values), np.nan, np.array(self.rarity)[codes])
        if not self.knots:
            return np.full(len(values), np.nan)
        # Equal knots are one, at the mean of their scores.
        knots, index = np.unique(self.knots, return_inverse=True)
        levels = np.linspace(-self.edge, self.edge, len(self.knots))
        z = np.interp(values, knots, np.bincount(index, levels) / np.bincount(index))
        for sign, end, slope in zip((-1, 1), knots[[0, -1]], self.slopes, strict=True):
            excess = np.maximum(sign * (values - end), 0.0)
            with np.errstate(over="ignore"):
                growth = _GROWTH * np.log1p(excess / (_GROWTH * slope)) if slope else excess > 0
            z += sign * (growth if slope else _NEVER * growth)
        return z


@dataclass(frozen=True)
class RankDistance(Record):
    """The distance of rows from training rows, without any of these."""

    columns: list[ColumnRanks]  # p
    means: list[float]  # of z, p
    residuals: list[float]  # p
    loadings: list[list[float]]  # k × p
    deviations: list[float]  # k
    limits: list[float]  # of D with either power

    def is_sound(self, categories: Sequence[int]) -> bool:
        """Whether a file's can measure rows of columns with so many categories."""
        rows = [[max(count - 1, 0) for count in categories], [-1] * len(categories)]
        try:
            with np.errstate(all="ignore"):
                terms = self.distance_terms(np.array(rows, float))
        except (ValueError, IndexError):
            return False
        return bool(np.isfinite(terms).all()) and np.shape(self.limits) == np.shape(_POWERS)

    def distance_terms(self, values: np.ndarray) -> np.ndarray:
        """The terms u and t of rows of numbers and codes (n, p), (n, p + k)."""
        pairs = zip(self.columns, values.T, strict=True)
        z = np.column_stack([column.rank_scores(numbers) for column, numbers in pairs])
        z = np.nan_to_num(z - self.means, posinf=1e9, neginf=-1e9)  # 0 for missing
        loadings = np.reshape(self.loadings, (-1, z.shape[1]))
        t = z @ loadings.T
        u = np.where(np.isnan(values), 0.0, (z - t @ loadings) / self.residuals)
        return np.hstack([u, t / self.deviations])

    def is_unlike(self, terms: np.ndarray) -> np.ndarray:
        """Whether rows of such terms are farther than 99 % of ordinary ones, (n,)."""
        return np.asarray((_both_norms(terms) > self.limits).any(axis=1))


def _both_norms(terms: np.ndarray) -> np.ndarray:
    return np.column_stack([np.linalg.norm(terms, power, axis=1) for power in _POWERS])


def rank_distance(
    values: np.ndarray, categories: Sequence[int], units: np.ndarray, seed: int = 0
) -> RankDistance | None:
    """The distance from training rows; None where they are too few.

    `values`, (n, p), are numbers and codes of categories, NaN for missing; `categories` says how
    many each column has, 0 for numbers, −1 for what no distance is taken of; `units`, (n,), which
    rows belong together; `seed` is that of the folds.
    """
    n, (names, codes) = len(values), np.unique(units, return_inverse=True)
    if n < MIN_ROWS or len(names) < 2:
        return None
    n_folds = min(len(names), 10 if n < 500 else 5)
    fold_of_row = (np.random.default_rng(seed).permutation(len(names)) % n_folds)[codes]
    distances = np.empty((n, len(_POWERS)))
    for fold in range(n_folds):
        is_held = fold_of_row == fold
        fitted = _fit_ranks(values[~is_held], categories)
        distances[is_held] = _both_norms(fitted.distance_terms(values[is_held]))
    scale = np.array([_alarm_limit(column) for column in distances.T])
    limits = scale * _alarm_limit((distances / scale).max(axis=1))
    return replace(_fit_ranks(values, categories), limits=limits.tolist())


def _alarm_limit(distances: np.ndarray) -> float:
    n, falling = len(distances), np.sort(distances)[::-1]
    rank = int(ALARM_SHARE * (n + 1) + 1e-9)
    if rank >= 2:
        return float(falling[rank - 1]) + 1e-9
    # Below 199 rows that would be the largest, or none: the tail is taken for exponential.
    falling[0] = falling[1]
    m = n // 5 if n >= 100 else n // 4  # of few rows more, or chance would decide
    excess = float(np.mean(falling[:m] - falling[m]))
    # P(excess > x) = (1 + x / (m σ))^−m where m excesses of an exponential tail have the mean σ.
    return float(falling[m] + m * excess * ((m / (ALARM_SHARE * n)) ** (1 / m) - 1)) + 1e-9


def _fit_ranks(values: np.ndarray, categories: Sequence[int]) -> RankDistance:
    pairs = zip(values.T, categories, strict=True)
    columns = [_column_ranks(column, count) for column, count in pairs]
    (n, p), edge = values.shape, _edge_score(len(values))
    z = np.column_stack([c.rank_scores(values[:, j]) for j, c in enumerate(columns)])
    z = z.clip(-edge, edge)
    means = np.nansum(z, axis=0) / np.maximum(np.isfinite(z).sum(axis=0), 1)
    z = np.nan_to_num(z - means)
    # Of the smaller of the two products, whose eigenvalues are the same.
    variances, vectors = np.linalg.eigh((z.T @ z if p <= n else z @ z.T) / n)
    # Of noise no eigenvalue is larger (Marchenko and Pastur 1967).
    count = min(int(np.sum(variances > (1 + np.sqrt(p / n)) ** 2)), _MAX_COMPONENTS, n // 5)
    variances, vectors = variances[::-1][:count], vectors[:, ::-1][:, :count]
    loadings = (vectors if p <= n else z.T @ vectors / np.sqrt(n * variances)).T.round(4)
    residuals = z - z @ loadings.T @ loadings
    share = np.sqrt((np.mean(residuals**2, axis=0) + 1e-9) / (np.mean(z**2, axis=0) + 1e-9))
    return RankDistance(
        columns,
        means.round(4).tolist(),
        share.clip(_LEAST_SHARE, 1).round(4).tolist(),
        loadings.tolist(),
        np.sqrt(variances).round(4).tolist(),
        limits=[],
    )


def _edge_score(n: int) -> float:
    return float(ndtri(1 - min(_EXTREME / (n + 1), 0.3)))


def _column_ranks(values: np.ndarray, count: int) -> ColumnRanks:
    values = np.sort(values[np.isfinite(values)])
    n, edge = len(values), _edge_score(len(values))
    if not n or count < 0:
        return ColumnRanks()
    if not count:
        # Values that occur, rather than means of two: equal ones stay exactly equal.
        ranks = ndtr(np.linspace(-edge, edge, _KNOTS)) * (n + 1) - 1
        knots = values[np.rint(ranks.clip(0, n - 1)).astype(int)]
        slopes = [_outer_slope(values, knots, edge)]
        slopes.append(_outer_slope(-values[::-1], -knots[::-1], edge))
        return ColumnRanks(edge, slopes, knots.tolist())
    rows = np.bincount(values.astype(int), minlength=count)
    single = int(np.sum(rows == 1))
    # As many rows have a new category as were alone with theirs (Good 1953).
    shares = np.array([*(rows[rows <= size].sum() for size in rows), single]) / n
    is_never = np.append(rows == 0, True) & (single == 0)
    shares[:-1][rows == 0] = single / n
    z = np.where(is_never, _NEVER, -ndtri(np.maximum(shares, 1e-9) / 2))
    return ColumnRanks(rarity=z.round(4).tolist())


def _outer_slope(values: np.ndarray, knots: np.ndarray, edge: float) -> float:
    """The unit of rising values per z below the first knot; 0 where all are equal."""
    slope = (knots[_KNOTS // 4] - knots[0]) / (edge / 2)
    if slope <= 0 and len(values) > 1:  # the last ones are equal: by the last but one
        slope = (knots[0] - values[1]) / max(ndtri(1 - 1.5 / (len(values) + 1)) - edge, 0.3)
    return float(slope if slope > 0 else values.std())
