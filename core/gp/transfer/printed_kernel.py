"""The kernel of neighbouring datasets as Yogatama & Mann (2014, §3.4) print it, for comparison.

    k(i, j) = 0.3 [d_i = d_j] exp(−½ Σ Δ²/ℓ²) + 0.7 m(d_i, d_j) (1 − ‖Δ‖/√p)

with the printed mask m(d, e) = 1 where e is among the nearest datasets of d, 0 elsewhere (so also
within a dataset). It is not symmetric: here it is replaced by its symmetric part, (m + mᵀ)/2. The
kernel matrix then has negative eigenvalues: they are clipped to zero, and their eigenvectors left
out of the covariances with other points, which otherwise they would swamp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array, Indices, Slopes, squared_distances
from core.gp.regression import ApproximatePosterior
from core.gp.transfer.kernel import (
    ACROSS,
    WITHIN,
    MultiDatasetKernel,
    point_distances,
    same_dataset,
    slopes_of,
    within_dataset_kernel,
)


def printed_mask(statistics: Array, members: Indices, neighbours: int) -> Array:
    """The symmetric part of the printed mask between datasets `members` (k,), shape (k, k).

    `statistics` (datasets, 3): standardized, of all datasets, whose `neighbours` are counted.
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


@dataclass(frozen=True)
class PrintedKernel(MultiDatasetKernel):
    """The kernel above."""

    mask: Array  # between datasets, its first row the present one's, shape (k, k)

    @property
    def prior_variance(self) -> float:
        """k(x, x), without the noise."""
        return WITHIN

    def noiseless(self, X: Array, Y: Array) -> Array:
        """k(X, Y), shape (n, m)."""
        mask = self.mask[X[:, -1].astype(int)][:, Y[:, -1].astype(int)]
        k = same_dataset(X, Y) * within_dataset_kernel(self, X, Y)
        return np.asarray(k + ACROSS * mask * (1.0 - point_distances(X, Y, self.axes)))

    def covariance(self, X: Array) -> Array:
        """k(X, X) + σ² I, shape (n, n)."""
        return np.asfortranarray(self.noiseless(X, X) + self.noise * np.eye(len(X)))

    def cross_covariance(self, X: Array, points: Array) -> Array:
        """k(X, points), shape (n, m)."""
        return self.noiseless(X, points)

    def cross_and_slopes(self, X: Array, points: Array) -> tuple[Array, Slopes]:
        """The same for points of the present dataset, and its slopes by their coordinates."""
        D = np.sqrt(squared_distances(X[:, :-1], points[:, :-1], np.ones(X.shape[1] - 1)))
        near = within_dataset_kernel(self, X[X[:, -1] == 0], points)
        strength = self.mask[X[:, -1].astype(int), 0]
        return self.cross_covariance(X, points), slopes_of(self, X, points, D, near, strength)


class PrintedRegression(ApproximatePosterior[PrintedKernel]):
    """The posterior with clipped eigenvalues, X (n, width + 1), n ≥ 1; n³ flops for every point."""

    def __init__(self, kernel: PrintedKernel, X: Array, z: Array) -> None:
        eigenvalues, E = np.linalg.eigh(kernel.noiseless(X, X))
        positive = eigenvalues > 0.0
        F = E[:, positive].T / np.sqrt(eigenvalues[positive] + kernel.noise)[:, None]
        super().__init__(kernel, X, z, F.T @ (F @ z), F)

    def extended(self, X_new: Array, z: Array) -> PrintedRegression:
        """With further trials; z is of all."""
        return PrintedRegression(self.kernel, np.vstack([self.X, X_new]), z)
