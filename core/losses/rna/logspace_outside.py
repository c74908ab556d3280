"""The way back in logarithms: probabilities of entries and uses of terms, with their changes.

Names and shapes as in the inside part of the same computation. ``q[0]`` holds probabilities,
``q[1]`` their change along the direction, each (4, n + 2, n + 2); ``uses`` and its change are the
rows of an array (2, TERMS).
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.rna.logspace import (
    about,
    around,
    log_branch,
    log_close,
    log_hairpin,
    log_multi,
    loop_terms,
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
def used(uses, place, probability, rise):
    """A term was used with this probability."""
    uses[0, place] += probability
    uses[1, place] += rise


@compiled
def handed(q, table, i, j, probability, rise):
    """An entry of a table was used with this probability."""
    q[0, table, i, j] += probability
    q[1, table, i, j] += rise


@compiled
def use_close(codes, uses, outer, inner, probability, rise):
    """The terms of an inner pair p, q behind the pair i, j."""
    (i, j), (p, q) = outer, inner
    if p == i + 1 and q == j - 1:
        used(uses, STACK + around(codes, i, j), probability, rise)
        return
    used(uses, CLOSE + around(codes, i, j), probability, rise)
    used(uses, CLOSE + about(codes, p, q), probability, rise)
    length, asymmetry = loop_terms(codes, i, j, p, q)
    used(uses, length, probability, rise)
    if asymmetry != ASYMMETRY:
        used(uses, asymmetry, probability, rise)


@compiled
def pair_outside(given, tables, change, q, uses, i, j):
    """Hands the probability of the pair i, j to what is inside it."""
    codes, terms, along, shortest = given
    whole, drift = q[0, 0, i, j], q[1, 0, i, j]
    if whole == 0.0:
        return
    letters = 5 * codes[i] + codes[j]
    used(uses, PAIR + letters, whole, drift)
    base = tables[0, i, j] - terms[PAIR + letters]
    rising = change[0, i, j] - along[PAIR + letters]
    if j - i > shortest:
        share = np.exp(log_hairpin(codes, terms, i, j) - base)
        rise = share * (drift + whole * (log_hairpin(codes, along, i, j) - rising))
        used(uses, CLOSE + around(codes, i, j), whole * share, rise)
        used(uses, HAIRPIN + min(j - i - 1, LONGEST), whole * share, rise)
    for first in range(i + 1, min(i + LONGEST + 1, j - 2) + 1):
        for last in range(j - 1, max(first, j + first - i - LONGEST - 3), -1):
            x = tables[0, first, last]
            if x > -np.inf:
                share = np.exp(x + log_close(codes, terms, i, j, first, last) - base)
                dx = change[0, first, last] + log_close(codes, along, i, j, first, last)
                rise = share * (drift + whole * (dx - rising))
                use_close(codes, uses, (i, j), (first, last), whole * share, rise)
                handed(q, 0, first, last, whole * share, rise)
    x = tables[2, i + 1, j - 1]
    if x > -np.inf:
        share = np.exp(x + log_multi(codes, terms, i, j) - base)
        dx = change[2, i + 1, j - 1] + log_multi(codes, along, i, j)
        rise = share * (drift + whole * (dx - rising))
        used(uses, BRANCH + around(codes, i, j), whole * share, rise)
        used(uses, RATES, whole * share, rise)
        handed(q, 2, i + 1, j - 1, whole * share, rise)


@compiled
def row_outside(given, tables, change, q, uses, i):
    """Hands the probabilities of row i of M, M2 and M1 on."""
    codes, terms, along, _ = given
    n = codes.size - 2
    for j in range(n, i, -1):
        whole, drift = q[0, 3, i, j], q[1, 3, i, j]
        if whole > 0.0:
            base, rising = tables[3, i, j], change[3, i, j]
            for table in (1, 2):
                share = np.exp(tables[table, i, j] - base)
                rise = share * (drift + whole * (change[table, i, j] - rising))
                handed(q, table, i, j, whole * share, rise)
            share = np.exp(tables[3, i, j - 1] + terms[RATES + 1] - base)
            dx = change[3, i, j - 1] + along[RATES + 1]
            rise = share * (drift + whole * (dx - rising))
            handed(q, 3, i, j - 1, whole * share, rise)
            used(uses, RATES + 1, whole * share, rise)
        whole, drift = q[0, 2, i, j], q[1, 2, i, j]
        if whole > 0.0:
            base, rising = tables[2, i, j], change[2, i, j]
            for k in range(i + 1, j - 1):
                share = np.exp(tables[1, i, k] + tables[3, k + 1, j] - base)
                dx = change[1, i, k] + change[3, k + 1, j]
                rise = share * (drift + whole * (dx - rising))
                handed(q, 1, i, k, whole * share, rise)
                handed(q, 3, k + 1, j, whole * share, rise)
    for j in range(n, i, -1):
        whole, drift = q[0, 1, i, j], q[1, 1, i, j]
        if whole > 0.0:
            base, rising = tables[1, i, j], change[1, i, j]
            share = np.exp(tables[1, i + 1, j] + terms[RATES + 1] - base)
            dx = change[1, i + 1, j] + along[RATES + 1]
            rise = share * (drift + whole * (dx - rising))
            handed(q, 1, i + 1, j, whole * share, rise)
            used(uses, RATES + 1, whole * share, rise)
            x = tables[0, i, j] + log_branch(codes, terms, i, j) + terms[RATES + 2]
            dx = change[0, i, j] + log_branch(codes, along, i, j) + along[RATES + 2]
            share = np.exp(x - base)
            rise = share * (drift + whole * (dx - rising))
            handed(q, 0, i, j, whole * share, rise)
            used(uses, BRANCH + about(codes, i, j), whole * share, rise)
            used(uses, RATES + 2, whole * share, rise)


@compiled
def log_outside(given, tables, change, F, dF, q, uses):
    """Fills ``q`` and ``uses``, given as zeros; the arguments as for the inside part."""
    codes, terms, along, _ = given
    n = codes.size - 2
    whole, drift = np.zeros(n + 1), np.zeros(n + 1)
    whole[n] = 1.0
    for j in range(n, 0, -1):
        share = np.exp(F[j - 1] + terms[RATES + 3] - F[j])
        rise = share * (drift[j] + whole[j] * (dF[j - 1] + along[RATES + 3] - dF[j]))
        whole[j - 1] += whole[j] * share
        drift[j - 1] += rise
        used(uses, RATES + 3, whole[j] * share, rise)
        for k in range(1, j):
            if PAIRS[codes[k], codes[j]]:
                x = F[k - 1] + tables[0, k, j] + log_branch(codes, terms, k, j) + terms[RATES + 4]
                dx = dF[k - 1] + change[0, k, j] + log_branch(codes, along, k, j)
                share = np.exp(x - F[j])
                rise = share * (drift[j] + whole[j] * (dx + along[RATES + 4] - dF[j]))
                whole[k - 1] += whole[j] * share
                drift[k - 1] += rise
                handed(q, 0, k, j, whole[j] * share, rise)
                used(uses, BRANCH + about(codes, k, j), whole[j] * share, rise)
                used(uses, RATES + 4, whole[j] * share, rise)
    for i in range(1, n + 1):
        row_outside(given, tables, change, q, uses, i)
        for j in range(i + 1, n + 1):
            if PAIRS[codes[i], codes[j]]:
                pair_outside(given, tables, change, q, uses, i, j)
