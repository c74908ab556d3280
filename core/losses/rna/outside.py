"""The outside recursion: how Z changes with every entry of the inside tables, and uses of terms.

Z is a polynomial of the weights, and the inside recursion one way of evaluating it; this is its
reverse differentiation. The table ``dX`` holds (∂Z/∂X)/Z, so that dX · X is the probability that a
structure uses the entry X, whatever the scaling. Shapes as in the inside recursion.

| table | code | of |
| --- | --- | --- |
| dP, dG, dM1, dM2, dM | ``dP`` … | the inside tables |
| D[i, j] | ``D`` | the loops that the pair i, j closes |
| B[j] | ``B`` | F[j] |
| u | ``uses`` | expected uses of every term, shape (TERMS,) |
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.terms import HAIRPIN, HALF, LONGEST, MARGIN, PAIRS, narrowed, views, widened

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_outside(D, forward, p, q):
    """The sum over closing pairs i, j of D[i, j] times the weight of the loop's lengths."""
    total = 0.0
    most = min(LONGEST, p - 2)
    for left in range(min(HALF, most + 1)):
        closing, lengths = D[p - 1 - left, q + 1 : q + 1 + MARGIN], forward[left]
        for place in range(lengths.size):
            total += closing[place] * lengths[place]
    for left in range(HALF, most + 1):
        closing, lengths = D[p - 1 - left, q + 1 : q + 1 + HALF], forward[left, :HALF]
        for place in range(lengths.size):
            total += closing[place] * lengths[place]
    return total


@compiled
def small_loops_outside(D, bulge, square, codes, p, q):
    """The same over loops of one base, or one on each side, whose letters count."""
    c, d = codes[p - 1], codes[q + 1]
    total = D[p - 1, q + 2] * bulge[d]
    if p >= 3:
        total += D[p - 2, q + 1] * bulge[c] + D[p - 2, q + 2] * square[c, d]
    return total


@compiled
def count_loops(G, counted, i, j, factor):
    """Adds factor × G[p, q] to the place of the lengths of the loop between i, j and p, q."""
    most = min(LONGEST, j - i - 3)
    for left in range(min(HALF, most + 1)):
        inner, row = G[i + 1 + left, j : j + MARGIN], counted[left]
        for place in range(row.size):
            row[place] += factor * inner[place]
    for left in range(HALF, most + 1):
        inner, row = G[i + 1 + left, j + HALF : j + MARGIN], counted[left, HALF:]
        for place in range(row.size):
            row[place] += factor * inner[place]


@compiled
def branches_outside(M1, M, dM1, dM2, dM, i, n):
    """What row i of M2 passes on to the first branch and to the others."""
    for k in range(i + 1, n - 1):
        first = M1[i, k]
        others = M[k + 1, k + 2 :]
        passed = dM[k + 1, k + 2 :]
        row = dM2[i, k + 2 :]
        total = 0.0
        for place in range(n - k - 1):
            total += row[place] * others[place]
            passed[place] += row[place] * first
        dM1[i, k] += total


@compiled
def outer_outside(codes, weights, P, F, B, dP, uses):
    """Fills B from Z = F[n] downwards, and what the letters outside of all pairs pass on to P."""
    n = codes.size - 2
    branch, rates = views(weights)[1], views(weights)[7]
    branch_uses, rate_uses = views(uses)[1], views(uses)[7]
    B[:] = 0.0
    B[n] = 1.0 / F[n]
    for j in range(n, 0, -1):
        B[j - 1] += B[j] * rates[3]
        rate_uses[3] += B[j] * rates[3] * F[j - 1]
        b, c = codes[j], codes[j + 1]
        for k in range(1, j):
            if PAIRS[codes[k], b]:
                a, d = codes[k], codes[k - 1]
                factor = branch[b, a, c, d] * rates[4] * B[j]
                dP[k, j] += factor * F[k - 1]
                B[k - 1] += factor * P[k, j]
                used = factor * F[k - 1] * P[k, j]
                branch_uses[b, a, c, d] += used
                rate_uses[4] += used


@compiled
def outside(given, inner, outer, loose, ends, uses):
    """Fills the outside tables and ``uses``, all given as zeros.

    Args:
        given, inner: as given to, and filled by, the inside recursion.
        outer: dP, dG, dM1, dM2, dM.
        loose: G as filled by the inside recursion, and D, of the same shape, the margin behind the
            columns.
        ends: F as filled by the inside recursion, and B, shape (2, n + 2).
        uses: shape (TERMS,).

    Returns:
        The largest count of loops before their weight: an underflow of that weight shows in it.
    """
    codes, weights, hairpin, shortest = given
    n = codes.size - 2
    P, M1, M2, M = inner
    dP, dG, dM1, dM2, dM = outer
    G, D = loose
    F, B = ends[0], ends[1]
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    closes, branches, stacks, pairs, bulges, squares, looped, rated = views(uses)
    hairpins = uses[HAIRPIN:]
    wide = widened(loops)
    forward = wide[:, ::-1].copy()
    counted = np.zeros(wide.shape)
    outer_outside(codes, weights, P, F, B, dP, uses)
    for i in range(1, n + 1):
        for j in range(n, i, -1):
            dM2[i, j] += dM[i, j]
            dM1[i, j] += dM[i, j]
            dM[i, j - 1] += dM[i, j] * rates[1]
            rated[1] += dM[i, j] * rates[1] * M[i, j - 1]
        branches_outside(M1, M, dM1, dM2, dM, i, n)
        for j in range(i + 1, n + 1):
            dM1[i + 1, j] += dM1[i, j] * rates[1]
            rated[1] += dM1[i, j] * rates[1] * M1[i + 1, j]
            if not PAIRS[codes[i], codes[j]]:
                continue
            a, b = codes[i], codes[j]
            c, d = codes[j + 1], codes[i - 1]
            factor = branch[b, a, c, d] * rates[2] * dM1[i, j]
            dP[i, j] += factor
            branches[b, a, c, d] += factor * P[i, j]
            rated[2] += factor * P[i, j]
            if i > 1 and j < n:
                passed = loops_outside(D, forward, i, j)
                passed += small_loops_outside(D, bulge, square, codes, i, j)
                dG[i, j] = passed
                dP[i, j] += passed * close[b, a, c, d]
                closes[b, a, c, d] += passed * G[i, j + MARGIN]
            pairs[a, b] += dP[i, j] * P[i, j]
            derivative = dP[i, j] * pair[a, b]
            c, d = codes[i + 1], codes[j - 1]
            stacked = derivative * stack[a, b, c, d]
            dP[i + 1, j - 1] += stacked
            stacks[a, b, c, d] += stacked * P[i + 1, j - 1]
            multi = derivative * rates[0] * branch[a, b, c, d]
            dM2[i + 1, j - 1] += multi
            branches[a, b, c, d] += multi * M2[i + 1, j - 1]
            rated[0] += multi * M2[i + 1, j - 1]
            D[i, j] = derivative * close[a, b, c, d]
            if j - i > shortest:
                hairpins[min(j - i - 1, LONGEST)] += D[i, j] * hairpin[j - i - 1]
            q = j - 2 + MARGIN
            bulges[d] += D[i, j] * bulge[d] * G[i + 1, q]
            bulges[c] += D[i, j] * bulge[c] * G[i + 2, q + 1]
            squares[c, d] += D[i, j] * square[c, d] * G[i + 2, q]
            count_loops(G, counted, i, j, D[i, j])
            closes[a, b, c, d] += (
                dP[i, j] * P[i, j] - stacked * P[i + 1, j - 1] - multi * M2[i + 1, j - 1]
            )
    narrowed(counted * wide, looped)
    return counted.max()
