"""How the outside tables and the expected uses change when the parameters move along a direction.

Every line is the derivative of the line of the outside recursion beside it, ``t`` before changes.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.loops import CHAIN, find_partners, loop_tables
from core.losses.rna.tangent_loops import (
    count_asymmetry_tangent,
    count_loops_tangent,
    lengthen_tangent,
    small_loops_tangent,
    sum_loops_tangent,
)
from core.losses.rna.terms import HAIRPIN, LONGEST, LOOPS, PAIRS, RATES, term_tables

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def branches_tangent_outside(inner, moving, dM2, rising, i, n):
    """The change of what row i of M2 passes on to the first branch and to the others."""
    M1, M = inner
    tM1, tM = moving
    tdM1, tdM2, tdM = rising
    for k in range(i + 1, n - 1):
        first, change = M1[i, k], tM1[i, k]
        behind, changes = M[k + 1, k + 2 :], tM[k + 1, k + 2 :]
        passed = tdM[k + 1, k + 2 :]
        row, growing = dM2[i, k + 2 :], tdM2[i, k + 2 :]
        total = 0.0
        for offset in range(n - k - 1):
            total += growing[offset] * behind[offset] + row[offset] * changes[offset]
            passed[offset] += growing[offset] * first + row[offset] * change
        tdM1[i, k] += total


@compiled
def outer_tangent_outside(inputs, along, filled, changes, tdP, uses):
    """The change of what the letters outside of all pairs pass on to P, and of their uses."""
    codes, weights, _, _ = inputs
    P, F, B = filled
    tP, tF, tB = changes
    n = codes.size - 2
    branch, rates = term_tables(weights)[1], term_tables(weights)[7]
    tbranch, trates = term_tables(along)[1], term_tables(along)[7]
    branch_uses, rate_uses = term_tables(uses)[1], term_tables(uses)[7]
    tB[:] = 0.0
    tB[n] = -B[n] * tF[n] / F[n]
    for j in range(n, 0, -1):
        rising = (tB[j] + B[j] * trates[3]) * rates[3]
        tB[j - 1] += rising
        rate_uses[3] += rising * F[j - 1] + B[j] * rates[3] * tF[j - 1]
        b, c = codes[j], codes[j + 1]
        for k in range(1, j):
            a, d = codes[k], codes[k - 1]
            if PAIRS[a, b]:
                factor = branch[b, a, c, d] * rates[4]
                rising = factor * (tB[j] + B[j] * (tbranch[b, a, c, d] + trates[4]))
                factor *= B[j]
                tdP[k, j] += rising * F[k - 1] + factor * tF[k - 1]
                tB[k - 1] += rising * P[k, j] + factor * tP[k, j]
                used = rising * F[k - 1] * P[k, j]
                used += factor * (tF[k - 1] * P[k, j] + F[k - 1] * tP[k, j])
                branch_uses[b, a, c, d] += used
                rate_uses[4] += used


@compiled
def tangent_outside(inputs, along, filled, changes, uses):
    """Fills the changes of the outside tables and of the uses, all given as zeros.

    Args:
        inputs, along: as given to the inside part.
        filled: the tables (P, M1, M2, M), (dP, dG, dM1, dM2, dM), (G, D) and (F, B).
        changes: theirs in the same order, those of the inside tables, G and F filled.
        uses: room (TERMS,), but for loops' lengths from their own weights: uses times ``along``.
    """
    codes, weights, hairpin, shortest = inputs
    inner, outer, loose, ends = filled
    moving, rising, tloose, tends = changes
    n = codes.size - 2
    P, M1, M2, M = inner
    (G, _), (D, _) = loose
    dP, dG, dM1, dM2, dM = outer
    tP, tM1, tM2, tM = moving
    (tG, _), (tD, tforth) = tloose
    far, near = (loose[0], tloose[0]), (loose[1], tloose[1])
    tdP, tdG, tdM1, tdM2, tdM = rising
    close, branch, stack, pair, bulge, square, loops, rates = term_tables(weights)
    tclose, tbranch, tstack, tpair, tbulge, tsquare, tloops, trates = term_tables(along)
    closes, branches, stacks, pairs, bulges, squares, looped, rated = term_tables(uses)
    hairpins = uses[HAIRPIN:]
    ones, square_pair = (bulge, tbulge), (square, tsquare)
    sizes, counted = (loop_tables(loops), loop_tables(loops * tloops)), np.zeros(RATES - LOOPS)
    asymmetry, lengths = (sizes[0][4], sizes[1][4]), (sizes[0][3], sizes[1][3])
    counts, chains = loop_tables(counted), (np.zeros((n + 2, CHAIN)), np.zeros((n + 2, CHAIN)))
    positions, sums = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2)
    factors = np.zeros(n + 2), np.zeros(n + 2)
    begun = np.zeros((n + 2, CHAIN)), np.zeros((n + 2, CHAIN))
    sides, tsides = (P, ends[0], ends[1]), (tP, tends[0], tends[1])
    outer_tangent_outside(inputs, along, sides, tsides, tdP, uses)
    for i in range(1, n + 1):
        for j in range(n, i, -1):
            tdM2[i, j] += tdM[i, j]
            tdM1[i, j] += tdM[i, j]
            factor = dM[i, j] * rates[1]
            change = tdM[i, j] * rates[1] + factor * trates[1]
            tdM[i, j - 1] += change
            rated[1] += change * M[i, j - 1] + factor * tM[i, j - 1]
        branches_tangent_outside((M1, M), (tM1, tM), dM2, (tdM1, tdM2, tdM), i, n)
        before = n + 1 - i
        if i > 1:
            lengthen_tangent(chains, asymmetry, near, before, i + 1, n - 1)
            partner_count = find_partners(positions, codes, i)
            if partner_count > 0 and positions[partner_count - 1] == n:
                partner_count -= 1  # nothing can be outside
            partnered = positions[:partner_count]
            for j in partnered:
                factors[0][j], factors[1][j] = G[i, n + 1 - j], tG[i, n + 1 - j]
            sum_loops_tangent(sums, partnered, chains, sizes, near, before)
            count_loops_tangent(factors, partnered, chains, counts, near, before)
        for j in range(i + 1, n + 1):
            factor = dM1[i, j] * rates[1]
            change = tdM1[i, j] * rates[1] + factor * trates[1]
            tdM1[i + 1, j] += change
            rated[1] += change * M1[i + 1, j] + factor * tM1[i + 1, j]
            a, b, after = codes[i], codes[j], n + 1 - j
            if not PAIRS[a, b]:
                continue
            here, change_here = P[i, j], tP[i, j]
            c, d = codes[j + 1], codes[i - 1]
            factor = branch[b, a, c, d] * rates[2]
            change = factor * (tdM1[i, j] + dM1[i, j] * (tbranch[b, a, c, d] + trates[2]))
            factor *= dM1[i, j]
            tdP[i, j] += change
            used = change * here + factor * change_here
            branches[b, a, c, d] += used
            rated[2] += used
            if i > 1 and j < n:
                change = sums[j] + small_loops_tangent((D, tD), ones, square_pair, before, j, d, c)
                tdG[i, j] = change
                tdP[i, j] += (change + dG[i, j] * tclose[b, a, c, d]) * close[b, a, c, d]
                closes[b, a, c, d] += change * G[i, after] + dG[i, j] * tG[i, after]
            change = tdP[i, j] * here + dP[i, j] * change_here
            pairs[a, b] += change
            derivative = dP[i, j] * pair[a, b]
            slope = (tdP[i, j] + dP[i, j] * tpair[a, b]) * pair[a, b]
            c, d = codes[i + 1], codes[j - 1]
            stacked = derivative * stack[a, b, c, d]
            tstacked = slope * stack[a, b, c, d] + stacked * tstack[a, b, c, d]
            tdP[i + 1, j - 1] += tstacked
            used = tstacked * P[i + 1, j - 1] + stacked * tP[i + 1, j - 1]
            stacks[a, b, c, d] += used
            change -= used
            factor = rates[0] * branch[a, b, c, d]
            multi = derivative * factor
            tmulti = slope * factor + multi * (trates[0] + tbranch[a, b, c, d])
            tdM2[i + 1, j - 1] += tmulti
            used = tmulti * M2[i + 1, j - 1] + multi * tM2[i + 1, j - 1]
            branches[a, b, c, d] += used
            rated[0] += used
            closes[a, b, c, d] += change - used
            factor = D[before, j]
            change = (slope + derivative * tclose[a, b, c, d]) * close[a, b, c, d]
            tD[before, j] = tforth[j, before] = change
            if j - i > shortest:
                length = min(j - i - 1, LONGEST)
                used = (change + factor * along[HAIRPIN + length]) * hairpin[j - i - 1]
                hairpins[length] += used
            p, q = i + 1, after + 2
            used = (change + factor * tbulge[d]) * G[p, q] + factor * tG[p, q]
            bulges[d] += used * bulge[d]
            p, q = i + 2, after + 1
            used = (change + factor * tbulge[c]) * G[p, q] + factor * tG[p, q]
            bulges[c] += used * bulge[c]
            p, q = i + 2, after + 2
            used = (change + factor * tsquare[c, d]) * G[p, q] + factor * tG[p, q]
            squares[c, d] += used * square[c, d]
        row = D[before, i + 1 : n + 1], tD[before, i + 1 : n + 1]
        count_asymmetry_tangent(begun, lengths, row, counts[4], far, i)
    looped += counted * loops
