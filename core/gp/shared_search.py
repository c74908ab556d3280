"""One search of candidates that the asks of many workers share, a rank-one update an ask.

Notation:
    X       all points tried, the running ones too, in the order in which they came, shape (N, any)
    P       the candidates, shape (m, any)
    K, V    k(X, P) and L⁻¹ K, for the factor L of k(X, X) + σ² I, shapes (N, m)
    α       of the scores there are, K⁻¹z: running trials believed at their mean have none

The mean of P is Kᵀα and its variance k(p, p) − Σ V². A candidate p_j that is tried adds to L, and
so to V, the row (k(p_j, P) − V_jᵀV)/√(k(p_j, p_j) + σ² − V_jᵀV_j): N m flops in place of the N² m
of a new search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.spatial import cKDTree

from core.gp.acquisition import Acquisition
from core.gp.domain import SearchDomain
from core.gp.kernels import Array, Stationary
from core.gp.proposal import EQUAL, SAME, AcquisitionSearch, Proposal, interior_prior, near_box
from core.gp.regression import SMALLEST_VARIANCE, GpPosterior

ASKS = 64  # that share the candidates: by then other regions may have become promising


class SharedCandidates:
    """The candidates of a search and what they know of all points tried.

    `search`: of a posterior given all points tried, the running ones at their mean.
    """

    def __init__(
        self, search: AcquisitionSearch, surface: GpPosterior, acquisition: Acquisition
    ) -> None:
        self.kernel, self.domain, self.incumbent = surface.kernel, search.domain, search.incumbent
        searches = search.interior_search(), search.local_search()
        pools, N = [s.candidate_pool for s in searches], len(surface.X)
        m = sum(map(len, pools))
        # One column more for the best of each pool, which is climbed to once for all asks.
        self.points = np.vstack([*pools, *(pool[:1] for pool in pools)])
        self._K, self._V = np.empty((2, N + ASKS, len(self.points)))
        self._explained = np.zeros(len(self.points))
        self._count = N
        self._evaluate(surface, slice(0, m))
        mean, sd = surface.alpha @ self._K[:N], self._deviation()
        ends = np.cumsum([0, *map(len, pools)])
        for climbing, start, end in zip(searches, ends, ends[1:], strict=False):
            if end > start:
                climbing.posterior = mean[start:end], sd[start:end]
                proposal = climbing.maximize(acquisition)
                assert proposal is not None  # it has candidates
                self.points[m] = proposal.point
                self._evaluate(surface, slice(m, m + 1))
                m += 1
        self._tree = cKDTree(self.points)
        # What is closer to a tried point counts as tried: a run would take another in its place.
        apart, _ = cKDTree(surface.X).query(self.points, p=np.inf, distance_upper_bound=2 * EQUAL)
        self._is_untried = apart > EQUAL
        self._rows = {key: row for row, key in enumerate(_keys(surface.X))}

    def _evaluate(self, surface: GpPosterior, columns: slice) -> None:
        N = self._count
        self._K[:N, columns] = self.kernel.cross_covariance(surface.X, self.points[columns])
        self._V[:N, columns] = V = surface.whitened(self._K[:N, columns])
        self._explained[columns] = np.einsum("ij,ij->j", V, V)

    def _deviation(self) -> Array:
        prior = self.kernel.prior_variance
        variance = np.maximum(prior - self._explained, SMALLEST_VARIANCE * prior)
        return np.asarray(np.sqrt(variance))

    def follow(self, kernel: Stationary, incumbent: Array, tried_points: Array) -> bool:
        """Add the points tried since; False where a new search is due."""
        hyper, fitted = kernel.hyper, self.kernel.hyper
        if not np.array_equal(self.incumbent, incumbent) or (
            (hyper.amplitude, hyper.noise) != (fitted.amplitude, fitted.noise)
            or not np.array_equal(hyper.lengths, fitted.lengths)
        ):
            return False
        for point, key in zip(tried_points, _keys(tried_points), strict=True):
            if key not in self._rows and not self._add(point, key):
                return False
        return self._count < len(self._K) and bool(self._is_untried.any())

    def _add(self, point: Array, key: bytes) -> bool:
        away, j = self._tree.query(point, p=np.inf)
        N = self._count
        if away > SAME or len(self._K) == N:
            return False
        kernel, V = self.kernel, self._V[:N]
        self._K[N] = kernel.cross_covariance(self.points[[j]], self.points)[0]
        remaining = kernel.prior_variance + kernel.hyper.noise - self._explained[j]
        # Rounding may leave less than the noise.
        scale = np.sqrt(max(remaining, kernel.hyper.noise))
        self._V[N] = (self._K[N] - V[:, j] @ V) / scale
        self._explained += self._V[N] ** 2
        self._rows[key] = N
        self._is_untried[self._tree.query_ball_point(self.points[j], EQUAL, p=np.inf)] = False
        self._count += 1
        return True

    def search(self, surface: GpPosterior, best: float) -> SharedSearch:
        """A search by the posterior given the scores there are, and the response to beat."""
        alpha = np.zeros(self._count)
        np.add.at(alpha, [self._rows[key] for key in _keys(surface.X)], surface.alpha)
        mean, sd, free = alpha @ self._K[: self._count], self._deviation(), self._is_untried
        prior = np.zeros(int(free.sum()))
        return SharedSearch(
            self.domain, self.points[free], mean[free], sd[free], prior, best, self.incumbent
        )


def _keys(points: Array) -> list[bytes]:
    """The bytes of every point, (m, width)."""
    row = np.dtype((np.void, points.itemsize * points.shape[1]))
    return cast(list[bytes], np.ascontiguousarray(points).view(row).ravel().tolist())


@dataclass(frozen=True)
class SharedSearch:
    """Maximizes acquisition functions over candidates whose posterior is known."""

    domain: SearchDomain
    points: Array  # not tried, shape (m, width)
    mean: Array
    sd: Array
    log_prior: Array  # a term added to the acquisition, shape (m,)
    best: float  # the response to beat
    incumbent: Array  # its point

    def interior_search(self) -> SharedSearch:
        """The same with a prior against the edges."""
        return replace(self, log_prior=interior_prior(self.domain, self.points)[0])

    def local_search(self) -> SharedSearch:
        """The same in the surroundings of the incumbent."""
        low, high = near_box(self.domain, self.incumbent)
        near = ((self.points >= low - SAME) & (self.points <= high + SAME)).all(axis=1)
        arrays = (self.points[near], self.mean[near], self.sd[near], self.log_prior[near])
        return SharedSearch(self.domain, *arrays, self.best, self.incumbent)

    def maximize(self, acquisition: Acquisition) -> Proposal | None:
        """The candidate where the acquisition is largest; None where there is none."""
        if len(self.points) == 0:
            return None
        values = acquisition(self.mean, self.sd, self.best)[0]
        k = int(np.argmax(values + self.log_prior))
        return Proposal(self.points[k], float(values[k]), float(self.mean[k]), float(self.sd[k]))
