"""Expected counts of all sequences at w, and their change along a direction.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, N, U | | | labels, tokens, units |
| E[c] | ``counts`` | (n,) | expected counts of all parameters |
| p_t(y) | ``p`` | (slots, K) | marginals, in the slots of lanes.py |
| ξ | ``steps`` | (K, K) | expected number of steps from one label to another |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.losses.crf.chunks import chunk_bounds, run_chunks
from core.losses.crf.encoding import Tokens
from core.losses.crf.features import FeatureMatrix
from core.losses.crf.lanes import LANES, lanes_of
from core.losses.crf.sweep import (
    WIDEST,
    Direction,
    Layout,
    Messages,
    Potentials,
    SweepSums,
    center_scores,
    gather_units,
    sweep_change,
    sweep_groups,
)
from core.losses.crf.wide import wide_change, wide_counts


@dataclass(frozen=True)
class SweepCache:
    """The sweeps at one w: the large arrays are the same memory for every w."""

    log_z: float  # Σ log Z over the sequences
    counts: np.ndarray
    p: np.ndarray
    steps: np.ndarray  # ξ of the groups that are not wide, shape (K, K)
    scores: np.ndarray  # state scores, shape (U, K)
    transition: np.ndarray
    M: np.ndarray  # as α, β and e of sweep.py
    alpha: np.ndarray
    beta: np.ndarray
    e: np.ndarray
    wide: np.ndarray  # which groups are worked on in logarithms, shape (groups,)
    logs: tuple[tuple[int, np.ndarray, np.ndarray], ...]  # their sequences' numbers, α and β


class TokenSequences:
    """The sequences of some tokens with F features (``size``) and K labels (``states``)."""

    def __init__(self, tokens: Tokens, size: int, states: int) -> None:
        self.tokens, self.states = tokens, states
        self.features = FeatureMatrix(tokens, size, states)
        self.lanes = lanes_of(tokens)
        self._work_arrays: dict[str, np.ndarray] = {}
        K, units = states, self.features.units
        cost = 3 * K * K + 20 * K
        self._groups = chunk_bounds(self.lanes.groups * (LANES * cost))
        self._units = chunk_bounds(np.arange(units + 1) * (10 * K))
        self._gathered = chunk_bounds(self.lanes.slots_begin * (2 * K))

    def observed(self, codes: np.ndarray) -> np.ndarray:
        """Counts c in the given labels, shape (n,)."""
        K, lanes, starts = self.states, self.lanes, self.tokens.starts
        p = np.zeros((lanes.unit.size, K))
        p[lanes.slot, codes] = 1.0
        step = codes[:-1] * K + codes[1:]
        inner = np.ones(len(step), dtype=np.bool_)
        inner[starts[1:-1] - 1] = False
        steps = np.bincount(step[inner], minlength=K * K).astype(np.float64)
        firsts = np.bincount(codes[starts[:-1]], minlength=K).astype(np.float64)
        return self._gather_counts(firsts, steps, p, 1)

    def sweep_at(self, w: np.ndarray, threads: int) -> SweepCache:
        """Expected counts at w."""
        K, lanes = self.states, self.lanes
        initial, transition = w[:K], w[K : K + K * K].reshape(K, K)
        scores = self._work_array("s", self.features.units, K)
        self.features.fill_scores(w[K + K * K :].reshape(-1, K), scores, threads)
        potentials, top, span = self._potentials(scores, threads)
        wide = self._wide_groups(span, float(np.ptp(transition)), float(np.ptp(initial)))
        start, M = np.exp(initial - initial.max()), np.exp(transition - transition.max())
        alpha, beta, e = (self._work_array(name, len(lanes.unit), K, LANES) for name in "αβe")
        p = self._work_array("p", lanes.unit.size, K)
        pairs, first_labels, sizes = self._zero_sums()
        layout, messages = self._make_layout(wide), Messages(alpha, beta, e)
        model = Potentials(potentials, top, start, M)

        def sweep_chunk(chunk: int, first: int, last: int) -> None:
            sums = SweepSums(p, pairs[chunk], first_labels[chunk])
            sizes[chunk] = sweep_groups(first, last, layout, model, messages, sums)

        run_chunks(sweep_chunk, self._groups, threads)
        plain = lanes.length[~wide]
        sequences, tokens = int(np.count_nonzero(plain)), int(plain.sum())
        log_z = float(sizes.sum()) + sequences * float(initial.max())
        log_z += (tokens - sequences) * float(transition.max())
        steps, firsts = M * pairs.sum(axis=0), first_labels.sum(axis=0)
        all_steps, logs = steps.copy(), []
        for s in self._wide_sequences(wide):
            slots, units = self._slots_and_units(s)
            wide_sums = wide_counts(units, scores, initial, transition, all_steps)
            log_z_of_sequence, ahead, behind, p[slots] = wide_sums
            log_z += log_z_of_sequence
            firsts += p[slots[0]]
            logs.append((s, ahead, behind))
        counts = self._gather_counts(firsts, all_steps, p, threads)
        sweeps = (alpha, beta, e, wide, tuple(logs))
        return SweepCache(log_z, counts, p, steps, scores, transition, M, *sweeps)

    def counts_change(self, cache: SweepCache, v: np.ndarray, threads: int) -> np.ndarray:
        """The derivative of the expected counts along v: the Hessian times v, shape (n,)."""
        K, units = self.states, self.features.units
        v_initial, v_step = v[:K], v[K : K + K * K].reshape(K, K)
        v_scores = self._work_array("v", units + 1, K)
        v_scores[units] = 0.0
        self.features.fill_scores(v[K + K * K :].reshape(-1, K), v_scores[:units], threads)
        direction = Direction(v_scores, v_initial, cache.M * v_step)
        layout, messages = self._make_layout(cache.wide), Messages(cache.alpha, cache.beta, cache.e)
        p = self._work_array("dp", *cache.p.shape)
        pairs, first_labels, _ = self._zero_sums()

        def change_chunk(chunk: int, first: int, last: int) -> None:
            sums = SweepSums(p, pairs[chunk], first_labels[chunk])
            sweep_change(first, last, layout, cache.M, messages, direction, sums)

        run_chunks(change_chunk, self._groups, threads)
        steps = cache.M * pairs.sum(axis=0) + v_step * cache.steps
        firsts = first_labels.sum(axis=0)
        for s, ahead, behind in cache.logs:
            slots, units_of = self._slots_and_units(s)
            along = (v_scores, v_initial, v_step)
            dp = wide_change(units_of, cache.scores, cache.transition, ahead, behind, along, steps)
            p[slots] = dp
            firsts += dp[0]
        return self._gather_counts(firsts, steps, p, threads)

    def _make_layout(self, wide: np.ndarray) -> Layout:
        return Layout(self.lanes.groups, self.lanes.unit, self.lanes.length, wide)

    def _work_array(self, name: str, *shape: int) -> np.ndarray:
        """An array by name: zeros at first, later with its last contents; fresh memory is slow."""
        if name not in self._work_arrays:
            self._work_arrays[name] = np.zeros(shape)
        return self._work_arrays[name]

    def gathered(self, p: np.ndarray, threads: int) -> np.ndarray:
        """The sum of rows of slots over the tokens of every unit, shape (U, K)."""
        lanes, out = self.lanes, self._work_array("R", self.features.units, self.states)

        def gather_chunk(chunk: int, first: int, last: int) -> None:
            gather_units(p, lanes.slots, lanes.slots_begin, first, last, out)

        run_chunks(gather_chunk, self._gathered, threads)
        return out

    def _gather_counts(
        self, firsts: np.ndarray, steps: np.ndarray, p: np.ndarray, threads: int
    ) -> np.ndarray:
        states = self.features.transpose_product(self.gathered(p, threads), threads)
        return np.concatenate((firsts, steps.ravel(), states.ravel()))

    def _potentials(
        self, scores: np.ndarray, threads: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ψ (U + 1, K), and the largest score and the span of every unit."""
        units, K = scores.shape
        potentials = self._work_array("ψ", units + 1, K)
        potentials[units] = 1.0
        top, span = np.zeros(units + 1), np.zeros(units + 1)

        def fill_chunk(chunk: int, first: int, last: int) -> None:
            center_scores(scores, first, last, potentials, top, span)
            # numpy's exponentials of many numbers use vector instructions.
            np.exp(potentials[first:last], out=potentials[first:last])

        run_chunks(fill_chunk, self._units, threads)
        return potentials, top, span

    def _zero_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Zeros for what every chunk adds up: Ξ, first labels, logarithms."""
        chunk_count, K = len(self._groups) - 1, self.states
        return np.zeros((chunk_count, K, K)), np.zeros((chunk_count, K)), np.zeros(chunk_count)

    def _wide_groups(self, span: np.ndarray, transition: float, initial: float) -> np.ndarray:
        """Which groups have a sequence whose scores span too much, shape (groups,)."""
        spare = WIDEST - transition - initial
        if span.max() < spare:
            return np.zeros(len(self.lanes.groups) - 1, dtype=np.bool_)
        rows = (span[self.lanes.unit] >= spare).any(axis=1)
        return np.logical_or.reduceat(rows, self.lanes.groups[:-1])

    def _wide_sequences(self, wide: np.ndarray) -> list[int]:
        return [int(s) for s in self.lanes.sequence[wide].ravel() if s >= 0]

    def _slots_and_units(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        first, last = self.tokens.starts[s], self.tokens.starts[s + 1]
        return self.lanes.slot[first:last], self.tokens.unit[first:last]
