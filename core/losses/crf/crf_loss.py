"""The linear-chain CRF as a loss: −log p of the labels, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, F | ``state_count`` | | labels, features |
| n | ``size`` | | K + K² + F K parameters: initial, transition (from-major), each feature's K |
| Z | | | sum over labelings of exp(score) |
| c | ``occurrences`` | (n,) | how often every feature is active in the labels as given |
| E[c] | | (n,) | the same expected over labelings with probability exp(score)/Z |

loss = Σ log Z − wᵀc, gradient = E[c] − c, Hessian = covariance of c (Do 2008, eq. 1–3).

The whole Hessian of a small problem comes from the change of all marginals along many directions:

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| X | ``X`` | (U + 1, F) | values of the features of units, a row of zeros for padding |
| D | ``D`` | (n, slots, K) | change of every marginal along every parameter |

The last label is left out of directions and of D: scores that grow alike for all labels change
nothing, so that its rows and columns are minus the sum of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.losses.class_labels import codes_of
from core.losses.compiled import compiled
from core.losses.crf.encoding import (
    FeatureEncoding,
    ParameterNames,
    Tokens,
    encoding_of,
    sources_of,
)
from core.losses.crf.expected import SweepCache, TokenSequences
from core.losses.crf.sweep import Direction, Layout, Messages, SweepSums, sweep_change
from core.optimize.loss import HessianCosts, Loss, LossPoint
from core.processes import processor_count

_LARGEST_DENSE = 400


class CrfLoss(Loss):
    """−log p(labels | tokens), summed over sequences; codes (N,) say every token's label."""

    def __init__(
        self,
        encoding: FeatureEncoding,
        classes: tuple[Any, ...],
        tokens: Tokens,
        codes: np.ndarray,
        threads: int | None = None,
    ) -> None:
        self.encoding, self.classes, self.tokens, self.codes = encoding, classes, tokens, codes
        self.state_count, self.examples = len(classes), len(tokens.starts) - 1
        self.size = self.state_count * (1 + self.state_count + encoding.feature_count)
        self.threads = processor_count() if threads is None else threads
        self._chains = TokenSequences(tokens, encoding.feature_count, len(classes))
        self.occurrences = self._chains.observed(codes)
        self.hessian_costs = self._costs()
        self._w = np.empty(0)
        self._cache: SweepCache | None = None

    @cached_property
    def names(self) -> Sequence[str]:
        """What every parameter is called."""
        return ParameterNames(self.encoding, self.classes)

    @cached_property
    def sources(self) -> list[str]:
        """Where every parameter comes from: initial, transition, or its column."""
        return sources_of(self.encoding, self.classes)

    # Newton steps from afar are mostly cut short.
    far_from_quadratic = True

    @property
    def seen_parameters(self) -> np.ndarray:
        """The parameters whose feature comes with their label in the tokens, boolean, (n,)."""
        return np.asarray(self.occurrences != 0.0)

    def for_data(self, table: pd.DataFrame, y: Any) -> CrfLoss:
        """The same parameters, on other tokens; UnusableError for a label not among the classes."""
        tokens = self.encoding.encode_tokens(table)
        codes = codes_of(y, self.classes)
        return CrfLoss(self.encoding, self.classes, tokens, codes, self.threads)

    def _costs(self) -> HessianCosts:
        """Of a dense Hessian, and of one sweep over the tokens."""
        K, F, tokens = self.state_count, self.encoding.feature_count, self.tokens.token_count
        dense = float(self.size) * tokens * (6.0 * K * K + (K - 1) * F) * (K - 1) / K
        if self.size > _LARGEST_DENSE:
            dense = math.inf
        return HessianCosts(dense, K * (2.0 * self._chains.features.entries + 6.0 * K * tokens))

    def _point_at(self, w: np.ndarray) -> CrfAt:
        cache = self.cached_sweeps(w)
        value = cache.log_z - float(self.occurrences @ w)
        return CrfAt(self, w, value, cache.counts - self.occurrences)

    def counts_change(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The derivative of the expected counts at w along v, shape (n,)."""
        v = np.ascontiguousarray(v, dtype=np.float64)
        return self._chains.counts_change(self.cached_sweeps(w), v, self.threads)

    def dense_at(self, w: np.ndarray) -> np.ndarray | None:
        """The dense Hessian (n, n), or None above 400 parameters."""
        if self.size > _LARGEST_DENSE:
            return None
        cache = self.cached_sweeps(w)
        # In logarithms there is one direction at a time.
        if not cache.wide.any():
            return dense_hessian(self._chains, cache)
        H = np.stack([self.counts_change(w, row) for row in np.eye(self.size)])
        return 0.5 * (H + H.T)

    def diagonal_at(self, w: np.ndarray) -> np.ndarray:
        """The Hessian's diagonal, (n,), as if labels of tokens were independent: Σ x² p (1 − p)."""
        # It only preconditions: what neighbours' labels add would cost a sweep a parameter.
        cache, K = self.cached_sweeps(w), self.state_count
        variances = self._chains.gathered(cache.p * (1.0 - cache.p), self.threads)
        states = self._chains.features.transpose_product(variances, self.threads, power=2)
        firsts, steps = cache.counts[:K], cache.counts[K : K + K * K]
        inner = max(self.tokens.token_count - self.examples, 1)
        of_firsts = firsts * (1.0 - np.minimum(firsts / self.examples, 1.0))
        of_steps = steps * (1.0 - np.minimum(steps / inner, 1.0))
        return np.concatenate((of_firsts, of_steps, states.ravel()))

    def cached_sweeps(self, w: np.ndarray) -> SweepCache:
        # Their memory is filled again for another w: fresh memory takes as long as the sums.
        if self._cache is None or not np.array_equal(w, self._w):
            self._w = np.array(w, dtype=np.float64)
            self._cache = self._chains.sweep_at(self._w, self.threads)
        return self._cache


class CrfAt(LossPoint):
    """The loss at w; curvature comes from the last sweeps, repeated if they were at another w."""

    def __init__(self, loss: CrfLoss, w: np.ndarray, value: float, gradient: np.ndarray) -> None:
        super().__init__(w, value, gradient)
        self._loss = loss

    def product(self, v: np.ndarray) -> np.ndarray:
        return self._loss.counts_change(self.w, v)

    def dense_hessian(self) -> np.ndarray | None:
        return self._loss.dense_at(self.w)

    def diagonal(self) -> np.ndarray:
        return self._loss.diagonal_at(self.w)


def build_crf(table: pd.DataFrame, sequence: str, y: Any, classes: Sequence[Any]) -> CrfLoss:
    """The loss of a table, one row a token, and labels (N,); UnusableError without a feature."""
    if len(classes) < 2:
        cure = "take a file with at least two labels"
        raise UnusableError("all tokens have the same label", cure=cure)
    encoding = encoding_of(table, sequence)
    if not encoding.columns:
        cure = "keep at least one column with different values as a feature"
        raise UnusableError("no column says anything about the tokens", cure=cure)
    tokens = encoding.encode_tokens(table)
    return CrfLoss(encoding, tuple(classes), tokens, codes_of(y, classes))


def dense_hessian(chains: TokenSequences, cache: SweepCache) -> np.ndarray:
    """The Hessian at a point where no group is wide, shape (n, n)."""
    K, lanes, features = chains.states, chains.lanes, chains.features
    X = np.zeros((features.units + 1, features.size))
    X[:-1] = features.dense_matrix
    base_size, rows = K + K * K, features.size * (K - 1)
    D = np.empty((base_size + rows, lanes.unit.size, K))
    pairs, firsts = np.zeros((base_size + rows, K, K)), np.zeros((base_size + rows, K))
    layout = Layout(lanes.groups, lanes.unit, lanes.length, cache.wide)
    _changes(layout, cache.M, Messages(cache.alpha, cache.beta, cache.e), X, D, pairs, firsts)
    pairs *= cache.M
    step_index = np.arange(K * K)
    pairs.reshape(-1, K * K)[K + step_index, step_index] += cache.steps.ravel()
    marginals = np.ascontiguousarray(D[:, :, :-1].transpose(0, 2, 1)).reshape(-1, lanes.unit.size)
    by_label = (marginals @ X[lanes.unit.ravel()]).reshape(-1, K - 1, features.size)
    states = np.concatenate((by_label, -by_label.sum(axis=1, keepdims=True)), axis=1)
    by_feature = states.transpose(0, 2, 1).reshape(len(D), -1)
    changes = np.concatenate((firsts, pairs.reshape(-1, K * K), by_feature), axis=1)
    feature_rows = changes[base_size:].reshape(features.size, K - 1, -1)
    last = -feature_rows.sum(axis=1, keepdims=True)
    all_rows = np.concatenate((feature_rows, last), axis=1).reshape(-1, len(changes[0]))
    H = np.concatenate((changes[:base_size], all_rows))
    # Each half comes from other sums: rounding differs.
    return 0.5 * (H + H.T)


@compiled
def _changes(layout, M, messages, X, D, pairs, firsts):  # type: ignore[no-untyped-def]
    """Fills D, and adds the changes of Ξ and of the first labels for every direction."""
    K, units = M.shape[0], X.shape[0]
    scores, initial, MV = np.zeros((units, K)), np.zeros(K), np.zeros((K, K))
    for i in range(len(D)):
        if i < K:
            initial[i] = 1.0
        elif i < K + K * K:
            x, y = (i - K) // K, (i - K) % K
            MV[x, y] = M[x, y]
        else:
            f, y = (i - K - K * K) // (K - 1), (i - K - K * K) % (K - 1)
            for u in range(units):
                scores[u, y] = X[u, f]
        direction, sums = Direction(scores, initial, MV), SweepSums(D[i], pairs[i], firsts[i])
        sweep_change(0, len(layout.groups) - 1, layout, M, messages, direction, sums)
        initial[:] = 0.0
        MV[:] = 0.0
        scores[:] = 0.0
