"""The outside recursion: how Z changes with every entry of the inside tables, and uses of terms.

It is the reverse differentiation of the inside recursion. The table ``dX`` holds (∂Z/∂X)/Z, so that
dX · X is the probability that a structure uses the entry X. Shapes as in the inside recursion.

| table | code | of |
| --- | --- | --- |
| dP, dG, dM1, dM2, dM | ``dP`` … | the inside tables |
| D[i, j] | ``D`` | the loops that the pair i, j closes; laid by n + 1 − i and j |
| B[j] | ``B`` | F[j] |
| u | ``uses`` | expected uses of every term, shape (TERMS,) |
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.loops import (
    CHAIN,
    count_asymmetry,
    count_loops,
    find_partners,
    lengthen,
    loop_tables,
    small_loops,
    sum_loops,
)
from core.losses.rna.terms import HAIRPIN, LONGEST, LOOPS, PAIRS, RATES, term_tables

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def branches_outside(M1, M, dM1, dM2, dM, i, n):
    """What row i of M2 passes on to the first branch and to the others."""
    for k in range(i + 1, n - 1):
        first = M1[i, k]
        behind = M[k + 1, k + 2 :]
        passed = dM[k + 1, k + 2 :]
        row = dM2[i, k + 2 :]
        total = 0.0
        for offset in range(n - k - 1):
            total += row[offset] * behind[offset]
            passed[offset] += row[offset] * first
        dM1[i, k] += total


@compiled
def outer_outside(codes, weights, P, F, B, dP, uses):
    """Fills B from Z = F[n] downwards, and what the letters outside of all pairs pass on to P."""
    n = codes.size - 2
    branch, rates = term_tables(weights)[1], term_tables(weights)[7]
    branch_uses, rate_uses = term_tables(uses)[1], term_tables(uses)[7]
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
def outside_recursion(inputs, inner, outer, loose, letters, uses):
    """Fills the outside tables and ``uses``, all given as zeros.

    Returns the largest count of loops before their weight: an underflow of that weight shows in it.

    Args:
        inputs, inner: as given to, and filled by, the inside recursion.
        outer, uses: dP, dG, dM1, dM2, dM; shape (TERMS,).
        loose, letters: G and F as filled by the inside recursion, and D and B, (2, n + 2).
    """
    codes, weights, hairpin, shortest = inputs
    n = codes.size - 2
    P, M1, M2, M = inner
    dP, dG, dM1, dM2, dM = outer
    (G, back), (D, forth) = loose
    close, branch, stack, pair, bulge, square, loops, rates = term_tables(weights)
    closes, branches, stacks, pairs, bulges, squares, looped, rated = term_tables(uses)
    hairpins = uses[HAIRPIN:]
    sizes, counted = loop_tables(loops), np.zeros(RATES - LOOPS)
    counts, chains, ends = loop_tables(counted), np.zeros((n + 2, CHAIN)), np.zeros((n + 2, CHAIN))
    positions, sums, factors = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2), np.zeros(n + 2)
    outer_outside(codes, weights, P, letters[0], letters[1], dP, uses)
    for i in range(1, n + 1):
        for j in range(n, i, -1):
            dM2[i, j] += dM[i, j]
            dM1[i, j] += dM[i, j]
            dM[i, j - 1] += dM[i, j] * rates[1]
            rated[1] += dM[i, j] * rates[1] * M[i, j - 1]
        branches_outside(M1, M, dM1, dM2, dM, i, n)
        before = n + 1 - i
        if i > 1:
            lengthen(chains, sizes[4], D, forth, before, i + 1, n - 1)
            partner_count = find_partners(positions, codes, i)
            if partner_count > 0 and positions[partner_count - 1] == n:
                partner_count -= 1  # nothing can be outside
            for j in positions[:partner_count]:
                factors[j] = G[i, n + 1 - j]
            sum_loops(sums, positions[:partner_count], chains, sizes, D, forth, before)
            count_loops(factors, positions[:partner_count], chains, counts, D, forth, before)
        for j in range(i + 1, n + 1):
            dM1[i + 1, j] += dM1[i, j] * rates[1]
            rated[1] += dM1[i, j] * rates[1] * M1[i + 1, j]
            if not PAIRS[codes[i], codes[j]]:
                continue
            a, b, after = codes[i], codes[j], n + 1 - j
            c, d = codes[j + 1], codes[i - 1]
            factor = branch[b, a, c, d] * rates[2] * dM1[i, j]
            dP[i, j] += factor
            branches[b, a, c, d] += factor * P[i, j]
            rated[2] += factor * P[i, j]
            if i > 1 and j < n:
                passed = sums[j] + small_loops(D, bulge, square, before, j, d, c)
                dG[i, j] = passed
                dP[i, j] += passed * close[b, a, c, d]
                closes[b, a, c, d] += passed * G[i, after]
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
            closed = derivative * close[a, b, c, d]
            D[before, j] = forth[j, before] = closed
            if j - i > shortest:
                hairpins[min(j - i - 1, LONGEST)] += closed * hairpin[j - i - 1]
            bulges[d] += closed * bulge[d] * G[i + 1, after + 2]
            bulges[c] += closed * bulge[c] * G[i + 2, after + 1]
            squares[c, d] += closed * square[c, d] * G[i + 2, after + 2]
            loop_uses = dP[i, j] * P[i, j] - stacked * P[i + 1, j - 1] - multi * M2[i + 1, j - 1]
            closes[a, b, c, d] += loop_uses
        near = D[before, i + 1 : n + 1]
        count_asymmetry(ends, sizes[3], near, counts[4], G, back, i)
    looped += counted * loops
    return counted.max()
