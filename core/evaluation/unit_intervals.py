"""95 % intervals of an estimate, from what it would be without each of its independent units.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| G | | | units: rows, patients, …; of time, blocks of moments in order |
| w | ``shares`` | (G,) | share of the rows in each unit |
| θ | ``estimate`` | | by all units; θ_g, ``left_out``, (G,), without unit g |
| u | ``change`` | (G,) | what each unit adds, (mean θ_g − θ_g)(G − 1)/G |
| γ | ``skewness`` | | Σ u³/(Σ u²)^1.5 |
| ν | ``degrees`` | | degrees of freedom of Student's t |
| x | ``terms`` | (G,) | what each unit adds to a sum |

The variance is that of the jackknife, Σ u² G/(G − 1) (Efron & Stein 1981), of groups the least
biased one (MacKinnon, Nielsen & Webb 2023). ν is G − 1 for equal units, and falls with the unequal
size of units, (Σ w²)²/Σ w⁴, and with the kurtosis of u, as a variance estimated from few large
values has a wide distribution itself. The ends are the wider ones of Student's t and of Hall's
(1992) transformation, which takes γ out of t. In time the autocorrelation r of blocks next to each
other, corrected for its bias (Kendall 1954), leaves G(1 − r)/(1 + r) of them.

Where a few units are most of a sum, its variance is hardly known, and those ends reach absurdly
far. The gamma limits of a sum of Poisson counts with weights x (Fay & Feuer 1997, Statistics in
Medicine 16) need none, and narrow them.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from core.datasets.units import Units, join_units
from core.evaluation.paired_tests import LEVEL, share_interval

TIME_BLOCKS = 20  # enough to see how alike neighbours are, few enough to be nearly independent
MIN_UNITS = 5  # below which a gain has no verdict
MAX_JOINED = 400  # units that are enough to know a spread
_MAX_AUTOCORRELATION = 0.95
# The largest error that was not met beside the largest one that was. With 3 the intervals of
# normal, Laplace, log-normal, Student's and contaminated errors covered as often as without limits
# (within .03, mostly .005), at a third of their width; with 1 up to .2 less often.
_UNSEEN_ERROR = 3.0


@dataclass(frozen=True)
class Spread:
    """How far an estimate may be from the truth."""

    error: float  # standard error
    degrees: float
    effective: float  # units by the participation ratio of u², (Σ u²)²/Σ u⁴: few if tails are heavy
    skewness: float
    count: float  # of independent units

    def interval_around(self, estimate: float, degrees: float | None = None) -> tuple[float, float]:
        """The ends of the interval of an estimate; `degrees` replaces its own."""
        t = t_quantile(self.degrees if degrees is None else degrees)
        low, high, gamma = -t, t, self.skewness
        if abs(gamma) > 1e-6:
            ends = [np.cbrt(1.0 + gamma * (x - gamma / 6.0)) - 1.0 for x in (-t, t)]
            low, high = (float(3.0 / gamma * end) for end in ends)
        return estimate - max(t, high) * self.error, estimate - min(-t, low) * self.error


def t_quantile(degrees: float) -> float:
    """The quantile of Student's t that leaves 2.5 % above."""
    return float(special.stdtrit(max(degrees, 1.0), 0.5 + LEVEL / 2))


def spread_of(left_out: np.ndarray, units: Units) -> Spread:
    """The spread of an estimate by its values without each unit; NaN where one is undefined."""
    G, shares = len(left_out), units.row_shares
    count, effective = float(G), float(G)
    degrees = max(1.0, float((shares @ shares) ** 2 / (shares**4).sum() + G) / 2.0 - 1.0)
    if G < 2 or not np.isfinite(left_out).all():
        return Spread(math.nan, degrees, effective, 0.0, count)
    change = (left_out.mean() - left_out) * (G - 1.0) / G
    squares = float(change @ change)
    if squares <= 0.0:
        return Spread(0.0, degrees, effective, 0.0, count)
    if units.is_time:
        r = float(change[1:] @ change[:-1]) / squares
        r = min(max(r + (1.0 + 3.0 * r) / G, 0.0), _MAX_AUTOCORRELATION)
        count *= (1.0 - r) / (1.0 + r)
        degrees = min(degrees, count - 1.0)
    participation = float((change**4).sum()) / squares**2
    # 2/(kurtosis − 1) of G: the degrees of the χ² that has the variance of Σ u².
    degrees = max(1.0, min(degrees, 2.0 / max(participation - 1.0 / G, 1e-12)))
    # A few units have weights too uneven to be told from chance.
    effective = min((1.0 + 10.0 / G) / participation, degrees)
    error = math.sqrt(squares * G / max(count - 1.0, 0.3))
    return Spread(error, degrees, effective, float((change**3).sum()) / squares**1.5, count)


def mean_left_out(values: np.ndarray, units: Units) -> np.ndarray:
    """The mean of numbers (n,) without each unit, (G,)."""
    below = np.maximum(len(values) * (1.0 - units.row_shares), 1.0)
    return np.asarray((values.sum() - units.unit_sums(values)) / below)


def joined_units(units: Units) -> Units:
    """The units that are left out one by one: blocks of time, or so many that it takes no time."""
    return join_units(units, TIME_BLOCKS if units.is_time else MAX_JOINED)


def distance_interval(
    estimate: float, left_out: np.ndarray, units: Units, best: float
) -> tuple[float, float]:
    """The interval of a score without an end away from the best one, on the scale of its distance.

    That is log |best − θ|. A few large errors carry such scores: ν counts units that have weight.
    """
    if estimate == best or (left_out == best).any():
        return spread_of(left_out, units).interval_around(estimate)
    distance, without = abs(best - estimate), np.abs(best - left_out)
    spread = spread_of(np.log(without), units)
    limit = math.inf
    if not units.is_time:
        terms = np.maximum(distance - without * (1.0 - units.row_shares), 0.0)
        limit = max(distance, _gamma_limits(terms, 1.0, _UNSEEN_ERROR)[1])
    logs = spread.interval_around(math.log(distance), spread.effective)
    distances = [min(math.exp(min(end, 700.0)), limit) for end in logs]
    low, high = sorted(best + math.copysign(d, estimate - best) for d in distances)
    return low, high


def sum_interval(terms: np.ndarray, row_weight: float = 1.0) -> tuple[float, float]:
    """The gamma limits of the sum of independent terms of either sign, (G,).

    `row_weight`: what each counts beside an independent row.
    """
    gain_low, gain_high = _gamma_limits(np.maximum(terms, 0.0), row_weight)
    loss_low, loss_high = _gamma_limits(np.maximum(-terms, 0.0), row_weight)
    return gain_low - loss_high, gain_high - loss_low


def _gamma_limits(terms: np.ndarray, row_weight: float, unseen: float = 1.0) -> tuple[float, float]:
    """Of a sum of terms ≥ 0; above, as if one `unseen` times the largest had been met as well."""
    largest = float(terms.max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return (0.0, 0.0) if largest == 0.0 else (-math.inf, math.inf)
    shares, more = terms / largest, unseen / row_weight  # squares of tiny numbers would be 0
    total, squares = float(shares.sum()), float(shares @ shares) / row_weight
    low = squares / total * special.gammaincinv(total**2 / squares, 0.5 - LEVEL / 2)
    total, squares = total + more, squares + more**2
    high = squares / total * special.gammaincinv(total**2 / squares, 0.5 + LEVEL / 2)
    return largest * float(low), largest * float(high)


def bounded_interval(estimate: float, left_out: np.ndarray, units: Units) -> tuple[float, float]:
    """The score interval (Wilson 1927) of a share by the rows that have its variance.

    Korn & Graubard (1998): n = θ(1 − θ)/variance, less by (z/t)². A single unit, and units that do
    not differ, count as one row each.
    """
    spread = spread_of(left_out, units)
    if math.isnan(estimate) or (math.isnan(spread.error) and len(left_out) > 1):
        return math.nan, math.nan
    shares, t = units.row_shares, t_quantile(spread.degrees)
    rows = min(spread.count, 1.0 / float(shares @ shares))
    if spread.error > 0.0 and 0.0 < estimate < 1.0:
        narrowing = t_quantile(math.inf) / t
        rows = estimate * (1.0 - estimate) * (narrowing / spread.error) ** 2
    low, high = share_interval(estimate * rows, rows)
    # Rounding must not leave out the end that the estimate lies on.
    return min(low, estimate), max(high, estimate)
