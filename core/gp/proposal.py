"""The next point: where an acquisition function is largest among the points not tried yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import qmc

from core.gp.acquisition import Acquisition
from core.gp.ascent import climb
from core.gp.domain import Domain
from core.gp.kernels import Array
from core.gp.regression import ResponseSurface

ENUMERATED = 2048  # domains up to this size are searched point by point
SAME = 1e-6  # two points closer than this in every entry are one
STARTS = 6
CLOUD = 96  # candidates scattered around the incumbent
EDGE = 0.1  # ε, the weight of an edge beside that of the middle
NEAR = 0.2  # of the range of every number
NEAR_CANDIDATES = 9  # the power of two of how many are spread evenly there


@dataclass(frozen=True)
class Proposal:
    """A point to try.

    Attributes:
        point: the unit vector, allowed, shape (width,).
        value: the acquisition there (a logarithm for EI, PI and the standard deviation).
        mean, sd: the posterior there, standardized.
    """

    point: Array
    value: float
    mean: float
    sd: float


def scattered_around(domain: Domain, incumbent: Array, random: np.random.Generator) -> Array:
    """Allowed points scattered around one, shape (any number, width), most moved along few axes."""
    axes = len(domain.space)
    radius = 10.0 ** random.uniform(-4.0, -0.5, size=(CLOUD, 1))
    cloud = incumbent + radius * random.standard_normal((CLOUD, domain.width))
    flipped = random.random((CLOUD, axes)) < 1.0 / axes
    sparse = np.where(flipped[:, domain.axis_of] | ~domain.free, cloud, incumbent)
    return np.vstack([domain.snap(sparse), domain.snap(cloud[::2])])


class Search:
    """Maximizes acquisition functions of one posterior over one domain.

    Candidates are a scrambled Sobol set and a cloud around the incumbent; the best few that lie
    apart are climbed with exact gradients; whole numbers and choices then try their neighbours.

    Args:
        regression: the posterior.
        domain: the allowed points.
        best: the standardized response to beat.
        incumbent: the point of that response, shape (width,).
        taken: points tried already or being tried, shape (any number, width).
        random: the source of the scrambling.

    Attributes:
        climbing: options of `core.gp.ascent.climb`.
    """

    climbing: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        regression: ResponseSurface,
        domain: Domain,
        best: float,
        incumbent: Array,
        taken: Array,
        random: np.random.Generator,
    ) -> None:
        self._about = regression, domain, best, incumbent, taken, random
        self.regression, self.domain, self.best, self.taken = regression, domain, best, taken
        self.incumbent, self.random = incumbent, random
        self.tree = cKDTree(taken) if len(taken) else None

    @cached_property
    def pool(self) -> Array:
        """Candidates that were not tried, shape (any number, width)."""
        return self._left(self._candidates(self.incumbent, self.random))

    @cached_property
    def posterior(self) -> tuple[Array, Array] | None:
        """Mean and standard deviation of the pool; None where it is empty."""
        return self.regression.posterior(self.pool) if len(self.pool) else None

    def near(self) -> NearSearch:
        """The same search in the surroundings of the incumbent."""
        return NearSearch(*self._about)

    def inward(self) -> InwardSearch:
        """The same search with a prior against the edges."""
        return InwardSearch(*self._about)

    def maximize(self, acquisition: Acquisition) -> Proposal | None:
        """The untried point where the acquisition is largest; None if every point was tried."""
        if self.posterior is None:
            return None
        values = acquisition(*self.posterior, self.best)[0] + self._log_prior(self.pool)[0]
        if self.domain.size <= ENUMERATED:
            return self._proposal(acquisition, self.pool[[int(np.argmax(values))]])
        points, _ = self._climb(acquisition, self.pool[self._apart(values)])
        points = np.vstack([self.domain.snap(points), self.pool[[int(np.argmax(values))]]])
        points = self._left(points)
        return self._proposal(acquisition, points)

    def _log_prior(self, points: Array) -> tuple[Array, Array]:
        """What is added to an acquisition, shape (m,), and its slopes, shape (m, width)."""
        return np.zeros(len(points)), np.zeros(points.shape)

    def _values(self, acquisition: Acquisition, points: Array) -> Array:
        return (
            acquisition(*self.regression.posterior(points), self.best)[0]
            + self._log_prior(points)[0]
        )

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        domain = self.domain
        if domain.size <= ENUMERATED:
            return domain.everything()
        # Evaluating m candidates costs m n² flops: fewer of them where n is large.
        power = int(np.clip(np.log2(4e8 / len(self.regression.X) ** 2), 8, 10))
        axes = len(domain.space)
        sobol = qmc.Sobol(axes, scramble=True, rng=random).random_base2(power)
        return np.vstack([domain.spread(sobol), scattered_around(domain, incumbent, random)])

    def _left(self, points: Array) -> Array:
        """The points that were not tried, in their order."""
        if self.tree is None or len(points) == 0:
            return points
        apart, _ = self.tree.query(points, p=np.inf, distance_upper_bound=2 * SAME)
        return points[apart > SAME]

    def _apart(self, values: Array) -> list[int]:
        """The best few candidates, none close to a better one in units of the length scales."""
        order = np.argsort(-values, kind="stable")[:100]
        scaled = self.pool[order] / np.minimum(self.regression.lengths, 1.0)
        chosen = [0]
        for k in range(1, len(order)):
            if len(chosen) == STARTS:
                break
            if np.abs(scaled[chosen] - scaled[k]).max(axis=1).min() > 0.1:
                chosen.append(k)
        return [int(order[k]) for k in chosen]

    def _climb(self, acquisition: Acquisition, starts: Array) -> tuple[Array, Array]:
        """The starts moved uphill: real numbers by their gradient, the rest by neighbours."""

        def function(points: Array) -> tuple[Array, Array]:
            mean, sd, mean_slope, sd_slope = self.regression.posterior_gradients(points)
            value, by_mean, by_sd = acquisition(mean, sd, self.best)
            prior, slope = self._log_prior(points)
            slope = by_mean[:, None] * mean_slope + by_sd[:, None] * sd_slope + slope
            return value + prior, slope

        free = self.domain.free
        points, values = (
            climb(function, starts, free, **self.climbing)
            if free.any()
            else (starts, self._values(acquisition, starts))
        )
        if free.all():
            return points, values
        best = int(np.argmax(values))
        point, value = points[best], values[best]
        for _ in range(10):
            near = self._left(self.domain.neighbours(point))
            if len(near) == 0:
                break
            there = self._values(acquisition, near)
            if there.max() <= value:
                break
            stepped = near[[int(np.argmax(there))]]
            climbed, climbed_value = (
                climb(function, stepped, free, **self.climbing)
                if free.any()
                else (stepped, there.max(keepdims=True))
            )
            point, value = climbed[0], climbed_value[0]
        return np.vstack([points, point]), np.append(values, value)

    def _proposal(self, acquisition: Acquisition, points: Array) -> Proposal:
        """The best of the points, as it will be tried; from the pool where all were tried."""
        points = points if len(points) else self.pool[:1]
        mean, sd = self.regression.posterior(points)
        value = acquisition(mean, sd, self.best)[0]
        k = int(np.argmax(value + self._log_prior(points)[0]))
        return Proposal(points[k], float(value[k]), float(mean[k]), float(sd[k]))


class InwardSearch(Search):
    """A search with a prior against the edges, for acquisitions that are logarithms.

    Far from every trial the acquisition is nearly flat, and largest in the corners by a little,
    where settings are extreme and seldom good. As in Hvarfner et al. 2022 (arXiv:2204.11051) it is
    multiplied by a prior of where the best is: ∏ (4x(1 − x) + ε)/(1 + ε) over all numbers x, 1 in
    the middle and ε/(1 + ε) at an edge. Domains that are searched point by point have none.
    """

    def _log_prior(self, points: Array) -> tuple[Array, Array]:
        domain = self.domain
        if domain.size <= ENUMERATED:
            return super()._log_prior(points)
        ranged = np.array(
            [axis.kind != "choice" and domain.count(axis) > 1 for axis in domain.space]
        )
        number = ranged[domain.axis_of]
        weight = 4.0 * points * (1.0 - points) + EDGE
        value = np.where(number, np.log(weight / (1.0 + EDGE)), 0.0).sum(axis=1)
        return value, np.where(number, (4.0 - 8.0 * points) / weight, 0.0)


class NearSearch(Search):
    """A search among the points that differ from the incumbent by at most `NEAR` in every number.

    Where everything near the best is known well, the expected improvement is largest in the corners
    of the cube, which are far from every trial: most trials would go there, and the best be refined
    by too few. Choices may be any.
    """

    def __init__(
        self,
        regression: ResponseSurface,
        domain: Domain,
        best: float,
        incumbent: Array,
        taken: Array,
        random: np.random.Generator,
    ) -> None:
        chosen = np.array([domain.space[axis].kind == "choice" for axis in domain.axis_of])
        self.low = np.where(chosen, 0.0, np.clip(incumbent - NEAR, 0.0, 1.0))
        self.high = np.where(chosen, 1.0, np.clip(incumbent + NEAR, 0.0, 1.0))
        super().__init__(regression, domain, best, incumbent, taken, random)

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        found = super()._candidates(incumbent, random)
        if self.domain.size <= ENUMERATED:
            return found
        axes, first = len(self.domain.space), self.domain.first[:-1]
        columns = qmc.Sobol(axes, scramble=True, rng=random).random_base2(NEAR_CANDIDATES)
        ranged = np.array([axis.kind != "choice" for axis in self.domain.space])
        inside = self.low[first] + columns * (self.high - self.low)[first]
        return np.vstack([found, self.domain.spread(np.where(ranged, inside, columns))])

    def _left(self, points: Array) -> Array:
        """The points near the incumbent that were not tried, in their order."""
        near = ((points >= self.low - SAME) & (points <= self.high + SAME)).all(axis=1)
        return super()._left(points[near])

    def _climb(self, acquisition: Acquisition, starts: Array) -> tuple[Array, Array]:
        points, values = super()._climb(acquisition, starts)
        return np.clip(points, self.low, self.high), values
