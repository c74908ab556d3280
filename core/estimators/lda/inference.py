"""Variational inference of latent Dirichlet allocation: what the compiled loops compute.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| D, V, K | | | documents, words of the vocabulary, topics |
| n_dw | ``counts`` | one a pair | how often word w comes in document d, where it does |
| α, η | ``alpha``, ``eta`` | | Dirichlet priors of a document's topics and of a topic's words |
| λ | ``lam`` | (V, K) | q(β_k) = Dirichlet(λ_·k) |
| γ | ``gamma`` | (D, K) | q(θ_d) = Dirichlet(γ_d) |
| φ | | | q(a token of word w in document d has topic k), never stored |
| B | ``B`` | (V, K) | exp E[log β_kw] = exp(ψ(λ_wk) − ψ(Σ_w λ_wk)) |
| e | ``e`` | (K,) | exp ψ(γ_dk): exp E[log θ_dk] but for a factor that φ does not feel |

φ_dwk = e_k B_wk / Σ_j e_j B_wj and γ_dk = α + Σ_w n_dw φ_dwk (Hoffman, Blei & Bach 2010, eq. 5), so
that γ = α + e ∘ Σ_w (n_dw / Σ_j e_j B_wj) B_w·, two products with the document's rows of B. A step
costs 4 K flops a pair and 50 a topic. Words stand in rows: a document reads whole rows of B.

Topics that e has all but left out stay in the sums: where η is small they may be the only ones
that know a word. Nothing overflows or vanishes for α, η ≥ 0.002; below, a word that no topic of
weight knows counts nothing.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from core.losses.compiled import compiled

_MIN_NORM = 1e-300  # keeps 0/0 away where a word is impossible


class CsrCounts(NamedTuple):
    """Counts as the compiled loops take them; document d has the pairs begins[d] … begins[d+1]."""

    begins: np.ndarray  # shape (D + 1,), int64
    words: np.ndarray  # column of every pair, int32
    counts: np.ndarray  # of every pair, float64


class StoppingRule(NamedTuple):
    """When a document's steps end."""

    tolerance: float  # mean change of its γ in a step
    iterations: int  # most steps


def csr_counts(X: sparse.csr_matrix) -> CsrCounts:
    """The arrays of a CSR matrix in the types that the loops are compiled for."""
    return CsrCounts(
        np.asarray(X.indptr, dtype=np.int64),
        np.asarray(X.indices, dtype=np.int32),
        np.asarray(X.data, dtype=np.float64),
    )


def exp_digamma(x: np.ndarray) -> np.ndarray:
    """Exp ψ(x) of positive numbers, to a relative 1e-10 from 0.002 on; 0 below 0.00125.

    ψ(x) = ψ(x + 10) − Σ_{i<10} 1/(x + i), and exp ψ(z + ½) = z + 1/(24 z) − 37/(5760 z³) + … for
    large z: without logarithms, loops stay in vector registers.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty_like(x)
    _exp_digamma(x.ravel(), out.ravel())
    return out


def expected_topics(lam: np.ndarray) -> np.ndarray:
    """B of λ, both (V, K)."""
    return exp_digamma(lam) / exp_digamma(lam.sum(axis=0))


def infer_topics(
    rows: CsrCounts, chosen: np.ndarray, B: np.ndarray, alpha: float, rule: StoppingRule
) -> np.ndarray:
    """γ of the chosen documents, shape (chosen, K): the fixed point reached from equal topics.

    `rows` are all documents, `chosen` the numbers of those asked for, int64.
    """
    gamma = np.empty((len(chosen), B.shape[1]))
    _infer_documents(rows, chosen, B, alpha, rule, gamma, np.empty((0, 0)))
    return gamma


def expected_counts(
    rows: CsrCounts, chosen: np.ndarray, B: np.ndarray, alpha: float, rule: StoppingRule
) -> np.ndarray:
    """Σ_d n_dw φ_dwk over the chosen documents, shape (V, K); the arguments are those of infer."""
    gamma, shares = np.empty((len(chosen), B.shape[1])), np.zeros_like(B)
    _infer_documents(rows, chosen, B, alpha, rule, gamma, shares)
    shares *= B
    return shares


@compiled
def _fourth_power(x):  # type: ignore[no-untyped-def]
    square = x * x
    return square * square


@compiled
def _exp_digamma(x, out):  # type: ignore[no-untyped-def]
    """Fills out with exp ψ(x)."""
    for k in range(len(x)):
        v = x[k]
        # Σ_{i<10} 1/(v + i) by the pairs i, 9 − i: (2 v + 9) Σ 1/(u + i (9 − i)), u = v (v + 9).
        u = v * (v + 9.0)
        a, b, c, d = u + 8.0, u + 14.0, u + 18.0, u + 20.0
        ua, bc = u * a, b * c
        total = (2.0 * v + 9.0) * ((u + a) * (bc * d) + ua * ((b + c) * d + bc)) / (ua * (bc * d))
        # exp(−total) is the 1024th power of a short series; beyond 745 it is 0 anyhow.
        t = min(total, 800.0) * (1.0 / 1024.0)
        h = t * t
        even = 1.0 + h * (1 / 2 + h * (1 / 24 + h * (1 / 720 + h * (1 / 40320 + h / 3628800))))
        odd = 1.0 + h * (1 / 6 + h * (1 / 120 + h * (1 / 5040 + h * (1 / 362880 + h / 39916800))))
        p = even + h**6 / 479001600 - t * odd
        p = _fourth_power(_fourth_power(_fourth_power(_fourth_power(_fourth_power(p)))))
        z = v + 9.5
        r = 1.0 / z
        q = r * r
        series = 1 / 24 + q * (-37 / 5760 + q * (10313 / 2903040 + q * (-5509121 / 1393459200)))
        out[k] = p * (z + r * series)


@compiled
def _infer_documents(rows, chosen, B, alpha, rule, gamma, shares):  # type: ignore[no-untyped-def]
    """Fills γ of the chosen, and adds n_dw e_k / Σ_j e_j B_wj to shares if these have rows."""
    begins, words, counts = rows
    K = B.shape[1]
    longest = 0
    for i in range(len(chosen)):
        longest = max(longest, begins[chosen[i] + 1] - begins[chosen[i]])
    topic_rows = np.empty((longest + 3, K))
    n = np.empty(longest + 3)
    e = np.empty(K)
    for i in range(len(chosen)):
        first, last = begins[chosen[i]], begins[chosen[i] + 1]
        size = last - first
        for j in range(size):
            n[j] = counts[first + j]
            topic_rows[j] = B[words[first + j]]
        # Four words are worked on at once; the last ones are filled up with words that never come.
        padded = (size + 3) // 4 * 4
        for j in range(size, padded):
            n[j] = 0.0
            topic_rows[j] = 1.0
        _infer_document(topic_rows, n, padded, alpha, rule, gamma[i], e)
        if len(shares) > 0:
            for j in range(size):
                norm = _MIN_NORM
                for k in range(K):
                    norm += e[k] * topic_rows[j, k]
                ratio = n[j] / norm
                w = words[first + j]
                for k in range(K):
                    shares[w, k] += ratio * e[k]


@compiled
def _infer_document(topic_rows, n, padded, alpha, rule, gamma, e):  # type: ignore[no-untyped-def]
    """Fills γ and e of one document, whose words' rows of B are own."""
    K = len(e)
    into = np.empty(K)
    for k in range(K):
        gamma[k] = 1.0
        e[k] = 1.0
    for _ in range(rule.iterations):
        for k in range(K):
            into[k] = 0.0
        for j in range(0, padded, 4):
            n0, n1, n2, n3 = _MIN_NORM, _MIN_NORM, _MIN_NORM, _MIN_NORM
            for k in range(K):
                n0 += e[k] * topic_rows[j, k]
                n1 += e[k] * topic_rows[j + 1, k]
                n2 += e[k] * topic_rows[j + 2, k]
                n3 += e[k] * topic_rows[j + 3, k]
            r0, r1, r2, r3 = n[j] / n0, n[j + 1] / n1, n[j + 2] / n2, n[j + 3] / n3
            for k in range(K):
                into[k] += (r0 * topic_rows[j, k] + r1 * topic_rows[j + 1, k]) + (
                    r2 * topic_rows[j + 2, k] + r3 * topic_rows[j + 3, k]
                )
        change = 0.0
        for k in range(K):
            new = alpha + e[k] * into[k]
            change += abs(new - gamma[k])
            gamma[k] = new
        _exp_digamma(gamma, e)
        if change < rule.tolerance * K:
            break
