"""How the expected uses of terms of one molecule change when the parameters move: exactly."""

from __future__ import annotations

import numpy as np

from core.losses.rna.fold import FoldResult, fold_in_logarithms, room_for
from core.losses.rna.tangent_inside import tangent_inside
from core.losses.rna.tangent_outside import tangent_outside
from core.losses.rna.terms import LOOPS, RATES, TERMS, weights_of


def change_of_uses(
    codes: np.ndarray,
    terms: np.ndarray,
    along: np.ndarray,
    shortest: int,
    folded: FoldResult,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """The derivative of the expected uses along a direction, shape (TERMS,).

    Args:
        codes, terms, along, shortest: as for `fold.fold_in_logarithms`.
        folded: by `fold_molecule` for the same molecule and terms, its tables untouched since.
        room: memory to work in, other than that of the tables.
    """
    if folded.tables is None:
        return fold_in_logarithms(codes, terms, along, shortest)[1]
    bases = codes.size - 2
    weights, hairpin = weights_of(terms, bases, folded.c)
    tables, dtables = folded.tables, room_for(bases, room)
    inner, outer, loose = tuple(tables.inner), tuple(tables.outer), tuple(tables.loose)
    moving, rising, dloose = tuple(dtables.inner), tuple(dtables.outer), tuple(dtables.loose)
    inputs, change = (codes, weights, hairpin, shortest), np.zeros(TERMS)
    filled = inner, loose[:2], tables.ends[0]
    tangent_inside(inputs, along, filled, (moving, dloose[:2], dtables.ends[0]))
    all_filled = inner, outer, (loose[:2], loose[2:]), tables.ends
    all_moved = moving, rising, (dloose[:2], dloose[2:]), dtables.ends
    tangent_outside(inputs, along, all_filled, all_moved, change)
    loops = slice(LOOPS, RATES)
    change[loops] += folded.uses[loops] * along[loops]
    if not np.isfinite(change).all():
        return fold_in_logarithms(codes, terms, along, shortest)[1]
    return change
