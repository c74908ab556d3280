"""The same grammar in logarithms: slower, in range for any finite parameters.

The inside tables hold logarithms of sums, and beside each its change along a direction of the
parameters, which is the expected score of that direction over the structures summed. The way back
hands the probability of every entry to what it is made of: an entry X that is used with probability
q is made in way e with probability q exp(score of e − log X). Tables are P, M1, M2, M in this
order, shape (4, n + 2, n + 2); ``change`` holds their changes, ``q`` the probabilities.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.terms import (
    ASYMMETRY,
    BRANCH,
    BULGE,
    BULGES,
    CLOSE,
    HAIRPIN,
    LENGTHS,
    LONGEST,
    PAIR,
    PAIRS,
    RATES,
    SHORT,
    SMALL,
    SQUARE,
    STACK,
    SYMMETRIC,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@compiled
def log_add(top, total, dtotal, x, dx):
    """Log-sum-exp with its change, one addend more: exp(top) × total is the sum so far."""
    if x == -np.inf:
        return top, total, dtotal
    if x <= top:
        share = np.exp(x - top)
        return top, total + share, dtotal + share * dx
    share = np.exp(top - x)
    return x, total * share + 1.0, dtotal * share + dx


@compiled
def inside_index(codes, i, j):
    """The place of the letters of the pair i, j and of the two inside it."""
    return 125 * codes[i] + 25 * codes[j] + 5 * codes[i + 1] + codes[j - 1]


@compiled
def outside_index(codes, i, j):
    """The place of the letters of the pair i, j seen from outside and of the two outside it."""
    return 125 * codes[j] + 25 * codes[i] + 5 * codes[j + 1] + codes[i - 1]


@compiled
def loop_terms(codes, i, j, p, q):
    """The terms of a loop but for its junctions; the second may be ASYMMETRY, which is zero."""
    left, right = p - i - 1, j - q - 1
    size = left + right
    if size == 1:
        return BULGE + codes[i + 1 if left == 1 else j - 1], ASYMMETRY
    if left == 0 or right == 0:
        return BULGES + size, ASYMMETRY
    if size == 2:
        return SQUARE + 5 * codes[i + 1] + codes[j - 1], ASYMMETRY
    if size <= SHORT:
        return SMALL + SHORT * left + right, ASYMMETRY
    if left == right:
        return SYMMETRIC + left, ASYMMETRY
    return LENGTHS + size, ASYMMETRY + 2 + abs(left - right)


@compiled
def log_close(codes, terms, i, j, p, q):
    """Score of an inner pair p, q behind the pair i, j: directly stacked, or with a loop."""
    if p == i + 1 and q == j - 1:
        return terms[STACK + inside_index(codes, i, j)]
    junctions = terms[CLOSE + inside_index(codes, i, j)] + terms[CLOSE + outside_index(codes, p, q)]
    length, asymmetry = loop_terms(codes, i, j, p, q)
    return junctions + terms[length] + terms[asymmetry]


@compiled
def log_branch(codes, terms, i, j):
    """Junction of the pair i, j seen from the loop outside it."""
    return terms[BRANCH + outside_index(codes, i, j)]


@compiled
def log_multi(codes, terms, i, j):
    """Score of closing a multi-branch loop with the pair i, j."""
    return terms[BRANCH + inside_index(codes, i, j)] + terms[RATES]


@compiled
def log_hairpin(codes, terms, i, j):
    """Score of a hairpin loop closed by the pair i, j."""
    return terms[CLOSE + inside_index(codes, i, j)] + terms[HAIRPIN + min(j - i - 1, LONGEST)]


@compiled
def log_pair(inputs, tables, change, i, j):
    """Log P[i, j] and its change."""
    codes, terms, along, shortest = inputs
    P, M2 = tables[0], tables[2]
    top, total, dtotal = -np.inf, 0.0, 0.0
    if j - i > shortest:
        x, dx = log_hairpin(codes, terms, i, j), log_hairpin(codes, along, i, j)
        top, total, dtotal = log_add(top, total, dtotal, x, dx)
    for p in range(i + 1, min(i + LONGEST + 1, j - 2) + 1):
        for q in range(j - 1, max(p, j + p - i - LONGEST - 3), -1):
            if P[p, q] > -np.inf:
                x = P[p, q] + log_close(codes, terms, i, j, p, q)
                dx = change[0, p, q] + log_close(codes, along, i, j, p, q)
                top, total, dtotal = log_add(top, total, dtotal, x, dx)
    x = M2[i + 1, j - 1] + log_multi(codes, terms, i, j)
    dx = change[2, i + 1, j - 1] + log_multi(codes, along, i, j)
    top, total, dtotal = log_add(top, total, dtotal, x, dx)
    if total == 0.0:
        return -np.inf, 0.0
    letters = PAIR + 5 * codes[i] + codes[j]
    return top + np.log(total) + terms[letters], dtotal / total + along[letters]


@compiled
def log_inside(inputs, tables, change, F, dF):
    """Fills the tables (given as −inf and zeros); log Z and its change are the last of F and dF.

    Args:
        inputs: letters, shape (n + 2,); S w and S v, shape (TERMS,); the fewest bases in a hairpin.
        tables, change, F, dF: shapes (4, n + 2, n + 2) and (n + 1,).
    """
    codes, terms, along, _ = inputs
    n = codes.size - 2
    P, M1, M2, M = tables[0], tables[1], tables[2], tables[3]
    rates, rising = terms[RATES:HAIRPIN], along[RATES:HAIRPIN]
    for i in range(n, 0, -1):
        for j in range(i + 1, n + 1):
            top, total, dtotal = -np.inf, 0.0, 0.0
            if PAIRS[codes[i], codes[j]]:
                log_p, rise = log_pair(inputs, tables, change, i, j)
                P[i, j], change[0, i, j] = log_p, rise
                x = log_p + log_branch(codes, terms, i, j) + rates[2]
                dx = rise + log_branch(codes, along, i, j) + rising[2]
                top, total, dtotal = log_add(top, total, dtotal, x, dx)
            x, dx = M1[i + 1, j] + rates[1], change[1, i + 1, j] + rising[1]
            top, total, dtotal = log_add(top, total, dtotal, x, dx)
            if total > 0.0:
                M1[i, j], change[1, i, j] = top + np.log(total), dtotal / total
            top, total, dtotal = -np.inf, 0.0, 0.0
            for k in range(i + 1, j - 1):
                if M1[i, k] > -np.inf:
                    dx = change[1, i, k] + change[3, k + 1, j]
                    top, total, dtotal = log_add(top, total, dtotal, M1[i, k] + M[k + 1, j], dx)
            if total > 0.0:
                M2[i, j], change[2, i, j] = top + np.log(total), dtotal / total
            top, total, dtotal = log_add(top, total, dtotal, M1[i, j], change[1, i, j])
            x, dx = M[i, j - 1] + rates[1], change[3, i, j - 1] + rising[1]
            top, total, dtotal = log_add(top, total, dtotal, x, dx)
            if total > 0.0:
                M[i, j], change[3, i, j] = top + np.log(total), dtotal / total
    F[0], dF[0] = 0.0, 0.0
    for j in range(1, n + 1):
        top, total, dtotal = F[j - 1] + rates[3], 1.0, dF[j - 1] + rising[3]
        for k in range(1, j):
            if P[k, j] > -np.inf:
                x = F[k - 1] + P[k, j] + log_branch(codes, terms, k, j) + rates[4]
                dx = dF[k - 1] + change[0, k, j] + log_branch(codes, along, k, j) + rising[4]
                top, total, dtotal = log_add(top, total, dtotal, x, dx)
        F[j], dF[j] = top + np.log(total), dtotal / total
