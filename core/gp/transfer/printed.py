"""The kernel of neighbouring datasets as Yogatama & Mann (2014, §3.4) print it, for comparison.

    k(i, j) = 0.3 [d_i = d_j] exp(−½ Σ Δ²/ℓ²) + 0.7 m(d_i, d_j) (1 − ‖Δ‖/√p)

with the printed mask m(d, e) = 1 where e is among the nearest datasets of d, 0 elsewhere (so also
within a dataset). It is not symmetric: here it is replaced by its symmetric part, (m + mᵀ)/2. The
kernel matrix then has negative eigenvalues: they are clipped to zero, and their eigenvectors left
out of the covariances with other points, which otherwise they would swamp.
"""

from __future__ import annotations

import numpy as np

from core.gp.kernels import Array, Indices, squared_distances
from core.gp.regression import SMALLEST_VARIANCE
from core.gp.transfer.kernel import (
    ACROSS,
    WITHIN,
    Neighbourhood,
    apart,
    crossed,
    same_dataset,
    slopes,
)


def printed_mask(statistics: Array, members: Indices, neighbours: int) -> Array:
    """The symmetric part of the printed mask between some datasets, shape (k, k).

    Args:
        statistics: standardized, of all datasets that were seen, shape (datasets, 3).
        members: the datasets of the kernel, shape (k,); the neighbours are counted among all.
        neighbours: how many nearest datasets every dataset has.
    """
    table = statistics[members]
    far = np.sqrt(squared_distances(table, statistics, np.ones(statistics.shape[1])))
    far[np.arange(len(members)), members] = np.inf
    mask = np.zeros_like(far)
    nearest = np.argsort(far, axis=1, kind="stable")[:, :neighbours]
    np.put_along_axis(mask, nearest, 1.0, axis=1)
    mask[np.arange(len(members)), members] = 0.0
    among = mask[:, members]
    return np.asarray((among + among.T) / 2.0)


class PrintedRegression:
    """The posterior with clipped eigenvalues; n³ flops for every further point.

    Args:
        hyper: lengths, noise and number of axes.
        mask: the mask between datasets, its first row the present one's, shape (k, k).
        X: coordinates, shape (n, width), n ≥ 1.
        d: datasets as rows of the mask, shape (n,).
        z: responses, shape (n,).
    """

    def __init__(self, hyper: Neighbourhood, mask: Array, X: Array, d: Indices, z: Array) -> None:
        self.hyper, self.mask, self.X, self.d, self.z = hyper, mask, X, d, z
        K = self._kernel(X, d, apart(X, X, hyper.axes))
        eigenvalues, E = np.linalg.eigh(K)
        positive = eigenvalues > 0.0
        self.F = E[:, positive].T / np.sqrt(eigenvalues[positive] + hyper.noise)[:, None]
        self.alpha = self.F.T @ (self.F @ z)

    def _kernel(self, Y: Array, e: Indices, D: Array) -> Array:
        near = WITHIN * np.exp(-0.5 * squared_distances(self.X, Y, self.hyper.lengths))
        k = same_dataset(self.d, e) * near + ACROSS * self.mask[self.d][:, e] * (1.0 - D)
        return np.asarray(k)

    def _cross(self, points: Array) -> Array:
        here = np.zeros(len(points), dtype=int)
        return self._kernel(points, here, apart(self.X, points, self.hyper.axes))

    def extended(self, X_new: Array, z: Array) -> PrintedRegression:
        """With further present trials; z is of all."""
        d = np.append(self.d, np.zeros(len(X_new), dtype=int))
        return PrintedRegression(self.hyper, self.mask, np.vstack([self.X, X_new]), d, z)

    def retold(self, z: Array) -> PrintedRegression:
        """The same trials with other responses."""
        return PrintedRegression(self.hyper, self.mask, self.X, self.d, z)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at coordinates in the present dataset."""
        k = self._cross(points)
        return k.T @ self.alpha, self._deviation(self.F @ k)

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients."""
        k = self._cross(points)
        v = self.F @ k
        sd = self._deviation(v)
        _, D, near = crossed(self.hyper, self.X, self.d, points)
        weights = [self.alpha[:, None], self.F.T @ v]
        strength = self.mask[self.d, 0]
        rising, falling = slopes(self.hyper, self.X, self.d, points, D, near, weights, strength)
        return k.T @ self.alpha, sd, rising, -falling / sd[:, None]

    def _deviation(self, v: Array) -> Array:
        left = WITHIN - np.einsum("ij,ij->j", v, v)
        return np.asarray(np.sqrt(np.maximum(left, SMALLEST_VARIANCE)))
