"""The way back in logarithms: probabilities of entries and uses of terms, with their changes.

``q[0]`` holds probabilities, ``q[1]`` their change along the direction, each (4, n + 2, n + 2);
``uses`` and its change are the rows of an array (2, TERMS).
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.logspace import (
    inside_index,
    log_branch,
    log_close,
    log_hairpin,
    log_multi,
    loop_terms,
    outside_index,
)
from core.losses.rna.terms import (
    ASYMMETRY,
    BRANCH,
    CLOSE,
    HAIRPIN,
    LONGEST,
    PAIR,
    PAIRS,
    RATES,
    STACK,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


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
            x = tables[0, first, last]
            if x > -np.inf:
                share = np.exp(x + log_close(codes, terms, i, j, first, last) - base)
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
                share = np.exp(tables[1, i, k] + tables[3, k + 1, j] - base)
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
