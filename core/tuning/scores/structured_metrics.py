"""Metrics of sequences and molecules: entire sequences, base pairs, and joint probabilities.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | tokens, or molecules |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a token (with its sequence) or molecule |
| γ | ``GAMMAS`` | (16,) | weight of a base pair beside an unpaired base |
| | ``pairs`` | (n, 17, 3) | base pairs rightly called, called, and true; last at the own γ |

Sensitivity is the share of true pairs that are called, specificity the share of called pairs that
are true (Do 2008, footnote 4), both over all molecules together. Topics:

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | documents |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a document |
| | ``documents`` | (n, 2) | log p(second half of the words | first half), and words of the second |

Document completion (Wallach et al. 2009, section 5; McInerney 2017, section 4.1): topics are
inferred from one half of a document's words, and the other half is predicted. Log likelihoods are
summed and divided by all words.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from core.datasets.task import Task
from core.tuning.scores.metric import Metric, Predictions, mean_metric, resampled_mean, safe_ratio

TOKENS, MOLECULES = (Task.SEQUENCE,), (Task.STRUCTURE,)
GAMMAS = 2.0 ** np.arange(-5, 11)
OWN = -1  # the model's γ, 4 unless another was chosen


def _sequence_accuracy(y: np.ndarray, tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _, first = np.unique(tokens[:, 1], return_index=True)
    return resampled_mean(_is_sequence_right(y, tokens).astype(float), weights[:, first])


def _is_sequence_right(y: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    labels, sequences = tokens.T
    _, sequence_codes = np.unique(sequences, return_inverse=True)
    return np.bincount(sequence_codes, weights=y != labels) == 0


def resampled_pairs(pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pairs of all molecules of every resample, shape (B, 17, 3)."""
    return np.tensordot(weights, pairs.astype(float), axes=1)


def _pair_metric(name: str, title: str, called_weight: float, true_weight: float) -> Metric:
    """Right pairs as a share of a weighted sum of the called and the true ones."""

    def right_share(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
        right, called, true = np.moveaxis(resampled_pairs(pairs, weights)[:, OWN], -1, 0)
        return safe_ratio(right, called_weight * called + true_weight * true)

    return Metric(name, title, MOLECULES, "pairs", right_share)


def _roc_area(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from core.losses.rna.pair_scores import roc_area

    return np.array([roc_area(counts[:OWN]) for counts in resampled_pairs(pairs, weights)])


STRUCTURED = (
    Metric(
        "sequence_accuracy",
        "Whole sequences right",
        TOKENS,
        "whole",
        _sequence_accuracy,
        right=_is_sequence_right,
    ),
    mean_metric(
        "joint_log_loss",
        "Log loss of whole sequences, a token",
        TOKENS,
        "losses",
        lambda _, losses: losses,
    ),
    _pair_metric("pair_f1", "Base pairs found (F1)", 0.5, 0.5),
    _pair_metric("sensitivity", "True base pairs found", 0.0, 1.0),
    _pair_metric("specificity", "Called base pairs right", 1.0, 0.0),
    Metric("roc_area", "Area under sensitivity over specificity", MOLECULES, "pairs", _roc_area),
    mean_metric(
        "structure_log_loss",
        "Log loss of whole structures",
        MOLECULES,
        "losses",
        lambda _, losses: losses,
    ),
)


def predict_tokens(model: Any, X: Any, y: np.ndarray, predictions: Predictions) -> Predictions:
    """Predictions for tokens with the losses of their model, and the sequence that each is of.

    ``log_losses(X, y)`` of the model gives −log p of the sequences, a part for every token.
    """
    _, sequences = np.unique(np.asarray(X.iloc[:, 0]).astype(str), return_inverse=True)
    tokens = np.stack([predictions.labels, sequences], axis=1)
    return replace(predictions, losses=model.log_losses(X, y), whole=tokens)


def predict_molecules(model: Any, X: Any, y: np.ndarray) -> Predictions:
    """The predictions of a folding model for molecules with true structures y."""
    labels, pairs = np.zeros(len(y)), model.pair_counts(X, y)
    return Predictions(labels, losses=model.log_losses(X, y), pairs=pairs)


TOPICS = (Task.TOPICS,)


def _completion(_y: np.ndarray, documents: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Nats a word; NaN where there is no word to predict."""
    logs, words = (weights @ documents).T
    return safe_ratio(logs, words)


DOCUMENTS = (
    Metric(
        "completion",
        "Document completion (log likelihood of a held-out word)",
        TOPICS,
        "documents",
        _completion,
        share=False,
    ),
    Metric(
        "perplexity",
        "Among how many words it wavers (perplexity)",
        TOPICS,
        "documents",
        lambda y, documents, weights: np.exp(-_completion(y, documents, weights)),
        maximize=False,
        share=False,
    ),
)


# Scores a setting on the texts that it was fitted to: no score of new texts, nor the likelihood of
# entire texts under their own posterior (McInerney 2017, section 4).
COMPLETED = Metric(
    "training_completion",
    "Document completion of the training texts (log likelihood of a word)",
    (),
    "documents",
    _completion,
    share=False,
)


def predict_documents(estimator: Any, X: Any) -> Predictions:
    """The predictions of a model of topics for n documents X.

    Its ``completion(X)`` gives log p and words of every document, (n, 2).
    """
    model = estimator
    if hasattr(estimator, "named_steps"):
        X, model = estimator[:-1].transform(X), estimator[-1]
    documents = model.completion(X)
    return Predictions(labels=np.zeros(len(documents)), documents=documents)
