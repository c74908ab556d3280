"""Metrics of sequences and molecules: entire sequences, base pairs, and joint probabilities.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | tokens, or molecules |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a token (with its sequence) or molecule |
| γ | ``GAMMAS`` | (16,) | weight of a base pair beside an unpaired base |
| | ``pairs`` | (n, 17, 3) | base pairs rightly called, called, and true; last at the own γ |

Sensitivity is the share of true pairs that are called, specificity the share of called pairs that
are true (Do 2008, footnote 4), both over all molecules together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.datasets.task import Task
from core.evaluation.influence import mean_influence
from core.tuning.scores.metric import Metric, Predictions, resampled_mean, safe_ratio

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


def _mean_loss(_y: np.ndarray, losses: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return resampled_mean(losses, weights)


def resampled_pairs(pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pairs of all molecules of every resample, shape (B, 17, 3)."""
    return np.tensordot(weights, pairs.astype(float), axes=1)


def _sensitivity(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, _, true = np.moveaxis(resampled_pairs(pairs, weights)[:, OWN], -1, 0)
    return safe_ratio(right, true)


def _specificity(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, called, _ = np.moveaxis(resampled_pairs(pairs, weights)[:, OWN], -1, 0)
    return safe_ratio(right, called)


def _pair_f1(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, called, true = np.moveaxis(resampled_pairs(pairs, weights)[:, OWN], -1, 0)
    return safe_ratio(2.0 * right, called + true)


def _roc_area(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from core.losses.rna.pair_scores import roc_area

    return np.array([roc_area(counts[:OWN]) for counts in resampled_pairs(pairs, weights)])


STRUCTURED = (
    Metric(
        "sequence_accuracy",
        "Whole sequences right",
        TOKENS,
        True,
        True,
        "whole",
        _sequence_accuracy,
        _is_sequence_right,
    ),
    Metric(
        "joint_log_loss",
        "Log loss of whole sequences, a token",
        TOKENS,
        False,
        False,
        "losses",
        _mean_loss,
        influence=lambda _, losses: mean_influence(losses),
    ),
    Metric("pair_f1", "Base pairs found (F1)", MOLECULES, True, True, "pairs", _pair_f1),
    Metric("sensitivity", "True base pairs found", MOLECULES, True, True, "pairs", _sensitivity),
    Metric("specificity", "Called base pairs right", MOLECULES, True, True, "pairs", _specificity),
    Metric(
        "roc_area",
        "Area under sensitivity over specificity",
        MOLECULES,
        True,
        True,
        "pairs",
        _roc_area,
    ),
    Metric(
        "structure_log_loss",
        "Log loss of whole structures",
        MOLECULES,
        False,
        False,
        "losses",
        _mean_loss,
        influence=lambda _, losses: mean_influence(losses),
    ),
)


def predict_tokens(model: Any, X: Any, y: np.ndarray, predictions: Predictions) -> Predictions:
    """The predictions of a model of sequences with its losses and sequence numbers.

    Args:
        model: fitted; ``log_losses(X, y)`` gives −log p of the sequences, a part for every token.
        X: tokens, the sequence's name in the first column.
        y: labels as in the dataset, shape (n,).
        predictions: labels and probabilities of the tokens.
    """
    _, sequences = np.unique(np.asarray(X.iloc[:, 0]).astype(str), return_inverse=True)
    tokens = np.stack([predictions.labels, sequences], axis=1)
    return replace(predictions, losses=model.log_losses(X, y), whole=tokens)


def predict_molecules(model: Any, X: Any, y: np.ndarray) -> Predictions:
    """The predictions of a folding model for molecules with true structures y."""
    labels, pairs = np.zeros(len(y)), model.pair_counts(X, y)
    return Predictions(labels, losses=model.log_losses(X, y), pairs=pairs)
