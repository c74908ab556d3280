"""Metrics of sequences and molecules: whole sequences, base pairs, and joint probabilities.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | tokens, or molecules |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a token (with its sequence) or molecule |
| γ | ``GAMMAS`` | (16,) | how much a base pair counts beside an unpaired base when one is called |
| | ``pairs`` | (n, 17, 3) | base pairs rightly called, called, and true; last at the own γ |

Sensitivity is the share of true pairs that are called, specificity the share of called pairs that
are true (Do 2008, footnote 4), both over all molecules together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.evaluation.influence import of_mean
from core.tuning.scores.metric import Metric, Said, mean, ratio

TOKENS, MOLECULES = ("sequence",), ("structure",)
STRUCTURED_TASKS = (*TOKENS, *MOLECULES)  # their models take raw rows
GAMMAS = 2.0 ** np.arange(-5, 11)
OWN = -1  # the model's γ, 4 unless another was chosen


def _whole_sequences(y: np.ndarray, whole: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share of sequences with every token right."""
    _, first = np.unique(whole[:, 1], return_index=True)
    return mean(_whole_right(y, whole).astype(float), weights[:, first])


def _whole_right(y: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Which sequences have every token right, in the order of their numbers."""
    labels, sequences = whole.T
    _, own = np.unique(sequences, return_inverse=True)
    return np.bincount(own, weights=y != labels) == 0


def _mean_loss(_y: np.ndarray, losses: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return mean(losses, weights)


def summed(pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pairs of all molecules of every resample, shape (B, 17, 3)."""
    return np.tensordot(weights, pairs.astype(float), axes=1)


def _sensitivity(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, _, true = np.moveaxis(summed(pairs, weights)[:, OWN], -1, 0)
    return ratio(right, true)


def _specificity(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, called, _ = np.moveaxis(summed(pairs, weights)[:, OWN], -1, 0)
    return ratio(right, called)


def _pair_f1(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, called, true = np.moveaxis(summed(pairs, weights)[:, OWN], -1, 0)
    return ratio(2.0 * right, called + true)


def _roc_area(_y: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from core.losses.rna.scores import roc_area

    return np.array([roc_area(of_all[:OWN]) for of_all in summed(pairs, weights)])


STRUCTURED = (
    Metric(
        "sequence_accuracy",
        "Whole sequences right",
        TOKENS,
        True,
        True,
        "whole",
        _whole_sequences,
        _whole_right,
    ),
    Metric(
        "joint_log_loss",
        "Log loss of whole sequences, a token",
        TOKENS,
        False,
        False,
        "losses",
        _mean_loss,
        influence=lambda _, losses: of_mean(losses),
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
        influence=lambda _, losses: of_mean(losses),
    ),
)


def say_of_tokens(model: Any, X: Any, y: np.ndarray, said: Said) -> Said:
    """What a model of sequences says beyond any classifier.

    Args:
        model: fitted; ``log_losses(X, y)`` gives −log p of the sequences, a part for every token.
        X: tokens, the sequence's name in the first column.
        y: labels as in the dataset, shape (n,).
        said: the labels that it gives, and the probabilities of every token alone.
    """
    _, sequences = np.unique(np.asarray(X.iloc[:, 0]).astype(str), return_inverse=True)
    whole = np.stack([said.labels, sequences], axis=1)
    return replace(said, losses=model.log_losses(X, y), whole=whole)


def say_of_molecules(model: Any, X: Any, y: np.ndarray) -> Said:
    """What a folding model says about molecules, given their true structures y."""
    return Said(
        labels=np.zeros(len(y)), losses=model.log_losses(X, y), pairs=model.pair_counts(X, y)
    )
