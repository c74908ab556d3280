"""Expected counts of all sequences at w, and their change along a direction.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, N, U, F | | | labels, tokens, units (different tokens), features |
| E[c] | ``counts`` | (n,) | expected counts of all parameters |
| p_t(y) | ``p`` | (slots, K) | marginals, in the slots of `Lanes` |
| ξ | ``steps`` | (K, K) | expected number of steps from one label to another |
| X | | (U, F) | value of every feature, 1 or 0 for a category's |
| W | ``W`` | (F, K) | weights |
| R | ``R`` | (U, K) | a number for every unit and label |

Sequences whose scores span too much for plain numbers are worked on in logarithms, one at a time:

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| α, β | ``ahead``, ``behind`` | (T, K) | logarithms as in chain.py, of one sequence of T tokens |
| ξ(x, y) | ``pairs`` | (K, K) | expected number of steps from x to y |
| v | ``v`` | | a direction: state scores (U, K), initial (K,) and transition scores (K, K) |
| a_t(y) | ``a`` | (T, K) | E[v-score of the labels up to t given y_t = y] |
| b_t(y) | ``b`` | (T, K) | E[v-score of the labels after t given y_t = y] |

Along v: dp_t(y) = p_t(y) (a_t(y) + b_t(y) − E[v-score]), a covariance; likewise for pairs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from core.losses.compiled import compiled
from core.losses.crf.chain import add_numbers, add_rows, log_backward, log_forward, normalize
from core.losses.crf.encoding import Tokens
from core.losses.crf.sweep import (
    LANES,
    WIDEST,
    Direction,
    Layout,
    Messages,
    Potentials,
    SweepSums,
    center_scores,
    gather_units,
    lanes_of,
    sweep_change,
    sweep_groups,
)

_MAX_CHUNKS = 16
_MIN_CHUNK_COST = 400_000  # multiplications worth a chunk of its own
_LARGEST_DENSE = 1_000_000  # entries of X
_DENSE_SHARE = 0.05  # of entries that are active


def chunk_bounds(ends: np.ndarray) -> np.ndarray:
    """Where chunks of about equal cost begin, and their end, from cumulative costs (items + 1,)."""
    chunk_count = int(np.clip(ends[-1] // _MIN_CHUNK_COST, 1, _MAX_CHUNKS))
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], chunk_count + 1)[1:-1])
    return np.concatenate(([0], cuts, [len(ends) - 1])).astype(np.int64)


def run_chunks(work: Callable[[int, int, int], None], bounds: np.ndarray, threads: int) -> None:
    """Calls work(chunk, first, last) for every chunk, on several threads."""
    # This thread takes its share: it would only wait otherwise.
    edges = [int(bound) for bound in bounds]
    calls = list(zip(range(len(edges) - 1), edges[:-1], edges[1:], strict=True))
    threads = min(threads, len(calls))

    def run_share(thread: int) -> None:
        for call in calls[thread::threads]:
            work(*call)

    # Chunks are dealt out beforehand, not fetched: sums then never depend on the threads.
    pool = _thread_pool(os.getpid(), threads - 1) if threads > 1 else None
    futures = [pool.submit(run_share, thread) for thread in range(1, threads)] if pool else []
    run_share(0)
    for future in futures:
        future.result()


@cache
def _thread_pool(process: int, threads: int) -> ThreadPoolExecutor:
    # By process: a fork takes the object along, but not its threads.
    return ThreadPoolExecutor(threads, thread_name_prefix="crf")


class FeatureMatrix:
    """X of the units of tokens, with products from both sides."""

    def __init__(self, tokens: Tokens, size: int, states: int) -> None:
        self.tokens, self.size, self.states = tokens, size, states
        self.units = len(tokens.begins) - 1
        entries = len(tokens.features) + tokens.numbers.size
        cells = self.units * size
        self.is_dense = cells <= _LARGEST_DENSE and entries >= _DENSE_SHARE * cells
        self.entries = cells if self.is_dense else entries  # what a product for one label costs
        # The transpose, the units of one feature after another: its products read memory in order.
        order = np.argsort(tokens.features, kind="stable")
        unit = np.repeat(np.arange(self.units), np.diff(tokens.begins))
        self.owners = unit[order].astype(np.int32)
        counts = np.bincount(tokens.features, minlength=size)
        self.owners_begin = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        extra = tokens.numbers.shape[1]
        self._units = chunk_bounds((tokens.begins + extra * np.arange(self.units + 1)) * states)
        self._features = chunk_bounds(self.owners_begin * states)

    @cached_property
    def dense_matrix(self) -> np.ndarray:
        """X, shape (U, F)."""
        X = np.zeros((self.units, self.size))
        tokens = self.tokens
        X[np.repeat(np.arange(self.units), np.diff(tokens.begins)), tokens.features] = 1.0
        X[:, tokens.number_features] = tokens.numbers
        return X

    def fill_scores(self, W: np.ndarray, out: np.ndarray, threads: int) -> None:
        """Fills out (U, K) with X W."""
        t = self.tokens

        def fill_chunk(chunk: int, first: int, last: int) -> None:
            add_rows(W, t.begins, t.features, first, last, out)
            add_numbers(W, t.numbers, t.number_features, first, last, out)

        if self.is_dense:
            np.matmul(self.dense_matrix, W, out=out)
        else:
            run_chunks(fill_chunk, self._units, threads)

    def transpose_product(self, R: np.ndarray, threads: int, power: int = 1) -> np.ndarray:
        """Xᵀ R, shape (F, K); with power 2 the squares of X take its place."""
        if self.is_dense:
            return (self.dense_matrix if power == 1 else np.square(self.dense_matrix)).T @ R
        out = np.empty((self.size, self.states))

        def sum_chunk(chunk: int, first: int, last: int) -> None:
            add_rows(R, self.owners_begin, self.owners, first, last, out)

        run_chunks(sum_chunk, self._features, threads)
        numbers = self.tokens.numbers
        if numbers.shape[1]:
            out[self.tokens.number_features] = (numbers**power).T @ R
        return out


@compiled
def wide_counts(unit, scores, initial, transition, pairs):  # type: ignore[no-untyped-def]
    """Returns log Z, α, β and p of one sequence; adds to ξ."""
    K, last = len(initial), len(unit)
    ahead, behind, counts = np.empty((last, K)), np.empty((last, K)), np.empty((last, K))
    log_z = log_forward(0, last, unit, scores, initial, transition, ahead)
    log_backward(0, last, unit, scores, transition, behind)
    pair_logs = np.empty((K, K))
    for t in range(last):
        _probabilities(ahead[t], behind[t], counts[t])
        if t > 0:
            _pair_logs(ahead[t - 1], transition, scores[unit[t]], behind[t], pair_logs)
            for x in range(K):
                for y in range(K):
                    pairs[x, y] += math.exp(pair_logs[x, y])
    return log_z, ahead, behind, counts


@compiled
def wide_change(unit, scores, transition, ahead, behind, v, pairs):  # type: ignore[no-untyped-def]
    """The change dp of one sequence; adds dξ to pairs."""
    v_scores, v_initial, v_step = v
    K, last = len(v_initial), len(unit)
    counts = np.empty((last, K))
    a, b = np.empty((last, K)), np.empty((last, K))
    row, pair_logs = np.empty(K), np.empty((K, K))
    for y in range(K):
        a[0, y] = v_initial[y] + v_scores[unit[0], y]
        b[last - 1, y] = 0.0
    for t in range(1, last):
        for y in range(K):
            for x in range(K):
                row[x] = ahead[t - 1, x] + transition[x, y]
            normalize(row)
            a[t, y] = v_scores[unit[t], y]
            for x in range(K):
                a[t, y] += math.exp(row[x]) * (a[t - 1, x] + v_step[x, y])
    total = 0.0
    for y in range(K):
        total += math.exp(ahead[last - 1, y]) * a[last - 1, y]
    for t in range(last - 1, 0, -1):
        u = unit[t]
        for x in range(K):
            for y in range(K):
                row[y] = transition[x, y] + scores[u, y] + behind[t, y]
            normalize(row)
            b[t - 1, x] = 0.0
            for y in range(K):
                b[t - 1, x] += math.exp(row[y]) * (v_step[x, y] + v_scores[u, y] + b[t, y])
        _pair_logs(ahead[t - 1], transition, scores[u], behind[t], pair_logs)
        for x in range(K):
            for y in range(K):
                change = a[t - 1, x] + v_step[x, y] + v_scores[u, y] + b[t, y] - total
                pairs[x, y] += math.exp(pair_logs[x, y]) * change
    for t in range(last):
        _probabilities(ahead[t], behind[t], counts[t])
        for y in range(K):
            counts[t, y] *= a[t, y] + b[t, y] - total
    return counts


@compiled
def _probabilities(ahead, behind, p):  # type: ignore[no-untyped-def]
    for y in range(len(p)):
        p[y] = ahead[y] + behind[y]
    normalize(p)
    for y in range(len(p)):
        p[y] = math.exp(p[y])


@compiled
def _pair_logs(ahead, transition, score, behind, out):  # type: ignore[no-untyped-def]
    """Fills the logarithms of the probabilities of one step (K, K)."""
    K = len(ahead)
    for x in range(K):
        for y in range(K):
            out[x, y] = ahead[x] + transition[x, y] + score[y] + behind[y]
    normalize(out.reshape(K * K))


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
        # No step leads from the end of a sequence to the next one.
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
        # ψ, M and the initial scores were divided by their largest: that comes back here.
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
        """An array by name: zeros at first, later with its last contents."""
        # The system clears fresh memory page by page, which takes as long as the sums in it.
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
        # Ξ, first labels and logarithms of every chunk apart: threads never add to the same number,
        # and the sums do not depend on which of them is first.
        chunk_count, K = len(self._groups) - 1, self.states
        return np.zeros((chunk_count, K, K)), np.zeros((chunk_count, K)), np.zeros(chunk_count)

    def _wide_groups(self, span: np.ndarray, transition: float, initial: float) -> np.ndarray:
        """Which groups have a sequence whose scores span too much, shape (groups,)."""
        spare = WIDEST - transition - initial
        # Nearly always: no group has to be looked at.
        if span.max() < spare:
            return np.zeros(len(self.lanes.groups) - 1, dtype=np.bool_)
        rows = (span[self.lanes.unit] >= spare).any(axis=1)
        return np.logical_or.reduceat(rows, self.lanes.groups[:-1])

    def _wide_sequences(self, wide: np.ndarray) -> list[int]:
        return [int(s) for s in self.lanes.sequence[wide].ravel() if s >= 0]

    def _slots_and_units(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        first, last = self.tokens.starts[s], self.tokens.starts[s + 1]
        return self.lanes.slot[first:last], self.tokens.unit[first:last]
