"""The outside recursion: how Z changes with every entry of the inside tables, and uses of terms.

Z is a polynomial of the weights, and the inside recursion one way of evaluating it; this is its
reverse differentiation. The table ``dX`` holds (∂Z/∂X)/Z, so that dX · X is the probability that a
structure uses the entry X, whatever the scaling. Shapes as in the inside recursion.

| table | code | of |
| --- | --- | --- |
| dP, dG, dM1, dM2, dM | ``dP`` … | the inside tables |
| D[i, j] | ``D`` | the loops that the pair i, j closes |
| B[j] | ``B`` | F[j] |
| u | ``uses`` | expected uses of every term, shape (TERMS,) |
"""

from __future__ import annotations

from core.losses.compiled import compiled
from core.losses.rna.terms import HAIRPIN, LONGEST, PAIRS, views

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def loops_outside(D, forward, p, q, n):
    """The sum over closing pairs i, j of D[i, j] times the weight of the loop's lengths."""
    total = 0.0
    for left in range(min(LONGEST, p - 2) + 1):
        size = min(LONGEST - left, n - q - 1) + 1
        closing = D[p - 1 - left, q + 1 : q + 1 + size]
        lengths = forward[left, :size]
        for place in range(size):
            total += closing[place] * lengths[place]
    return total


@compiled
def small_loops_outside(D, bulge, square, codes, p, q, n):
    """The same over loops of one base, or one on each side, whose letters count."""
    before, behind = codes[p - 1], codes[q + 1]
    total = 0.0
    if q + 2 <= n:
        total += D[p - 1, q + 2] * bulge[behind]
        if p >= 3:
            total += D[p - 2, q + 2] * square[before, behind]
    if p >= 3:
        total += D[p - 2, q + 1] * bulge[before]
    return total


@compiled
def count_loops(G, counted, i, j, factor):
    """Adds factor × G[p, q] to the place of the lengths of the loop between i, j and p, q."""
    for left in range(min(LONGEST, j - i - 3) + 1):
        p = i + 1 + left
        first = max(p + 1, j - LONGEST - 1 + left)
        inner = G[p, first:j]
        row = counted[left, first - j + LONGEST + 1 :]
        for place in range(j - first):
            row[place] += factor * inner[place]


@compiled
def branches_outside(M1, M, dM1, dM2, dM, i, n):
    """What row i of M2 passes on to the first branch and to the others."""
    for k in range(i + 1, n - 1):
        first = M1[i, k]
        others = M[k + 1, k + 2 :]
        passed = dM[k + 1, k + 2 :]
        row = dM2[i, k + 2 :]
        total = 0.0
        for place in range(n - k - 1):
            total += row[place] * others[place]
            passed[place] += row[place] * first
        dM1[i, k] += total


@compiled
def outer_outside(codes, weights, P, F, B, dP, uses):
    """Fills B from Z = F[n] downwards, and what the letters outside of all pairs pass on to P."""
    n = codes.size - 2
    branch, rates = views(weights)[1], views(weights)[7]
    branch_uses, rate_uses = views(uses)[1], views(uses)[7]
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
def outside(codes, weights, hairpin, shortest, inner, F, outer, D, B, uses):
    """Fills the outside tables and ``uses``, all given as zeros.

    Args:
        codes, weights, hairpin, shortest, F: as given to, and filled by, the inside recursion.
        inner: P, G, M1, M2, M as filled by the inside recursion.
        outer: dP, dG, dM1, dM2, dM.
        D: shape (n + 2, n + 2).
        B: shape (n + 2,).
        uses: shape (TERMS,).

    Returns:
        The largest count of loops before their weight: an underflow of that weight shows in it.
    """
    n = codes.size - 2
    P, G, M1, M2, M = inner
    dP, dG, dM1, dM2, dM = outer
    close, branch, stack, pair, bulge, square, loops, rates = views(weights)
    closes, branches, stacks, pairs, bulges, squares, looped, rated = views(uses)
    hairpins = uses[HAIRPIN:]
    forward = loops[:, ::-1].copy()
    outer_outside(codes, weights, P, F, B, dP, uses)
    for i in range(1, n + 1):
        for j in range(n, i, -1):
            dM2[i, j] += dM[i, j]
            dM1[i, j] += dM[i, j]
            dM[i, j - 1] += dM[i, j] * rates[1]
            rated[1] += dM[i, j] * rates[1] * M[i, j - 1]
        branches_outside(M1, M, dM1, dM2, dM, i, n)
        for j in range(i + 1, n + 1):
            dM1[i + 1, j] += dM1[i, j] * rates[1]
            rated[1] += dM1[i, j] * rates[1] * M1[i + 1, j]
            if not PAIRS[codes[i], codes[j]]:
                continue
            a, b = codes[i], codes[j]
            c, d = codes[j + 1], codes[i - 1]
            factor = branch[b, a, c, d] * rates[2] * dM1[i, j]
            dP[i, j] += factor
            branches[b, a, c, d] += factor * P[i, j]
            rated[2] += factor * P[i, j]
            if i > 1 and j < n:
                passed = loops_outside(D, forward, i, j, n)
                passed += small_loops_outside(D, bulge, square, codes, i, j, n)
                dG[i, j] = passed
                dP[i, j] += passed * close[b, a, c, d]
                closes[b, a, c, d] += passed * G[i, j]
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
            D[i, j] = derivative * close[a, b, c, d]
            if j - i > shortest:
                hairpins[min(j - i - 1, LONGEST)] += D[i, j] * hairpin[j - i - 1]
            bulges[codes[j - 1]] += D[i, j] * bulge[codes[j - 1]] * G[i + 1, j - 2]
            bulges[c] += D[i, j] * bulge[c] * G[i + 2, j - 1]
            squares[c, d] += D[i, j] * square[c, d] * G[i + 2, j - 2]
            count_loops(G, looped, i, j, D[i, j])
            closes[a, b, c, d] += (
                dP[i, j] * P[i, j] - stacked * P[i + 1, j - 1] - multi * M2[i + 1, j - 1]
            )
    largest = looped.max()
    looped *= loops
    return largest
