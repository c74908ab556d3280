"""The kernel of neighbouring datasets (Yogatama & Mann 2014, §3.4), made positive definite.

    k(i, j) = 0.3 [d_i = d_j] exp(−½ Σ (x_i − x_j)²/ℓ²) + 0.7 (c − ‖x_i − x_j‖/√p)

Notation:
    X       coordinates of the points of all datasets, shape (n, width)
    d       which dataset a point belongs to, 0 for the present one, shape (n,)
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
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from core.gp.kernels import Array, Indices, squared_distances
from core.gp.regression import factorize, solve_lower

WITHIN, ACROSS = 0.3, 0.7  # the paper's weights
RIDGE = 1e-9  # added to B, where points coincide; far below the smallest noise
STEP = 1.1  # c grows by this factor, so that it seldom does


@dataclass(frozen=True)
class Neighbourhood:
    """What the marginal likelihood and the points decide.

    Attributes:
        lengths: ℓ, shape (width,).
        noise: σ², of the standardized responses.
        axes: p.
        constant: c.
    """

    lengths: Array
    noise: float
    axes: int
    constant: float = 1.0

    @property
    def prior(self) -> float:
        """k(x, x), without the noise."""
        return WITHIN + ACROSS * self.constant


def apart(X: Array, Y: Array, axes: int) -> Array:
    """D between two sets of coordinates, shape (n, m); zero exactly where they coincide."""
    return np.asarray(cdist(X, Y)) / math.sqrt(axes)


def same_dataset(d: Indices, e: Indices) -> Array:
    """Whether points belong to the same dataset, as numbers, shape (n, m)."""
    return (d[:, None] == e[None, :]).astype(float)


def covariance(hyper: Neighbourhood, X: Array, d: Indices, D: Array | None = None) -> Array:
    """k(X, X) + σ² I, shape (n, n)."""
    s = squared_distances(X, X, hyper.lengths)
    np.fill_diagonal(s, 0.0)
    D = apart(X, X, hyper.axes) if D is None else D
    K = WITHIN * same_dataset(d, d) * np.exp(-0.5 * s) + ACROSS * (hyper.constant - D)
    K[np.diag_indices_from(K)] += hyper.noise
    return np.asfortranarray(K)


def cross_covariance(hyper: Neighbourhood, X: Array, d: Indices, Y: Array) -> Array:
    """k(X, Y) for coordinates Y in the present dataset, shape (n, m)."""
    return crossed(hyper, X, d, Y)[0]


def crossed(hyper: Neighbourhood, X: Array, d: Indices, Y: Array) -> tuple[Array, Array, Array]:
    """k(X, Y), ‖x − y‖ (both of shape (n, m)), and the first kernel at the present's rows."""
    D = np.sqrt(squared_distances(X, Y, np.ones(X.shape[1])))
    k = D * (-ACROSS / math.sqrt(hyper.axes))
    k += ACROSS * hyper.constant
    here = np.flatnonzero(d == 0)
    near = WITHIN * np.exp(-0.5 * squared_distances(X[here], Y, hyper.lengths))
    k[here] += near
    return k, D, near


def slopes(
    hyper: Neighbourhood,
    X: Array,
    d: Indices,
    Y: Array,
    D: Array,
    near: Array,
    weights: list[Array],
    strength: Array | None = None,
) -> list[Array]:
    """Σ_i w_ij ∂k(x_i, y_j)/∂y_j for every weight matrix (n, m), each of shape (m, width).

    ∂(−‖y − x‖)/∂y = −(y − x)/‖y − x‖, taken as zero where they coincide.

    Args:
        hyper, X, d: as for `cross_covariance`.
        Y: coordinates in the present dataset, shape (m, width).
        D, near: distances and the first kernel, as `crossed` gives them.
        weights: the w, each of shape (n, m) or (n, 1).
        strength: of the second kernel at every row of X, shape (n,); 1 if not given.
    """
    pull = np.where(D > 1e-7, -ACROSS / math.sqrt(hyper.axes) / np.maximum(D, 1e-7), 0.0)
    if strength is not None:
        pull *= strength[:, None]
    here = np.flatnonzero(d == 0)
    found = []
    for w in weights:
        slope = _gathered(pull * w, X, Y)
        slope -= _gathered(near * w[here], X[here], Y) / hyper.lengths**2
        found.append(slope)
    return found


def _gathered(weights: Array, X: Array, Y: Array) -> Array:
    """Σ_i w_ij (y_j − x_i), shape (m, width), without the (n, m, width) differences."""
    return np.asarray(Y * weights.sum(axis=0)[:, None] - weights.T @ X)


@dataclass(frozen=True)
class Anchored:
    """The factor L of B (with the ridge) and w = L⁻¹r, from which the needed c is read.

    Attributes:
        X: coordinates, shape (n, width), the anchor first.
        L: lower Cholesky factor of B + ridge, shape (n, n).
        w: shape (n,); every further point adds one entry, so that the needed c never falls.
    """

    X: Array
    L: Array
    w: Array

    @property
    def constant(self) -> float:
        """The smallest c of 1, 1.1, 1.1² … with which c 11ᵀ − D is positive semidefinite."""
        needed = float(self.w @ self.w)
        return 1.0 if needed <= 1.0 else STEP ** math.ceil(math.log(needed, STEP) - 1e-9)


def anchored(X: Array, axes: int) -> Anchored:
    """B's factor over points of shape (n, width), n ≥ 1; n³/3 flops."""
    r = apart(X, X[:1], axes)[:, 0]
    L = factorize(_centred(X, X, r, r, axes, RIDGE))
    return Anchored(X, L, solve_lower(L, r))


def anchored_further(known: Anchored, X_new: Array, axes: int) -> Anchored:
    """B's factor with m more points, extended in m n² flops."""
    n = len(known.X)
    r = apart(np.vstack([known.X, X_new]), known.X[:1], axes)[:, 0]
    side = _centred(known.X, X_new, r[:n], r[n:], axes, 0.0)
    corner = _centred(X_new, X_new, r[n:], r[n:], axes, RIDGE)
    L = extended_factor(known.L, side, corner)
    w_new = solve_lower(np.asfortranarray(L[n:, n:]), r[n:] - L[n:, :n] @ known.w)
    return Anchored(np.vstack([known.X, X_new]), L, np.concatenate([known.w, w_new]))


def _centred(X: Array, Y: Array, r: Array, q: Array, axes: int, ridge: float) -> Array:
    B = r[:, None] + q[None, :] - apart(X, Y, axes)
    if ridge:
        B[np.diag_indices_from(B)] += ridge
    return np.asfortranarray(B)


def extended_factor(L: Array, side: Array, corner: Array) -> Array:
    """The Cholesky factor of [[LLᵀ, S], [Sᵀ, C]]: shapes (n, n), (n, m), (m, m); m n² flops.

    Raises:
        numpy.linalg.LinAlgError: the matrix is not positive definite.
    """
    n, m = side.shape
    cross = solve_lower(L, np.asfortranarray(side))
    grown = np.zeros((n + m, n + m), order="F")
    grown[:n, :n] = L
    grown[n:, :n] = cross.T
    grown[n:, n:] = factorize(np.asfortranarray(corner - cross.T @ cross))
    return grown
