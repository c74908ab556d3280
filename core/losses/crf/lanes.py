"""Eight sequences side by side, so that one instruction works on all of them.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| | ``LANES`` | | sequences side by side |
| | row | | the t-th tokens of the sequences of one group |
| | slot | | row × LANES + lane: the position of one token |

Sequences are sorted by their length, so that those of a group end nearly together; a shorter one
is padded at its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.losses.crf.encoding import Tokens

LANES = 8


@dataclass(frozen=True)
class Lanes:
    """The slot of every token.

    Attributes:
        groups: the first row of every group, and the number of rows, shape (groups + 1,).
        unit: the unit of every token, U for padding, shape (rows, LANES) int32.
        length: of every sequence, 0 where there is none, shape (groups, LANES).
        sequence: which it is, −1 for none, shape (groups, LANES).
        slot: of every token, in the order of the table, shape (N,).
        slots: of the tokens of one unit after another, shape (N,).
        slots_begin: where a unit's begin, shape (U + 1,).
    """

    groups: np.ndarray
    unit: np.ndarray
    length: np.ndarray
    sequence: np.ndarray
    slot: np.ndarray
    slots: np.ndarray
    slots_begin: np.ndarray


def lanes_of(tokens: Tokens) -> Lanes:
    """The lanes of tokens, long sequences first."""
    lengths = np.diff(tokens.starts)
    sequences = len(lengths)
    groups = -(-sequences // LANES)
    sequence = np.full(groups * LANES, -1, dtype=np.int64)
    sequence[:sequences] = np.argsort(-lengths, kind="stable")
    length = np.where(sequence >= 0, lengths[sequence], 0).reshape(groups, LANES)
    begin = np.concatenate(([0], np.cumsum(length.max(axis=1)))).astype(np.int64)
    rank_of = np.empty(sequences, dtype=np.int64)
    rank_of[sequence[:sequences]] = np.arange(sequences)
    token_rank = np.repeat(rank_of, lengths)
    step = np.arange(tokens.token_count) - np.repeat(tokens.starts[:-1], lengths)
    slot = (begin[token_rank // LANES] + step) * LANES + token_rank % LANES
    units = len(tokens.begins) - 1
    unit = np.full(int(begin[-1]) * LANES, units, dtype=np.int32)
    unit[slot] = tokens.unit
    slots = np.sort(slot)
    slots = slots[np.argsort(unit[slots], kind="stable")]
    counts = np.bincount(tokens.unit, minlength=units)
    return Lanes(
        begin,
        unit.reshape(-1, LANES),
        length,
        sequence.reshape(groups, LANES),
        slot,
        slots,
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    )
