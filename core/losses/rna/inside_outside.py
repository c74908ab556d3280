"""The inside and the outside recursion in plain numbers, and their sums over bulges and loops.

Inside: the sum over all structures of the product of their weights.

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

Outside: how Z changes with every entry of the inside tables, and uses of terms.

It is the reverse differentiation of the inside recursion. The table ``dX`` holds (∂Z/∂X)/Z, so that
dX · X is the probability that a structure uses the entry X. Shapes as in the inside recursion.

| table | code | of |
| --- | --- | --- |
| dP, dG, dM1, dM2, dM | ``dP`` … | the inside tables |
| D[i, j] | ``D`` | the loops that the pair i, j closes; laid by n + 1 − i and j |
| B[j] | ``B`` | F[j] |
| u | ``uses`` | expected uses of every term, shape (TERMS,) |

Loops: sums over bulges and internal loops, some thirty steps a pair of bases.

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

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.parameters import (
    ASYMMETRY,
    BULGES,
    HAIRPIN,
    LENGTHS,
    LONGEST,
    LOOPS,
    PAIRS,
    RATES,
    SHORT,
    SMALL,
    SYMMETRIC,
    term_tables,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

SPAN = 32  # sizes of loops that are read at once: whole vector registers
CHAIN = SPAN + 2  # of them and two more, which no loop has
DEEP = 16  # rows behind a table that are read as well, all zero

SAFE = 1e150  # the largest entry, and the inverse of the smallest Z
HUGE = 1e300


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
        inputs: letters (n + 2,), `weights_of`, the fewest bases in a hairpin loop.
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
