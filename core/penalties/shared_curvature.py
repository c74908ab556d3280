"""Leave-one-out of rows whose curvatures have one shape, by three factors of their columns.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| z_i, S_i | ``Z`` | (K,), (K, K) | scores of row i, and the Hessian of its loss in them |
| τ_i | ``traces`` | (m,) | trace of S_i |
| S̄ | | (K, K) | Σ S_i / Σ τ_i, with eigenvectors U and eigenvalues σ but that of the gauge |
| c | | (q,) | penalties, the same for each class, 0 for the intercept |
| G | ``gram`` | (q, q) | Σ τ_i x_i x_iᵀ / Σ τ_i |
| h_ik | | (m, K) | variance of x_i's score along U_k: x_iᵀ (σ_k Σ τ_i G + eᵗ diag(c))⁻¹ x_i |

With S_i ≈ τ_i S̄ the Hessian is S̄ ⊗ Σ τ_i x_i x_iᵀ, and three factors of G + s diag(c) serve all
classes and every penalty eᵗ c. Without row i the variance is h / (1 − σ_k τ_i h), and the Newton
step that leaves it out moves its score along U_k by so many times its gradient (Sherman, Morrison).
For two classes this is exact. For more it is exact for rows that are orthogonal; the gradient of
the fit is exact always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.optimize.newton import penalized_product
from core.penalties.class_scores import (
    class_gradients,
    class_losses,
    class_probabilities,
    score_spread,
    score_variances,
)
from core.penalties.leverages import REACH, ColumnInverse
from core.penalties.row_space import ClassLoss, class_count

# Updates of σ, each by so many rows and by so many steps of one unknown each.
_UPDATES, _SHAPE_ROWS, _NEWTON_STEPS = 2, 300, 5
# Probes of the Hessian beside the curvature that is shared: together of so many numbers.
_PROBES, _ENOUGH = 4, 2000
# Of log s, in the reach of the factors: where they are formed anew, and where nothing is predicted.
_FAR, _FARTHEST = 1.0, 1.25
_NULL = 1e-10  # share of the largest σ below which a direction of scores changes nothing


@dataclass(frozen=True)
class SharedCurvature:
    """The leave-one-out loss around a fit as a function of t."""

    columns: ColumnInverse  # of G
    codes: np.ndarray  # classes of the rows that are left out, shape (r,)
    counts: np.ndarray  # how often each counts, shape (r,)
    Z: np.ndarray  # scores at the fit, shape (r, K)
    row_gradients: np.ndarray  # of one copy at most in Z, along U, shape (r, k)
    scale: float  # the number of all rows over those here
    level: float  # the logarithm of the fit's penalties over those of the columns
    total: float  # Σ τ
    U: np.ndarray  # shape (K, k)
    sigma: np.ndarray  # with which rows are left out, shape (k,)
    fit_sigma: np.ndarray  # of the fit, shape (k,)
    gradient: np.ndarray  # of the loss along U, shape (k, q)
    pull: np.ndarray  # c ∘ w likewise
    W: np.ndarray  # the weights of the fit, shape (K, q)

    @property
    def fitted_loss(self) -> float:
        """The loss of the rows as they are at the fit, scaled up to all."""
        losses = class_losses(self.Z, self.codes)
        return float(losses @ self.counts) * self.scale

    def predicted(self, t: float) -> tuple[float, float]:
        """The leave-one-out loss at t, scaled up to all rows, and the spread of the scores."""
        factor, steps = self._moved(t)
        Z, sigma = self._scores(steps), factor * self.sigma
        h = self.variances_without_own(t, sigma)
        # The gradient by the curvature that h supposes: any other would not vanish where h grows.
        g = self.row_gradients + sigma * self.traces[:, None] * ((Z - self.Z) @ self.U)
        losses = class_losses(Z + (g * h) @ self.U.T, self.codes)
        return float(losses @ self.counts) * self.scale, score_spread(Z, self.counts)

    def reaches(self, t: float) -> bool:
        """Whether what is predicted at t is near the truth, if the curvature were as here."""
        log_scale = float(self._log_scales(t, self.fit_sigma).mean())
        return abs(log_scale - self.columns.middle) <= _FARTHEST * REACH

    def weights(self, t: float) -> np.ndarray:
        """Approximately the minimizer at t, shape (n,)."""
        return np.asarray((self.W - self.U @ self._moved(t)[1]).ravel())

    def loss_error(self, loss: ClassLoss, penalties: np.ndarray) -> float:
        """Of which share of itself the loss at t = 0 is in doubt.

        That is the share that leaving out adds, times how far A = H + diag(c) is from a multiple of
        the shared M: the variance of the eigenvalues of M⁻¹ A, relative to their mean's square, as
        random sums of the rows' gradients meet them. One product with the Hessian for each.
        """
        added_share = 1.0 - self.fitted_loss / self.predicted(0.0)[0]
        count = min(_PROBES, -(-_ENOUGH // self.gradient.size))
        columns, sigma = self.columns, np.tile(self.fit_sigma, count)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(count, len(self.codes)))
        G = (signs[:, None] * self.row_gradients.T).reshape(len(sigma), -1)
        B = columns.design.transpose_product(G)
        V = self._solve(columns.solutions(B), 0.0, sigma)
        probes = (self.U @ V.reshape(count, -1, V.shape[1])).reshape(count, -1)
        product = loss.point_at(self.W.ravel()).rough_product()
        products = penalized_product(loss, product, penalties)(probes)
        Y = (self.U.T @ products.reshape(count, *self.W.shape)).reshape(B.shape)
        first, second = (B * V).sum(), (V * Y).sum()
        third = (self._solve(columns.solutions(Y), 0.0, sigma) * Y).sum()
        return added_share * float(first * third / second**2 - 1.0)

    def _moved(self, t: float) -> tuple[float, np.ndarray]:
        """The factor on the Hessian at t, and the steps (k, q) of the step there."""
        if t == 0.0:
            return 1.0, self._steps(t, 1.0)
        counts, traces = self.counts, _traces(class_probabilities(self.Z))
        moved_traces = _traces(class_probabilities(self._scores(self._steps(t, 1.0))))
        factor = min(max(float(counts @ moved_traces) / float(counts @ traces), 0.2), 5.0)
        return factor, self._steps(t, 0.5 * (1.0 + factor))

    def _steps(self, t: float, factor: float) -> np.ndarray:
        slopes, pulls = np.split(self._solutions, 2, axis=1)
        return self._solve(slopes + (math.exp(t) - 1.0) * pulls, t, factor * self.sigma)

    @cached_property
    def _solutions(self) -> np.ndarray:
        return self.columns.solutions(np.vstack((self.gradient + self.pull, self.pull)))

    def _solve(self, solutions: np.ndarray, t: float, sigma: np.ndarray) -> np.ndarray:
        solved = self.columns.solve(solutions, self._log_scales(t, sigma))
        return solved / (self.total * sigma)[:, None]

    def _log_scales(self, t: float, sigma: np.ndarray) -> np.ndarray:
        return t + self.level - np.log(self.total * sigma)

    def _scores(self, steps: np.ndarray) -> np.ndarray:
        design = self.columns.design
        return np.asarray(self.Z - design.scores((self.U @ steps).astype(design.X.dtype)).T)

    @property
    def traces(self) -> np.ndarray:
        """The τ of the rows, as G has them, shape (r,)."""
        # Those of this fit could take more away from G than it holds.
        return self.total * self.columns.own

    def variances_without_own(self, t: float, sigma: np.ndarray) -> np.ndarray:
        """The variances (r, k) of the rows' scores at t where the row itself is left out."""
        return self.columns.leverages(self._log_scales(t, sigma)) / (self.total * sigma)


def shared_curvature(
    loss: ClassLoss, w: np.ndarray, penalties: np.ndarray, columns: ColumnInverse | None = None
) -> SharedCurvature:
    """The model at weights near the minimizer at penalties c (n,), the same for each class.

    columns: of penalties in the same ratio, at weights not far away; None where there are none.
    """
    design, K, counts, level = loss.design, class_count(loss), loss.row_weights, 0.0
    W, point = w.reshape(K, -1), loss.point_at(w)
    Z = design.scores(W).T
    P = class_probabilities(Z)
    traces = _traces(P)
    total = float(counts @ traces)
    sigma, U = _shape(P, counts, total)
    middle = -float(np.log(total * sigma).mean())
    if columns is not None:
        level = math.log(penalties[0] / columns.c[0])
    if columns is None or abs(middle + level - columns.middle) > _FAR * REACH:
        columns = ColumnInverse(loss, traces / total, penalties[: design.width], middle)
        level = 0.0
    rows = columns.rows
    codes, copies = loss.codes[rows], np.minimum(counts[rows], 1.0)
    model = SharedCurvature(
        columns=columns,
        codes=codes,
        counts=counts[rows],
        Z=Z[rows],
        row_gradients=(class_gradients(Z[rows], codes) * copies[:, None]) @ U,
        scale=loss.examples / float(counts[rows].sum()),
        level=level,
        total=total,
        U=U,
        sigma=sigma,
        fit_sigma=sigma,
        gradient=U.T @ point.gradient.reshape(K, -1),
        pull=U.T @ (penalties * w).reshape(K, -1),
        W=W,
    )
    for _ in range(_UPDATES if len(sigma) > 1 else 0):
        model = replace(model, sigma=_equivalent_sigma(model))
    return model


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
    sample = slice(None, None, max(1, len(model.codes) // _SHAPE_ROWS))
    counts, traces, U = model.counts[sample], model.traces[sample], model.U
    h = model.variances_without_own(0.0, model.sigma)[sample]
    # Σ S (I + S Γ)⁻¹ of rows with typical variances Γ.
    typical = (counts * traces) @ h / (counts @ traces)
    S = U.T @ score_variances(model.Z[sample]) @ U
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
