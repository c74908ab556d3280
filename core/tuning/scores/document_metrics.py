"""Metrics of topics: how likely the words of unseen documents are.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | documents |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a document |
| | ``documents`` | (n, 2) | log p(second half of the words | first half), and words of the second |

Document completion (Wallach et al. 2009, section 5; McInerney 2017, section 4.1): topics are
inferred from one half of a document's words, and the other half is predicted. Log likelihoods of
all documents are summed and divided by the words of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.datasets.task import Task
from core.tuning.scores.metric import Metric, Predictions, safe_ratio

TOPICS = (Task.TOPICS,)


def _completion(_y: np.ndarray, documents: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Nats a word; NaN where there is no word to predict."""
    logs, words = (weights @ documents).T
    return safe_ratio(logs, words)


def _perplexity(y: np.ndarray, documents: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.exp(-_completion(y, documents, weights))


DOCUMENTS = (
    Metric(
        "completion",
        "Document completion (log likelihood of a held-out word)",
        TOPICS,
        True,
        False,
        "documents",
        _completion,
    ),
    Metric(
        "perplexity",
        "Among how many words it wavers (perplexity)",
        TOPICS,
        False,
        False,
        "documents",
        _perplexity,
    ),
)


# Scores a setting on the texts that it was fitted to: no score of new texts, nor the likelihood of
# entire texts under their own posterior (McInerney 2017, section 4).
COMPLETED = Metric(
    "training_completion",
    "Document completion of the training texts (log likelihood of a word)",
    (),
    True,
    False,
    "documents",
    _completion,
)


def predict_documents(estimator: Any, X: Any) -> Predictions:
    """The predictions of a model of topics for n documents X.

    Args:
        estimator: fitted; ``completion(X)`` gives log p and words of every document, (n, 2). Or a
            pipeline that ends in one.
        X: its input.
    """
    model = estimator
    if hasattr(estimator, "named_steps"):
        X, model = estimator[:-1].transform(X), estimator[-1]
    documents = model.completion(X)
    return Predictions(labels=np.zeros(len(documents)), documents=documents)
