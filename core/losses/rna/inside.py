"""The inside recursion: the sum over all structures of the product of their weights.

Letters are numbered 1 … n. All tables are (n + 2, n + 2), but for G, which is laid by i and
n + 1 − j, with a margin, and beside it transposed, as sums over loops read it. Entries below the
diagonal, on the border and in the margin stay zero.

| table | code | what is summed |
| --- | --- | --- |
| P[i, j] | ``P`` | everything from i to j, where i pairs with j |
| G[i, j] | ``G`` | P[i, j] with what closes the pair towards a loop outside |
| M1[i, j] | ``M1`` | bases of a multi-branch loop, then one branch that ends at j |
| M2[i, j] | ``M2`` | two or more branches of a multi-branch loop in i … j |
| M[i, j] | ``M`` | one or more |
| F[j] | ``F`` | the letters 1 … j, outside of all pairs |

P is a hairpin, a loop of at most 30 bases before one inner pair, an inner pair directly, or a
multi-branch loop: CONTRAfold's grammar (Do, Woods & Batzoglou 2006) as CONTRAfold-SE has it.
In it a multi-branch loop of b branches with u bases after the last is derived in
(u + b − 2)!/(u! (b − 2)!) ways; the model is kept as published.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.loops import (
    CHAIN,
    find_partners,
    lengthen,
    loop_tables,
    small_loops,
    sum_loops,
)
from core.losses.rna.terms import PAIRS, term_tables

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

SAFE = 1e150  # the largest entry, and the inverse of the smallest Z
HUGE = 1e300


@compiled
def two_branches(M1, M, M2, i, n):
    """Row i of M2: the first branch up to k, the others behind; four k at a time."""
    k = i + 1
    while k + 3 < n - 1:
        row, first = M2[i, k + 2 : n + 1], M1[i, k : k + 4]
        b1, b2 = M[k + 1, k + 2 : n + 1], M[k + 2, k + 2 : n + 1]
        b3, b4 = M[k + 3, k + 2 : n + 1], M[k + 4, k + 2 : n + 1]
        for offset in range(row.size):
            near = first[0] * b1[offset] + first[1] * b2[offset]
            row[offset] += near + first[2] * b3[offset] + first[3] * b4[offset]
        k += 4
    for last in range(k, n - 1):
        row, behind, alone = M2[i, last + 2 : n + 1], M[last + 1, last + 2 : n + 1], M1[i, last]
        for offset in range(row.size):
            row[offset] += alone * behind[offset]


@compiled
def outgrown(P, M, i, n):
    """By how much a base of row i exceeds the safe range, as a logarithm; 0 where it does not."""
    largest, bases = 0.0, 1
    for j in range(i + 1, n + 1):
        value = max(P[i, j], M[i, j])
        if value > largest:
            largest, bases = value, j - i + 1
    return np.log(min(largest, HUGE)) / bases if largest > SAFE else 0.0


@compiled
def inside_recursion(inputs, inner, loose, F):
    """Fills the tables (given as zeros) and returns Z, the sum over all structures.

    Where a table leaves the safe range, the rest is not filled, and what is returned is minus what
    the scale c of a base would have to be larger by to make the largest entry 1.

    Args:
        inputs: letters (n + 2,), `terms.weights_of`, the fewest bases in a hairpin loop.
        inner, F: P, M1, M2, M, each of shape (n + 2, n + 2), and F, shape (n + 2,).
        loose: G and its transpose, each of shape (n + 2 + DEEP, n + 2 + SPAN).
    """
    codes, weights, hairpin, shortest = inputs
    P, M1, M2, M = inner
    G, back = loose
    n = codes.size - 2
    close, branch, stack, pair, bulge, square, loops, rates = term_tables(weights)
    sizes, chains = loop_tables(loops), np.zeros((n + 2, CHAIN))
    positions, sums = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2)
    for i in range(n, 0, -1):
        a = codes[i]
        lengthen(chains, sizes[4], G, back, i, 1, n - i)
        partner_count = find_partners(positions, codes, i)
        for index in range(partner_count):
            positions[index] = n + 1 - positions[index]
        sum_loops(sums, positions[:partner_count], chains, sizes, G, back, i)
        for j in range(i + 1, n + 1):
            b, after = codes[j], n + 1 - j
            M1[i, j] = rates[1] * M1[i + 1, j]
            if not PAIRS[a, b]:
                continue
            c, d = codes[i + 1], codes[j - 1]
            total = sums[after] + small_loops(G, bulge, square, i, after, c, d)
            if j - i > shortest:
                total += hairpin[j - i - 1]
            total *= close[a, b, c, d]
            total += stack[a, b, c, d] * P[i + 1, j - 1]
            total += rates[0] * branch[a, b, c, d] * M2[i + 1, j - 1]
            total *= pair[a, b]
            P[i, j] = total
            c, d = codes[j + 1], codes[i - 1]
            G[i, after] = back[after, i] = total * close[b, a, c, d]
            M1[i, j] += total * branch[b, a, c, d] * rates[2]
        two_branches(M1, M, M2, i, n)
        for j in range(i + 1, n + 1):
            M[i, j] = M2[i, j] + M1[i, j] + rates[1] * M[i, j - 1]
        excess = outgrown(P, M, i, n)
        if excess > 0.0:
            return -excess
    return outer_inside(codes, branch, rates, P, F)


@compiled
def outer_inside(codes, branch, rates, P, F):
    """Fills F and returns Z = F[n]."""
    n = codes.size - 2
    F[0] = 1.0
    for j in range(1, n + 1):
        total = F[j - 1] * rates[3]
        b, c = codes[j], codes[j + 1]
        for k in range(1, j):
            if PAIRS[codes[k], b]:
                total += F[k - 1] * P[k, j] * branch[b, codes[k], c, codes[k - 1]] * rates[4]
        F[j] = total
    return F[n]
