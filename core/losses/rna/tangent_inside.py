"""How the inside tables change when the parameters move along a direction.

Every line is the derivative of the line of the inside recursion beside it. A dot over a table of
the inside recursion is written ``t`` before it (``tP`` for the change of P); ``along`` holds the
changes of the terms, S v, so that a weight changes by itself times the change of its term.
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.rna.terms import HAIRPIN, HALF, LONGEST, MARGIN, PAIRS, views, widened

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_tangent(G, tG, wide, twide, i, j):
    """The change of the sum over inner pairs p, q of G[p, q] times the weight of the lengths."""
    total = 0.0
    most = min(LONGEST, j - i - 3)
    for left in range(min(HALF, most + 1)):
        p, lengths, changes = i + 1 + left, wide[left], twide[left]
        inner, moving = G[p, j : j + MARGIN], tG[p, j : j + MARGIN]
        for place in range(lengths.size):
            total += inner[place] * changes[place] + moving[place] * lengths[place]
    for left in range(HALF, most + 1):
        p, lengths, changes = i + 1 + left, wide[left, HALF:], twide[left, HALF:]
        inner, moving = G[p, j + HALF : j + MARGIN], tG[p, j + HALF : j + MARGIN]
        for place in range(lengths.size):
            total += inner[place] * changes[place] + moving[place] * lengths[place]
    return total


@compiled
def small_loops_tangent(G, tG, weights, changes, codes, i, j):
    """The same for loops of one base, or one on each side: weights of bulges and squares."""
    bulge, square = weights
    tbulge, tsquare = changes
    c, d, q = codes[i + 1], codes[j - 1], j - 2 + MARGIN
    return (
        bulge[d] * (G[i + 1, q] * tbulge[d] + tG[i + 1, q])
        + bulge[c] * (G[i + 2, q + 1] * tbulge[c] + tG[i + 2, q + 1])
        + square[c, d] * (G[i + 2, q] * tsquare[c, d] + tG[i + 2, q])
    )


@compiled
def two_branches_tangent(M1, M, tM1, tM, tM2, i, n):
    """Row i of the change of M2."""
    for k in range(i + 1, n - 1):
        first, moving = M1[i, k], tM1[i, k]
        if first != 0.0:
            others, changes = M[k + 1, k + 2 :], tM[k + 1, k + 2 :]
            row = tM2[i, k + 2 :]
            for place in range(n - k - 1):
                row[place] += first * changes[place] + moving * others[place]


@compiled
def tangent_inside(given, along, filled, changes):
    """Fills the changes of the inside tables, given as zeros.

    Args:
        given: as given to the inside recursion.
        along: changes of the terms, shape (TERMS,).
        filled: the inner tables P, M1, M2, M, then G and F as filled by the inside recursion.
        changes: theirs, of the same shapes.
    """
    codes, weights, hairpin, shortest = given
    inner, G, F = filled
    moving, tG, tF = changes
    n = codes.size - 2
    P, M1, M2, M = inner
    tP, tM1, tM2, tM = moving
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    tclose, tbranch, tstack, tpair, tbulge, tsquare, tloops, trates = views(along)
    wide, twide = widened(loops), widened(loops * tloops)
    for i in range(n, 0, -1):
        a = codes[i]
        for j in range(i + 1, n + 1):
            b = codes[j]
            tM1[i, j] = rates[1] * (tM1[i + 1, j] + M1[i + 1, j] * trates[1])
            if not PAIRS[a, b]:
                continue
            c, d = codes[i + 1], codes[j - 1]
            total = loops_tangent(G, tG, wide, twide, i, j)
            total += small_loops_tangent(G, tG, (bulge, square), (tbulge, tsquare), codes, i, j)
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
            q = j + MARGIN
            tG[i, q] = total * close[b, a, c, d] + G[i, q] * tclose[b, a, c, d]
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
    branch, rates = views(weights)[1], views(weights)[7]
    tbranch, trates = views(along)[1], views(along)[7]
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
