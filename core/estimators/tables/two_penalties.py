"""Logistic regression under an L1 and an L2 penalty: OWL-QN, which is L-BFGS within an orthant.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p | | | rows, columns |
| K | ``vectors`` | | weight vectors: one for two classes, otherwise one a class |
| W | ``theta[:, :-1]`` | (K, p) | weights |
| b | ``theta[:, -1]`` | (K,) | intercepts, never penalized |
| Z | ``scores`` | (K, n) | W Xᵀ + b |
| ◇F | ``pseudo`` | (K, p + 1) | the steepest of F's one-sided slopes |

F(W, b) = mean log loss + ℓ1 Σ|W| + ½ ℓ2 Σ W². A step is L-BFGS's on the smooth part, started
from ◇F; parts that would climb are dropped, and weights that would change their sign stop at zero
(Andrew and Gao, ICML 2007). With ℓ1 = 0 it is plain L-BFGS. numpy alone, so that an exported script
can hold this file.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.optimize.armijo import backtrack
from core.optimize.two_loop import Pair, last_scale, pair_of, two_loop

_PAIRS = 10
_CURVED = 1e-12  # a share of ‖y‖² that sᵀy must exceed
_SHORTEST = 1e-12


@dataclass(frozen=True)
class L1L2Solution:
    """Where the solver ended."""

    weights: np.ndarray  # (K, p)
    intercepts: np.ndarray  # (K,)
    iterations: int  # that were made
    objective: float  # F there


def minimize(
    X: Any, codes: np.ndarray, classes: int, l1: float, l2: float, max_iter: int, tol: float
) -> L1L2Solution:
    """The weights that minimize F, from a start at zero.

    Args:
        X: dense or CSR, shape (n, p).
        codes: the class of every row, 0 … classes − 1, shape (n,).
        classes: how many there are, at least two.
        l1, l2: the penalties, against the mean loss.
        max_iter: the most iterations.
        tol: it ends where an iteration lowers F by less than this share of F.
    """
    smooth = _Smooth(X, codes, classes, l2)
    point = smooth.point_at(np.zeros(smooth.shape), l1)
    pairs: deque[Pair] = deque(maxlen=_PAIRS)
    iterations = 0
    while iterations < max_iter:
        pseudo = _pseudo_gradient(point.theta, point.gradient, l1)
        next_point = _next_point(smooth, point, pseudo, pairs, l1)
        if next_point is None and pairs:
            # Old curvature misleads where the orthant has changed: begin anew, downhill.
            pairs.clear()
            next_point = _next_point(smooth, point, pseudo, pairs, l1)
        if next_point is None:
            break
        iterations += 1
        s, y = next_point.theta - point.theta, next_point.gradient - point.gradient
        if float(np.vdot(s, y)) > _CURVED * float(np.vdot(y, y)):
            pairs.append(pair_of(s, y))
        last_value, point = point.value, next_point
        if last_value - point.value <= tol * max(abs(last_value), np.finfo(float).tiny):
            break
    return L1L2Solution(
        point.theta[:, :-1].copy(), point.theta[:, -1].copy(), iterations, point.value
    )


@dataclass(frozen=True)
class _SmoothPoint:
    """θ, F there, and the gradient of the smooth part."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


class _Smooth:
    """The smooth part of F and its gradient, with the buffers that every call needs."""

    def __init__(self, X: Any, codes: np.ndarray, classes: int, l2: float) -> None:
        self.X, self.codes, self.l2 = X, codes, l2
        self.vectors = 1 if classes == 2 else classes
        self.shape = (self.vectors, X.shape[1] + 1)
        self.rows = np.arange(X.shape[0])
        self.signs = 2.0 * codes - 1.0

    def point_at(self, theta: np.ndarray, l1: float) -> _SmoothPoint:
        """F and the smooth part's gradient at theta."""
        value, gradient = self(theta)
        return _SmoothPoint(theta, value + l1 * float(np.abs(theta[:, :-1]).sum()), gradient)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean log loss + ½ ℓ2 Σ W² at theta, and its gradient."""
        W, b = theta[:, :-1], theta[:, -1]
        scores = np.ascontiguousarray((self.X @ W.T).T) if _is_sparse(self.X) else W @ self.X.T
        scores += b[:, None]
        loss, residual = (
            self._binary_loss(scores) if self.vectors == 1 else self._softmax_loss(scores)
        )
        residual /= len(self.rows)
        gradient = np.empty(self.shape)
        gradient[:, :-1] = (self.X.T @ residual.T).T if _is_sparse(self.X) else residual @ self.X
        gradient[:, :-1] += self.l2 * W
        gradient[:, -1] = residual.sum(axis=1)
        return loss + 0.5 * self.l2 * float(np.vdot(W, W)), gradient

    def _binary_loss(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        margins = scores[0] * self.signs
        small = np.exp(-np.abs(margins))  # never overflows
        loss = float(np.mean(np.log1p(small) + np.maximum(-margins, 0.0)))
        wrong = np.where(margins > 0, small, 1.0) / (1.0 + small)
        return loss, (-self.signs * wrong)[None, :]

    def _softmax_loss(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        scores -= scores.max(axis=0)
        true_scores = scores[self.codes, self.rows]
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        loss = float(np.mean(np.log(total) - true_scores))
        scores /= total
        scores[self.codes, self.rows] -= 1.0
        return loss, scores


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def _pseudo_gradient(theta: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    if l1 == 0:
        return gradient
    W, slope, pseudo = theta[:, :-1], gradient[:, :-1], gradient.copy()
    at_zero = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0.0)
    pseudo[:, :-1] = np.where(W != 0, slope + l1 * np.sign(W), at_zero)
    return pseudo


def _direction(pseudo: np.ndarray, pairs: deque[Pair], l1: float) -> np.ndarray:
    """−H ◇F, without the parts that would climb."""
    direction = -two_loop(pseudo, pairs, last_scale(pairs))
    if l1 > 0:
        direction[direction * pseudo >= 0] = 0.0
    return direction


def _next_point(
    smooth: _Smooth, point: _SmoothPoint, pseudo: np.ndarray, pairs: deque[Pair], l1: float
) -> _SmoothPoint | None:
    """The point after a step that stays in its orthant; None if none falls."""
    direction = _direction(pseudo, pairs, l1)
    length = float(np.sqrt(np.vdot(direction, direction)))
    if length == 0 or float(np.vdot(pseudo, direction)) >= 0:
        return None
    orthant = np.where(point.theta != 0, np.sign(point.theta), -np.sign(pseudo))
    orthant[:, -1] = 0.0

    def move_along(size: float) -> tuple[np.ndarray, float] | None:
        if size <= _SHORTEST:
            return None
        new = point.theta + size * direction
        if l1 > 0:
            new[:, :-1][new[:, :-1] * orthant[:, :-1] <= 0] = 0.0
        return new, float(np.vdot(pseudo, new - point.theta))

    def evaluate(theta: np.ndarray) -> tuple[float, _SmoothPoint]:
        new_point = smooth.point_at(theta, l1)
        return new_point.value, new_point

    first = 1.0 if pairs else min(1.0, 1.0 / length)
    step = backtrack(move_along, evaluate, point.value, first=first)
    return None if step is None else step[1]
