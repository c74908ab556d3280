"""What the topics of a fitted latent Dirichlet allocation are about, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.estimators.lda.topic_protocol import FittedTopics


def topic_words(
    model: FittedTopics, vocabulary: Sequence[str], count: int = 10
) -> tuple[tuple[str, ...], ...]:
    """The most probable words of every topic, the likeliest first; equals in vocabulary's order."""
    order = np.argsort(-model.components_, axis=1, kind="stable")[:, :count]
    return tuple(tuple(vocabulary[w] for w in row) for row in order.tolist())


def word_probabilities(model: FittedTopics) -> np.ndarray:
    """E[β], every topic's probabilities of words, shape (K, V)."""
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


def topic_sizes(model: FittedTopics) -> np.ndarray:
    """The share of the collection's tokens that every topic has, shape (K,), summing to 1.

    Σ_w (λ_kw − η) are the tokens that λ gives to topic k.
    """
    tokens = np.maximum(0.0, (model.components_ - model.eta_).sum(axis=1))
    total = tokens.sum()
    return tokens / total if total > 0 else np.full(len(tokens), 1.0 / len(tokens))
