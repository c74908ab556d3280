"""How inside and outside tables and expected uses change when parameters move along a direction.

Every line is the derivative of the line beside it in `core.losses.rna.inside_outside`; ``tP`` is
the change of P, and ``along`` holds S v, so that a weight changes by itself times the change of its
term. In sums over loops arguments are pairs of what the sums take and its change, ``loose`` the far
pairs' tables.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.fold import FoldResult, fold_in_logarithms, room_for
from core.losses.rna.inside_outside import CHAIN, SPAN, find_partners, loop_tables
from core.losses.rna.parameters import (
    HAIRPIN,
    LONGEST,
    LOOPS,
    PAIRS,
    RATES,
    SHORT,
    TERMS,
    term_tables,
    weights_of,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def lengthen_tangent(chains, asymmetry, loose, a, first, last):
    """C of row a and its change in the place of those of row a + 1, for b from first to last."""
    C, tC = chains
    added, rising = asymmetry[0][2:], asymmetry[1][2:]
    (T, back), (tT, tback) = loose
    for b in range(first, last + 1):
        line, column = T[a + 2, b + 2 : b + CHAIN], back[b + 2, a + 2 : a + CHAIN]
        tline, tcolumn = tT[a + 2, b + 2 : b + CHAIN], tback[b + 2, a + 2 : a + CHAIN]
        shorter, chain = C[b + 1, :SPAN], C[b, 2:]
        tshorter, tchain = tC[b + 1, :SPAN], tC[b, 2:]
        for index in range(added.size):
            entries = line[index] + column[index]
            change = added[index] * (tline[index] + tcolumn[index]) + rising[index] * entries
            tchain[index] = tshorter[index] + change
            chain[index] = shorter[index] + added[index] * entries


@compiled
def sum_loops_tangent(sums, positions, chains, weights, loose, a):
    """For every b of ``positions`` the change of the sum over all loops."""
    C, tC = chains
    bulges, small, symmetric, lengths, _ = weights[0]
    tbulges, tsmall, tsymmetric, tlengths, _ = weights[1]
    (T, back), (tT, tback) = loose
    for b in positions:
        total, chain, tchain = 0.0, C[b, :SPAN], tC[b, :SPAN]
        line, column = T[a + 1, b + 1 : b + 1 + SPAN], back[b + 1, a + 1 : a + 1 + SPAN]
        tline, tcolumn = tT[a + 1, b + 1 : b + 1 + SPAN], tback[b + 1, a + 1 : a + 1 + SPAN]
        for size in range(bulges.size):
            total += lengths[size] * tchain[size] + tlengths[size] * chain[size]
            total += bulges[size] * (tline[size] + tcolumn[size])
            total += tbulges[size] * (line[size] + column[size])
        for left in range(1, SHORT):
            row, trow = T[a + 1 + left, b + 1 :], tT[a + 1 + left, b + 1 :]
            shares, changes = small[left], tsmall[left]
            for right in range(shares.size):
                total += shares[right] * trow[right] + changes[right] * row[right]
        for side in range(SHORT // 2 + 1, symmetric.size):
            p, q = a + 1 + side, b + 1 + side
            total += symmetric[side] * tT[p, q] + tsymmetric[side] * T[p, q]
        sums[b] = total


@compiled
def count_loops_tangent(factors, positions, chains, counted, loose, a):
    """Adds for every b of ``positions`` the change of what is counted there to the lengths'."""
    C, tC = chains
    bulges, small, symmetric, lengths, _ = counted
    (T, back), (tT, tback) = loose
    for b in positions:
        factor, tfactor = factors[0][b], factors[1][b]
        chain, tchain = C[b, :SPAN], tC[b, :SPAN]
        line, column = T[a + 1, b + 1 : b + 1 + SPAN], back[b + 1, a + 1 : a + 1 + SPAN]
        tline, tcolumn = tT[a + 1, b + 1 : b + 1 + SPAN], tback[b + 1, a + 1 : a + 1 + SPAN]
        for size in range(bulges.size):
            lengths[size] += factor * tchain[size] + tfactor * chain[size]
            change = factor * (tline[size] + tcolumn[size])
            bulges[size] += change + tfactor * (line[size] + column[size])
        for left in range(1, SHORT):
            row, trow, counts = T[a + 1 + left, b + 1 :], tT[a + 1 + left, b + 1 :], small[left]
            for right in range(counts.size):
                counts[right] += factor * trow[right] + tfactor * row[right]
        for side in range(SHORT // 2 + 1, symmetric.size):
            p, q = a + 1 + side, b + 1 + side
            symmetric[side] += factor * tT[p, q] + tfactor * T[p, q]


@compiled
def count_asymmetry_tangent(ends, lengths, near, counted, loose, a):
    """Adds the change of the uses of chains that begin in row a to the places of the asymmetry."""
    (E, tE), (row, trow) = ends, near
    added, weights, tweights = counted[2:], lengths[0][2:], lengths[1][2:]
    (T, back), (tT, tback) = loose
    for b in range(row.size, 0, -1):
        line, column = T[a + 2, b + 2 : b + CHAIN], back[b + 2, a + 2 : a + CHAIN]
        tline, tcolumn = tT[a + 2, b + 2 : b + CHAIN], tback[b + 2, a + 2 : a + CHAIN]
        longer, chain, factor = E[b - 1, 4:], E[b, 2:SPAN], row[row.size - b]
        tlonger, tchain, change = tE[b - 1, 4:], tE[b, 2:SPAN], trow[row.size - b]
        for index in range(added.size):
            chain[index] = longer[index] + weights[index] * factor
        for index in range(added.size):
            tchain[index] = tlonger[index] + weights[index] * change + tweights[index] * factor
        for index in range(added.size):
            added[index] += chain[index] * (tline[index] + tcolumn[index])
            added[index] += tchain[index] * (line[index] + column[index])


@compiled
def small_loops_tangent(tables, bulges, squares, a, b, c, d):
    """The change for loops of one base, or one on each side, whose letters c and d count."""
    (T, tT), (bulge, tbulge), (square, tsquare) = tables, bulges, squares
    return (
        bulge[d] * (T[a + 1, b + 2] * tbulge[d] + tT[a + 1, b + 2])
        + bulge[c] * (T[a + 2, b + 1] * tbulge[c] + tT[a + 2, b + 1])
        + square[c, d] * (T[a + 2, b + 2] * tsquare[c, d] + tT[a + 2, b + 2])
    )


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


def change_of_uses(
    codes: np.ndarray,
    terms: np.ndarray,
    along: np.ndarray,
    shortest: int,
    folded: FoldResult,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """The derivative of the expected uses along a direction, shape (TERMS,).

    Args:
        codes, terms, along, shortest: as for `fold_in_logarithms`.
        folded: by `fold_molecule` for the same molecule and terms, its tables untouched since.
        room: memory to work in, other than that of the tables.
    """
    if folded.tables is None:
        return fold_in_logarithms(codes, terms, along, shortest)[1]
    bases = codes.size - 2
    weights, hairpin = weights_of(terms, bases, folded.c)
    tables, dtables = folded.tables, room_for(bases, room)
    inner, outer, loose = tuple(tables.inner), tuple(tables.outer), tuple(tables.loose)
    moving, rising, dloose = tuple(dtables.inner), tuple(dtables.outer), tuple(dtables.loose)
    inputs, change = (codes, weights, hairpin, shortest), np.zeros(TERMS)
    filled = inner, loose[:2], tables.ends[0]
    tangent_inside(inputs, along, filled, (moving, dloose[:2], dtables.ends[0]))
    all_filled = inner, outer, (loose[:2], loose[2:]), tables.ends
    all_moved = moving, rising, (dloose[:2], dloose[2:]), dtables.ends
    tangent_outside(inputs, along, all_filled, all_moved, change)
    loops = slice(LOOPS, RATES)
    change[loops] += folded.uses[loops] * along[loops]
    if not np.isfinite(change).all():
        return fold_in_logarithms(codes, terms, along, shortest)[1]
    return change
