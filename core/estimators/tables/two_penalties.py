"""Logistic regression under an L1 and an L2 penalty: OWL-QN, which is L-BFGS within an orthant.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p | | | rows, columns |
| K | ``vectors`` | | weight vectors: one for two classes, otherwise one a class |
| W | ``theta[:, :-1]`` | (K, p) | weights |
| b | ``theta[:, -1]`` | (K,) | intercepts, never penalized |
| Z | ``scores`` | (K, n) | W Xᵀ + b |
| ◇F | ``pseudo`` | (K, p + 1) | the steepest of F's one-sided slopes |

F(W, b) = mean log loss + ℓ1 Σ|W| + ½ ℓ2 Σ W². A step is L-BFGS's on the smooth part (Nocedal and
Wright 2006, algorithm 7.4), started from ◇F; parts that would climb are dropped, and weights that
would change their sign stop at zero (Andrew and Gao, ICML 2007). With ℓ1 = 0 it is plain L-BFGS.
numpy alone, so that an exported script can hold this file.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

_PAIRS = 10
_ENOUGH = 1e-4  # Armijo: the share of the promised decrease that must come
_SHORTEST = 1e-12


@dataclass(frozen=True)
class Solution:
    """Where the solver ended.

    Attributes:
        weights: shape (K, p). intercepts: shape (K,).
        iterations: that were made.
        objective: F there.
    """

    weights: np.ndarray
    intercepts: np.ndarray
    iterations: int
    objective: float


def minimize(
    X: Any, codes: np.ndarray, classes: int, l1: float, l2: float, max_iter: int, tol: float
) -> Solution:
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
    theta = np.zeros(smooth.shape)
    value, gradient = smooth(theta)
    memory: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_PAIRS)
    iterations = 0
    while iterations < max_iter:
        pseudo = _pseudo_gradient(theta, gradient, l1)
        found = _step(smooth, theta, value, pseudo, _direction(pseudo, memory, l1), l1, memory)
        if found is None and memory:
            # Old curvature misleads where the orthant has changed: begin anew, downhill.
            memory.clear()
            found = _step(smooth, theta, value, pseudo, -pseudo, l1, memory)
        if found is None:
            break
        iterations += 1
        new_theta, new_value, new_gradient = found
        s, y = new_theta - theta, new_gradient - gradient
        curvature = float(np.vdot(s, y))
        if curvature > 1e-12 * float(np.vdot(y, y)):
            memory.append((s, y, curvature))
        fell = value - new_value
        theta, value, gradient = new_theta, new_value, new_gradient
        if fell <= tol * max(abs(value), np.finfo(float).tiny):
            break
    return Solution(theta[:, :-1].copy(), theta[:, -1].copy(), iterations, value)


class _Smooth:
    """The smooth part of F and its gradient, with the buffers that every call needs."""

    def __init__(self, X: Any, codes: np.ndarray, classes: int, l2: float) -> None:
        self.X, self.codes, self.l2 = X, codes, l2
        self.vectors = 1 if classes == 2 else classes
        self.shape = (self.vectors, X.shape[1] + 1)
        self.rows = np.arange(X.shape[0])
        self.signs = 2.0 * codes - 1.0

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean log loss + ½ ℓ2 Σ W² at theta, and its gradient."""
        W, b = theta[:, :-1], theta[:, -1]
        scores = np.ascontiguousarray((self.X @ W.T).T) if _sparse(self.X) else W @ self.X.T
        scores += b[:, None]
        loss, residual = self._binary(scores) if self.vectors == 1 else self._softmax(scores)
        residual /= len(self.rows)
        gradient = np.empty(self.shape)
        gradient[:, :-1] = (self.X.T @ residual.T).T if _sparse(self.X) else residual @ self.X
        gradient[:, :-1] += self.l2 * W
        gradient[:, -1] = residual.sum(axis=1)
        return loss + 0.5 * self.l2 * float(np.vdot(W, W)), gradient

    def _binary(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        margins = scores[0] * self.signs
        small = np.exp(-np.abs(margins))  # never overflows
        loss = float(np.mean(np.log1p(small) + np.maximum(-margins, 0.0)))
        wrong = np.where(margins > 0, small, 1.0) / (1.0 + small)
        return loss, (-self.signs * wrong)[None, :]

    def _softmax(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        scores -= scores.max(axis=0)
        own = scores[self.codes, self.rows]
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        loss = float(np.mean(np.log(total) - own))
        scores /= total
        scores[self.codes, self.rows] -= 1.0
        return loss, scores


def _sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def _pseudo_gradient(theta: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    if l1 == 0:
        return gradient
    W, slope, pseudo = theta[:, :-1], gradient[:, :-1], gradient.copy()
    at_zero = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0.0)
    pseudo[:, :-1] = np.where(W != 0, slope + l1 * np.sign(W), at_zero)
    return pseudo


def _direction(
    pseudo: np.ndarray, memory: deque[tuple[np.ndarray, np.ndarray, float]], l1: float
) -> np.ndarray:
    """−H ◇F, without the parts that would climb."""
    d, shares = -pseudo, []
    for s, y, curvature in reversed(memory):
        share = float(np.vdot(s, d)) / curvature
        shares.append(share)
        d = d - share * y
    if memory:
        _, y, curvature = memory[-1]
        d *= curvature / float(np.vdot(y, y))
    for (s, y, curvature), share in zip(memory, reversed(shares), strict=True):
        d += (share - float(np.vdot(y, d)) / curvature) * s
    if l1 > 0:
        d[d * pseudo >= 0] = 0.0
    return d


def _step(
    smooth: _Smooth,
    theta: np.ndarray,
    value: float,
    pseudo: np.ndarray,
    direction: np.ndarray,
    l1: float,
    memory: deque[tuple[np.ndarray, np.ndarray, float]],
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """(θ, F, gradient of the smooth part) after a step along a direction; None if none falls."""
    length = float(np.sqrt(np.vdot(direction, direction)))
    if length == 0 or float(np.vdot(pseudo, direction)) >= 0:
        return None
    orthant = np.where(theta != 0, np.sign(theta), -np.sign(pseudo))
    orthant[:, -1] = 0.0
    step = 1.0 if memory else min(1.0, 1.0 / length)
    while step > _SHORTEST:
        new = theta + step * direction
        if l1 > 0:
            new[:, :-1][new[:, :-1] * orthant[:, :-1] <= 0] = 0.0
        new_value, gradient = smooth(new)
        new_value += l1 * float(np.abs(new[:, :-1]).sum())
        promised = float(np.vdot(pseudo, new - theta))
        if new_value <= value + _ENOUGH * promised and promised < 0:
            return new, new_value, gradient
        step *= 0.5
    return None
