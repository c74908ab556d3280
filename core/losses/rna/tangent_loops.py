"""How sums over bulges and internal loops change when the parameters move along a direction.

Arguments are pairs of what the sums take and its change, that of a weight being the weight times
the change of its term; ``t`` before a name is its change, ``loose`` the far pairs' tables.
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.rna.loops import CHAIN, SPAN
from core.losses.rna.terms import SHORT

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
