"""Posteriors over the trials of several datasets, at points of the present one.

Notation:
    X       coordinates of all trials (core.gp.transfer.points), the past first, shape (n, width)
    d       the dataset of every trial, 0 for the present one, shape (n,)
    z       standardized responses, larger is better, shape (n,)
    L, α    Cholesky factor of k(X, X) + σ² I, and its solution for z
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from core.gp.kernels import Array, Indices
from core.gp.regression import SMALLEST_VARIANCE, factorize, solve_lower
from core.gp.transfer import kernel
from core.gp.transfer.kernel import Anchored, Neighbourhood, anchored, anchored_further
from core.gp.transfer.points import Coordinates


class Posterior(Protocol):
    """What a posterior over coordinates answers; `core.gp.regression.Regression` is one."""

    X: Array
    z: Array

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation, each of shape (m,)."""

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients."""

    def extended(self, X_new: Array, z: Array) -> Posterior:
        """With further points of the present dataset."""


class NeighbourRegression:
    """The posterior under the kernel of neighbouring datasets (core.gp.transfer.kernel).

    The constant c is raised where the points need it; extending by further points of the present
    dataset keeps the factor unless c has to grow.

    Args:
        hyper: lengths, noise and number of axes; its constant is the least that is used.
        X: coordinates, shape (n, width), n ≥ 1.
        d: datasets, shape (n,).
        z: responses, shape (n,).
        known: B's factor and K's, where they are known already.
    """

    def __init__(
        self,
        hyper: Neighbourhood,
        X: Array,
        d: Indices,
        z: Array,
        known: tuple[Anchored, Array] | None = None,
    ) -> None:
        self.X, self.d, self.z = X, d, z
        self.anchor = anchored(X, hyper.axes) if known is None else known[0]
        self.hyper = with_constant(hyper, self.anchor.constant)
        self.L = factorize(kernel.covariance(self.hyper, X, d)) if known is None else known[1]
        self.alpha = solve_lower(self.L, solve_lower(self.L, z), transposed=True)

    def extended(self, X_new: Array, z: Array) -> NeighbourRegression:
        """The posterior with m more points of the present dataset; m n² flops.

        Args:
            X_new: their coordinates, shape (m, width).
            z: the responses of the old and the new points, shape (n + m,); all may have changed.
        """
        X, d = np.vstack([self.X, X_new]), np.append(self.d, np.zeros(len(X_new), dtype=int))
        anchor = anchored_further(self.anchor, X_new, self.hyper.axes)
        if anchor.constant > self.hyper.constant:
            raised = with_constant(self.hyper, anchor.constant)
            L = factorize(kernel.covariance(raised, X, d))
            return NeighbourRegression(raised, X, d, z, (anchor, L))
        side = kernel.cross_covariance(self.hyper, self.X, self.d, X_new)
        corner = kernel.covariance(self.hyper, X_new, d[len(self.d) :])
        L = kernel.extended_factor(self.L, side, corner)
        return NeighbourRegression(self.hyper, X, d, z, (anchor, L))

    def retold(self, z: Array) -> NeighbourRegression:
        """The same points with other responses, shape (n,); n² flops."""
        return NeighbourRegression(self.hyper, self.X, self.d, z, (self.anchor, self.L))

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at coordinates (m, width) in the present dataset, (m,)."""
        k = kernel.cross_covariance(self.hyper, self.X, self.d, points)
        return k.T @ self.alpha, self._deviation(self._inverse @ k)

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients, shapes (m,), (m,), (m, width), (m, width)."""
        k, D, near = kernel.crossed(self.hyper, self.X, self.d, points)
        v = self._inverse @ k
        sd = self._deviation(v)
        weights = [self.alpha[:, None], self._inverse.T @ v]
        rising, falling = kernel.slopes(self.hyper, self.X, self.d, points, D, near, weights)
        return k.T @ self.alpha, sd, rising, -falling / sd[:, None]

    @cached_property
    def _inverse(self) -> Array:
        """L⁻¹, n³/3 flops: products with it take a sixth of the time that solving takes."""
        inverse, _ = lapack.dtrtri(self.L, lower=1)
        return np.ascontiguousarray(inverse)

    def _deviation(self, v: Array) -> Array:
        prior = self.hyper.prior
        left = prior - np.einsum("ij,ij->j", v, v)
        return np.asarray(np.sqrt(np.maximum(left, SMALLEST_VARIANCE * prior)))


def with_constant(hyper: Neighbourhood, constant: float) -> Neighbourhood:
    """The same with a constant of at least so much."""
    return Neighbourhood(hyper.lengths, hyper.noise, hyper.axes, max(hyper.constant, constant))


class CommonRegression:
    """A posterior over coordinates, asked at unit vectors of the present dataset.

    Stands in for `core.gp.regression.Regression` wherever only posteriors are asked.

    Args:
        inner: the posterior over coordinates.
        coordinates: from unit vectors to coordinates.
        further: how many coordinates follow that are zero in the present dataset (the standardized
            statistics, where the kernel sees them).
        lengths: of every entry of the unit vector, shape (width,).

    Attributes:
        X: what the inner posterior stands on, shape (n, any).
        z: responses, the past's first.
    """

    def __init__(
        self, inner: Posterior, coordinates: Coordinates, further: int, lengths: Array
    ) -> None:
        self.inner, self.coordinates, self.further = inner, coordinates, further
        self.lengths = lengths
        self.X, self.z = inner.X, inner.z

    @property
    def hyper(self) -> CommonRegression:
        """Where `lengths` is found."""
        return self

    def rows(self, points: Array) -> Array:
        """Coordinates of unit vectors, shape (m, width + further)."""
        rows = np.zeros((len(points), self.coordinates.width + self.further))
        rows[:, : self.coordinates.width] = self.coordinates.of(points)
        return rows

    def extended(self, points: Array, z: Array) -> CommonRegression:
        """With m more points of the present dataset; z is of all, shape (n + m,)."""
        inner = self.inner.extended(self.rows(points), z)
        return CommonRegression(inner, self.coordinates, self.further, self.lengths)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at unit vectors (m, width), each of shape (m,)."""
        return self.inner.posterior(self.rows(points))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients by the unit vector."""
        mean, sd, rising, widening = self.inner.posterior_gradients(self.rows(points))
        width = self.coordinates.width
        return (
            mean,
            sd,
            self.coordinates.pulled_back(points, rising[:, :width]),
            self.coordinates.pulled_back(points, widening[:, :width]),
        )
