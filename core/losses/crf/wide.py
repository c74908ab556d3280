"""Expected counts and their change for sequences whose scores span too much for plain numbers.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| α, β | ``ahead``, ``behind`` | (T, K) | as in chain.py, logarithms, of one sequence of T tokens |
| p_t(y) | ``counts`` | (T, K) | p(y_t = y | tokens) |
| ξ(x, y) | ``pairs`` | (K, K) | expected number of steps from x to y |
| v | ``v`` | | a direction: state scores (U, K), initial (K,) and transition scores (K, K) |
| a_t(y) | ``a`` | (T, K) | E[v-score of the labels up to t given y_t = y] |
| b_t(y) | ``b`` | (T, K) | E[v-score of the labels after t given y_t = y] |

Along v: dp_t(y) = p_t(y) (a_t(y) + b_t(y) − E[v-score]), a covariance; likewise for pairs.
"""

from __future__ import annotations

import math

import numpy as np

from core.losses.compiled import compiled
from core.losses.crf.chain import log_backward, log_forward, normalize


@compiled
def wide_counts(unit, scores, initial, transition, pairs):  # type: ignore[no-untyped-def]
    """Returns log Z, α, β and p of one sequence; adds to ξ."""
    K, last = len(initial), len(unit)
    ahead, behind, counts = np.empty((last, K)), np.empty((last, K)), np.empty((last, K))
    log_z = log_forward(0, last, unit, scores, initial, transition, ahead)
    log_backward(0, last, unit, scores, transition, behind)
    pair_logs = np.empty((K, K))
    for t in range(last):
        _probabilities(ahead[t], behind[t], counts[t])
        if t > 0:
            _pair_logs(ahead[t - 1], transition, scores[unit[t]], behind[t], pair_logs)
            for x in range(K):
                for y in range(K):
                    pairs[x, y] += math.exp(pair_logs[x, y])
    return log_z, ahead, behind, counts


@compiled
def wide_change(unit, scores, transition, ahead, behind, v, pairs):  # type: ignore[no-untyped-def]
    """The change dp of one sequence; adds dξ to pairs."""
    v_scores, v_initial, v_step = v
    K, last = len(v_initial), len(unit)
    counts = np.empty((last, K))
    a, b = np.empty((last, K)), np.empty((last, K))
    row, pair_logs = np.empty(K), np.empty((K, K))
    for y in range(K):
        a[0, y] = v_initial[y] + v_scores[unit[0], y]
        b[last - 1, y] = 0.0
    for t in range(1, last):
        for y in range(K):
            for x in range(K):
                row[x] = ahead[t - 1, x] + transition[x, y]
            normalize(row)
            a[t, y] = v_scores[unit[t], y]
            for x in range(K):
                a[t, y] += math.exp(row[x]) * (a[t - 1, x] + v_step[x, y])
    total = 0.0
    for y in range(K):
        total += math.exp(ahead[last - 1, y]) * a[last - 1, y]
    for t in range(last - 1, 0, -1):
        u = unit[t]
        for x in range(K):
            for y in range(K):
                row[y] = transition[x, y] + scores[u, y] + behind[t, y]
            normalize(row)
            b[t - 1, x] = 0.0
            for y in range(K):
                b[t - 1, x] += math.exp(row[y]) * (v_step[x, y] + v_scores[u, y] + b[t, y])
        _pair_logs(ahead[t - 1], transition, scores[u], behind[t], pair_logs)
        for x in range(K):
            for y in range(K):
                change = a[t - 1, x] + v_step[x, y] + v_scores[u, y] + b[t, y] - total
                pairs[x, y] += math.exp(pair_logs[x, y]) * change
    for t in range(last):
        _probabilities(ahead[t], behind[t], counts[t])
        for y in range(K):
            counts[t, y] *= a[t, y] + b[t, y] - total
    return counts


@compiled
def _probabilities(ahead, behind, p):  # type: ignore[no-untyped-def]
    for y in range(len(p)):
        p[y] = ahead[y] + behind[y]
    normalize(p)
    for y in range(len(p)):
        p[y] = math.exp(p[y])


@compiled
def _pair_logs(ahead, transition, score, behind, out):  # type: ignore[no-untyped-def]
    """Fills the logarithms of the probabilities of one step (K, K)."""
    K = len(ahead)
    for x in range(K):
        for y in range(K):
            out[x, y] = ahead[x] + transition[x, y] + score[y] + behind[y]
    normalize(out.reshape(K * K))
