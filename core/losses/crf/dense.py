"""The whole Hessian of a small problem, from the change of all marginals along many directions.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| X | ``X`` | (U + 1, F) | values of the features of units, a row of zeros for padding |
| D | ``D`` | (n, slots, K) | change of every marginal along every parameter |

The last label is left out of directions and of D: scores that grow alike for all labels change
nothing, so that its rows and columns are minus the sum of the others.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled
from core.losses.crf.expected import SweepCache, TokenSequences
from core.losses.crf.sweep import Direction, Layout, Messages, SweepSums, sweep_change


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
