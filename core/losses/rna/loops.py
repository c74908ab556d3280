"""Sums over bulges and internal loops, some thirty steps a pair of bases.

The same sums serve inwards (over inner pairs p, q behind a pair i, j) and outwards (over closing
pairs i, j around a pair p, q). A table T[a, b] is laid so that both places rise along the loop:
inwards a is the first base and b counts the second from the end, outwards the other way round. With
l bases of the loop on the side of a and r on that of b, the far pair of a loop of a, b is
T[a + 1 + l, b + 1 + r]; ``back`` is T transposed, so that either side is read in a row.

Two loops with the same far pair whose sizes differ by one base on each side have the same
asymmetry (Lyngsø, Zuker & Pedersen 1999). Hence sums of loops of s bases,

    C[a, b, s] = C[a + 1, b + 1, s − 2] + asymmetry[s] (T[a + 2, b + s] + T[a + s, b + 2]),

where the second part is the two loops that have one base on a side; each is met once a cell, and
lengths[s] C[a, b, s] is what large loops of s bases add up to. Loops of one asymmetry are counted
by the same recurrence, read from its end.

| table | code | shape | of loops with |
| --- | --- | --- | --- |
| | ``bulges`` | (32,) | no base on one side, by length |
| | ``small`` | (8, 8) | at most 8 bases, by l and r |
| | ``symmetric`` | (16,) | l = r, by l |
| | ``lengths`` | (32,) | all others, by l + r |
| | ``asymmetry`` | (32,) | the same, by 2 + difference: where a chain begins |
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.rna.terms import ASYMMETRY, BULGES, LENGTHS, PAIRS, SHORT, SMALL, SYMMETRIC

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

SPAN = 32  # sizes of loops that are read at once: whole vector registers
CHAIN = SPAN + 2  # of them and two more, which no loop has
DEEP = 16  # rows behind a table that are read as well, all zero


@compiled
def loop_tables(loops):
    """Bulges, small, symmetric, lengths, asymmetry: tables in the terms of loops."""
    return (
        loops[: SMALL - BULGES],
        loops[SMALL - BULGES : SYMMETRIC - BULGES].reshape(SHORT, SHORT),
        loops[SYMMETRIC - BULGES : LENGTHS - BULGES],
        loops[LENGTHS - BULGES : ASYMMETRY - BULGES],
        loops[ASYMMETRY - BULGES :],
    )


@compiled
def find_partners(positions, codes, i):
    """Lays the j > i that i may pair with into ``positions`` and returns how many there are."""
    count = 0
    for j in range(i + 1, codes.size - 1):
        if PAIRS[codes[i], codes[j]]:
            positions[count] = j
            count += 1
    return count


@compiled
def lengthen(chains, asymmetry, T, back, a, first, last):
    """C of row a instead of that of row a + 1, for b from first to last."""
    added = asymmetry[2:]
    for b in range(first, last + 1):
        line, column = T[a + 2, b + 2 : b + CHAIN], back[b + 2, a + 2 : a + CHAIN]
        shorter, chain = chains[b + 1, :SPAN], chains[b, 2:]
        for index in range(added.size):
            chain[index] = shorter[index] + added[index] * (line[index] + column[index])


@compiled
def sum_loops(sums, positions, chains, weights, T, back, a):
    """For every b of ``positions`` the sum over loops of the far pairs' entries times weights."""
    bulges, small, symmetric, lengths, _ = weights
    s1, s2, s3, s4 = small[1], small[2], small[3], small[4]
    s5, s6, s7 = small[5], small[6], small[7]
    for b in positions:
        total, chain = 0.0, chains[b, :SPAN]
        line, column = T[a + 1, b + 1 : b + 1 + SPAN], back[b + 1, a + 1 : a + 1 + SPAN]
        for size in range(bulges.size):
            total += lengths[size] * chain[size] + bulges[size] * (line[size] + column[size])
        first, last = b + 1, b + 1 + SHORT
        r1, r2, r3 = T[a + 2, first:last], T[a + 3, first:last], T[a + 4, first:last]
        r4, r5, r6 = T[a + 5, first:last], T[a + 6, first:last], T[a + 7, first:last]
        r7 = T[a + 8, first:last]
        for right in range(r1.size):
            total += r1[right] * s1[right] + r2[right] * s2[right] + r3[right] * s3[right]
            total += r4[right] * s4[right] + r5[right] * s5[right] + r6[right] * s6[right]
            total += r7[right] * s7[right]
        for side in range(SHORT // 2 + 1, symmetric.size):
            total += symmetric[side] * T[a + 1 + side, b + 1 + side]
        sums[b] = total


@compiled
def count_loops(factors, positions, chains, counted, T, back, a):
    """Adds for every b of ``positions`` the far pairs' entries times its factor to the lengths'."""
    bulges, small, symmetric, lengths, _ = counted
    for b in positions:
        factor, chain = factors[b], chains[b, :SPAN]
        line, column = T[a + 1, b + 1 : b + 1 + SPAN], back[b + 1, a + 1 : a + 1 + SPAN]
        for size in range(bulges.size):
            lengths[size] += factor * chain[size]
            bulges[size] += factor * (line[size] + column[size])
        for left in range(1, SHORT):
            row, counts = T[a + 1 + left, b + 1 : b + 1 + SHORT], small[left]
            for right in range(counts.size):
                counts[right] += factor * row[right]
        for side in range(SHORT // 2 + 1, symmetric.size):
            symmetric[side] += factor * T[a + 1 + side, b + 1 + side]


@compiled
def count_asymmetry(ends, lengths, near, counted, T, back, a):
    """Adds what the chains that begin in row a are used for to the places of their asymmetry.

    Args:
        ends: by b, the derivatives with respect to C of row a − 1; made those of row a.
        lengths, counted: the weights of large loops; the places of the asymmetry.
        near: the derivatives of the sums over loops of a, b, from the largest b down to 1.
        T, back, a: of the far pairs; the row.
    """
    added, loop_weights = counted[2:], lengths[2:]
    for b in range(near.size, 0, -1):
        line, column = T[a + 2, b + 2 : b + CHAIN], back[b + 2, a + 2 : a + CHAIN]
        longer, chain, factor = ends[b - 1, 4:], ends[b, 2:SPAN], near[near.size - b]
        for index in range(added.size):
            chain[index] = longer[index] + loop_weights[index] * factor
            added[index] += chain[index] * (line[index] + column[index])


@compiled
def small_loops(T, bulge, square, a, b, c, d):
    """The same sum over loops of one base, or one on each side, whose letters c and d count."""
    alone = bulge[d] * T[a + 1, b + 2] + bulge[c] * T[a + 2, b + 1]
    return alone + square[c, d] * T[a + 2, b + 2]
