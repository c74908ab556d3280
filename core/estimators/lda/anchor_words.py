"""A start of topics from anchor words, each hardly in another topic (Arora et al. 2013).

From random starts two subjects often share a topic; this start had every subject of generated texts
(tests/benchmarks/bench_topic_count.py).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| D, V, K | | | documents, words of the vocabulary, topics |
| M | | | the commonest words, at most `MAX_WORDS`; in the order of their documents |
| Q | ``Q`` | (M, M) | probability of two tokens of one document |
| R | ``R`` | (M, M) | rows of Q that sum to 1: what comes with a word |
| C | ``C`` | (M, K) | p(topic | word): R ≈ C R_anchors, each row of C a distribution |
"""

import numpy as np
from scipy import sparse

MAX_WORDS = 2000  # Q has their square; others start in equal shares in all topics
MIN_DOCUMENT_SHARE, MIN_DOCUMENTS = 0.01, 5  # of an anchor: what comes with rarer ones is chance
_STEPS = 30  # of projected gradient; more changed no start
_NO_DISTANCE = 1e-9  # squared, of a word that others explain


def anchored_tokens(X: sparse.csr_matrix, topics: int) -> np.ndarray:
    """Tokens of every word in every topic that has an anchor, shape (anchors ≤ topics, V)."""
    document_counts = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    common = np.argsort(-document_counts, kind="stable")[:MAX_WORDS]
    Q = _pair_probabilities(X[:, common])
    totals = Q.sum(axis=1, keepdims=True)
    R = np.divide(Q, totals, out=np.zeros_like(Q), where=totals > 0)
    min_documents = max(MIN_DOCUMENTS, MIN_DOCUMENT_SHARE * X.shape[0])
    n_candidates = max(topics, int(np.count_nonzero(document_counts >= min_documents)))
    anchors = _anchor_rows(R[:n_candidates], topics)
    if not len(anchors):
        return np.empty((0, X.shape[1]))
    tokens = np.full((X.shape[1], len(anchors)), 1.0 / len(anchors))
    tokens[common] = _topic_shares(R, R[anchors])
    tokens *= np.asarray(X.sum(axis=0)).reshape(-1, 1)
    return np.ascontiguousarray(tokens.T)


def _pair_probabilities(X: sparse.csr_matrix) -> np.ndarray:
    """Q: two tokens drawn without replacement from a document of at least two."""
    lengths = np.asarray(X.sum(axis=1)).ravel()
    X, lengths = X[lengths >= 2], lengths[lengths >= 2]
    weights = sparse.diags_array(1.0 / (lengths * (lengths - 1.0)))
    Q = (X.T @ weights @ X).toarray()
    # A token is no pair with itself; counts below 1 would leave less than nothing.
    Q[np.diag_indices_from(Q)] -= np.asarray((weights @ X).sum(axis=0)).ravel()
    return np.maximum(Q, 0.0)


def _anchor_rows(R: np.ndarray, count: int) -> list[int]:
    """The rows furthest from what those before them span, at most `count` (algorithm 4)."""
    residuals = R.copy()
    anchors: list[int] = []
    while len(anchors) < min(count, len(R)):
        distances = np.einsum("ij,ij->i", residuals, residuals)
        furthest = int(distances.argmax())
        if distances[furthest] < _NO_DISTANCE:
            break
        direction = residuals[furthest].copy()
        if anchors:
            direction /= np.linalg.norm(direction)
            residuals -= np.outer(residuals @ direction, direction)
        else:  # distances are from the first anchor on
            residuals -= direction
        anchors.append(furthest)
    return anchors


def _topic_shares(R: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """C = argmin ‖R − C anchors‖² by accelerated projected gradient (algorithm RecoverL2)."""
    gram, target = anchors @ anchors.T, R @ anchors.T
    step = 1.0 / np.linalg.eigvalsh(gram)[-1]
    C = ahead = np.full(target.shape, 1.0 / len(anchors))
    momentum = 1.0
    for _ in range(_STEPS):
        last, C = C, _nearest_distributions(ahead - step * (ahead @ gram - target))
        last_momentum, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = C + (last_momentum - 1.0) / momentum * (C - last)
    return C


def _nearest_distributions(rows: np.ndarray) -> np.ndarray:
    """The Euclidean projection of every row on the simplex (Duchi et al. 2008, figure 1)."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    n_positive = np.count_nonzero(descending > excess, axis=1)
    return np.maximum(0.0, rows - excess[np.arange(len(rows)), n_positive - 1][:, None])
