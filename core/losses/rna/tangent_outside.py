"""How the outside tables and the expected uses change when the parameters move along a direction.

Every line is the derivative of the line of the outside recursion beside it; ``t`` before a name is
the change of that table, as in the inside part. Of the uses only the changes are computed.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.terms import HAIRPIN, HALF, LONGEST, MARGIN, PAIRS, narrowed, views, widened

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_tangent_outside(D, tD, forward, tforward, p, q):
    """The change of the sum over closing pairs i, j of D[i, j] times the weight of the lengths."""
    total = 0.0
    most = min(LONGEST, p - 2)
    for left in range(min(HALF, most + 1)):
        i, lengths, changes = p - 1 - left, forward[left], tforward[left]
        closing, moving = D[i, q + 1 : q + 1 + MARGIN], tD[i, q + 1 : q + 1 + MARGIN]
        for place in range(lengths.size):
            total += closing[place] * changes[place] + moving[place] * lengths[place]
    for left in range(HALF, most + 1):
        i, lengths, changes = p - 1 - left, forward[left, :HALF], tforward[left, :HALF]
        closing, moving = D[i, q + 1 : q + 1 + HALF], tD[i, q + 1 : q + 1 + HALF]
        for place in range(lengths.size):
            total += closing[place] * changes[place] + moving[place] * lengths[place]
    return total


@compiled
def small_loops_tangent_outside(D, tD, weights, changes, codes, p, q):
    """The same for loops of one base, or one on each side: weights of bulges and squares."""
    bulge, square = weights
    tbulge, tsquare = changes
    c, d = codes[p - 1], codes[q + 1]
    total = bulge[d] * (tD[p - 1, q + 2] + D[p - 1, q + 2] * tbulge[d])
    if p >= 3:
        total += bulge[c] * (tD[p - 2, q + 1] + D[p - 2, q + 1] * tbulge[c])
        total += square[c, d] * (tD[p - 2, q + 2] + D[p - 2, q + 2] * tsquare[c, d])
    return total


@compiled
def count_loops_tangent(G, tG, counted, i, j, factor, moving):
    """Adds the change of factor × G[p, q] to the place of the lengths of the loop."""
    most = min(LONGEST, j - i - 3)
    for left in range(min(HALF, most + 1)):
        p, row = i + 1 + left, counted[left]
        inner, changes = G[p, j : j + MARGIN], tG[p, j : j + MARGIN]
        for place in range(row.size):
            row[place] += factor * changes[place] + moving * inner[place]
    for left in range(HALF, most + 1):
        p, row = i + 1 + left, counted[left, HALF:]
        inner, changes = G[p, j + HALF : j + MARGIN], tG[p, j + HALF : j + MARGIN]
        for place in range(row.size):
            row[place] += factor * changes[place] + moving * inner[place]


@compiled
def branches_tangent_outside(inner, moving, dM2, rising, i, n):
    """The change of what row i of M2 passes on to the first branch and to the others."""
    M1, M = inner
    tM1, tM = moving
    tdM1, tdM2, tdM = rising
    for k in range(i + 1, n - 1):
        first, change = M1[i, k], tM1[i, k]
        others, changes = M[k + 1, k + 2 :], tM[k + 1, k + 2 :]
        passed = tdM[k + 1, k + 2 :]
        row, growing = dM2[i, k + 2 :], tdM2[i, k + 2 :]
        total = 0.0
        for place in range(n - k - 1):
            total += growing[place] * others[place] + row[place] * changes[place]
            passed[place] += growing[place] * first + row[place] * change
        tdM1[i, k] += total


@compiled
def outer_tangent_outside(given, along, filled, changes, tdP, uses):
    """The change of what the letters outside of all pairs pass on to P, and of their uses.

    Filled are P, F and B; changes theirs, that of B to be filled.
    """
    codes, weights, _, _ = given
    P, F, B = filled
    tP, tF, tB = changes
    n = codes.size - 2
    branch, rates = views(weights)[1], views(weights)[7]
    tbranch, trates = views(along)[1], views(along)[7]
    branch_uses, rate_uses = views(uses)[1], views(uses)[7]
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
def tangent_outside(given, along, filled, changes, uses):
    """Fills the changes of the outside tables and of the uses, all given as zeros.

    Args:
        given, along: as given to the inside part.
        filled: the tables (P, M1, M2, M), (dP, dG, dM1, dM2, dM), (G, D) and (F, B).
        changes: those of the inside tables, G and F filled, and room for those of the outside
            tables, D and B, in the same order.
        uses: room for the changes of the uses, shape (TERMS,), but for the part of loops' lengths
            that comes from their own weights: the uses times ``along``.
    """
    codes, weights, hairpin, shortest = given
    inner, outer, loose, ends = filled
    moving, rising, tloose, tends = changes
    n = codes.size - 2
    P, M1, M2, M = inner
    G, D = loose
    dP, dG, dM1, dM2, dM = outer
    tP, tM1, tM2, tM = moving
    tG, tD = tloose
    tdP, tdG, tdM1, tdM2, tdM = rising
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    tclose, tbranch, tstack, tpair, tbulge, tsquare, tloops, trates = views(along)
    closes, branches, stacks, pairs, bulges, squares, looped, rated = views(uses)
    hairpins = uses[HAIRPIN:]
    wide = widened(loops)
    forward = wide[:, ::-1].copy()
    tforward = widened(loops * tloops)[:, ::-1].copy()
    counted = np.zeros(wide.shape)
    sides, tsides = (P, ends[0], ends[1]), (tP, tends[0], tends[1])
    outer_tangent_outside(given, along, sides, tsides, tdP, uses)
    for i in range(1, n + 1):
        for j in range(n, i, -1):
            tdM2[i, j] += tdM[i, j]
            tdM1[i, j] += tdM[i, j]
            factor = dM[i, j] * rates[1]
            change = tdM[i, j] * rates[1] + factor * trates[1]
            tdM[i, j - 1] += change
            rated[1] += change * M[i, j - 1] + factor * tM[i, j - 1]
        branches_tangent_outside((M1, M), (tM1, tM), dM2, (tdM1, tdM2, tdM), i, n)
        for j in range(i + 1, n + 1):
            factor = dM1[i, j] * rates[1]
            change = tdM1[i, j] * rates[1] + factor * trates[1]
            tdM1[i + 1, j] += change
            rated[1] += change * M1[i + 1, j] + factor * tM1[i + 1, j]
            a, b = codes[i], codes[j]
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
                change = loops_tangent_outside(D, tD, forward, tforward, i, j)
                small, tsmall = (bulge, square), (tbulge, tsquare)
                change += small_loops_tangent_outside(D, tD, small, tsmall, codes, i, j)
                tdG[i, j] = change
                tdP[i, j] += (change + dG[i, j] * tclose[b, a, c, d]) * close[b, a, c, d]
                closes[b, a, c, d] += change * G[i, j + MARGIN] + dG[i, j] * tG[i, j + MARGIN]
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
            factor = D[i, j]
            change = (slope + derivative * tclose[a, b, c, d]) * close[a, b, c, d]
            tD[i, j] = change
            if j - i > shortest:
                length = min(j - i - 1, LONGEST)
                used = (change + factor * along[HAIRPIN + length]) * hairpin[j - i - 1]
                hairpins[length] += used
            q = j - 2 + MARGIN
            used = (change + factor * tbulge[d]) * G[i + 1, q] + factor * tG[i + 1, q]
            bulges[d] += used * bulge[d]
            used = (change + factor * tbulge[c]) * G[i + 2, q + 1] + factor * tG[i + 2, q + 1]
            bulges[c] += used * bulge[c]
            used = (change + factor * tsquare[c, d]) * G[i + 2, q] + factor * tG[i + 2, q]
            squares[c, d] += used * square[c, d]
            count_loops_tangent(G, tG, counted, i, j, factor, change)
    narrowed(counted * wide, looped)
