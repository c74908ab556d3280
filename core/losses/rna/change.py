"""How the expected uses of terms of one molecule change when the parameters move: exactly."""

from __future__ import annotations

import numpy as np

from core.losses.rna.fold import Folded, in_logarithms, room_for
from core.losses.rna.tangent_inside import tangent_inside
from core.losses.rna.tangent_outside import tangent_outside
from core.losses.rna.terms import LOOPS, RATES, TERMS, weights_of


def change_of_uses(
    codes: np.ndarray,
    terms: np.ndarray,
    along: np.ndarray,
    shortest: int,
    folded: Folded,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """The derivative of the expected uses along a direction, shape (TERMS,).

    Args:
        codes: the letters, shape (n + 2,).
        terms: S w, shape (TERMS,).
        along: S v, shape (TERMS,).
        shortest: the fewest bases in a hairpin loop.
        folded: what `fold` found for the same molecule and terms, its tables untouched since.
        room: memory to work in, other than that of the tables.
    """
    if folded.tables is None:
        return in_logarithms(codes, terms, along, shortest)[1]
    bases = codes.size - 2
    weights, hairpin = weights_of(terms, bases, folded.c)
    tables, moved = folded.tables, room_for(bases, room)
    inner, outer = tuple(tables.inner), tuple(tables.outer)
    moving, rising = tuple(moved.inner), tuple(moved.outer)
    given, change = (codes, weights, hairpin, shortest), np.zeros(TERMS)
    tangent_inside(
        given,
        along,
        (inner, tables.far, tables.ends[0]),
        (moving, moved.far, moved.ends[0]),
    )
    tangent_outside(
        given,
        along,
        (inner, outer, (tables.far, tables.near), tables.ends),
        (moving, rising, (moved.far, moved.near), moved.ends),
        change,
    )
    loops = slice(LOOPS, RATES)
    change[loops] += folded.uses[loops] * along[loops]
    if not np.isfinite(change).all():
        return in_logarithms(codes, terms, along, shortest)[1]
    return change
