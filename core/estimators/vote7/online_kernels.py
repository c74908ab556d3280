"""Online kernel learners: a polynomial support vector machine and additive intersection kernels.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m | | | rows of the pool that the support vector machine draws from |
| V | ``vectors`` | | score functions: one for two classes, otherwise one a class |
| α | ``dual`` | (V, m) | f_v(x) = Σ_i α_vi k(x_i, x) |
| B | ``bins`` | | pieces of every column's function; its knots are 0, 1/B, …, 1 |
| h | ``H`` | (V, p, B + 1) | values of every column's function at its knots |
"""

from __future__ import annotations

import numpy as np

from core.estimators.vote7.online import margin_of
from core.losses.compiled import compiled

_FADED = 1e-100


@compiled
def kernel_machine(
    gram: np.ndarray, codes: np.ndarray, vectors: int, picks: np.ndarray, decay: float, l2: float
) -> np.ndarray:
    """Stochastic subgradient steps on mean hinge loss + ½ ℓ2 ‖f‖², the penalty taken implicitly.

    Step t has length η = 1 / (λ t): f ← (f + η × mean of the batch's subgradients) / (1 + η ℓ2).
    With ℓ2 = λ that is Pegasos with its mini-batches (Shalev-Shwartz 2007), and for any other ℓ2
    it is as stable. f on the pool is kept up to date, so that a look costs no kernel.

    Args:
        gram: k(x_i, x_j) of the pool, shape (m, m).
        codes: its classes, shape (m,).
        picks: the rows of every batch, shape (steps, batch).
        decay: λ.
        l2: the penalty.

    Returns:
        α, shape (V, m).
    """
    m, batch = len(codes), picks.shape[1]
    dual, f = np.zeros((vectors, m)), np.zeros((vectors, m))
    scale = 1.0  # of dual and f, so that the penalty costs one multiplication
    scores = np.zeros(vectors)
    rivals = np.zeros(batch, dtype=np.int64)
    short = np.zeros(batch, dtype=np.bool_)
    for t in range(picks.shape[0]):
        step = 1.0 / (decay * (t + 1))
        for j in range(batch):
            i = picks[t, j]
            for v in range(vectors):
                scores[v] = f[v, i]
            margin, rivals[j] = margin_of(scores, codes[i])
            short[j] = scale * margin < 1.0
        for j in range(batch):
            if short[j]:
                i, change = picks[t, j], step / batch / scale
                if rivals[j] < 0:
                    change *= 2.0 * codes[i] - 1.0
                    dual[0, i] += change
                    f[0] += change * gram[i]
                else:
                    dual[codes[i], i] += change
                    dual[rivals[j], i] -= change
                    f[codes[i]] += change * gram[i]
                    f[rivals[j]] -= change * gram[i]
        scale /= 1.0 + step * l2
        if scale < _FADED:
            dual *= scale
            f *= scale
            scale = 1.0
    return dual * scale


@compiled
def intersection_functions(
    Z: np.ndarray, codes: np.ndarray, vectors: int, orders: np.ndarray, bins: int, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Passive-aggressive steps on piecewise-linear features of the intersection kernel Σ min(x, y).

    The features of a column z are clip(B z − b, 0, 1) / √B for b = 0 … B − 1: their inner product
    is min(x, y) at the knots (Maji 2008, section 3). A weight vector on them is one piecewise
    linear function h a column, and adding τ × (the features of z) adds τ min(z, knot) to h. So a
    score reads two values a column instead of B weights.

    Args:
        Z: columns in [0, 1], shape (n, p).
        rate: share of the step after which the row would just be learned (margin 1).

    Returns:
        H, shape (V, p, B + 1), and b, shape (V,).
    """
    p = Z.shape[1]
    H, b = np.zeros((vectors, p, bins + 1)), np.zeros(vectors)
    scores, bin_index, fraction = np.zeros(vectors), np.zeros(p, dtype=np.int64), np.zeros(p)
    for epoch in range(orders.shape[0]):
        learned = 0
        for i in orders[epoch]:
            length = 1.0
            for j in range(p):
                bin_index[j] = min(int(Z[i, j] * bins), bins - 1)
                fraction[j] = Z[i, j] * bins - bin_index[j]
                length += (bin_index[j] + fraction[j] * fraction[j]) / bins
            for v in range(vectors):
                score = b[v]
                for j in range(p):
                    below = H[v, j, bin_index[j]]
                    score += below + fraction[j] * (H[v, j, bin_index[j] + 1] - below)
                scores[v] = score
            margin, rival = margin_of(scores, codes[i])
            if margin < 1.0:
                if rival < 0:
                    raise_functions(
                        H, b, 0, Z[i], (2.0 * codes[i] - 1.0) * rate * (1.0 - margin) / length
                    )
                else:
                    step = rate * (1.0 - margin) / (2.0 * length)
                    raise_functions(H, b, codes[i], Z[i], step)
                    raise_functions(H, b, rival, Z[i], -step)
                learned += 1
        if learned == 0:
            break
    return H, b


@compiled
def raise_functions(H: np.ndarray, b: np.ndarray, v: int, z: np.ndarray, step: float) -> None:
    """Add step × min(z, knot) to every column's function, and the step to the intercept."""
    bins = H.shape[2] - 1
    for j in range(len(z)):
        for knot in range(1, bins + 1):
            H[v, j, knot] += step * min(z[j], knot / bins)
    b[v] += step
