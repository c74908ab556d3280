"""A linear ranking support vector machine on pairs within datasets, without forming the pairs.

    w* = argmin ½‖w‖² + C Σ max(0, 1 − (s_i − s_j))²

over all pairs of one dataset with y_i > y_j (Joachims 2002; the hinge squared, which makes the
objective differentiable and the solution unique).

Notation:
    X       features, the trials of a dataset in consecutive rows, shape (n, q)
    y       scores, larger is better; only their order within a dataset counts
    s       Xw, the latent scores, shape (n,)
    B_i     {j : y_j < y_i, s_j > s_i − 1}: what i should be above and is not by 1
    A_i     {k : y_k > y_i, s_k < s_i + 1}: what i should be below and is not by 1 (i ∈ B_k)

Sums over B_i and A_i for all i take O(T log T) a dataset of T trials: with trials ordered by s both
sets grow along a pointer, and a Fenwick tree over the ranks of y sums what lies below or above (as
Lee & Lin 2014, §4, do with order-statistic trees).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array, Indices
from core.losses.compiled import compiled
from core.optimize.descent import newton_step
from core.optimize.loss import HessianCosts, Loss, LossPoint
from core.optimize.newton import Newton

ROUNDS = 100  # Newton steps at most


@dataclass(frozen=True)
class RankedTrials:
    """Trials of several datasets to be ranked."""

    X: Array  # features, shape (n, q)
    ranks: Indices  # of y within its dataset, equal scores sharing one, shape (n,)
    starts: Indices  # where datasets begin, and n, shape (datasets + 1,)


def ranked_trials(X: Array, y: Array, starts: Indices) -> RankedTrials:
    """Trials with scores y (n,), the datasets beginning at `starts` (the last entry is n)."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((y, group))
    y, group = y[order], group[order]
    risen = np.append(False, y[1:] > y[:-1]) & np.append(False, group[1:] == group[:-1])
    climbed = np.cumsum(risen)
    ranks = np.empty(len(y), dtype=np.int64)
    ranks[order] = climbed - climbed[np.asarray(starts)[group]]
    X = np.ascontiguousarray(X, dtype=float)
    return RankedTrials(X, ranks, np.asarray(starts, dtype=np.int64))


@compiled
def pair_sums(
    s: Array, ranks: Indices, starts: Indices, V: Array
) -> tuple[Array, Array, Array, Array]:
    """|B_i|, Σ_{j ∈ B_i} v_j, |A_i|, Σ_{k ∈ A_i} v_k for all i, by scores s (n,) and V (n, q)."""
    n, q = V.shape
    below_count, above_count = np.zeros(n), np.zeros(n)
    below, above = np.zeros((n, q)), np.zeros((n, q))
    for g in range(len(starts) - 1):
        a, T = starts[g], starts[g + 1] - starts[g]
        order = np.argsort(s[a : a + T])
        for side in range(2):
            counts, sums = np.zeros(T + 1), np.zeros((T + 1, q))
            added = 0
            for t in range(T):
                # A: by rising s, ranks counted from above; B: by falling s, ranks from below.
                i = a + (order[t] if side == 0 else order[T - 1 - t])
                while added < T:
                    j = a + (order[added] if side == 0 else order[T - 1 - added])
                    if (side == 0 and s[j] >= s[i] + 1.0) or (side == 1 and s[j] <= s[i] - 1.0):
                        break
                    node = (T - ranks[j]) if side == 0 else (ranks[j] + 1)
                    while node <= T:
                        counts[node] += 1.0
                        for c in range(q):
                            sums[node, c] += V[j, c]
                        node += node & -node
                    added += 1
                node = (T - 1 - ranks[i]) if side == 0 else ranks[i]
                while node > 0:
                    if side == 0:
                        above_count[i] += counts[node]
                        for c in range(q):
                            above[i, c] += sums[node, c]
                    else:
                        below_count[i] += counts[node]
                        for c in range(q):
                            below[i, c] += sums[node, c]
                    node -= node & -node
    return below_count, below, above_count, above


class RankingLoss(Loss):
    """C Σ max(0, 1 − (s_i − s_j))² over the pairs."""

    def __init__(self, data: RankedTrials, C: float = 1.0) -> None:
        self.data, self.C = data, C
        self.examples, self.size = data.X.shape
        # A product costs what the Hessian does: no way leads around the sums over pairs.
        dense = float(self.examples) * self.size**2
        self.hessian_costs = HessianCosts(dense, dense)

    def _point_at(self, w: np.ndarray) -> RankingAt:
        return RankingAt(self, w)


class RankingAt(LossPoint):
    """The loss at w, its gradient and its generalized Hessian.

    The sum of (1 − s_i + s_j)² over j ∈ B_i is |B_i| (1 − s_i)² + 2 (1 − s_i) Σ s_j + Σ s_j², and
    Σ_i Σ_{j ∈ B_i} s_j² = Σ_j |A_j| s_j².
    """

    def __init__(self, loss: RankingLoss, w: np.ndarray) -> None:
        self._data, self._C = loss.data, loss.C
        self._s = s = loss.data.X @ w
        b, bs, a, as_ = pair_sums(s, loss.data.ranks, loss.data.starts, s[:, None])
        bs, as_ = bs[:, 0], as_[:, 0]
        losses = b * (1.0 - s) ** 2 + 2.0 * (1.0 - s) * bs + a * s * s
        slope = 2.0 * (a * (1.0 + s) - as_ - b * (1.0 - s) - bs)  # along the scores s
        gradient = np.asarray(loss.C * (loss.data.X.T @ slope))
        super().__init__(w, float(loss.C * losses.sum()), gradient)

    def product(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.dense_hessian() @ v)

    def dense_hessian(self) -> np.ndarray:
        # 2C Xᵀ M X with (M X)_i = (|A_i| + |B_i|) x_i − Σ_{j ∈ A_i ∪ B_i} x_j.
        X = self._data.X
        b, below, a, above = pair_sums(self._s, self._data.ranks, self._data.starts, X)
        return np.asarray(2.0 * self._C * (X.T @ ((a + b)[:, None] * X - below - above)))


def solve_ranking(
    data: RankedTrials, *, C: float = 1.0, tolerance: float = 1e-3, start: Array | None = None
) -> Array:
    """w* by Newton's method, shape (q,), from `start` or zeros; the paper has C = 1.

    `tolerance`: the gradient's norm at w* as a share of that at zero; the paper's is 1e-3.
    """
    loss = RankingLoss(data, C)
    newton, ones = Newton(loss), np.ones(loss.size)
    enough = tolerance * float(np.linalg.norm(loss.point_at(loss.initial_weights()).gradient))
    point = loss.point_at(loss.initial_weights() if start is None else start)
    for _ in range(ROUNDS):
        if np.linalg.norm(point.gradient + point.w) <= enough:
            break
        reached = newton_step(newton, point, ones).point
        if reached is None:  # rounding: no further decrease can be seen
            break
        point = reached
    return point.w
