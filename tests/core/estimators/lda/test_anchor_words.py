"""The start of topics: anchors of planted subjects, shares of words, and what it cannot anchor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.estimators.lda.anchor_words import anchored_tokens
from core.estimators.lda.fitted_topics import completion, word_probabilities
from core.estimators.lda.online_lda import OnlineLda

WORDS, EVERYDAY = 20, 20  # of a subject, and of all subjects


def subject_corpus(subjects, texts, seed):
    """Short texts of subjects with words of their own beside everyday ones; β, (subjects, V)."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / (np.arange(WORDS) + 3.0)
    weights /= weights.sum()
    own = np.kron(np.eye(subjects), weights)
    beta = np.hstack([0.75 * own, 0.25 * np.tile(weights, (subjects, 1))])
    theta = rng.dirichlet(np.full(subjects, 0.12), texts)
    lengths = rng.integers(28, 65, texts)
    counts = [rng.multinomial(n, p @ beta) for n, p in zip(lengths, theta, strict=True)]
    return sparse.csr_matrix(np.array(counts, dtype=float)), beta


def test_ten_subjects_are_ten_topics_from_every_seed():
    X, beta = subject_corpus(10, 400, seed=0)
    new, _ = subject_corpus(10, 200, seed=1)

    def fit(topics, seed):
        return OnlineLda(topics, alpha=0.1, eta=0.02, random_state=seed).fit(X)

    for seed in (0, 1):
        distances = abs(word_probabilities(fit(10, seed))[:, None] - beta).sum(axis=2) / 2
        # Each subject has a topic of its own.
        assert sorted(distances.argmin(axis=0)) == list(range(10))
        assert distances.min(axis=0).max() < 0.15
    logs, tokens = np.stack([completion(fit(topics, 0), new) for topics in (5, 8, 10, 12, 20)]).T
    scores = logs.sum(axis=0) / tokens.sum(axis=0)
    assert scores.argmax() == 2


def test_words_that_hold_one_topic_each_have_all_their_tokens_in_it():
    counts = 1e6 * np.array([[3.0, 2.0, 0.0, 0.0], [0.0, 0.0, 4.0, 1.0]])
    tokens = anchored_tokens(sparse.csr_matrix(np.repeat(counts, 10, axis=0)), 2)
    order = np.argsort(-tokens[:, 0])
    np.testing.assert_allclose(tokens[order], 10 * counts, atol=100)


@pytest.mark.parametrize("counts", [np.eye(3), np.ones((4, 3)), np.zeros((3, 2)), [[1.5, 0.2]]])
def test_topics_beyond_the_anchors_are_fitted_too(counts):
    X = sparse.csr_matrix(np.asarray(counts, dtype=float))
    tokens = anchored_tokens(X, 5)
    assert len(tokens) < 5
    assert np.all(tokens >= 0.0)
    if len(tokens):
        np.testing.assert_allclose(tokens.sum(axis=0), X.toarray().sum(axis=0))
    assert np.isfinite(OnlineLda(5, random_state=0).fit(X).components_).all()
