"""The kernel of neighbouring datasets (Yogatama & Mann 2014, §3.4), made positive definite.

    k(i, j) = 0.3 [d_i = d_j] exp(−½ Σ (x_i − x_j)²/ℓ²) + 0.7 (c − ‖x_i − x_j‖/√p)

Notation:
    X       coordinates x of the points of all datasets, and in the last column d, which dataset a
            point belongs to, 0 for the present one, shape (n, width + 1)
    p       the number of axes, √p the diameter of the coordinates
    D       ‖x_i − x_j‖/√p, shape (n, n)
    c       the constant: the paper has 1

As printed, the second kernel is 1 − ‖Δ‖/B where x_j belongs to a neighbouring dataset and 0 where
it does not, which is neither symmetric nor positive definite; here it joins all points of the
present dataset and its neighbours. Even 1 − D is not positive definite for every set of points
from p = 6 on, but −D is conditionally so (aᵀDa ≤ 0 where Σa = 0: Schoenberg 1938), and therefore
c 11ᵀ − D is positive semidefinite from some c on. With distances r_i to an anchor (the first point)
and B_ij = r_i + r_j − D_ij, which is positive semidefinite, that is c ≥ rᵀB⁻¹r: the Schur
complement of the anchor in c 11ᵀ − D is B − rrᵀ/c. c stays at 1 wherever that is enough, and is
the next power of 1.1 elsewhere.

`PrintedKernel` is the kernel with the printed mask m(d, e), 1 where e is among the nearest datasets
of d and 0 elsewhere (so also within a dataset), for comparison: its symmetric part (m + mᵀ)/2.
That matrix has negative eigenvalues: they are clipped to zero, and their eigenvectors left out of
the covariances with other points, which otherwise they would swamp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist

from core.gp.kernels import Array, Indices, Kernel, Slopes, gathered, squared_distances
from core.gp.regression import ApproximatePosterior
from core.optimize.cholesky import extend_factor, factorize, solve_lower

WITHIN, ACROSS = 0.3, 0.7  # the paper's weights
RIDGE = 1e-9  # added to B, where points coincide; far below the smallest noise
STEP = 1.1  # c grows by this factor, so that it seldom does
_COINCIDENT = 1e-7  # distances below which the slope of ‖x − y‖ is taken as zero


@dataclass(frozen=True)
class MultiDatasetKernel(Kernel):
    """A kernel over coordinates and datasets."""

    lengths: Array  # ℓ, shape (width,)
    noise: float  # σ², of the standardized responses
    axes: int  # p

    def length_scales(self) -> Array:
        return self.lengths

    def noisier(self, jitter: float) -> Self:
        return replace(self, noise=self.noise + jitter)


@dataclass(frozen=True)
class NeighbourKernel(MultiDatasetKernel):
    """The kernel above, for any points of the datasets and points of the present one."""

    constant: float = 1.0  # c; `reaching` raises it where points need more
    anchor: AnchoredFactor | None = field(default=None, repr=False, compare=False)

    @property
    def prior_variance(self) -> float:
        return WITHIN + ACROSS * self.constant

    def covariance(self, X: Array) -> Array:
        s = squared_distances(X[:, :-1], X[:, :-1], self.lengths)
        s = 0.5 * (s + s.T)  # equal points at short lengths: rounding differs by the order
        np.fill_diagonal(s, 0.0)
        K = WITHIN * same_dataset(X, X) * np.exp(-0.5 * s)
        K += ACROSS * (self.constant - point_distances(X, X, self.axes))
        K[np.diag_indices_from(K)] += self.noise
        return np.asfortranarray(K)

    def cross_covariance(self, X: Array, points: Array) -> Array:
        return self._crossed(X, points)[0]

    def cross_and_slopes(self, X: Array, points: Array) -> tuple[Array, Slopes]:
        k, D, near = self._crossed(X, points)
        return k, slopes_of(self, X, points, D, near)

    def _crossed(self, X: Array, points: Array) -> tuple[Array, Array, Array]:
        """k(X, points), ‖x − y‖ (both (n, m)), and the first kernel at the present's rows."""
        D = np.sqrt(squared_distances(X[:, :-1], points[:, :-1], np.ones(X.shape[1] - 1)))
        k = D * (-ACROSS / math.sqrt(self.axes))
        k += ACROSS * self.constant
        present = np.flatnonzero(X[:, -1] == 0)
        near = within_dataset_kernel(self, X[present], points)
        k[present] += near
        return k, D, near

    def reaching(self, X: Array) -> NeighbourKernel:
        """With a constant that is large enough for points whose first ones were reached before."""
        anchor = extend_anchor(self.anchor, X, self.axes)
        return replace(self, constant=max(self.constant, anchor.constant), anchor=anchor)


def point_distances(X: Array, Y: Array, axes: int) -> Array:
    """D between two sets of points, shape (n, m); zero exactly where they coincide."""
    return np.asarray(cdist(X[:, :-1], Y[:, :-1])) / math.sqrt(axes)


def same_dataset(X: Array, Y: Array) -> Array:
    """Whether points belong to the same dataset, as numbers, shape (n, m)."""
    return (X[:, -1:] == Y[None, :, -1]).astype(float)


def within_dataset_kernel(kernel: MultiDatasetKernel, X: Array, points: Array) -> Array:
    """The first kernel within a dataset, shape (n, m)."""
    s = squared_distances(X[:, :-1], points[:, :-1], kernel.lengths)
    return WITHIN * np.exp(-0.5 * s)


def slopes_of(
    kernel: MultiDatasetKernel,
    X: Array,
    points: Array,
    D: Array,
    near: Array,
    strength: Array | None = None,
) -> Slopes:
    """The slopes by the coordinates of points y of the present dataset.

    ∂(−‖y − x‖)/∂y = −(y − x)/‖y − x‖, taken as zero where they coincide. X (n, width + 1), points
    (m, width + 1); D: ‖x − y‖, shape (n, m); `near`: the first kernel at the rows of the present
    dataset; `strength`: of the second kernel at every row of X, shape (n,), None for 1.
    """
    x, y, present = X[:, :-1], points[:, :-1], np.flatnonzero(X[:, -1] == 0)
    rate = -ACROSS / math.sqrt(kernel.axes)
    pull = np.where(D > _COINCIDENT, rate / np.maximum(D, _COINCIDENT), 0.0)
    if strength is not None:
        pull *= strength[:, None]

    def weighted_slopes(weights: Array) -> Array:
        slope = gathered(pull * weights, x, y)
        slope -= gathered(near * weights[present], x[present], y) / kernel.lengths**2
        return slope

    return weighted_slopes


@dataclass(frozen=True)
class AnchoredFactor:
    """The factor L of B (with the ridge) and w = L⁻¹r, from which the needed c is read."""

    X: Array  # coordinates, shape (n, width), the anchor first
    L: Array  # lower Cholesky factor of B + ridge, shape (n, n)
    w: Array  # shape (n,); a further point adds one entry, so that c never falls

    @property
    def constant(self) -> float:
        """The smallest c of 1, 1.1, 1.1² … with which c 11ᵀ − D is positive semidefinite."""
        needed = float(self.w @ self.w)
        # What is a power of 1.1 but for rounding must not become the next one.
        return 1.0 if needed <= 1.0 else STEP ** math.ceil(math.log(needed, STEP) - 1e-9)


def extend_anchor(anchor: AnchoredFactor | None, X: Array, axes: int) -> AnchoredFactor:
    """B's factor over points (n, width + 1), n ≥ 1, extended (m n² flops) from the first ones'."""
    x = X[:, :-1]
    r = point_distances(X, X[:1], axes)[:, 0]
    n = 0 if anchor is None else len(anchor.X)
    # The factor can only grow: other first points need another one.
    if anchor is None or n > len(x) or not np.array_equal(anchor.X, x[:n]):
        L = factorize(_centred(x, x, r, r, axes, RIDGE))
        return AnchoredFactor(x, L, solve_lower(L, r))
    if n == len(x):
        return anchor
    side = _centred(x[:n], x[n:], r[:n], r[n:], axes, 0.0)
    corner = _centred(x[n:], x[n:], r[n:], r[n:], axes, RIDGE)
    L = extend_factor(anchor.L, side, corner)
    w = solve_lower(np.asfortranarray(L[n:, n:]), r[n:] - L[n:, :n] @ anchor.w)
    return AnchoredFactor(x, L, np.concatenate([anchor.w, w]))


def _centred(X: Array, Y: Array, r: Array, q: Array, axes: int, ridge: float) -> Array:
    B = r[:, None] + q[None, :] - np.asarray(cdist(X, Y)) / math.sqrt(axes)
    if ridge:
        B[np.diag_indices_from(B)] += ridge
    return np.asfortranarray(B)


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
        return WITHIN

    def cross_covariance(self, X: Array, points: Array) -> Array:
        mask = self.mask[X[:, -1].astype(int)][:, points[:, -1].astype(int)]
        k = same_dataset(X, points) * within_dataset_kernel(self, X, points)
        return np.asarray(k + ACROSS * mask * (1.0 - point_distances(X, points, self.axes)))

    def covariance(self, X: Array) -> Array:
        return np.asfortranarray(self.cross_covariance(X, X) + self.noise * np.eye(len(X)))

    def cross_and_slopes(self, X: Array, points: Array) -> tuple[Array, Slopes]:
        D = np.sqrt(squared_distances(X[:, :-1], points[:, :-1], np.ones(X.shape[1] - 1)))
        near = within_dataset_kernel(self, X[X[:, -1] == 0], points)
        strength = self.mask[X[:, -1].astype(int), 0]
        return self.cross_covariance(X, points), slopes_of(self, X, points, D, near, strength)


class PrintedRegression(ApproximatePosterior[PrintedKernel]):
    """The posterior with clipped eigenvalues, X (n, width + 1), n ≥ 1; n³ flops for every point."""

    def __init__(self, kernel: PrintedKernel, X: Array, z: Array) -> None:
        eigenvalues, E = np.linalg.eigh(kernel.cross_covariance(X, X))
        positive = eigenvalues > 0.0
        F = E[:, positive].T / np.sqrt(eigenvalues[positive] + kernel.noise)[:, None]
        super().__init__(kernel, X, z, F.T @ (F @ z), F)

    def extended(self, X_new: Array, z: Array) -> PrintedRegression:
        """With further trials; z is of all."""
        return PrintedRegression(self.kernel, np.vstack([self.X, X_new]), z)
