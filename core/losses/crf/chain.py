"""Marginal probabilities, the best labeling and likelihoods of sequences, in logarithms.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K | ``K`` | | labels |
| w | ``w`` | (K + K² + F K,) | initial, transition (from-major), then every feature's K weights |
| s | ``scores`` | (U, K) | state scores: weights of the active features, summed, for every unit |
| A | ``transition`` | (K, K) | score of going from a label to the next token's label |
| α | ``ahead`` | (N, K) | log p(y_t, tokens up to t) but for a constant of every token |
| β | ``behind`` | (N, K) | log p(tokens after t given y_t) but for a constant of every token |
| Z | | | sum over labelings y of exp(initial + state scores + transitions) |

p(y | tokens) = exp(score(y))/Z (Do 2008, eq. 1; Lafferty, McCallum and Pereira 2001).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.losses.compiled import compiled


def marginals(w: np.ndarray, K: int, tokens: Any) -> np.ndarray:
    """p(y_t = y | tokens) of every token and label, shape (N, K)."""
    initial, transition, scores = score_tables(w, K, tokens)
    p = np.empty((len(tokens.unit), K))
    behind = np.empty((len(tokens.unit), K))
    _marginals(tokens.starts, tokens.unit, scores, initial, transition, p, behind)
    return p


def viterbi(w: np.ndarray, K: int, tokens: Any) -> np.ndarray:
    """The codes of the most probable labeling of every sequence, shape (N,)."""
    initial, transition, scores = score_tables(w, K, tokens)
    codes = np.empty(len(tokens.unit), dtype=np.int64)
    origin = np.empty((len(tokens.unit), K), dtype=np.int32)
    _best_labels(tokens.starts, tokens.unit, scores, initial, transition, origin, codes)
    return codes


def log_likelihoods(w: np.ndarray, K: int, tokens: Any, codes: np.ndarray) -> np.ndarray:
    """Log p(labels | tokens) of every sequence, shape (sequences,); −inf where a code is −1."""
    initial, transition, scores = score_tables(w, K, tokens)
    codes = np.asarray(codes, dtype=np.int64)
    return _likelihoods(tokens.starts, tokens.unit, scores, initial, transition, codes)


def score_tables(w: np.ndarray, K: int, tokens: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Initial (K,), transition (K, K) and state scores (U, K) at w."""
    w = np.ascontiguousarray(w, dtype=np.float64)
    scores = np.empty((len(tokens.begins) - 1, K))
    W = w[K + K * K :].reshape(-1, K)
    add_rows(W, tokens.begins, tokens.features, 0, len(scores), scores)
    add_numbers(W, tokens.numbers, tokens.number_features, 0, len(scores), scores)
    return w[:K], w[K : K + K * K].reshape(K, K), scores


@compiled
def add_rows(R, begins, members, first, last, out):  # type: ignore[no-untyped-def]
    """Fills row u of out, from first to last, with the sum of u's members, rows of R (…, K)."""
    K = R.shape[1]
    for u in range(first, last):
        for y in range(K):
            out[u, y] = 0.0
        begin, end = begins[u], begins[u + 1]
        # Four rows at once: the sum goes to memory a fourth as often.
        fours = begin + (end - begin) // 4 * 4
        for i in range(begin, fours, 4):
            a, b, c, d = members[i], members[i + 1], members[i + 2], members[i + 3]
            for y in range(K):
                out[u, y] += (R[a, y] + R[b, y]) + (R[c, y] + R[d, y])
        for i in range(fours, end):
            f = members[i]
            for y in range(K):
                out[u, y] += R[f, y]


@compiled
def add_numbers(W, numbers, number_features, first, last, scores):  # type: ignore[no-untyped-def]
    """Adds to the state scores of the units from first to last numbers times rows of W (F, K)."""
    K = W.shape[1]
    for u in range(first, last):
        for q in range(len(number_features)):
            x = numbers[u, q]
            f = number_features[q]
            for y in range(K):
                scores[u, y] += x * W[f, y]


@compiled
def normalize(row):  # type: ignore[no-untyped-def]
    """Subtracts the logarithm of the sum of exponentials from a row, and returns it."""
    largest = row[0]
    for y in range(len(row)):
        largest = max(largest, row[y])
    total = 0.0
    for y in range(len(row)):
        total += math.exp(row[y] - largest)
    size = largest + math.log(total)
    for y in range(len(row)):
        row[y] -= size
    return size


@compiled
def log_forward(first, last, unit, scores, initial, transition, ahead):  # type: ignore[no-untyped-def]
    """Fills α of the tokens from first to last, one sequence; returns log Z."""
    K = len(initial)
    for y in range(K):
        ahead[first, y] = initial[y] + scores[unit[first], y]
    log_z = normalize(ahead[first])
    for t in range(first + 1, last):
        for y in range(K):
            largest = ahead[t - 1, 0] + transition[0, y]
            for x in range(K):
                largest = max(largest, ahead[t - 1, x] + transition[x, y])
            total = 0.0
            for x in range(K):
                total += math.exp(ahead[t - 1, x] + transition[x, y] - largest)
            ahead[t, y] = largest + math.log(total) + scores[unit[t], y]
        log_z += normalize(ahead[t])
    return log_z


@compiled
def log_backward(first, last, unit, scores, transition, behind):  # type: ignore[no-untyped-def]
    """Fills β of the tokens from first to last, one sequence."""
    K = transition.shape[0]
    for y in range(K):
        behind[last - 1, y] = 0.0
    for t in range(last - 2, first - 1, -1):
        for x in range(K):
            u = unit[t + 1]
            largest = transition[x, 0] + scores[u, 0] + behind[t + 1, 0]
            for y in range(K):
                largest = max(largest, transition[x, y] + scores[u, y] + behind[t + 1, y])
            total = 0.0
            for y in range(K):
                total += math.exp(transition[x, y] + scores[u, y] + behind[t + 1, y] - largest)
            behind[t, x] = largest + math.log(total)
        normalize(behind[t])


@compiled
def _marginals(starts, unit, scores, initial, transition, p, behind):  # type: ignore[no-untyped-def]
    """Fills p (N, K); works in p itself, which first holds α."""
    K = len(initial)
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        log_forward(first, last, unit, scores, initial, transition, p)
        log_backward(first, last, unit, scores, transition, behind)
        for t in range(first, last):
            for y in range(K):
                p[t, y] += behind[t, y]
            normalize(p[t])
            for y in range(K):
                p[t, y] = math.exp(p[t, y])


@compiled
def _best_labels(starts, unit, scores, initial, transition, origin, codes):  # type: ignore[no-untyped-def]
    """Fills the best codes (N,); the first of equally good labels is taken."""
    K = len(initial)
    best, new = np.empty(K), np.empty(K)
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        for y in range(K):
            best[y] = initial[y] + scores[unit[first], y]
        for t in range(first + 1, last):
            for y in range(K):
                origin[t, y] = 0
                new[y] = best[0] + transition[0, y]
                for x in range(1, K):
                    if best[x] + transition[x, y] > new[y]:
                        new[y] = best[x] + transition[x, y]
                        origin[t, y] = x
            for y in range(K):
                best[y] = new[y] + scores[unit[t], y]
        label = 0
        for y in range(1, K):
            if best[y] > best[label]:
                label = y
        for t in range(last - 1, first - 1, -1):
            codes[t] = label
            if t > first:
                label = origin[t, label]


@compiled
def labeling_score(first, last, unit, scores, initial, transition, codes):  # type: ignore[no-untyped-def]
    """The score of the given labels of one sequence; −inf where a code is −1."""
    total = 0.0
    for t in range(first, last):
        if codes[t] < 0:
            return -math.inf
        total += scores[unit[t], codes[t]]
        total += transition[codes[t - 1], codes[t]] if t > first else initial[codes[t]]
    return total


@compiled
def _likelihoods(starts, unit, scores, initial, transition, codes):  # type: ignore[no-untyped-def]
    """Log p of the given labels of every sequence."""
    ahead, logs = np.empty((len(unit), len(initial))), np.empty(len(starts) - 1)
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        logs[s] = labeling_score(first, last, unit, scores, initial, transition, codes)
        logs[s] -= log_forward(first, last, unit, scores, initial, transition, ahead)
    return logs
