"""Newton steps on loss(w) + ½ Σ c_i w_i²: Cholesky where small, conjugate gradients where large.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| c | ``penalties`` | (n,) | a penalty for every parameter, 0 for an unpenalized one |
| g | ``slope`` | (n,) | the gradient of what is minimized |
| A | | (n, n) | H + diag(c); H the Hessian of the loss, or of a quadratic above a concave one |
| U, D | ``Bends`` | (n, r), (r,) | the exact Hessian of what is minimized is A − U diag(D) Uᵀ |
| M | ``precondition`` | | an easily inverted likeness of A |
| s | ``direction`` | (n,) | −(A − U D Uᵀ)⁻¹ g, or −A⁻¹ g where that is no descent |

The low-rank bends are what a penalty or a noise variance that moves with w takes away from the
curvature; with them a step sees where C will move to, and the last steps converge quadratically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from core.losses.loss import Loss
from core.penalties.curvature_memory import CurvatureMemory
from core.penalties.preconditioner import (
    Preconditioner,
    block_likeness,
    cholesky,
    diagonal_likeness,
)

# Beyond this many parameters conjugate gradients take Cholesky's place, and below it where they
# are likely to cost less: so many products a step, each with an overhead worth so many
# multiplications, and so much slower than those of a matrix product.
_LARGEST_DENSE = 2000
_PRODUCTS = 15
_OVERHEAD = 3e6
_SLOWNESS = 2.5
# With the inverse wanted for traces or implicit gradients the alternative is so many times dearer.
_TRACE_FACTOR = 5
# The share of the curvature along one direction that bends may take away.
_MOST_BEND = 0.95


@dataclass(frozen=True)
class Point:
    """Parameters with the loss's value and gradient there."""

    w: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class Bends:
    """U (n, r) and D (r,) of the curvature U diag(D) Uᵀ that is taken away."""

    U: np.ndarray
    D: np.ndarray


def point_at(loss: Loss, w: np.ndarray) -> Point:
    """The point at w."""
    value, gradient = loss.value_and_gradient(w)
    return Point(w, value, gradient)


class Newton:
    """Newton directions for one loss; keeps what it learned of the curvature from step to step.

    Args:
        loss: what to minimize, beside a quadratic penalty.
        traces: whether the inverse will be wanted for more than steps.
    """

    def __init__(self, loss: Loss, traces: bool = False) -> None:
        self.loss = loss
        self.dense = is_dense(loss, traces)
        # Losses that say so are far from quadratic, and no diagonal is like their Hessian.
        winding = getattr(loss, "winding", False) and not self.dense
        self.memory = CurvatureMemory(loss.size) if winding else None
        self._blocks: np.ndarray | None = None
        self._blocks_value = math.inf

    def direction(
        self,
        point: Point,
        slope: np.ndarray,
        penalties: np.ndarray,
        bends: Bends | None = None,
        forcing: float = 0.1,
        enough: float = 0.0,
    ) -> tuple[np.ndarray, int]:
        """The step −(A − U D Uᵀ)⁻¹ g and the inner iterations it took.

        Args:
            point: where.
            slope: g, shape (n,).
            penalties: c, shape (n,).
            bends: the low-rank part; left out of the step where the rest is not convex.
            forcing: relative accuracy of conjugate gradients.
            enough: they stop, too, when less than this can be gained by going on.
        """
        if self.dense:
            return _bent(self.factor(point, penalties), slope, bends), 1
        precondition = self.likeness(point, penalties)
        apply = self.remembered(
            curvature(self.loss, point.w, penalties, rough=forcing >= 1e-4), penalties
        )
        if bends is not None:
            U, D = bends.U, bends.D
            bent, taken = conjugate_gradients(
                lambda v: apply(v) - U @ (D * (U.T @ v)), -slope, precondition, forcing, enough
            )
            if bent is not None:
                return bent, taken
        straight, taken = conjugate_gradients(apply, -slope, precondition, forcing, enough)
        return (-precondition(slope) if straight is None else straight), taken

    def factor(self, point: Point, penalties: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The inverse of A at a point as a function of right-hand sides, (n,) or (n, r)."""
        diagonal = getattr(self.loss, "majorizer_diagonal", None)
        if diagonal is not None:
            inverse = 1.0 / (diagonal(point.w) + penalties)
            return lambda b: (inverse * b.T).T
        factor = cholesky(dense_curvature(self.loss, point.w, penalties))
        return lambda b: lapack.dpotrs(factor, b, lower=1)[0]

    def likeness(self, point: Point, penalties: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The product with a likeness of A⁻¹ at a point, for conjugate gradients."""
        if self.memory:
            return self.memory.solver(penalties)
        return self.preconditioner(point, penalties).solve

    def remembered(
        self, apply: Callable[[np.ndarray], np.ndarray], penalties: np.ndarray
    ) -> Callable[[np.ndarray], np.ndarray]:
        """The same product with A, each one kept as a pair where there is a memory."""
        memory = self.memory
        if memory is None:
            return apply

        def applied(v: np.ndarray) -> np.ndarray:
            product = apply(v)
            memory.add(v.copy(), product - penalties * v)
            return product

        return applied

    def preconditioner(self, point: Point, penalties: np.ndarray) -> Preconditioner:
        """M near A at a point: blocks from some of the examples, or the diagonal."""
        blocks = getattr(self.loss, "hessian_blocks", None)
        width = self.loss.design.width if blocks else 0  # type: ignore[attr-defined]
        if blocks is None or width > _LARGEST_DENSE:
            return diagonal_likeness(self.loss, point.w, penalties)
        # The blocks of an earlier step serve until the loss has halved.
        if self._blocks is None or point.value < 0.5 * self._blocks_value:
            rows = max(20 * width, 1000)
            self._blocks = blocks(point.w, max(1, self.loss.examples // rows))
            self._blocks_value = point.value
        return block_likeness(self._blocks, penalties)


def is_dense(loss: Loss, traces: bool = False) -> bool:
    """Whether a loss's Hessian is better formed than multiplied with."""
    if hasattr(loss, "majorizer_diagonal"):
        return True
    cost = getattr(loss, "dense_cost", None)
    if cost is None:
        return loss.size <= _LARGEST_DENSE and loss.hessian(loss.start()) is not None
    if loss.size > _LARGEST_DENSE:
        return False
    product = _SLOWNESS * loss.product_cost + _OVERHEAD  # type: ignore[attr-defined]
    products = _PRODUCTS * (_TRACE_FACTOR if traces else 1)
    return bool(cost + loss.size**3 / 3 <= products * product)


def curvature(
    loss: Loss, w: np.ndarray, penalties: np.ndarray, rough: bool = False
) -> Callable[[np.ndarray], np.ndarray]:
    """The product with A = H + diag(c) at w, definite as in `dense_curvature`.

    ``rough`` takes single precision where the loss offers it.
    """
    product = _product_at(loss, w, rough)
    gauge = getattr(loss, "gauge", None)

    def apply(v: np.ndarray) -> np.ndarray:
        out = product(v) + penalties * v
        if gauge is not None:
            out[gauge] += loss.examples / len(gauge) ** 2 * v[gauge].sum()
        return out

    return apply


def _product_at(loss: Loss, w: np.ndarray, rough: bool) -> Callable[[np.ndarray], np.ndarray]:
    rough_product = getattr(loss, "rough_product", None)
    if rough and rough_product is not None:
        return rough_product(w)
    product = getattr(loss, "majorizer_product", loss.hessian_product)
    return lambda v: product(w, v)


def dense_curvature(loss: Loss, w: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """A = H + diag(c) at w, shape (n, n), made definite along directions that change nothing."""
    A = np.array(getattr(loss, "majorizer", loss.hessian)(w))
    A.flat[:: len(A) + 1] += penalties
    gauge = getattr(loss, "gauge", None)
    if gauge is not None:
        # The gradient has no part along the gauge, so that any curvature there serves.
        A[np.ix_(gauge, gauge)] += loss.examples / len(gauge) ** 2
    return A


def _bent(
    solve: Callable[[np.ndarray], np.ndarray], slope: np.ndarray, bends: Bends | None
) -> np.ndarray:
    """−(A − U D Uᵀ)⁻¹ g by Woodbury's identity, or −A⁻¹ g where the bends take too much."""
    if bends is None:
        return -solve(slope)
    scaled = bends.U * np.sqrt(bends.D)
    both = solve(np.column_stack((scaled, -slope)))
    inner, straight = scaled.T @ both[:, :-1], both[:, -1]
    shares, vectors = np.linalg.eigh(inner)
    if not shares[-1] < _MOST_BEND:
        return straight
    part = vectors @ ((vectors.T @ (scaled.T @ straight)) / (1.0 - shares))
    return straight + both[:, :-1] @ part


def conjugate_gradients(
    apply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    accuracy: float,
    enough: float = 0.0,
    start: np.ndarray | None = None,
    most: int = 250,
) -> tuple[np.ndarray | None, int]:
    """The x with A x = b; stops when ‖r‖ in the preconditioner's norm has fallen so far.

    Returns:
        x and the iterations; None instead of x where a direction of no positive curvature shows
        before anything was gained.
    """
    x = np.zeros_like(b) if start is None else start.copy()
    r = b.copy() if start is None else b - apply(x)
    z = precondition(r)
    first = float(b @ precondition(b)) if start is not None else float(r @ z)
    d, rz = z.copy(), float(r @ z)
    for iteration in range(1, most + 1):
        if rz <= max(accuracy**2 * first, 2.0 * enough):
            return x, iteration - 1
        Ad = apply(d)
        bend = float(d @ Ad)
        if not bend > 0.0:
            return None, iteration
        step = rz / bend
        x += step * d
        r -= step * Ad
        z = precondition(r)
        rz, last = float(r @ z), rz
        d = z + (rz / last) * d
    return x, most
