"""Online learners, row by row: perceptron, passive-aggressive, Winnow, and two of kernels.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p | | | rows, columns |
| V | ``vectors`` | | weight vectors: one for two classes, otherwise one a class |
| W, b | ``W``, ``b`` | (V, p), (V,) | weights and intercepts |
| y | ``codes`` | (n,) | the class of every row, 0 … K − 1 |
| | ``orders`` | (epochs, n) | the order in which each epoch takes the rows |
| m | | | rows of the pool that the support vector machine draws from |
| α | ``dual`` | (V, m) | f_v(x) = Σ_i α_vi k(x_i, x) |
| B | ``bins`` | | pieces of every column's function; its knots are 0, 1/B, …, 1 |
| h | ``H`` | (V, p, B + 1) | values of every column's function at its knots |

With two classes the margin of a row is ±(wᵀx + b), with more it is the score of its class less that
of its best rival r, and an update moves both: their vectors go x towards and away.
"""

import math

import numpy as np

from core.losses.compiled import compiled

Array = np.ndarray

_MIN_WEIGHT, _MAX_WEIGHT = 1e-30, 1e30  # between which multiplied weights stay
_WINNOW_RATE = 0.1  # of the first epoch; the e-th has 1/e of it, so that weights settle
_FADED = 1e-100


@compiled
def margin_of(scores: Array, code: int) -> tuple[float, int]:
    """How far a row is on the right side, and its best rival (−1 where there are two classes)."""
    if len(scores) == 1:
        return (2.0 * code - 1.0) * scores[0], -1
    rival = 1 if code == 0 else 0
    for k in range(len(scores)):
        if k != code and scores[k] > scores[rival]:
            rival = k
    return scores[code] - scores[rival], rival


@compiled
def push_vectors(W: Array, b: Array, x: Array, code: int, rival: int, step: float) -> None:
    """Move the vectors so that the margin of x grows."""
    if rival < 0:
        signed = (2.0 * code - 1.0) * step
        W[0] += signed * x
        b[0] += signed
    else:
        W[code] += step * x
        b[code] += step
        W[rival] -= step * x
        b[rival] -= step


@compiled
def perceptron_weights(
    X: Array, codes: Array, vectors: int, orders: Array, average: bool
) -> tuple[Array, Array]:
    """Rosenblatt's perceptron, or its weights' mean over all rows (Freund and Schapire 1999)."""
    n, p = X.shape
    W, b = np.zeros((vectors, p)), np.zeros(vectors)
    late_W, late_b = np.zeros((vectors, p)), np.zeros(vectors)  # Σ (when it came) × update
    rows = 0
    for epoch in range(orders.shape[0]):
        mistakes = 0
        for i in orders[epoch]:
            margin, rival = margin_of(np.dot(W, X[i]) + b, codes[i])
            if margin <= 0:
                push_vectors(W, b, X[i], codes[i], rival, 1.0)
                push_vectors(late_W, late_b, X[i], codes[i], rival, float(rows))
                mistakes += 1
            rows += 1
        if mistakes == 0:
            rows += n * (orders.shape[0] - epoch - 1)  # the other epochs change nothing
            break
    if average:
        return W - late_W / rows, b - late_b / rows
    return W, b


@compiled
def passive_aggressive_weights(
    X: Array, codes: Array, vectors: int, orders: Array, sensitivity: float, relaxation: float
) -> tuple[Array, Array]:
    """PA-I of Crammer 2006 (algorithm 1; section 8 for more than two classes).

    `sensitivity` is the margin below which a row is to be learned, 1 in the paper; `relaxation` the
    longest step C; b the weight of a column of ones.
    """
    W, b = np.zeros((vectors, X.shape[1])), np.zeros(vectors)
    moved_vectors = 1.0 if vectors == 1 else 2.0
    for epoch in range(orders.shape[0]):
        learned = 0
        for i in orders[epoch]:
            margin, rival = margin_of(np.dot(W, X[i]) + b, codes[i])
            loss = sensitivity - margin
            if loss > 0:
                length = moved_vectors * (np.dot(X[i], X[i]) + 1.0)
                push_vectors(W, b, X[i], codes[i], rival, min(relaxation, loss / length))
                learned += 1
        if learned == 0:
            break
    return W, b


@compiled
def promote(u: Array, theta: Array, W: Array, b: Array, v: int, z: Array, rate: float) -> float:
    """Multiply the weights of what is there, and divide the bar by as much; −rate demotes.

    How much the weights have changed, in all.
    """
    p, changed, absent = len(z), 0.0, 0.0
    for j in range(p):
        up, down = u[v, 0, j], u[v, 1, j]
        u[v, 0, j] = min(_MAX_WEIGHT, max(_MIN_WEIGHT, up * math.exp(rate * z[j])))
        u[v, 1, j] = min(_MAX_WEIGHT, max(_MIN_WEIGHT, down * math.exp(rate * (1.0 - z[j]))))
        changed += abs(u[v, 0, j] - up) + abs(u[v, 1, j] - down)
        absent += u[v, 1, j]
        W[v, j] = (u[v, 0, j] - u[v, 1, j]) / p
    theta[v] = min(_MAX_WEIGHT, max(_MIN_WEIGHT, theta[v] * math.exp(-rate)))
    b[v] = absent / p - theta[v]
    return changed


@compiled
def winnow_weights(
    Z: Array,
    codes: Array,
    vectors: int,
    orders: Array,
    margin: float,
    tolerance: float,
    bias_tolerance: float,
) -> tuple[Array, Array]:
    """Winnow of Littlestone 1988 on columns in [0, 1] and their complements 1 − z.

    The score of a class is (u⁺ᵀz + u⁻ᵀ(1 − z)) / p − θ with positive u⁺, u⁻ and θ, all 1 at first:
    every score starts at 0. A row whose margin is at most `margin` multiplies u⁺ by exp(ηz), u⁻ by
    exp(η(1 − z)) and θ by exp(−η). It ends after a round that changed u by at most the share
    `tolerance` of Σ u, and θ by at most `bias_tolerance` of Σ θ. W and b give the same score as a
    weighted sum of z.
    """
    u, theta = np.ones((vectors, 2, Z.shape[1])), np.ones(vectors)
    W, b = np.zeros((vectors, Z.shape[1])), np.zeros(vectors)
    for epoch in range(orders.shape[0]):
        rate, changed, bias_changed = _WINNOW_RATE / (epoch + 1), 0.0, 0.0
        for i in orders[epoch]:
            row_margin, rival = margin_of(np.dot(W, Z[i]) + b, codes[i])
            if row_margin <= margin:
                vector = 0 if rival < 0 else codes[i]
                sign = 2.0 * codes[i] - 1.0 if rival < 0 else 1.0
                before = theta[vector]
                changed += promote(u, theta, W, b, vector, Z[i], sign * rate)
                bias_changed += abs(theta[vector] - before)
                if rival >= 0:
                    before = theta[rival]
                    changed += promote(u, theta, W, b, rival, Z[i], -rate)
                    bias_changed += abs(theta[rival] - before)
        if changed <= tolerance * u.sum() and bias_changed <= bias_tolerance * theta.sum():
            break
    return W, b


@compiled
def kernel_machine(
    gram: Array, codes: Array, vectors: int, picks: Array, decay: float, l2: float
) -> Array:
    """Stochastic subgradient steps on mean hinge loss + ½ ℓ2 ‖f‖², the penalty taken implicitly.

    Step t has length η = 1 / (λ t): f ← (f + η × mean of the batch's subgradients) / (1 + η ℓ2).
    With ℓ2 = λ that is Pegasos with mini-batches (Shalev-Shwartz 2007). f on the pool is kept up to
    date.

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
    Z: Array, codes: Array, vectors: int, orders: Array, bins: int, rate: float
) -> tuple[Array, Array]:
    """Passive-aggressive steps on piecewise-linear features of the intersection kernel Σ min(x, y).

    The features of a column z are clip(B z − b, 0, 1) / √B for b = 0 … B − 1: their inner product
    is min(x, y) at the knots (Maji 2008, section 3). A weight vector on them is a piecewise linear
    function h a column, and τ × (the features of z) adds τ min(z, knot) to h: a score reads two
    values a column.

    `Z` are columns in [0, 1], (n, p), `rate` the share of the step after which the row would just
    be learned (margin 1). H and b are returned.
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
def raise_functions(H: Array, b: Array, v: int, z: Array, step: float) -> None:
    """Add step × min(z, knot) to every column's function, and the step to the intercept."""
    bins = H.shape[2] - 1
    for j in range(len(z)):
        for knot in range(1, bins + 1):
            H[v, j, knot] += step * min(z[j], knot / bins)
    b[v] += step
