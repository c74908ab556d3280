"""The inside recursion: the sum over all structures of the product of their weights.

Letters are numbered 1 … n. All tables are (n + 2, n + 2); entries below the diagonal and on the
border stay zero.

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
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.rna.terms import LONGEST, PAIRS, views

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_inside(G, loops, i, j):
    """The sum over inner pairs p, q of G[p, q] times the weight of the loop's lengths."""
    total = 0.0
    for left in range(min(LONGEST, j - i - 3) + 1):
        p = i + 1 + left
        first = max(p + 1, j - LONGEST - 1 + left)
        inner = G[p, first:j]
        lengths = loops[left, first - j + LONGEST + 1 :]
        for place in range(j - first):
            total += inner[place] * lengths[place]
    return total


@compiled
def small_loops_inside(G, bulge, square, codes, i, j):
    """The same over loops of one base, or one on each side, whose letters count."""
    return (
        bulge[codes[j - 1]] * G[i + 1, j - 2]
        + bulge[codes[i + 1]] * G[i + 2, j - 1]
        + square[codes[i + 1], codes[j - 1]] * G[i + 2, j - 2]
    )


@compiled
def two_branches(M1, M, M2, i, n):
    """Row i of M2: the first branch up to k, the others behind."""
    for k in range(i + 1, n - 1):
        first = M1[i, k]
        if first != 0.0:
            others = M[k + 1, k + 2 :]
            row = M2[i, k + 2 :]
            for place in range(n - k - 1):
                row[place] += first * others[place]


@compiled
def inside(codes, weights, hairpin, shortest, P, G, M1, M2, M, F):
    """Fills the tables (given as zeros) and returns Z, the sum over all structures.

    Args:
        codes: the letters, shape (n + 2,).
        weights: as `terms.weights_of` gives them.
        hairpin: weights of hairpin loops of 0 … n bases.
        shortest: the fewest bases in a hairpin loop.
        P, G, M1, M2, M: shape (n + 2, n + 2).
        F: shape (n + 2,).
    """
    n = codes.size - 2
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    for i in range(n, 0, -1):
        a = codes[i]
        for j in range(i + 1, n + 1):
            b = codes[j]
            M1[i, j] = rates[1] * M1[i + 1, j]
            if not PAIRS[a, b]:
                continue
            c, d = codes[i + 1], codes[j - 1]
            total = loops_inside(G, loops, i, j)
            total += small_loops_inside(G, bulge, square, codes, i, j)
            if j - i > shortest:
                total += hairpin[j - i - 1]
            total *= close[a, b, c, d]
            total += stack[a, b, c, d] * P[i + 1, j - 1]
            total += rates[0] * branch[a, b, c, d] * M2[i + 1, j - 1]
            total *= pair[a, b]
            P[i, j] = total
            c, d = codes[j + 1], codes[i - 1]
            G[i, j] = total * close[b, a, c, d]
            M1[i, j] += total * branch[b, a, c, d] * rates[2]
        two_branches(M1, M, M2, i, n)
        for j in range(i + 1, n + 1):
            M[i, j] = M2[i, j] + M1[i, j] + rates[1] * M[i, j - 1]
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
