"""The next point: the largest acquisition among the points not tried yet, climbed to by BFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.stats import qmc

from core.gp.acquisition import Acquisition, log_probability_of_improvement
from core.gp.domain import SearchDomain
from core.gp.kernels import Array
from core.gp.regression import ResponseSurface
from core.optimize.armijo import SUFFICIENT

Constraint = tuple[ResponseSurface, float]  # a posterior and what it must not be below
ObjectiveFunction = Callable[[Array], tuple[Array, Array]]


def maximize_from_starts(
    function: ObjectiveFunction,
    starts: Array,
    free: Array,
    *,
    rounds: int = 25,
    tolerance: float = 1e-4,
) -> tuple[Array, Array]:
    """x* = argmax f(x) near every start (m, width), over `free` entries in [0, 1]; projected BFGS.

    `function`: points (m, width) -> values (m,) and gradients (m, width). A start rests after
    `rounds` evaluations, when a round gains less than `tolerance`, or when its projected slope is
    smaller than ten times that. Returns points and values, never worse than the starts.
    """
    x = starts.copy()
    value, slope = function(x)
    slope = slope * free
    m, width = x.shape
    H = np.tile(np.eye(width), (m, 1, 1))
    fresh = np.ones(m, dtype=bool)
    direction, step = _ascent_direction(x, slope, H, fresh), np.ones(m)
    active = np.flatnonzero(np.abs(_projected(x, slope)).max(axis=1) > 10 * tolerance)
    for _ in range(rounds):
        if active.size == 0:
            break
        trial = np.clip(x[active] + step[active, None] * direction[active], 0.0, 1.0)
        shift = trial - x[active]
        new_value, new_slope = function(trial)
        new_slope = new_slope * free
        gain = new_value - value[active]
        good = gain >= SUFFICIENT * np.einsum("ij,ij->i", slope[active], shift)
        good &= np.isfinite(new_value)
        step[active[~good]] *= 0.3
        rows = active[good]
        if rows.size:
            _bfgs_update(H, fresh, rows, shift[good], slope[rows] - new_slope[good])
            x[rows], value[rows], slope[rows] = trial[good], new_value[good], new_slope[good]
            direction[rows] = _ascent_direction(x[rows], slope[rows], H[rows], fresh[rows])
            step[rows] = 1.0
        resting = good & (gain < tolerance)
        # A step that was shortened so often leads nowhere.
        resting |= ~good & (step[active] < 1e-4)
        resting |= np.abs(_projected(x[active], slope[active])).max(axis=1) <= 10 * tolerance
        active = active[~resting]
    return x, value


def _projected(x: Array, slope: Array) -> Array:
    """The slope without what points out of the cube."""
    outward = ((x <= 0.0) & (slope < 0.0)) | ((x >= 1.0) & (slope > 0.0))
    return np.where(outward, 0.0, slope)


def _ascent_direction(x: Array, slope: Array, H: Array, fresh: Array) -> Array:
    """H times the projected slope, or the slope where that falls."""
    inward = _projected(x, slope)
    inside = (inward != 0.0) | (slope == 0.0)
    direction = np.einsum("mij,mj->mi", H, inward) * inside
    falling = np.einsum("mi,mi->m", direction, inward) <= 0.0
    direction[falling] = inward[falling]
    short = fresh | falling  # without curvature a tenth of the cube at most
    size = np.abs(direction[short]).max(axis=1, keepdims=True, initial=1e-300)
    direction[short] *= np.minimum(1.0, 0.1 / size)
    return direction


def _bfgs_update(H: Array, fresh: Array, which: Array, shift: Array, change: Array) -> None:
    """The BFGS update of H (the inverse of −f's Hessian) for the starts `which`, in place."""
    product = np.einsum("mi,mi->m", shift, change)
    # Elsewhere the update would make H indefinite.
    curved = product > 1e-10 * np.linalg.norm(shift, axis=1) * np.linalg.norm(change, axis=1)
    which, s, y, sy = which[curved], shift[curved], change[curved], product[curved]
    first = fresh[which]
    # The first pair sets H's scale (Nocedal and Wright 2006, eq. 6.20).
    scale = sy / np.maximum(np.einsum("mi,mi->m", y, y), 1e-300)
    H[which[first]] *= scale[first][:, None, None]
    fresh[which] = False
    Hy = np.einsum("mij,mj->mi", H[which], y)
    growth = (1.0 + np.einsum("mi,mi->m", y, Hy) / sy)[:, None, None]
    outer = np.einsum("mi,mj->mij", Hy, s)
    update = growth * np.einsum("mi,mj->mij", s, s) - outer - outer.transpose(0, 2, 1)
    H[which] += update / sy[:, None, None]


ENUMERATED = 2048  # domains up to this size are searched point by point
SAME = 1e-6  # two points closer than this in every entry are one
EQUAL = 1e-4  # of its range, within which two values of a real number are one to a model
STARTS = 6
CLOUD = 96  # candidates scattered around the incumbent
EDGE = 0.1  # ε, the weight of an edge beside that of the middle
NEAR = 0.2  # of the range of every number


@dataclass(frozen=True)
class Proposal:
    """A point to try."""

    point: Array  # the unit vector, allowed, shape (width,)
    value: float  # the acquisition there (a logarithm for EI, PI and the standard deviation)
    mean: float  # the posterior there, standardized
    sd: float


def scattered_around(domain: SearchDomain, incumbent: Array, random: np.random.Generator) -> Array:
    """Allowed points scattered around one, shape (any number, width), most moved along few axes."""
    axes = len(domain.space)
    radius = 10.0 ** random.uniform(-4.0, -0.5, size=(CLOUD, 1))
    cloud = incumbent + radius * random.standard_normal((CLOUD, domain.width))
    flipped = random.random((CLOUD, axes)) < 1.0 / axes
    sparse = np.where(flipped[:, domain.axis_of] | ~domain.free, cloud, incumbent)
    return np.vstack([domain.snap_points(sparse), domain.snap_points(cloud[::2])])


def log_feasibility(constraints: Sequence[Constraint], points: Array) -> Array:
    """Σ log P(kept), shape (m,): a term of log EI (Gardner and others 2014)."""
    value = np.zeros(len(points))
    for surface, threshold in constraints:
        value += log_probability_of_improvement(*surface.posterior(points), threshold)[0]
    return value


def feasibility_slopes(constraints: Sequence[Constraint], points: Array) -> tuple[Array, Array]:
    """The same and its slopes, shape (m, width), which take twice as long."""
    value, slope = np.zeros(len(points)), np.zeros(points.shape)
    for surface, threshold in constraints:
        mean, sd, mean_slope, sd_slope = surface.posterior_gradients(points)
        log_p, by_mean, by_sd = log_probability_of_improvement(mean, sd, threshold)
        value += log_p
        slope += by_mean[:, None] * mean_slope + by_sd[:, None] * sd_slope
    return value, slope


def are_untried(points: Array, tree: cKDTree | None) -> NDArray[np.bool_]:
    """Which points, (m, width), lie apart from all those of a tree, shape (m,)."""
    if tree is None or len(points) == 0:
        return np.ones(len(points), dtype=bool)
    apart, _ = tree.query(points, p=np.inf, distance_upper_bound=2 * SAME)
    return np.asarray(apart > SAME)


class AcquisitionSearch:
    """Maximizes acquisition functions of one posterior over one domain.

    Candidates are a scrambled Sobol set and a cloud around the incumbent, the point (width,) of the
    standardized response `best`, without the `tried_points` (any, width); the best few that lie
    apart are climbed with exact gradients; whole numbers and choices then try their neighbours.
    `constraints`: weigh points by the probability that they are kept.
    """

    def __init__(
        self,
        regression: ResponseSurface,
        domain: SearchDomain,
        best: float,
        incumbent: Array,
        tried_points: Array,
        random: np.random.Generator,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        self._arguments = regression, domain, best, incumbent, tried_points, random, constraints
        self.regression, self.domain, self.best = regression, domain, best
        self.incumbent, self.tried_points, self.random = incumbent, tried_points, random
        self.constraints = constraints
        self.tree = cKDTree(tried_points) if len(tried_points) else None

    @cached_property
    def candidate_pool(self) -> Array:
        """Candidates that were not tried, shape (any number, width)."""
        return self._untried_points(self._candidates(self.incumbent, self.random))

    @cached_property
    def posterior(self) -> tuple[Array, Array] | None:
        """Mean and standard deviation of the pool; None where it is empty."""
        return self.regression.posterior(self.candidate_pool) if len(self.candidate_pool) else None

    def local_search(self) -> LocalSearch:
        """The same search in the surroundings of the incumbent."""
        return LocalSearch(*self._arguments)

    def interior_search(self) -> InteriorSearch:
        """The same search with a prior against the edges."""
        return InteriorSearch(*self._arguments)

    def maximize(self, acquisition: Acquisition) -> Proposal | None:
        """The untried point where the acquisition is largest; None if every point was tried."""
        if self.posterior is None:
            return None
        pool = self.candidate_pool
        values = acquisition(*self.posterior, self.best)[0] + self._pool_prior
        best = pool[[int(np.argmax(values))]]
        if self.domain.size <= ENUMERATED:
            return self._proposal(acquisition, best)
        points, _ = self._climb_locally(acquisition, pool[self._separated_candidates(values)])
        # With the best candidate: snapping may have made what was climbed to worse.
        points = np.vstack([self.domain.snap_points(points), best])
        return self._proposal(acquisition, self._untried_points(points))

    @cached_property
    def _pool_prior(self) -> Array:
        return self._log_prior(self.candidate_pool)

    def _log_prior(self, points: Array) -> Array:
        """A term added to the acquisition, shape (m,)."""
        return self._edge_prior(points)[0] + log_feasibility(self.constraints, points)

    def _edge_prior(self, points: Array) -> tuple[Array, Array]:
        """The term against edges, shape (m,), and its slopes, shape (m, width)."""
        return np.zeros(len(points)), np.zeros(points.shape)

    def _acquisition_values(self, acquisition: Acquisition, points: Array) -> Array:
        values = acquisition(*self.regression.posterior(points), self.best)[0]
        return values + self._log_prior(points)

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        domain = self.domain
        if domain.size <= ENUMERATED:
            return domain.all_points()
        even = domain.points_from_uniforms(self._even_columns(random, 10))
        return np.vstack([even, scattered_around(domain, incumbent, random)])

    def _even_columns(self, random: np.random.Generator, power: int) -> Array:
        """At most 2^power scrambled Sobol points, shape (m, axes), a quarter at least."""
        # Evaluating m candidates costs m n² flops: fewer of them where n is large.
        spared = 10.0 - np.log2(4e8 / len(self.regression.X) ** 2)
        sobol = qmc.Sobol(len(self.domain.space), scramble=True, rng=random)
        return sobol.random_base2(power - int(np.clip(np.ceil(spared), 0, 2)))

    def _untried_points(self, points: Array) -> Array:
        return points[are_untried(points, self.tree)]

    def _separated_candidates(self, values: Array) -> list[int]:
        order = np.argsort(-values, kind="stable")[:100]
        scaled = self.candidate_pool[order] / np.minimum(self.regression.lengths, 1.0)
        starts = [0]
        for k in range(1, len(order)):
            if len(starts) == STARTS:
                break
            if np.abs(scaled[starts] - scaled[k]).max(axis=1).min() > 0.1:
                starts.append(k)
        return [int(order[k]) for k in starts]

    def _climb_locally(self, acquisition: Acquisition, starts: Array) -> tuple[Array, Array]:
        def function(points: Array) -> tuple[Array, Array]:
            mean, sd, mean_slope, sd_slope = self.regression.posterior_gradients(points)
            value, by_mean, by_sd = acquisition(mean, sd, self.best)
            slope = by_mean[:, None] * mean_slope + by_sd[:, None] * sd_slope
            for prior in (self._edge_prior(points), feasibility_slopes(self.constraints, points)):
                value, slope = value + prior[0], slope + prior[1]
            if self.domain.conditions:
                slope *= self.domain.visible_entries(points)
            return value, slope

        free = self.domain.free
        points, values = (
            maximize_from_starts(function, starts, free)
            if free.any()
            else (starts, self._acquisition_values(acquisition, starts))
        )
        if free.all():
            return points, values
        best = int(np.argmax(values))
        point, value = points[best], values[best]
        for _ in range(10):
            neighbours = self._untried_points(self.domain.neighbours(point))
            if len(neighbours) == 0:
                break
            neighbour_values = self._acquisition_values(acquisition, neighbours)
            if neighbour_values.max() <= value:
                break
            stepped = neighbours[[int(np.argmax(neighbour_values))]]
            climbed, climbed_value = (
                maximize_from_starts(function, stepped, free)
                if free.any()
                else (stepped, neighbour_values.max(keepdims=True))
            )
            point, value = climbed[0], climbed_value[0]
        return np.vstack([points, point]), np.append(values, value)

    def _proposal(self, acquisition: Acquisition, points: Array) -> Proposal:
        points = points if len(points) else self.candidate_pool[:1]
        mean, sd = self.regression.posterior(points)
        value = acquisition(mean, sd, self.best)[0]
        k = int(np.argmax(value + self._log_prior(points)))
        return Proposal(points[k], float(value[k]), float(mean[k]), float(sd[k]))


def interior_prior(domain: SearchDomain, points: Array) -> tuple[Array, Array]:
    """The logarithm of a prior against the edges, shape (m,), and its slopes, shape (m, width).

    ∏ (4x(1 − x) + ε)/(1 + ε) over all numbers x (as in Hvarfner et al. 2022, arXiv:2204.11051);
    none where domains are searched point by point.
    """
    if domain.size <= ENUMERATED:
        return np.zeros(len(points)), np.zeros(points.shape)
    ranged = [axis.kind != "choice" and domain.value_count(axis) > 1 for axis in domain.space]
    number = np.array(ranged)[domain.axis_of]
    weight = 4.0 * points * (1.0 - points) + EDGE
    value = np.where(number, np.log(weight / (1.0 + EDGE)), 0.0).sum(axis=1)
    return value, np.where(number, (4.0 - 8.0 * points) / weight, 0.0)


def near_box(domain: SearchDomain, incumbent: Array) -> tuple[Array, Array]:
    """The lowest and the highest value of every entry near a point, each of shape (width,)."""
    is_choice = np.array([domain.space[k].kind == "choice" for k in domain.axis_of])
    low = np.where(is_choice, 0.0, np.clip(incumbent - NEAR, 0.0, 1.0))
    return low, np.where(is_choice, 1.0, np.clip(incumbent + NEAR, 0.0, 1.0))


class InteriorSearch(AcquisitionSearch):
    """A search with a prior against the edges, for acquisitions that are logarithms."""

    def _edge_prior(self, points: Array) -> tuple[Array, Array]:
        return interior_prior(self.domain, points)


class LocalSearch(AcquisitionSearch):
    """A search among the points that differ from the incumbent by at most `NEAR` in every number.

    Choices may be any.
    """

    # Elsewhere the deviation is largest in the corners, far from every trial.
    @cached_property
    def box(self) -> tuple[Array, Array]:
        return near_box(self.domain, self.incumbent)

    def _candidates(self, incumbent: Array, random: np.random.Generator) -> Array:
        candidates = super()._candidates(incumbent, random)
        if self.domain.size <= ENUMERATED:
            return candidates
        columns, first = self._even_columns(random, 9), self.domain.first[:-1]
        ranged = np.array([axis.kind != "choice" for axis in self.domain.space])
        low, high = self.box
        inside = low[first] + columns * (high - low)[first]
        near = self.domain.points_from_uniforms(np.where(ranged, inside, columns))
        return np.vstack([candidates, near])

    def _untried_points(self, points: Array) -> Array:
        low, high = self.box
        near = ((points >= low - SAME) & (points <= high + SAME)).all(axis=1)
        return super()._untried_points(points[near])

    def _climb_locally(self, acquisition: Acquisition, starts: Array) -> tuple[Array, Array]:
        points, values = super()._climb_locally(acquisition, starts)
        # The ascent ends at the edges of the cube, not at those of the box.
        return np.clip(points, *self.box), values
