"""γ_j, the effective number of parameters of every group, and log |H + diag C|.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | | (n, n) | H + diag(c) |
| γ_j | ``parameters`` | (k,) | n_j − C_j tr_j A⁻¹ (MacKay 1992) |
| M = L Lᵀ | ``near`` | (n, n) | a preconditioner near A |
| z | ``signs`` | (r, n) | random signs |

Exact from the Cholesky factor where the Hessian is formed. Otherwise from probes (Hutchinson):
with u = L⁻ᵀz and v = A⁻¹ L z the mean of u ∘ v is the diagonal of A⁻¹, and that of u ∘ u the known
one of M⁻¹; the difference has little variance where M is near A. The Lanczos matrix T of
L⁻¹ A L⁻ᵀ started at z gives log |A| = log |M| + mean of ‖z‖² e₁ᵀ log(T) e₁.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from core.optimize.cholesky import cholesky, inverse_diagonal, log_determinant
from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Newton, dense_majorized, majorized
from core.optimize.preconditioner import Preconditioner
from core.penalties.group_penalty import Grouping

_LANCZOS_STEPS = 100
# Relative residual at which a probe is solved well enough; its quadrature errs by the square.
_CLOSE = 3e-3


@dataclass(frozen=True)
class Effective:
    """What the curvature at a point says.

    Attributes:
        parameters: γ, shape (k,).
        log_determinant: log |A|.
    """

    parameters: np.ndarray
    log_determinant: float


def effective(
    newton: Newton, point: LossAt, C: np.ndarray, grouped: Grouping, signs: np.ndarray
) -> Effective:
    """γ and log |A| at a point.

    Args:
        newton: of the loss.
        point: where.
        C: penalties, shape (k,).
        grouped: the groups.
        signs: random −1 and +1, shape (r, n), for losses whose Hessian is not formed.
    """
    penalties = grouped.per_parameter(C)
    curvatures = point.majorizer_diagonal()
    if curvatures is not None:
        return _in_eigenbasis(newton.loss, curvatures, C, grouped)
    diagonal, logs = _inverse_diagonal(newton, point, penalties, signs)
    gamma = grouped.sizes - C * grouped.sums(diagonal)
    return Effective(np.clip(gamma, 0.0, grouped.sizes), logs)


def _in_eigenbasis(
    loss: Loss, curvatures: np.ndarray, C: np.ndarray, grouped: Grouping
) -> Effective:
    """In the eigenbasis, where γ_j is Σ h/(h + C_j).

    Directions that the examples do not span have no curvature h and no coordinate: they add
    nothing to γ, and log C_j each to log |A|.
    """
    A = curvatures + grouped.per_parameter(C)
    spanned = np.bincount(grouped.groups + 1, minlength=grouped.count + 1)[1:]
    logs = float(np.log(A).sum() + (grouped.sizes - spanned) @ np.log(C))
    return Effective(grouped.sums(curvatures / A), logs + loss.log_determinant_apart)


def _inverse_diagonal(
    newton: Newton, point: LossAt, penalties: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, float]:
    if newton.dense:
        L = cholesky(dense_majorized(newton.loss, point, penalties))
        return inverse_diagonal(L), log_determinant(L)
    return _probed(newton, point, penalties, signs)


def _probed(
    newton: Newton, point: LossAt, penalties: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, float]:
    near = newton.preconditioner(point, penalties)
    # Single precision serves: the probes' own scatter is far larger than its rounding.
    apply = majorized(newton.loss, point, penalties, rough=True)
    diagonal, logarithms = near.inverse_diagonal(), []
    for z in signs:
        solution, logarithm = _lanczos(apply, near, z)
        u = near.upper_inverse(z)
        diagonal = diagonal + u * (near.upper_inverse(solution) - u) / len(signs)
        logarithms.append(logarithm)
    return diagonal, near.log_determinant() + float(np.mean(logarithms))


def _lanczos(
    apply: Callable[[np.ndarray], np.ndarray], near: Preconditioner, z: np.ndarray
) -> tuple[np.ndarray, float]:
    """The x with L⁻¹ A L⁻ᵀ x = z by conjugate gradients, and ‖z‖² e₁ᵀ log(T) e₁ on the way."""
    x, r, d = np.zeros_like(z), z.copy(), z.copy()
    rr = first = float(r @ r)
    steps: list[float] = []
    ratios: list[float] = []
    for _ in range(_LANCZOS_STEPS):
        product = near.lower_inverse(apply(near.upper_inverse(d)))
        curvature = float(d @ product)
        if not curvature > 0.0:
            break
        steps.append(rr / curvature)
        x += steps[-1] * d
        r = r - steps[-1] * product
        rr, last = float(r @ r), rr
        ratios.append(rr / last)
        if rr < _CLOSE**2 * first:
            break
        d = r + ratios[-1] * d
    return x, first * _log_corner(steps, ratios)


def _log_corner(steps: list[float], ratios: list[float]) -> float:
    """e₁ᵀ log(T) e₁ of the Lanczos matrix that conjugate gradients imply (Golub and Meurant).

    0, as for T = 1, where not a single step had positive curvature.
    """
    if not steps:
        return 0.0
    a, b = 1.0 / np.array(steps), np.array(ratios[: len(steps) - 1])
    main = a.copy()
    main[1:] += b * a[:-1]
    values, vectors = eigh_tridiagonal(main, np.sqrt(b) * a[:-1])
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-300)))
