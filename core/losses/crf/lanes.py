"""Eight sequences side by side, so that one instruction works on all of them.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| | ``LANES`` | | sequences side by side, sorted by length, the shorter ones padded at the end |
| | row | | the t-th tokens of the sequences of one group |
| | slot | | row × LANES + lane: the position of one token |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.losses.crf.encoding import Tokens

LANES = 8


@dataclass(frozen=True)
class Lanes:
    """The slot of every token."""

    groups: np.ndarray  # the first row of every group, and the number of rows, (groups + 1,)
    unit: np.ndarray  # of every token, U for padding, shape (rows, LANES) int32
    length: np.ndarray  # of every sequence, 0 where there is none, shape (groups, LANES)
    sequence: np.ndarray  # which it is, −1 for none, shape (groups, LANES)
    slot: np.ndarray  # of every token, in the order of the table, shape (N,)
    slots: np.ndarray  # of the tokens of one unit after another, shape (N,)
    slots_begin: np.ndarray  # where a unit's begin, shape (U + 1,)


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
    begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    tables = unit.reshape(-1, LANES), length, sequence.reshape(groups, LANES)
    return Lanes(begin, *tables, slot, slots, begins)
