"""The same grammar in logarithms: slower, in range for any finite parameters.

The inside tables hold logarithms of sums, and beside each its change along a direction of the
parameters, which is the expected score of that direction over the structures summed. The way back
hands the probability of every entry to what it is made of: an entry X that is used with probability
q is made in way e with probability q exp(score of e − log X). Tables are P, M1, M2, M in this
order, shape (4, n + 2, n + 2); ``change`` holds their changes, ``q`` the probabilities.

On the way back ``q[0]`` holds probabilities, ``q[1]`` their change along the direction, each
(4, n + 2, n + 2); ``uses`` and its change are the rows of an array (2, TERMS).
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.parameters import (
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

NEGLIGIBLE = 60.0  # what is less by a factor of e⁻⁶⁰ is lost in a sum, whose own rounding is e⁻³⁶


@compiled
def log_add(top, total, dtotal, x, dx):
    """Log-sum-exp with its change, one addend more: exp(top) × total is the sum so far."""
    if x < top - NEGLIGIBLE or x == -np.inf:
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
                if x > top - NEGLIGIBLE:
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


@compiled
def add_use(uses, term, probability, rise):
    """Adds to a term's expected uses, and to their change."""
    uses[0, term] += probability
    uses[1, term] += rise


@compiled
def add_probability(q, table, i, j, probability, rise):
    """Adds to the probability of a table's entry, and to its change."""
    q[0, table, i, j] += probability
    q[1, table, i, j] += rise


@compiled
def use_close(codes, uses, outer, inner, probability, rise):
    """Adds the uses of an inner pair p, q behind the pair i, j."""
    (i, j), (p, q) = outer, inner
    if p == i + 1 and q == j - 1:
        add_use(uses, STACK + inside_index(codes, i, j), probability, rise)
        return
    add_use(uses, CLOSE + inside_index(codes, i, j), probability, rise)
    add_use(uses, CLOSE + outside_index(codes, p, q), probability, rise)
    length, asymmetry = loop_terms(codes, i, j, p, q)
    add_use(uses, length, probability, rise)
    if asymmetry != ASYMMETRY:
        add_use(uses, asymmetry, probability, rise)


@compiled
def pair_outside(inputs, tables, change, q, uses, i, j):
    """Hands the probability of the pair i, j to what is inside it."""
    codes, terms, along, shortest = inputs
    probability, drift = q[0, 0, i, j], q[1, 0, i, j]
    if probability == 0.0:
        return
    letters = 5 * codes[i] + codes[j]
    add_use(uses, PAIR + letters, probability, drift)
    base = tables[0, i, j] - terms[PAIR + letters]
    rising = change[0, i, j] - along[PAIR + letters]
    if j - i > shortest:
        share = np.exp(log_hairpin(codes, terms, i, j) - base)
        rise = share * (drift + probability * (log_hairpin(codes, along, i, j) - rising))
        add_use(uses, CLOSE + inside_index(codes, i, j), probability * share, rise)
        add_use(uses, HAIRPIN + min(j - i - 1, LONGEST), probability * share, rise)
    for first in range(i + 1, min(i + LONGEST + 1, j - 2) + 1):
        for last in range(j - 1, max(first, j + first - i - LONGEST - 3), -1):
            x = tables[0, first, last] - base
            if x > -np.inf:
                x += log_close(codes, terms, i, j, first, last)
            if x > -NEGLIGIBLE:
                share = np.exp(x)
                dx = change[0, first, last] + log_close(codes, along, i, j, first, last)
                rise = share * (drift + probability * (dx - rising))
                use_close(codes, uses, (i, j), (first, last), probability * share, rise)
                add_probability(q, 0, first, last, probability * share, rise)
    x = tables[2, i + 1, j - 1]
    if x > -np.inf:
        share = np.exp(x + log_multi(codes, terms, i, j) - base)
        dx = change[2, i + 1, j - 1] + log_multi(codes, along, i, j)
        rise = share * (drift + probability * (dx - rising))
        add_use(uses, BRANCH + inside_index(codes, i, j), probability * share, rise)
        add_use(uses, RATES, probability * share, rise)
        add_probability(q, 2, i + 1, j - 1, probability * share, rise)


@compiled
def row_outside(inputs, tables, change, q, uses, i):
    """Hands the probabilities of row i of M, M2 and M1 on."""
    codes, terms, along, _ = inputs
    n = codes.size - 2
    for j in range(n, i, -1):
        probability, drift = q[0, 3, i, j], q[1, 3, i, j]
        if probability > 0.0:
            base, rising = tables[3, i, j], change[3, i, j]
            for table in (1, 2):
                share = np.exp(tables[table, i, j] - base)
                rise = share * (drift + probability * (change[table, i, j] - rising))
                add_probability(q, table, i, j, probability * share, rise)
            share = np.exp(tables[3, i, j - 1] + terms[RATES + 1] - base)
            dx = change[3, i, j - 1] + along[RATES + 1]
            rise = share * (drift + probability * (dx - rising))
            add_probability(q, 3, i, j - 1, probability * share, rise)
            add_use(uses, RATES + 1, probability * share, rise)
        probability, drift = q[0, 2, i, j], q[1, 2, i, j]
        if probability > 0.0:
            base, rising = tables[2, i, j], change[2, i, j]
            for k in range(i + 1, j - 1):
                x = tables[1, i, k] + tables[3, k + 1, j] - base
                if x > -NEGLIGIBLE:
                    share = np.exp(x)
                    dx = change[1, i, k] + change[3, k + 1, j]
                    rise = share * (drift + probability * (dx - rising))
                    add_probability(q, 1, i, k, probability * share, rise)
                    add_probability(q, 3, k + 1, j, probability * share, rise)
    for j in range(n, i, -1):
        probability, drift = q[0, 1, i, j], q[1, 1, i, j]
        if probability > 0.0:
            base, rising = tables[1, i, j], change[1, i, j]
            share = np.exp(tables[1, i + 1, j] + terms[RATES + 1] - base)
            dx = change[1, i + 1, j] + along[RATES + 1]
            rise = share * (drift + probability * (dx - rising))
            add_probability(q, 1, i + 1, j, probability * share, rise)
            add_use(uses, RATES + 1, probability * share, rise)
            x = tables[0, i, j] + log_branch(codes, terms, i, j) + terms[RATES + 2]
            dx = change[0, i, j] + log_branch(codes, along, i, j) + along[RATES + 2]
            share = np.exp(x - base)
            rise = share * (drift + probability * (dx - rising))
            add_probability(q, 0, i, j, probability * share, rise)
            add_use(uses, BRANCH + outside_index(codes, i, j), probability * share, rise)
            add_use(uses, RATES + 2, probability * share, rise)


@compiled
def log_outside(inputs, tables, change, F, dF, q, uses):
    """Fills ``q`` and ``uses``, given as zeros; the arguments as for the inside part."""
    codes, terms, along, _ = inputs
    n = codes.size - 2
    probability, drift = np.zeros(n + 1), np.zeros(n + 1)
    probability[n] = 1.0
    for j in range(n, 0, -1):
        share = np.exp(F[j - 1] + terms[RATES + 3] - F[j])
        rise = share * (drift[j] + probability[j] * (dF[j - 1] + along[RATES + 3] - dF[j]))
        probability[j - 1] += probability[j] * share
        drift[j - 1] += rise
        add_use(uses, RATES + 3, probability[j] * share, rise)
        for k in range(1, j):
            if PAIRS[codes[k], codes[j]]:
                x = F[k - 1] + tables[0, k, j] + log_branch(codes, terms, k, j) + terms[RATES + 4]
                dx = dF[k - 1] + change[0, k, j] + log_branch(codes, along, k, j)
                share = np.exp(x - F[j])
                rise = share * (drift[j] + probability[j] * (dx + along[RATES + 4] - dF[j]))
                probability[k - 1] += probability[j] * share
                drift[k - 1] += rise
                add_probability(q, 0, k, j, probability[j] * share, rise)
                add_use(uses, BRANCH + outside_index(codes, k, j), probability[j] * share, rise)
                add_use(uses, RATES + 4, probability[j] * share, rise)
    for i in range(1, n + 1):
        row_outside(inputs, tables, change, q, uses, i)
        for j in range(i + 1, n + 1):
            if PAIRS[codes[i], codes[j]]:
                pair_outside(inputs, tables, change, q, uses, i, j)
