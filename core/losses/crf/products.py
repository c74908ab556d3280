"""Products of tables of labels with the vectors of eight sequences at once.

Vectors are (K, LANES): few labels are worked on lane by lane, so that the sums stay in registers.
From ``MANY`` labels on the vectors are turned to (LANES, K) in a room, shape (2, LANES, K), and the
labels become the vector instructions: two to three times as fast at 50 labels, and slower at 9.
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.crf.lanes import LANES

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

MANY = 16


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
