"""Forward and backward through eight sequences at once, in probabilities that are scaled.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| ψ_u(y) | ``potentials`` | (U + 1, K) | exp(s_u(y) − max s_u), 1 for padding |
| M | ``M`` | (K, K) | exp(A − max A) |
| α_t(y) | ``alpha`` | (rows, K, L) | p(y_t = y given tokens up to t) |
| c_t | | | what α_t must be divided by |
| e_t(y) | ``e`` | (rows, K, L) | ψ_t(y)/c_t, 0 for padding |
| β_t(y) | ``beta`` | (rows, K, L) | p(tokens after t given y_t = y)/Π c after t, 1 at the end |
| p_t(y) | ``counts`` | (rows L, K) | α_t(y) β_t(y), 0 for padding |
| Ξ(x, y) | ``pairs`` | (K, K) | Σ_t α_{t−1}(x) e_t(y) β_t(y): expected steps are M ∘ Ξ |

Rabiner 1989, section V-A. With S the span max − min, α_t(y) ≥ exp(−S(A) − S(s_t))/K² where no
number before has vanished, so that nothing that counts is lost while these spans sum to less than
``WIDEST``; other sequences are worked on in logarithms (wide.py). Along a direction v, with a and b
as in wide.py, A = α ∘ a and B = β ∘ b are carried along instead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from core.losses.compiled import compiled
from core.losses.crf.lanes import LANES
from core.losses.crf.products import add_steps, mix_two, mix_vectors

WIDEST = 600.0  # exp(−600) squared by the number of labels is still a normal number


class Layout(NamedTuple):
    """Where the tokens of every group lie (lanes.py), and which groups are wide."""

    groups: np.ndarray
    unit: np.ndarray
    length: np.ndarray
    wide: np.ndarray


class Potentials(NamedTuple):
    """ψ, the largest score of every unit, exp of the initial scores less their largest, and M."""

    potentials: np.ndarray
    top: np.ndarray
    start: np.ndarray
    M: np.ndarray


class Messages(NamedTuple):
    """α, β and e."""

    alpha: np.ndarray
    beta: np.ndarray
    e: np.ndarray


class Direction(NamedTuple):
    """A direction v: state scores (U + 1, K), 0 for padding; initial; M ∘ v's transitions."""

    scores: np.ndarray
    initial: np.ndarray
    MV: np.ndarray


class SweepSums(NamedTuple):
    """What a sweep fills, p or dp, and what it adds to: Ξ and the expected first labels."""

    counts: np.ndarray
    pairs: np.ndarray
    initial: np.ndarray


@compiled
def center_scores(scores, first, last, potentials, top, span):  # type: ignore[no-untyped-def]
    """Fills log ψ, the largest score and the span of units from first to last."""
    K = scores.shape[1]
    for u in range(first, last):
        highest, lowest = scores[u, 0], scores[u, 0]
        for y in range(K):
            highest = max(highest, scores[u, y])
            lowest = min(lowest, scores[u, y])
        top[u], span[u] = highest, highest - lowest
        for y in range(K):
            potentials[u, y] = scores[u, y] - highest


@compiled
def sweep_groups(first, last, layout, model, messages, sums):  # type: ignore[no-untyped-def]
    """α, β, e and p of the groups from first to last; returns Σ log c + top."""
    total = 0.0
    K = len(model.start)
    h, room = np.empty((K, LANES)), np.empty((2, LANES, K))
    back = model.M.T.copy()
    for g in range(first, last):
        if not layout.wide[g]:
            total += _forward(g, layout, model, messages, h, room)
            _backward(g, layout, back, messages, h, room, sums.pairs)
            _fill_marginals(g, layout, messages, sums.counts, sums.initial)
    return total


@compiled
def _forward(g, layout, model, messages, h, room):  # type: ignore[no-untyped-def]
    """α and e of one group; returns Σ log c + top."""
    begin, end = layout.groups[g], layout.groups[g + 1]
    unit, length, alpha, e = layout.unit, layout.length[g], messages.alpha, messages.e
    potentials, top, start, M = model.potentials, model.top, model.start, model.M
    K = len(start)
    total = 0.0
    product, c = np.ones(LANES), np.empty(LANES)
    for row in range(begin, end):
        t = row - begin
        for lane in range(LANES):
            u = unit[row, lane]
            total += top[u]
            c[lane] = 0.0
            for y in range(K):
                h[y, lane] = potentials[u, y]
        if t > 0:
            mix_vectors(M, alpha[row - 1], alpha[row], room)
        for y in range(K):
            if t == 0:
                alpha[row, y, :] = start[y]
            for lane in range(LANES):
                alpha[row, y, lane] *= h[y, lane]
                c[lane] += alpha[row, y, lane]
        smallest, largest = 1.0, 1.0
        for lane in range(LANES):
            product[lane] *= c[lane] if t < length[lane] else 1.0
            c[lane] = 1.0 / c[lane]
            smallest, largest = min(smallest, product[lane]), max(largest, product[lane])
        for y in range(K):
            for lane in range(LANES):
                alpha[row, y, lane] *= c[lane]
                e[row, y, lane] = h[y, lane] * c[lane] if t < length[lane] else 0.0
        # Logarithms are dear: one is taken of many factors.
        if smallest < 1e-20 or largest > 1e20 or row == end - 1:
            for lane in range(LANES):
                total += math.log(product[lane])
                product[lane] = 1.0
    return total


@compiled
def _backward(g, layout, back, messages, h, room, steps):  # type: ignore[no-untyped-def]
    """β of one group; adds to Ξ."""
    begin, end, length = layout.groups[g], layout.groups[g + 1], layout.length[g]
    alpha, beta, e = messages.alpha, messages.beta, messages.e
    K = back.shape[0]
    beta[end - 1] = 1.0
    for row in range(end - 1, begin, -1):
        t = row - begin
        for y in range(K):
            for lane in range(LANES):
                h[y, lane] = e[row, y, lane] * beta[row, y, lane]
        mix_vectors(back, h, beta[row - 1], room)
        if t >= length[LANES - 1]:
            for x in range(K):
                for lane in range(LANES):
                    beta[row - 1, x, lane] = beta[row - 1, x, lane] if t < length[lane] else 1.0
        add_steps(alpha[row - 1], h, steps, room)


@compiled
def _fill_marginals(g, layout, messages, counts, initial):  # type: ignore[no-untyped-def]
    """Fills p of one group, and its first labels."""
    begin, end, length = layout.groups[g], layout.groups[g + 1], layout.length[g]
    alpha, beta = messages.alpha, messages.beta
    K = len(initial)
    for row in range(begin, end):
        for lane in range(LANES):
            real = 1.0 if row - begin < length[lane] else 0.0
            for y in range(K):
                counts[row * LANES + lane, y] = real * alpha[row, y, lane] * beta[row, y, lane]
    for lane in range(LANES):
        for y in range(K):
            initial[y] += counts[begin * LANES + lane, y]


@compiled
def sweep_change(first, last, layout, M, messages, direction, sums):  # type: ignore[no-untyped-def]
    """Fills dp in counts for the groups from first to last; adds Σ dα ⊗ h + α ⊗ dh to pairs."""
    groups, unit, MV = layout.groups, layout.unit, direction.MV
    K = len(direction.initial)
    rows = 0
    for g in range(first, last):
        rows = max(rows, groups[g + 1] - groups[g])
    A, v = np.empty((rows, K, LANES)), np.empty((rows, K, LANES))
    room = np.empty((2, LANES, K))
    back, back_v = M.T.copy(), MV.T.copy()
    for g in range(first, last):
        if not layout.wide[g]:
            begin, end = groups[g], groups[g + 1]
            for row in range(begin, end):
                for lane in range(LANES):
                    for y in range(K):
                        v[row - begin, y, lane] = direction.scores[unit[row, lane], y]
            _forward_change(g, layout, M, messages, direction, v, (A, room))
            _backward_change(g, layout, (back, back_v), messages, v, (A, room), sums)


@compiled
def _forward_change(g, layout, M, messages, direction, v, rooms):  # type: ignore[no-untyped-def]
    """Fills A of one group."""
    begin, end = layout.groups[g], layout.groups[g + 1]
    alpha, e, MV, v_initial = messages.alpha, messages.e, direction.MV, direction.initial
    (A, room), K = rooms, len(v_initial)
    for y in range(K):
        for lane in range(LANES):
            A[0, y, lane] = alpha[begin, y, lane] * (v_initial[y] + v[0, y, lane])
    for row in range(begin + 1, end):
        t = row - begin
        out = A[t]
        mix_two(M, A[t - 1], MV, alpha[row - 1], out, room)
        for y in range(K):
            for lane in range(LANES):
                direct_change = alpha[row, y, lane] * v[t, y, lane]
                out[y, lane] = e[row, y, lane] * out[y, lane] + direct_change


@compiled
def _backward_change(g, layout, transposed, messages, v, rooms, sums):  # type: ignore[no-untyped-def]
    """Fills dp of one group; adds to the change of Ξ. Transposed are M and MV."""
    begin, end, length = layout.groups[g], layout.groups[g + 1], layout.length[g]
    alpha, beta, e = messages.alpha, messages.beta, messages.e
    counts, steps, initial = sums.counts, sums.pairs, sums.initial
    (back, back_v), (A, room) = transposed, rooms
    K = back.shape[0]
    total = np.zeros(LANES)
    for lane in range(LANES):
        if length[lane] > 0:
            for y in range(K):
                total[lane] += A[length[lane] - 1, y, lane]
    h, k, B = np.empty((K, LANES)), np.empty((K, LANES)), np.zeros((K, LANES))
    for row in range(end - 1, begin - 1, -1):
        t = row - begin
        for lane in range(LANES):
            real = 1.0 if t < length[lane] else 0.0
            for y in range(K):
                later_change = B[y, lane] - total[lane] * beta[row, y, lane]
                change = A[t, y, lane] * beta[row, y, lane] + alpha[row, y, lane] * later_change
                counts[row * LANES + lane, y] = real * change
        if t == 0:
            break
        for y in range(K):
            for lane in range(LANES):
                h[y, lane] = e[row, y, lane] * beta[row, y, lane]
                k[y, lane] = e[row, y, lane] * B[y, lane] + h[y, lane] * v[t, y, lane]
        mix_two(back, k, back_v, h, B, room)
        for y in range(K):
            for lane in range(LANES):
                k[y, lane] -= total[lane] * h[y, lane]
        add_steps(A[t - 1], h, steps, room)
        add_steps(alpha[row - 1], k, steps, room)
    for lane in range(LANES):
        for y in range(K):
            initial[y] += counts[begin * LANES + lane, y]


@compiled
def gather_units(counts, slots, begins, first, last, out):  # type: ignore[no-untyped-def]
    """Fills row u of out, from first to last, with the sum of the rows of u's slots."""
    K = counts.shape[1]
    for u in range(first, last):
        for y in range(K):
            out[u, y] = 0.0
        for i in range(begins[u], begins[u + 1]):
            slot = slots[i]
            for y in range(K):
                out[u, y] += counts[slot, y]
