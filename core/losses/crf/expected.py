"""Expected counts of all sequences at w, and their change along a direction.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, N, U | | | labels, tokens, units |
| E[c] | ``counts`` | (n,) | expected counts of all parameters |
| p_t(y) | ``p`` | (slots, K) | marginals, in the places of lanes.py |
| ξ | ``steps`` | (K, K) | expected number of steps from one label to another |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.losses.crf.chunks import each_part, parts_of
from core.losses.crf.encoding import Tokens
from core.losses.crf.features import Features
from core.losses.crf.lanes import LANES, lanes_of
from core.losses.crf.sweep import (
    WIDEST,
    Direction,
    Layout,
    Messages,
    Potentials,
    Sums,
    center,
    gather_units,
    sweep,
    sweep_change,
)
from core.losses.crf.wide import wide_change, wide_counts


@dataclass(frozen=True)
class At:
    """What is kept of one w, until the next: the large arrays are the same memory for every w.

    Attributes:
        log_z: Σ log Z over the sequences.
        counts: E[c], shape (n,).
        p: marginals, shape (slots, K).
        steps: ξ of the groups that are not wide, shape (K, K).
        scores: state scores, shape (U, K).
        transition: shape (K, K); M the same as in sweep.py.
        alpha, beta, e: as in sweep.py.
        wide: which groups are worked on in logarithms, shape (groups,).
        logs: of every sequence of those groups its number, α and β as in wide.py, (tokens, K).
    """

    log_z: float
    counts: np.ndarray
    p: np.ndarray
    steps: np.ndarray
    scores: np.ndarray
    transition: np.ndarray
    M: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    e: np.ndarray
    wide: np.ndarray
    logs: tuple[tuple[int, np.ndarray, np.ndarray], ...]


class Chains:
    """The sequences of some tokens.

    Args:
        tokens: the tokens.
        size: features (F).
        states: labels (K).
    """

    def __init__(self, tokens: Tokens, size: int, states: int) -> None:
        self.tokens, self.states = tokens, states
        self.features = Features(tokens, size, states)
        self.lanes = lanes_of(tokens)
        self._rooms: dict[str, np.ndarray] = {}
        K, units = states, self.features.units
        cost = 3 * K * K + 20 * K
        self._groups = parts_of(self.lanes.groups * (LANES * cost))
        self._units = parts_of(np.arange(units + 1) * (10 * K))
        self._gathered = parts_of(self.lanes.slots_begin * (2 * K))

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
        return self._gather(firsts, steps, p, 1)

    def at(self, w: np.ndarray, threads: int) -> At:
        """Expected counts at w."""
        K, lanes = self.states, self.lanes
        initial, transition = w[:K], w[K : K + K * K].reshape(K, K)
        scores = self._room("s", self.features.units, K)
        self.features.scores(w[K + K * K :].reshape(-1, K), scores, threads)
        potentials, top, span = self._potentials(scores, threads)
        wide = self._wide(span, float(np.ptp(transition)), float(np.ptp(initial)))
        start, M = np.exp(initial - initial.max()), np.exp(transition - transition.max())
        alpha, beta, e = (self._room(name, len(lanes.unit), K, LANES) for name in "αβe")
        p = self._room("p", lanes.unit.size, K)
        pairs, first_labels, sizes = self._sums()
        layout, messages = self._layout(wide), Messages(alpha, beta, e)
        model = Potentials(potentials, top, start, M)

        def work(part: int, first: int, last: int) -> None:
            sums = Sums(p, pairs[part], first_labels[part])
            sizes[part] = sweep(first, last, layout, model, messages, sums)

        each_part(work, self._groups, threads)
        plain = lanes.length[~wide]
        sequences, tokens = int(np.count_nonzero(plain)), int(plain.sum())
        log_z = float(sizes.sum()) + sequences * float(initial.max())
        log_z += (tokens - sequences) * float(transition.max())
        steps, firsts = M * pairs.sum(axis=0), first_labels.sum(axis=0)
        all_steps, logs = steps.copy(), []
        for s in self._sequences(wide):
            slots, units = self._tokens(s)
            own_z, ahead, behind, own = wide_counts(units, scores, initial, transition, all_steps)
            log_z += own_z
            p[slots] = own
            firsts += own[0]
            logs.append((s, ahead, behind))
        counts = self._gather(firsts, all_steps, p, threads)
        return At(log_z, counts, p, steps, scores, transition, M, alpha, beta, e, wide, tuple(logs))

    def change(self, at: At, v: np.ndarray, threads: int) -> np.ndarray:
        """The derivative of the expected counts along v: the Hessian times v, shape (n,)."""
        K, units = self.states, self.features.units
        v_initial, v_step = v[:K], v[K : K + K * K].reshape(K, K)
        v_scores = self._room("v", units + 1, K)
        v_scores[units] = 0.0
        self.features.scores(v[K + K * K :].reshape(-1, K), v_scores[:units], threads)
        direction = Direction(v_scores, v_initial, at.M * v_step)
        layout, messages = self._layout(at.wide), Messages(at.alpha, at.beta, at.e)
        p = self._room("dp", *at.p.shape)
        pairs, first_labels, _ = self._sums()

        def work(part: int, first: int, last: int) -> None:
            sums = Sums(p, pairs[part], first_labels[part])
            sweep_change(first, last, layout, at.M, messages, direction, sums)

        each_part(work, self._groups, threads)
        steps = at.M * pairs.sum(axis=0) + v_step * at.steps
        firsts = first_labels.sum(axis=0)
        for s, ahead, behind in at.logs:
            slots, units_of = self._tokens(s)
            along = (v_scores, v_initial, v_step)
            own = wide_change(units_of, at.scores, at.transition, ahead, behind, along, steps)
            p[slots] = own
            firsts += own[0]
        return self._gather(firsts, steps, p, threads)

    def _layout(self, wide: np.ndarray) -> Layout:
        lanes = self.lanes
        return Layout(lanes.groups, lanes.unit, lanes.length, wide)

    def _room(self, name: str, *shape: int) -> np.ndarray:
        """Zeros where it is asked for the first time, and what was left there afterwards.

        Fresh memory is dear: its pages took longer than all the arithmetic.
        """
        if name not in self._rooms:
            self._rooms[name] = np.zeros(shape)
        return self._rooms[name]

    def gathered(self, p: np.ndarray, threads: int) -> np.ndarray:
        """The sum of rows of slots over the tokens of every unit, shape (U, K)."""
        lanes, out = self.lanes, self._room("R", self.features.units, self.states)
        each_part(
            lambda part, first, last: gather_units(
                p, lanes.slots, lanes.slots_begin, first, last, out
            ),
            self._gathered,
            threads,
        )
        return out

    def _gather(
        self, firsts: np.ndarray, steps: np.ndarray, p: np.ndarray, threads: int
    ) -> np.ndarray:
        """Counts of all parameters, shape (n,)."""
        states = self.features.back(self.gathered(p, threads), threads)
        return np.concatenate((firsts, steps.ravel(), states.ravel()))

    def _potentials(
        self, scores: np.ndarray, threads: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ψ (U + 1, K), and the largest score and the span of every unit."""
        units, K = scores.shape
        potentials = self._room("ψ", units + 1, K)
        potentials[units] = 1.0
        top, span = np.zeros(units + 1), np.zeros(units + 1)

        def work(part: int, first: int, last: int) -> None:
            center(scores, first, last, potentials, top, span)
            # numpy's exponentials of many numbers use vector instructions.
            np.exp(potentials[first:last], out=potentials[first:last])

        each_part(work, self._units, threads)
        return potentials, top, span

    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Zeros for what every part adds up: Ξ, first labels, logarithms."""
        parts, K = len(self._groups) - 1, self.states
        return np.zeros((parts, K, K)), np.zeros((parts, K)), np.zeros(parts)

    def _wide(self, span: np.ndarray, transition: float, initial: float) -> np.ndarray:
        """Which groups have a sequence whose scores span too much, shape (groups,)."""
        spare = WIDEST - transition - initial
        if span.max() < spare:
            return np.zeros(len(self.lanes.groups) - 1, dtype=np.bool_)
        rows = (span[self.lanes.unit] >= spare).any(axis=1)
        return np.logical_or.reduceat(rows, self.lanes.groups[:-1])

    def _sequences(self, wide: np.ndarray) -> list[int]:
        """The sequences of the wide groups."""
        return [int(s) for s in self.lanes.sequence[wide].ravel() if s >= 0]

    def _tokens(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        """The slots and the units of a sequence's tokens."""
        first, last = self.tokens.starts[s], self.tokens.starts[s + 1]
        return self.lanes.slot[first:last], self.tokens.unit[first:last]
