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

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from core.optimize.cholesky import cholesky, inverse_diagonal, log_determinant
from core.optimize.loss import LinearMap, Loss, LossPoint
from core.optimize.newton import Newton, dense_majorized, majorizer_product
from core.optimize.preconditioner import Preconditioner
from core.penalties.group_penalty import Grouping

_LANCZOS_STEPS = 100
# Relative residual at which a probe is solved well enough; its quadrature errs by the square.
_CLOSE = 3e-3


@dataclass(frozen=True)
class EffectiveParameters:
    """γ, shape (k,), and log |A| at a point."""

    parameters: np.ndarray
    log_determinant: float


def effective_parameters(
    newton: Newton,
    point: LossPoint,
    C: np.ndarray,
    grouped: Grouping,
    signs: np.ndarray,
    rounds: int = _LANCZOS_STEPS,
) -> EffectiveParameters:
    """γ and log |A| at a point near the minimizer at C (k,); `rounds`: products a probe at most.

    `signs`: random −1 and +1, shape (r, n), for losses whose Hessian is not formed.
    """
    penalties = grouped.per_parameter(C)
    curvatures = point.majorizer_diagonal()
    if curvatures is not None:
        return _in_eigenbasis(newton.loss, curvatures, C, grouped)
    if newton.dense:
        L = cholesky(dense_majorized(newton.loss, point, penalties))
        diagonal, logs = inverse_diagonal(L), log_determinant(L)
    else:
        diagonal, logs = _probe_diagonal(newton, point, penalties, signs, rounds)
    gamma = grouped.sizes - C * grouped.group_sums(diagonal)
    return EffectiveParameters(np.clip(gamma, 0.0, grouped.sizes), logs)


def _in_eigenbasis(
    loss: Loss, curvatures: np.ndarray, C: np.ndarray, grouped: Grouping
) -> EffectiveParameters:
    """In the eigenbasis, where γ_j is Σ h/(h + C_j)."""
    # Directions that the examples do not span have no curvature h and no coordinate: they add
    # nothing to γ, and log C_j each to log |A|.
    A = curvatures + grouped.per_parameter(C)
    spanned = np.bincount(grouped.groups + 1, minlength=grouped.group_count + 1)[1:]
    logs = float(np.log(A).sum() + (grouped.sizes - spanned) @ np.log(C))
    logs += loss.log_determinant_apart
    return EffectiveParameters(grouped.group_sums(curvatures / A), logs)


def _probe_diagonal(
    newton: Newton, point: LossPoint, penalties: np.ndarray, signs: np.ndarray, rounds: int
) -> tuple[np.ndarray, float]:
    near = newton.preconditioner(point, penalties)
    # Single precision serves: the probes' own scatter is far larger than its rounding.
    product = majorizer_product(newton.loss, point, penalties, rough=True)

    def counted(V: np.ndarray) -> np.ndarray:
        newton.products += len(V)
        return product(V) if newton.loss.takes_several else np.array([product(v) for v in V])

    solutions, logarithms = _lanczos(counted, near, signs, rounds)
    u = near.upper_inverse(signs)
    excess = (u * (near.upper_inverse(solutions) - u)).mean(axis=0)
    logs = near.log_determinant() + float(logarithms.mean())
    return near.inverse_diagonal() + excess, logs


def _lanczos(
    apply: LinearMap, near: Preconditioner, Z: np.ndarray, rounds: int = _LANCZOS_STEPS
) -> tuple[np.ndarray, np.ndarray]:
    """For each row z of (r, n): the x with L⁻¹ A L⁻ᵀ x = z, and ‖z‖² e₁ᵀ log(T) e₁ on the way."""
    # The conjugate gradients of all rows go side by side, so that A is read once for them.
    X, active = np.zeros_like(Z), np.arange(len(Z))
    R, D, first = Z.copy(), Z.copy(), np.einsum("ij,ij->i", Z, Z)
    rr = first
    steps, ratios = ([list[float]() for _ in Z] for _ in range(2))
    for _ in range(rounds):
        products = near.lower_inverse(apply(near.upper_inverse(D)))
        curvatures = np.einsum("ij,ij->i", D, products)
        upward = curvatures > 0.0
        if not upward.all():
            active, R, D, rr = active[upward], R[upward], D[upward], rr[upward]
            products, curvatures = products[upward], curvatures[upward]
        step = rr / curvatures
        X[active] += step[:, None] * D
        R = R - step[:, None] * products
        rr, last = np.einsum("ij,ij->i", R, R), rr
        for k, probe in enumerate(active):
            steps[probe].append(float(step[k]))
            ratios[probe].append(float(rr[k] / last[k]))
        far = rr >= _CLOSE**2 * first[active]
        if not far.any():
            break
        ratio = (rr / last)[far]
        active, R, rr = active[far], R[far], rr[far]
        D = R + ratio[:, None] * D[far]
    return X, first * np.array([_log_corner(*pair) for pair in zip(steps, ratios, strict=True)])


def _log_corner(steps: list[float], ratios: list[float]) -> float:
    """e₁ᵀ log(T) e₁ of the Lanczos matrix that conjugate gradients imply (Golub and Meurant)."""
    if not steps:  # not a single one had positive curvature: as for T = 1
        return 0.0
    a, b = 1.0 / np.array(steps), np.array(ratios[: len(steps) - 1])
    main = a.copy()
    main[1:] += b * a[:-1]
    values, vectors = eigh_tridiagonal(main, np.sqrt(b) * a[:-1])
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-300)))
