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
from scipy.linalg import solve

from core.gp.kernels import Array, Indices
from core.losses.compiled import compiled

ROUNDS = 100  # Newton steps at most
SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises


@dataclass(frozen=True)
class Rankings:
    """Trials of several datasets to be ranked.

    Attributes:
        X: features, shape (n, q).
        ranks: of y within its dataset, equal scores sharing one, shape (n,).
        starts: where datasets begin, and n, shape (datasets + 1,).
    """

    X: Array
    ranks: Indices
    starts: Indices


def rankings(X: Array, y: Array, starts: Indices) -> Rankings:
    """Trials with scores y (n,), the datasets beginning at `starts` (the last entry is n)."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((y, group))
    y, group = y[order], group[order]
    risen = np.append(False, y[1:] > y[:-1]) & np.append(False, group[1:] == group[:-1])
    climbed = np.cumsum(risen)
    ranks = np.empty(len(y), dtype=np.int64)
    ranks[order] = climbed - climbed[np.asarray(starts)[group]]
    return Rankings(np.ascontiguousarray(X, dtype=float), ranks, np.asarray(starts, dtype=np.int64))


@compiled
def pair_sums(
    s: Array, ranks: Indices, starts: Indices, V: Array
) -> tuple[Array, Array, Array, Array]:
    """|B_i|, Σ_{j ∈ B_i} v_j, |A_i|, Σ_{k ∈ A_i} v_k for all i.

    Args:
        s: latent scores, shape (n,).
        ranks, starts: as in `Rankings`.
        V: what is summed, shape (n, q).

    Returns:
        Arrays of shapes (n,), (n, q), (n,), (n, q).
    """
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
                    at = (T - ranks[j]) if side == 0 else (ranks[j] + 1)
                    while at <= T:
                        counts[at] += 1.0
                        for c in range(q):
                            sums[at, c] += V[j, c]
                        at += at & -at
                    added += 1
                at = (T - 1 - ranks[i]) if side == 0 else ranks[i]
                while at > 0:
                    if side == 0:
                        above_count[i] += counts[at]
                        for c in range(q):
                            above[i, c] += sums[at, c]
                    else:
                        below_count[i] += counts[at]
                        for c in range(q):
                            below[i, c] += sums[at, c]
                    at -= at & -at
    return below_count, below, above_count, above


def value_and_gradient(data: Rankings, w: Array, C: float) -> tuple[float, Array]:
    """The objective and its gradient by w, shape (q,).

    The sum of (1 − s_i + s_j)² over j ∈ B_i is |B_i| (1 − s_i)² + 2 (1 − s_i) Σ s_j + Σ s_j², and
    Σ_i Σ_{j ∈ B_i} s_j² = Σ_j |A_j| s_j².
    """
    s = data.X @ w
    b, bs, a, as_ = pair_sums(s, data.ranks, data.starts, s[:, None])
    bs, as_ = bs[:, 0], as_[:, 0]
    losses = b * (1.0 - s) ** 2 + 2.0 * (1.0 - s) * bs + a * s * s
    by_s = 2.0 * (a * (1.0 + s) - as_ - b * (1.0 - s) - bs)
    return float(0.5 * w @ w + C * losses.sum()), np.asarray(w + C * (data.X.T @ by_s))


def hessian(data: Rankings, w: Array, C: float) -> Array:
    """The generalized Hessian I + 2C Xᵀ M X, shape (q, q).

    (M X)_i = (|A_i| + |B_i|) x_i − Σ_{j ∈ A_i ∪ B_i} x_j.
    """
    X = data.X
    b, below, a, above = pair_sums(X @ w, data.ranks, data.starts, X)
    return np.asarray(np.eye(X.shape[1]) + 2.0 * C * (X.T @ ((a + b)[:, None] * X - below - above)))


def solve_ranking(
    data: Rankings, *, C: float = 1.0, tolerance: float = 1e-3, start: Array | None = None
) -> Array:
    """w* by Newton's method with a line search, shape (q,).

    Args:
        data: what to rank.
        C: weight of the pairs; the paper's is 1.
        tolerance: the gradient's norm at the solution, as a share of that at zero; the paper's is
            1e-3.
        start: where to begin; zero if not given.
    """
    zero = np.zeros(data.X.shape[1])
    enough = tolerance * float(np.linalg.norm(value_and_gradient(data, zero, C)[1]))
    w = zero if start is None else start
    value, gradient = value_and_gradient(data, w, C)
    for _ in range(ROUNDS):
        if np.linalg.norm(gradient) <= enough:
            break
        step = solve(hessian(data, w, C), -gradient, assume_a="pos")
        promised = float(gradient @ step)
        share = 1.0
        while True:
            there, gradient_there = value_and_gradient(data, w + share * step, C)
            if there <= value + SUFFICIENT * share * promised or share < 1e-8:
                break
            share *= 0.5
        if share < 1e-8:  # rounding: no further decrease can be seen
            break
        w, value, gradient = w + share * step, there, gradient_there
    return w
