"""How the inside tables change when the parameters move along a direction.

Every line is the derivative of the line of the inside recursion beside it; ``tP`` is the change of
P, and ``along`` holds S v, so that a weight changes by itself times the change of its term.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.loops import CHAIN, find_partners, loop_tables
from core.losses.rna.tangent_loops import lengthen_tangent, small_loops_tangent, sum_loops_tangent
from core.losses.rna.terms import HAIRPIN, LONGEST, PAIRS, term_tables

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def two_branches_tangent(M1, M, tM1, tM, tM2, i, n):
    """Row i of the change of M2; two k at a time."""
    k = i + 1
    while k + 1 < n - 1:
        row, first, change = tM2[i, k + 2 : n + 1], M1[i, k : k + 2], tM1[i, k : k + 2]
        b1, b2 = M[k + 1, k + 2 : n + 1], M[k + 2, k + 2 : n + 1]
        tb1, tb2 = tM[k + 1, k + 2 : n + 1], tM[k + 2, k + 2 : n + 1]
        for offset in range(row.size):
            near = first[0] * tb1[offset] + change[0] * b1[offset]
            row[offset] += near + first[1] * tb2[offset] + change[1] * b2[offset]
        k += 2
    for last in range(k, n - 1):
        behind, changes = M[last + 1, last + 2 : n + 1], tM[last + 1, last + 2 : n + 1]
        row, first, change = tM2[i, last + 2 : n + 1], M1[i, last], tM1[i, last]
        for offset in range(row.size):
            row[offset] += first * changes[offset] + change * behind[offset]


@compiled
def tangent_inside(inputs, along, filled, changes):
    """Fills the changes of the inside tables, given as zeros.

    Args:
        inputs, along: as given to the inside recursion; changes of the terms, shape (TERMS,).
        filled, changes: (P, M1, M2, M), G with its transpose, and F; theirs, of the same shapes.
    """
    codes, weights, hairpin, shortest = inputs
    inner, far, F = filled
    moving, tfar, tF = changes
    (G, _), (tG, tback) = loose = far, tfar
    n = codes.size - 2
    P, M1, M2, M = inner
    tP, tM1, tM2, tM = moving
    close, branch, stack, pair, bulge, square, loops, rates = term_tables(weights)
    tclose, tbranch, tstack, tpair, tbulge, tsquare, tloops, trates = term_tables(along)
    sizes = loop_tables(loops), loop_tables(loops * tloops)
    chains = np.zeros((n + 2, CHAIN)), np.zeros((n + 2, CHAIN))
    positions, sums = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2)
    for i in range(n, 0, -1):
        a = codes[i]
        lengthen_tangent(chains, (sizes[0][4], sizes[1][4]), loose, i, 1, n - i)
        partner_count = find_partners(positions, codes, i)
        for index in range(partner_count):
            positions[index] = n + 1 - positions[index]
        sum_loops_tangent(sums, positions[:partner_count], chains, sizes, loose, i)
        for j in range(i + 1, n + 1):
            b, after = codes[j], n + 1 - j
            tM1[i, j] = rates[1] * (tM1[i + 1, j] + M1[i + 1, j] * trates[1])
            if not PAIRS[a, b]:
                continue
            c, d = codes[i + 1], codes[j - 1]
            ones, squares = (bulge, tbulge), (square, tsquare)
            total = sums[after] + small_loops_tangent((G, tG), ones, squares, i, after, c, d)
            if j - i > shortest:
                total += hairpin[j - i - 1] * along[HAIRPIN + min(j - i - 1, LONGEST)]
            stacked = stack[a, b, c, d] * P[i + 1, j - 1]
            multi = rates[0] * branch[a, b, c, d] * M2[i + 1, j - 1]
            closed = P[i, j] / pair[a, b] - stacked - multi
            total = total * close[a, b, c, d] + closed * tclose[a, b, c, d]
            total += stack[a, b, c, d] * tP[i + 1, j - 1] + stacked * tstack[a, b, c, d]
            total += rates[0] * branch[a, b, c, d] * tM2[i + 1, j - 1]
            total += multi * (trates[0] + tbranch[a, b, c, d])
            total = total * pair[a, b] + P[i, j] * tpair[a, b]
            tP[i, j] = total
            c, d = codes[j + 1], codes[i - 1]
            change = total * close[b, a, c, d] + G[i, after] * tclose[b, a, c, d]
            tG[i, after] = tback[after, i] = change
            total += P[i, j] * (tbranch[b, a, c, d] + trates[2])
            tM1[i, j] += total * branch[b, a, c, d] * rates[2]
        two_branches_tangent(M1, M, tM1, tM, tM2, i, n)
        for j in range(i + 1, n + 1):
            tM[i, j] = tM2[i, j] + tM1[i, j]
            tM[i, j] += rates[1] * (tM[i, j - 1] + M[i, j - 1] * trates[1])
    outer_tangent_inside(codes, weights, along, P, F, tP, tF)


@compiled
def outer_tangent_inside(codes, weights, along, P, F, tP, tF):
    """Fills the change of F."""
    n = codes.size - 2
    branch, rates = term_tables(weights)[1], term_tables(weights)[7]
    tbranch, trates = term_tables(along)[1], term_tables(along)[7]
    tF[0] = 0.0
    for j in range(1, n + 1):
        total = (tF[j - 1] + F[j - 1] * trates[3]) * rates[3]
        b, c = codes[j], codes[j + 1]
        for k in range(1, j):
            a, d = codes[k], codes[k - 1]
            if PAIRS[a, b]:
                change = tF[k - 1] * P[k, j] + F[k - 1] * tP[k, j]
                change += F[k - 1] * P[k, j] * (tbranch[b, a, c, d] + trates[4])
                total += change * branch[b, a, c, d] * rates[4]
        tF[j] = total
