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

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.optimize.armijo import backtracked
from core.optimize.two_loop import Pair, last_scale, pair_of, two_loop

_PAIRS = 10
_CURVED = 1e-12  # a share of ‖y‖² that sᵀy must exceed
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
    at = smooth.at(np.zeros(smooth.shape), l1)
    pairs: deque[Pair] = deque(maxlen=_PAIRS)
    iterations = 0
    while iterations < max_iter:
        pseudo = _pseudo_gradient(at.theta, at.gradient, l1)
        after = _step(smooth, at, pseudo, pairs, l1)
        if after is None and pairs:
            # Old curvature misleads where the orthant has changed: begin anew, downhill.
            pairs.clear()
            after = _step(smooth, at, pseudo, pairs, l1)
        if after is None:
            break
        iterations += 1
        s, y = after.theta - at.theta, after.gradient - at.gradient
        if float(np.vdot(s, y)) > _CURVED * float(np.vdot(y, y)):
            pairs.append(pair_of(s, y))
        last, at = at.value, after
        if last - at.value <= tol * max(abs(last), np.finfo(float).tiny):
            break
    return Solution(at.theta[:, :-1].copy(), at.theta[:, -1].copy(), iterations, at.value)


@dataclass(frozen=True)
class _At:
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

    def at(self, theta: np.ndarray, l1: float) -> _At:
        """F and the smooth part's gradient at theta."""
        value, gradient = self(theta)
        return _At(theta, value + l1 * float(np.abs(theta[:, :-1]).sum()), gradient)

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


def _direction(pseudo: np.ndarray, pairs: deque[Pair], l1: float) -> np.ndarray:
    """−H ◇F, without the parts that would climb."""
    direction = -two_loop(pseudo, pairs, last_scale(pairs))
    if l1 > 0:
        direction[direction * pseudo >= 0] = 0.0
    return direction


def _step(
    smooth: _Smooth, at: _At, pseudo: np.ndarray, pairs: deque[Pair], l1: float
) -> _At | None:
    """The point after a step that stays in its orthant; None if none falls."""
    direction = _direction(pseudo, pairs, l1)
    length = float(np.sqrt(np.vdot(direction, direction)))
    if length == 0 or float(np.vdot(pseudo, direction)) >= 0:
        return None
    orthant = np.where(at.theta != 0, np.sign(at.theta), -np.sign(pseudo))
    orthant[:, -1] = 0.0

    def along(size: float) -> tuple[np.ndarray, float] | None:
        if size <= _SHORTEST:
            return None
        new = at.theta + size * direction
        if l1 > 0:
            new[:, :-1][new[:, :-1] * orthant[:, :-1] <= 0] = 0.0
        return new, float(np.vdot(pseudo, new - at.theta))

    def evaluate(theta: np.ndarray) -> tuple[float, _At]:
        there = smooth.at(theta, l1)
        return there.value, there

    first = 1.0 if pairs else min(1.0, 1.0 / length)
    found = backtracked(along, evaluate, at.value, first=first)
    return None if found is None else found[1]
