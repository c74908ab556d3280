"""The inside recursion: the sum over all structures of the product of their weights.

Letters are numbered 1 … n. All tables are (n + 2, n + 2), G with a margin; entries below the
diagonal, on the border and in the margin stay zero. Loops are read as rows of 32 or 16 lengths,
which fill whole vector registers: the weights of those that are too long are zero.

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
from core.losses.rna.terms import HALF, LONGEST, MARGIN, PAIRS, views, widened

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_inside(G, wide, i, j):
    """The sum over inner pairs p, q of G[p, q] times the weight of the loop's lengths."""
    total = 0.0
    most = min(LONGEST, j - i - 3)
    for left in range(min(HALF, most + 1)):
        inner, lengths = G[i + 1 + left, j : j + MARGIN], wide[left]
        for place in range(lengths.size):
            total += inner[place] * lengths[place]
    for left in range(HALF, most + 1):
        inner, lengths = G[i + 1 + left, j + HALF : j + MARGIN], wide[left, HALF:]
        for place in range(lengths.size):
            total += inner[place] * lengths[place]
    return total


@compiled
def small_loops_inside(G, bulge, square, codes, i, j):
    """The same over loops of one base, or one on each side, whose letters count."""
    c, d, q = codes[i + 1], codes[j - 1], j - 2 + MARGIN
    return bulge[d] * G[i + 1, q] + bulge[c] * G[i + 2, q + 1] + square[c, d] * G[i + 2, q]


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
def inside(given, inner, G, F):
    """Fills the tables (given as zeros) and returns Z, the sum over all structures.

    Args:
        given: the letters, shape (n + 2,); weights as `terms.weights_of` gives them; weights of
            hairpin loops of 0 … n bases; the fewest bases in a hairpin loop.
        inner: P, M1, M2, M, each of shape (n + 2, n + 2).
        G: shape (n + 2, n + 2 + MARGIN), its columns behind the margin.
        F: shape (n + 2,).
    """
    codes, weights, hairpin, shortest = given
    P, M1, M2, M = inner
    n = codes.size - 2
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    wide = widened(loops)
    for i in range(n, 0, -1):
        a = codes[i]
        for j in range(i + 1, n + 1):
            b = codes[j]
            M1[i, j] = rates[1] * M1[i + 1, j]
            if not PAIRS[a, b]:
                continue
            c, d = codes[i + 1], codes[j - 1]
            total = loops_inside(G, wide, i, j)
            total += small_loops_inside(G, bulge, square, codes, i, j)
            if j - i > shortest:
                total += hairpin[j - i - 1]
            total *= close[a, b, c, d]
            total += stack[a, b, c, d] * P[i + 1, j - 1]
            total += rates[0] * branch[a, b, c, d] * M2[i + 1, j - 1]
            total *= pair[a, b]
            P[i, j] = total
            c, d = codes[j + 1], codes[i - 1]
            G[i, j + MARGIN] = total * close[b, a, c, d]
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
