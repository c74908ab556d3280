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
| | ``LANES`` | | sequences side by side, sorted by length, the shorter ones padded at the end |
| | row | | the t-th tokens of the sequences of one group |
| | slot | | row × LANES + lane: the position of one token |

Rabiner 1989, section V-A. With S the span max − min, α_t(y) ≥ exp(−S(A) − S(s_t))/K² where no
number before has vanished, so that nothing that counts is lost while these spans sum to less than
``WIDEST``; other sequences are worked on in logarithms (`core.losses.crf.expected`). Along a
direction v, with a and b as there, A = α ∘ a and B = β ∘ b are carried along instead.

Vectors of labels are (K, LANES). From ``MANY`` labels on they are turned to (LANES, K) in a room,
shape (2, LANES, K).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.losses.compiled import compiled
from core.losses.crf.encoding import Tokens

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

LANES = 8  # double precision numbers in a vector register of 512 bits, or in two of 256
# Labels from which on these become the vector instructions, two to three times as fast at 50 and
# slower at 9; fewer are worked on lane by lane, so that the sums stay in registers.
MANY = 16
WIDEST = 600.0  # exp(−600) squared by the number of labels is still a normal number


@dataclass(frozen=True)
class Lanes:
    """The slot of every token."""

    groups: np.ndarray  # the first row of every group, and the number of rows, (groups + 1,)
    unit: np.ndarray  # of every token, U for padding, shape (rows, LANES) int32
    length: np.ndarray  # of every sequence, 0 where there is none, shape (groups, LANES)
    sequence: np.ndarray  # which it is, −1 for none, shape (groups, LANES)
    slot: np.ndarray  # of every token, in the order of the table, shape (N,)
    slots: np.ndarray  # of the tokens of one unit after another, shape (N,)
    slots_begin: np.ndarray  # where a unit's begin, shape (U + 1,)


def lanes_of(tokens: Tokens) -> Lanes:
    """The lanes of tokens, long sequences first."""
    lengths = np.diff(tokens.starts)
    sequences = len(lengths)
    groups = -(-sequences // LANES)
    sequence = np.full(groups * LANES, -1, dtype=np.int64)
    # By length, so that the sequences of a group need little padding.
    sequence[:sequences] = np.argsort(-lengths, kind="stable")
    length = np.where(sequence >= 0, lengths[sequence], 0).reshape(groups, LANES)
    begin = np.concatenate(([0], np.cumsum(length.max(axis=1)))).astype(np.int64)
    rank_of = np.empty(sequences, dtype=np.int64)
    rank_of[sequence[:sequences]] = np.arange(sequences)
    token_rank = np.repeat(rank_of, lengths)
    step = np.arange(tokens.token_count) - np.repeat(tokens.starts[:-1], lengths)
    slot = (begin[token_rank // LANES] + step) * LANES + token_rank % LANES
    units = len(tokens.begins) - 1
    # Padding is of one more unit, behind the last.
    unit = np.full(int(begin[-1]) * LANES, units, dtype=np.int32)
    unit[slot] = tokens.unit
    slots = np.sort(slot)
    # By unit, and within a unit by place: what is summed of a unit lies together.
    slots = slots[np.argsort(unit[slots], kind="stable")]
    counts = np.bincount(tokens.unit, minlength=units)
    begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    tables = unit.reshape(-1, LANES), length, sequence.reshape(groups, LANES)
    return Lanes(begin, *tables, slot, slots, begins)


@compiled
def mix_vectors(M, vectors, out, room):
    """Fills out(y) with Σ_x M(x, y) vectors(x), both (K, LANES)."""
    if len(M) < MANY:
        _mix_few(M, vectors, out)
    else:
        room[1] = 0.0
        _add_turned(M, vectors, room)
        _turn_back(room[1], out)


@compiled
def mix_two(M, vectors, N, second_vectors, out, room):
    """Fills out(y) with Σ_x M(x, y) vectors(x) + N(x, y) second_vectors(x), all (K, LANES)."""
    if len(M) < MANY:
        _mix_two_few(M, vectors, N, second_vectors, out)
    else:
        room[1] = 0.0
        _add_turned(M, vectors, room)
        _add_turned(N, second_vectors, room)
        _turn_back(room[1], out)


@compiled
def add_steps(ahead, behind, steps, room):
    """Adds Σ ahead(x) behind(y) over lanes to steps(x, y)."""
    if len(steps) < MANY:
        _add_steps_few(ahead, behind, steps)
    else:
        _fill_rows(behind, room[0])
        _add_steps_many(ahead, room[0], steps)


@compiled
def _mix_few(M, vectors, out):
    for y in range(M.shape[1]):
        a = b = c = d = i = j = k = m = 0.0
        for x in range(M.shape[0]):
            weight = M[x, y]
            a += weight * vectors[x, 0]
            b += weight * vectors[x, 1]
            c += weight * vectors[x, 2]
            d += weight * vectors[x, 3]
            i += weight * vectors[x, 4]
            j += weight * vectors[x, 5]
            k += weight * vectors[x, 6]
            m += weight * vectors[x, 7]
        out[y, 0], out[y, 1], out[y, 2], out[y, 3] = a, b, c, d
        out[y, 4], out[y, 5], out[y, 6], out[y, 7] = i, j, k, m


@compiled
def _mix_two_few(M, vectors, N, second_vectors, out):
    for y in range(M.shape[1]):
        a = b = c = d = i = j = k = m = 0.0
        for x in range(M.shape[0]):
            first, second = M[x, y], N[x, y]
            a += first * vectors[x, 0] + second * second_vectors[x, 0]
            b += first * vectors[x, 1] + second * second_vectors[x, 1]
            c += first * vectors[x, 2] + second * second_vectors[x, 2]
            d += first * vectors[x, 3] + second * second_vectors[x, 3]
            i += first * vectors[x, 4] + second * second_vectors[x, 4]
            j += first * vectors[x, 5] + second * second_vectors[x, 5]
            k += first * vectors[x, 6] + second * second_vectors[x, 6]
            m += first * vectors[x, 7] + second * second_vectors[x, 7]
        out[y, 0], out[y, 1], out[y, 2], out[y, 3] = a, b, c, d
        out[y, 4], out[y, 5], out[y, 6], out[y, 7] = i, j, k, m


@compiled
def _add_steps_few(ahead, behind, steps):
    K = len(ahead)
    for y in range(K):
        a, b, c, d = behind[y, 0], behind[y, 1], behind[y, 2], behind[y, 3]
        i, j, k, m = behind[y, 4], behind[y, 5], behind[y, 6], behind[y, 7]
        for x in range(K):
            first_half = (a * ahead[x, 0] + b * ahead[x, 1]) + (c * ahead[x, 2] + d * ahead[x, 3])
            second_half = (i * ahead[x, 4] + j * ahead[x, 5]) + (k * ahead[x, 6] + m * ahead[x, 7])
            steps[x, y] += first_half + second_half


@compiled
def _fill_rows(vectors, rows):
    """Fills rows (LANES, K) with vectors (K, LANES)."""
    for lane in range(LANES):
        row = rows[lane]
        for y in range(len(row)):
            row[y] = vectors[y, lane]


@compiled
def _turn_back(rows, vectors):
    """Fills vectors (K, LANES) with rows (LANES, K)."""
    for y in range(len(vectors)):
        for lane in range(LANES):
            vectors[y, lane] = rows[lane, y]


@compiled
def _add_turned(M, vectors, room):
    """Adds Σ_x M(x, y) vectors(x) to the room's second table."""
    _fill_rows(vectors, room[0])
    _add_mixed(M, room[0], room[1])


# Two lanes and four labels at a time: so many products are added before a sum is written back.
@compiled
def _add_mixed(M, vectors, out):
    """Adds Σ_x M(x, y) vectors(x) to out(y), both (LANES, K)."""
    K = len(M)
    block_end = K - K % 4
    for lane in range(0, LANES, 2):
        v, w, first_row, second_row = vectors[lane], vectors[lane + 1], out[lane], out[lane + 1]
        for x in range(0, block_end, 4):
            a, b, c, d = v[x], v[x + 1], v[x + 2], v[x + 3]
            i, j, k, m = w[x], w[x + 1], w[x + 2], w[x + 3]
            A, B, C, D = M[x], M[x + 1], M[x + 2], M[x + 3]
            for y in range(K):
                p, q, r, s = A[y], B[y], C[y], D[y]
                first_row[y] += (a * p + b * q) + (c * r + d * s)
                second_row[y] += (i * p + j * q) + (k * r + m * s)
        for x in range(block_end, K):
            a, i, A = v[x], w[x], M[x]
            for y in range(K):
                first_row[y] += a * A[y]
                second_row[y] += i * A[y]


@compiled
def _add_steps_many(ahead, behind, steps):
    """Adds Σ ahead(x) behind(y) over lanes to steps(x, y), ahead (K, LANES), behind (LANES, K)."""
    A, B, C, D = behind[0], behind[1], behind[2], behind[3]
    E, F, G, H = behind[4], behind[5], behind[6], behind[7]
    for x in range(len(steps)):
        a, b, c, d = ahead[x, 0], ahead[x, 1], ahead[x, 2], ahead[x, 3]
        i, j, k, m = ahead[x, 4], ahead[x, 5], ahead[x, 6], ahead[x, 7]
        row = steps[x]
        for y in range(len(row)):
            first_half = (a * A[y] + b * B[y]) + (c * C[y] + d * D[y])
            second_half = (i * E[y] + j * F[y]) + (k * G[y] + m * H[y])
            row[y] += first_half + second_half


class Layout(NamedTuple):
    """Where the tokens of every group lie, and which groups are wide."""

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
def center_scores(scores, first, last, potentials, top, span):
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
def sweep_groups(first, last, layout, model, messages, sums):
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
def _forward(g, layout, model, messages, h, room):
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
def _backward(g, layout, back, messages, h, room, steps):
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
        # The last lane is the shortest: before its end no lane is padding.
        if t >= length[LANES - 1]:
            for x in range(K):
                for lane in range(LANES):
                    beta[row - 1, x, lane] = beta[row - 1, x, lane] if t < length[lane] else 1.0
        add_steps(alpha[row - 1], h, steps, room)


@compiled
def _fill_marginals(g, layout, messages, counts, initial):
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
def sweep_change(first, last, layout, M, messages, direction, sums):
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
def _forward_change(g, layout, M, messages, direction, v, rooms):
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
def _backward_change(g, layout, transposed, messages, v, rooms, sums):
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
def gather_units(counts, slots, begins, first, last, out):
    """Fills row u of out, from first to last, with the sum of the rows of u's slots."""
    K = counts.shape[1]
    for u in range(first, last):
        for y in range(K):
            out[u, y] = 0.0
        for i in range(begins[u], begins[u + 1]):
            slot = slots[i]
            for y in range(K):
                out[u, y] += counts[slot, y]
