"""Leave-one-out of rows whose curvatures have one shape, in the eigenbasis of their columns.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| z_i, S_i | ``Z`` | (K,), (K, K) | scores of row i, and the Hessian of its loss in them |
| τ_i | ``traces`` | (m,) | trace of S_i |
| S̄ | | (K, K) | Σ S_i / Σ τ_i, with eigenvectors U and eigenvalues σ but that of the gauge |
| c | | (p,) | penalties, the same for each class |
| μ | ``means`` | (p,) | means of the columns, weighted by τ; 0 without an intercept |
| E, λ | ``E``, ``spectrum`` | (p, p), (p,) | of Σ τ_i (x_i − μ)(x_i − μ)ᵀ / √(c cᵀ) |
| r_i | ``R`` | (p,) | Eᵀ (x_i − μ) / √c |
| h_ik | | (m, K) | variance of x_i's score along U_k: Σ_j r_ij² / (σ_k λ_j + eᵗ) |

With S_i ≈ τ_i S̄ the Hessian is S̄ ⊗ Σ τ_i x_i x_iᵀ, and one decomposition of p columns serves all
classes and every penalty eᵗ c. Without row i the variance is h / (1 − σ_k τ_i h), and the Newton
step that leaves it out moves its score along U_k by so many times its gradient (Sherman, Morrison).
For two classes this is exact. For more it is exact for rows that are orthogonal; the gradient of
the fit is exact always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from core.losses.linear.design import DesignMatrix
from core.penalties.class_scores import (
    class_gradients,
    class_losses,
    class_probabilities,
    row_counts,
    score_spread,
    score_variances,
)
from core.penalties.row_space import ClassLoss, class_count

# Entries of the coordinates of the rows that are left out, the most of these rows, the fewest.
_ENTRIES, _ENOUGH_ROWS, _MIN_ROWS = 1 << 20, 3000, 500
# Updates of σ, each by so many rows and by so many steps of one unknown each.
_UPDATES, _SHAPE_ROWS, _NEWTON_STEPS = 2, 300, 5
_NULL = 1e-10  # share of the largest σ below which a direction of scores changes nothing


@dataclass(frozen=True)
class ColumnBasis:
    """The eigenbasis of the columns at penalties c, and the rows that are left out in it."""

    penalties: np.ndarray  # c, shape (p,)
    columns: np.ndarray  # E / √c, shape (p, p)
    means: np.ndarray  # shape (p,)
    spectrum: np.ndarray  # λ / Σ τ, shape (p,)
    rows: slice  # which rows are left out
    R: np.ndarray  # their coordinates, shape (r, p)
    squares: np.ndarray  # R ∘ R


@dataclass(frozen=True)
class RowStates:
    """The rows that are left out, as they are at the fit."""

    codes: np.ndarray  # classes, shape (r,)
    counts: np.ndarray  # how often each counts, shape (r,)
    Z: np.ndarray  # scores, shape (r, K)
    gradients: np.ndarray  # of one copy at most in Z, shape (r, K)
    traces: np.ndarray  # τ likewise, shape (r,)
    scale: float  # the number of all rows over those here


@dataclass(frozen=True)
class SharedCurvature:
    """The leave-one-out loss around a fit as a function of t."""

    basis: ColumnBasis
    rows: RowStates
    level: float  # the logarithm of the fit's penalties over those of the basis
    total: float  # Σ τ
    U: np.ndarray  # shape (K, k)
    sigma: np.ndarray  # shape (k,)
    gradient: np.ndarray  # of the loss along U and the basis, shape (k, p)
    pull: np.ndarray  # c ∘ w likewise
    drift: np.ndarray  # the gradient of the intercepts along U over Σ τ, shape (k,)
    W: np.ndarray  # the weights of the fit, shape (K, q)

    def predicted(self, t: float) -> tuple[float, float]:
        """The leave-one-out loss at t, scaled up to all rows, and the spread of the scores."""
        factor, coordinates = self._moved(t)
        Z = self._scores(coordinates, factor[0])
        return self._left_out_loss(Z, t, factor[1]), score_spread(Z, self.rows.counts)

    def weights(self, t: float) -> np.ndarray:
        """Approximately the minimizer at t, shape (n,)."""
        (factor, _), coordinates = self._moved(t)
        step = self.U @ coordinates @ self.basis.columns.T
        W = self.W.copy()
        W[:, : step.shape[1]] -= step
        if W.shape[1] > step.shape[1]:
            W[:, -1] -= self.U @ (self.drift / (factor * self.sigma)) - step @ self.basis.means
        return W.ravel()

    def _moved(self, t: float) -> tuple[tuple[float, float], np.ndarray]:
        """Factors on the Hessian, of the step to t and there, and the step's coordinates (k, p)."""
        if t == 0.0:
            return (1.0, 1.0), self._coordinates(t, 1.0)
        counts, traces = self.rows.counts, _traces(class_probabilities(self.rows.Z))
        there = _traces(class_probabilities(self._scores(self._coordinates(t, 1.0), 1.0)))
        factor = min(max(float(counts @ there) / float(counts @ traces), 0.2), 5.0)
        middle = 0.5 * (1.0 + factor)
        return (middle, factor), self._coordinates(t, middle)

    def _coordinates(self, t: float, factor: float) -> np.ndarray:
        return (self.gradient + math.exp(t + self.level) * self.pull) * self._variances(
            t, factor * self.sigma
        )

    def _variances(self, t: float, sigma: np.ndarray) -> np.ndarray:
        return 1.0 / (np.outer(self.total * sigma, self.basis.spectrum) + math.exp(t + self.level))

    def _scores(self, coordinates: np.ndarray, factor: float) -> np.ndarray:
        moves = self.basis.R @ coordinates.T + self.drift / (factor * self.sigma)
        return np.asarray(self.rows.Z - moves @ self.U.T)

    def variances_without_own(
        self, squares: np.ndarray, traces: np.ndarray, t: float, sigma: np.ndarray
    ) -> np.ndarray:
        """The variances (r, k) of rows' scores at t where the row itself is left out."""
        h = squares @ self._variances(t, sigma).T
        if self.W.shape[1] > squares.shape[1]:
            h += 1.0 / (self.total * sigma)
        return np.asarray(h / np.maximum(1.0 - sigma * traces[:, None] * h, 1e-6))

    def _left_out_loss(self, Z: np.ndarray, t: float, factor: float) -> float:
        rows, sigma = self.rows, factor * self.sigma
        h = self.variances_without_own(self.basis.squares, rows.traces, t, sigma)
        # The gradient by the curvature that h supposes: any other would not vanish where h grows.
        g = rows.gradients @ self.U + sigma * rows.traces[:, None] * ((Z - rows.Z) @ self.U)
        losses = class_losses(Z + (g * h) @ self.U.T, rows.codes)
        return float(losses @ rows.counts) * rows.scale


def shared_curvature(
    loss: ClassLoss, w: np.ndarray, penalties: np.ndarray, basis: ColumnBasis | None = None
) -> SharedCurvature:
    """The model at weights near the minimizer at penalties c (n,), the same for each class.

    basis: of penalties in the same ratio, at weights not far away; None where there is none yet.
    """
    design, K, counts = loss.design, class_count(loss), row_counts(loss)
    p, W, point = design.column_count, w.reshape(K, -1), loss.point_at(w)
    Z = design.scores(W).T
    P = class_probabilities(Z)
    traces = _traces(P)
    total = float(counts @ traces)
    if basis is None:
        basis = _column_basis(design, counts * traces, total, penalties[:p])
    sigma, U = _shape(P, counts, total)
    slope = U.T @ point.gradient.reshape(K, -1)
    drift = slope[:, -1] / total if design.intercept else np.zeros(len(sigma))
    model = SharedCurvature(
        basis=basis,
        rows=_row_states(loss, Z[basis.rows], basis.rows),
        level=math.log(penalties[0] / basis.penalties[0]),
        total=total,
        U=U,
        sigma=sigma,
        gradient=(slope[:, :p] - np.outer(drift * total, basis.means)) @ basis.columns,
        pull=(U.T @ (W[:, :p] * basis.penalties)) @ basis.columns,
        drift=drift,
        W=W,
    )
    for _ in range(_UPDATES if len(sigma) > 1 else 0):
        model = replace(model, sigma=_equivalent_sigma(model))
    return model


def _column_basis(
    design: DesignMatrix, weights: np.ndarray, total: float, c: np.ndarray
) -> ColumnBasis:
    """The basis with rows weighted by τ, shape (m,), at penalties c (p,)."""
    m, p, roots = design.row_count, design.column_count, np.sqrt(c)
    gram = design.weighted_gram(weights / total)
    means = gram[-1, :p] if design.intercept else np.zeros(p)
    centred = gram[:p, :p] - np.outer(means, means)
    spectrum, E = np.linalg.eigh(centred / np.outer(roots, roots))
    columns = E / roots[:, None]
    max_rows = min(_ENOUGH_ROWS, max(_ENTRIES // p, _MIN_ROWS))
    rows = slice(None, None, max(1, -(-m // max_rows)))
    R = np.asarray(design.X[rows] @ columns) - means @ columns
    return ColumnBasis(c, columns, means, np.maximum(spectrum, 0.0), rows, R, R * R)


def _row_states(loss: ClassLoss, Z: np.ndarray, rows: slice) -> RowStates:
    codes, counts = loss.codes[rows], row_counts(loss)[rows]
    copies = np.minimum(counts, 1.0)
    return RowStates(
        codes,
        counts,
        Z,
        gradients=class_gradients(Z, codes) * copies[:, None],
        traces=copies * _traces(class_probabilities(Z)),
        scale=loss.examples / float(counts.sum()),
    )


def _shape(P: np.ndarray, counts: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """σ and U, of probabilities (m, K)."""
    if P.shape[1] == 1:
        return np.ones(1), np.ones((1, 1))
    weighted = P * counts[:, None]
    sigma, U = np.linalg.eigh((np.diag(weighted.sum(axis=0)) - P.T @ weighted) / total)
    is_seen = sigma > _NULL * sigma[-1]
    return sigma[is_seen], U[:, is_seen]


def _equivalent_sigma(model: SharedCurvature) -> np.ndarray:
    """The σ with which rows of curvatures τ_i σ take away as much variance as their S_i do."""
    rows, U = model.rows, model.U
    few = slice(None, None, max(1, len(rows.codes) // _SHAPE_ROWS))
    counts, traces = rows.counts[few], rows.traces[few]
    h = model.variances_without_own(model.basis.squares[few], traces, 0.0, model.sigma)
    # Σ S (I + S Γ)⁻¹ of rows with typical variances Γ.
    typical = (counts * traces) @ h / (counts @ traces)
    S = U.T @ score_variances(rows.Z[few]) @ U
    removed = np.linalg.solve(np.eye(len(typical)) + S * typical, S)
    goal = counts @ np.einsum("ikk->ik", removed)
    sigma = model.sigma
    for _ in range(_NEWTON_STEPS):
        growth = 1.0 + np.outer(traces, sigma * typical)
        excess = (counts * traces) @ (sigma / growth) - goal
        sigma = np.maximum(sigma - excess / ((counts * traces) @ growth**-2), 0.1 * sigma)
    return sigma


def _traces(P: np.ndarray) -> np.ndarray:
    return np.asarray((P * (1.0 - P)).sum(axis=1))
