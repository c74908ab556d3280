"""The exact marginal likelihood of a linear model: its value and slope, and its global maximum.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| X, y | | (m, p), (m,) | columns and target, centred if there is an intercept |
| ρ_j | ``ridge`` | (k,) | σ² C_j, the ridge penalties; D = diag(ρ_π(i)) |
| K | | (m, m) | I + X D⁻¹ Xᵀ, of which |K| = |XᵀX + D| / |D| |
| Q | ``quadratic`` | | yᵀ K⁻¹ y = R + Σ ρ_j ‖w_j‖² at the minimizer w = D⁻¹ Xᵀ K⁻¹ y |
| d | ``freedom`` | | m, less one for an intercept with a flat prior |
| γ_j | ``parameters`` | (k,) | Σ_{i in j} x_iᵀ K⁻¹ x_i / ρ_j = n_j − ρ_j tr_j (XᵀX + D)⁻¹ |
| λ, c | ``values``, ``projected`` | (r,) | eigenvalues of XᵀX, and Vᵀ Xᵀ y / √λ |

With w_j ~ N(0, I/C_j) and noise N(0, σ² I), −log p(y | C, σ²) = ½ d log σ² + ½ Q/σ² + ½ log |K|
up to a constant (MacKay 1992, section 4): directions that the examples do not span have no part in
it. At given ρ the best σ² is Q/d, or its floor where that is higher; there the slope along log ρ_j
is ½ (C_j ‖w_j‖² − γ_j). With one penalty everything is a sum over λ, and a search over the one
number ρ finds the maximum, wherever updates of C and σ² in turns would have ended.

`diagonalized` takes a linear model with one penalty there, where every step of a learner is
diagonal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas, solve_triangular
from scipy.optimize import minimize_scalar

from core.losses.linear.eigenbasis_loss import EigenbasisLoss
from core.losses.linear.linear_loss import LinearLoss
from core.losses.linear.logistic_loss import LogisticLoss
from core.optimize.cholesky import cholesky, inverse_diagonal, log_determinant, solve_factored
from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping
from core.penalties.row_space import spanned_problem

WeightMap = Callable[[np.ndarray], np.ndarray]  # from weights in the eigenbasis to parameters

# Matrices beyond this are not decomposed: it would cost more than it saves.
_LARGEST = 2000
# Beyond so many, conjugate gradients on the columns take less time than factors of the rows.
_FEW_ROWS = 500


def diagonalized(
    loss: Loss, grouped: Grouping, only_wide: bool = False
) -> tuple[Loss, Grouping, WeightMap]:
    """The loss and grouping in the eigenbasis, and the way back for parameters.

    Of a linear model with one group, or as they are; of two classes in the span of few rows. n_j
    still counts all coefficients. `only_wide`: for a few steps, that is a linear model of a wide
    table alone: a decomposition costs some 25 factors.
    """
    if grouped.group_count > 1:
        return loss, grouped, lambda w: w
    if isinstance(loss, LogisticLoss) and loss.examples <= _FEW_ROWS and not only_wide:
        space = spanned_problem(loss, grouped.per_parameter(np.ones(1)))
        groups = np.where(space.penalties > 0.0, 0, -1)
        return space.loss, Grouping(groups, grouped.sizes), space.parameters_of
    if not isinstance(loss, LinearLoss):
        return loss, grouped, lambda w: w
    columns, rows = loss.design.column_count, loss.design.row_count
    size = columns if loss.design.is_sparse else min(columns, rows)
    if size > _LARGEST or (only_wide and _by_columns(loss)):
        return loss, grouped, lambda w: w
    inner = EigenbasisLoss(loss)
    within = Grouping(np.zeros(inner.size, dtype=np.intp), grouped.sizes)
    return inner, within, inner.coefficients_of


# One ρ is searched from this share of the least eigenvalue to this multiple of the largest.
_LOWEST, _HIGHEST = 1e-6, 1e8
# Points a factor of e of ρ: the evidence varies no faster than λ/(λ + ρ) does.
_DENSITY = 2
# Entries of the centred columns that are kept beside K.
_MAX_ENTRIES = 20_000_000


@dataclass(frozen=True)
class MarginalLikelihood:
    """The likelihood at penalties ρ, and what the same factor gives."""

    value: float  # −log p up to a constant
    slope: np.ndarray  # along log ρ, shape (k,)
    variance: float  # σ²
    w: np.ndarray  # shape (p,), or (r,) in the eigenbasis
    parameters: np.ndarray  # γ, shape (k,)
    log_determinant: float  # log |K|


def best_single(loss: EigenbasisLoss) -> tuple[float, MarginalLikelihood]:
    """The ρ of the global maximum with one penalty, in O(r) for each of some hundred ρ."""
    low = math.log(_LOWEST * float(loss.values.min()))
    high = math.log(_HIGHEST * float(loss.values.max()))
    grid = np.linspace(low, high, _DENSITY * math.ceil(high - low) + 1)
    best = int(np.argmin(_single_values(loss, np.exp(grid))))
    log_ridge = float(grid[best])
    if 0 < best < len(grid) - 1:
        around = float(grid[best - 1]), float(grid[best + 1])
        options = {"xatol": 1e-7}
        log_ridge = minimize_scalar(
            lambda x: float(_single_values(loss, np.exp([x]))[0]), None, around, options=options
        ).x
    return math.exp(log_ridge), single_marginal(loss, math.exp(log_ridge))


def single_marginal(loss: EigenbasisLoss, ridge: float) -> MarginalLikelihood:
    """The marginal likelihood with one penalty."""
    shrinkage = ridge / (loss.values + ridge)
    quadratic = loss.min_rss + float(loss.projected**2 @ shrinkage)
    w = np.sqrt(loss.values) * loss.projected / (loss.values + ridge)
    gamma = np.array([float((1.0 - shrinkage).sum())])
    logs = float(np.log1p(loss.values / ridge).sum())
    variance, value = _best_noise(loss, quadratic, logs)
    slope = 0.5 * (ridge * float(w @ w) / variance - gamma)
    return MarginalLikelihood(value, slope, variance, w, gamma, logs)


def _single_values(loss: EigenbasisLoss, ridges: np.ndarray) -> np.ndarray:
    """The value that `single_marginal` has at every ρ, shape (ridges,)."""
    ratios = loss.values / ridges[:, None]
    quadratic = loss.min_rss + (1.0 / (1.0 + ratios)) @ loss.projected**2
    return _best_noise(loss, quadratic, np.log1p(ratios).sum(axis=1))[1]


class GroupedMarginal:
    """The marginal likelihood of a linear model with a group and penalty for every column.

    O(p³) for each ρ from XᵀX, or O(m² p) from X where the examples are fewer.
    """

    def __init__(self, loss: LinearLoss, grouped: Grouping) -> None:
        self.loss, self.grouped = loss, grouped
        p = loss.design.column_count
        self._of_column = grouped.groups[:p]
        self._X: np.ndarray | None = None
        if not _by_columns(loss):
            X, self._y = loss.centred()
            self._X = np.asfortranarray(X)

    @staticmethod
    def can_serve(loss: LinearLoss, grouped: Grouping) -> bool:
        """Whether the loss is small enough, and no column is without a penalty."""
        rows, columns = loss.design.row_count, loss.design.column_count
        small = _by_columns(loss) or (rows <= _LARGEST and rows * columns <= _MAX_ENTRIES)
        return small and bool((grouped.groups[:columns] >= 0).all())

    def __call__(self, ridge: np.ndarray) -> MarginalLikelihood:
        """At ρ, shape (k,)."""
        of_column = ridge[self._of_column]
        solution = self._from_gram(of_column) if self._X is None else self._from_rows(of_column)
        w, determined, quadratic, logs = solution
        variance, value = _best_noise(self.loss, quadratic, logs)
        gamma = self._group_sums(determined)
        slope = 0.5 * (ridge * self._group_sums(w * w) / variance - gamma)
        return MarginalLikelihood(value, slope, variance, w, gamma, logs)

    def _group_sums(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._of_column, weights=values, minlength=self.grouped.group_count)

    def _from_gram(self, of_column: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """From w, each column's part of γ, Q and log |K|, by the factor of XᵀX + D."""
        G, b = self.loss.normal_equations()
        A = G.copy()
        A.flat[:: len(A) + 1] += of_column
        L = cholesky(A)
        w = solve_factored(L, b)
        determined = 1.0 - of_column * inverse_diagonal(L)
        residual = b - G @ w
        rss = max(self.loss.total - float((b + residual) @ w), 0.0)
        logs = log_determinant(L) - float(np.log(of_column).sum())
        return w, np.clip(determined, 0.0, 1.0), rss + float(of_column @ (w * w)), logs

    def _from_rows(self, of_column: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """The same by the factor of K."""
        assert self._X is not None
        X = self._X
        scaled = X / np.sqrt(of_column)
        K = blas.dsyrk(1.0, scaled, lower=1)
        K.flat[:: len(K) + 1] += 1.0
        L = cholesky(K)
        whitened_y = solve_triangular(L, self._y, lower=True)
        V = solve_triangular(L, scaled, lower=True, overwrite_b=True)
        w = (V.T @ whitened_y) / np.sqrt(of_column)
        return w, np.einsum("ij,ij->j", V, V), float(whitened_y @ whitened_y), log_determinant(L)


def _by_columns(loss: LinearLoss) -> bool:
    return loss.has_gram and (loss.design.column_count <= loss.design.row_count)


def _best_noise(loss: LinearLoss | EigenbasisLoss, quadratic: Any, logs: Any) -> tuple[Any, Any]:
    """The best σ², and −log p there, at one ρ or at each of several; `logs` is log |K|."""
    freedom = max(loss.examples - int(loss.has_intercept), 1)
    variance = np.maximum(quadratic / freedom, loss.noise.floor / loss.examples)
    return variance, 0.5 * (freedom * np.log(variance) + quadratic / variance + logs)
