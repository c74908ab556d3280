"""Tokens to try, and what enumeration over all labelings says of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from core.losses.crf.crf_loss import CrfLoss, build_crf


def matrix(loss: CrfLoss) -> np.ndarray:
    """The value of every feature of every token, shape (N, F)."""
    tokens = loss.tokens
    X = np.zeros((tokens.token_count, loss.encoding.feature_count))
    for t, u in enumerate(tokens.unit):
        X[t, tokens.features[tokens.begins[u] : tokens.begins[u + 1]]] = 1.0
        X[t, tokens.number_features] = tokens.numbers[u]
    return X


@dataclass
class Enumerated:
    """What follows from the sum over all labelings of every sequence."""

    loss: float
    gradient: np.ndarray
    hessian: np.ndarray
    marginals: np.ndarray
    best: np.ndarray
    log_likelihoods: np.ndarray


def _enumerated(loss: CrfLoss, w: np.ndarray) -> Enumerated:
    K, X, n = loss.state_count, matrix(loss), loss.size
    found = Enumerated(0.0, np.zeros(n), np.zeros((n, n)), np.zeros((len(X), K)), [], [])

    def counts(first: int, labels: tuple[int, ...]) -> np.ndarray:
        c = np.zeros(n)
        c[labels[0]] = 1.0
        for before, after in itertools.pairwise(labels):
            c[K + K * before + after] += 1.0
        for t, label in enumerate(labels):
            c[K + K * K + label :: K] += X[first + t]
        return c

    for first, last in itertools.pairwise(loss.tokens.starts):
        labelings = list(itertools.product(range(K), repeat=int(last - first)))
        C = np.array([counts(first, labels) for labels in labelings])
        scores = C @ w
        log_z = scores.max() + np.log(np.exp(scores - scores.max()).sum())
        p = np.exp(scores - log_z)
        given = counts(first, tuple(loss.codes[first:last]))
        mean = p @ C
        found.loss += log_z - given @ w
        found.gradient += mean - given
        found.hessian += (C.T * p) @ C - np.outer(mean, mean)
        for chance, labels in zip(p, labelings, strict=True):
            found.marginals[np.arange(first, last), labels] += chance
        found.best += labelings[int(np.argmax(scores))]
        found.log_likelihoods.append(given @ w - log_z)
    return found


def _mixed(lengths: list[int], seed: int, labels: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Words, flags, numbers and gaps; and labels."""
    rng = np.random.default_rng(seed)
    rows = sum(lengths)
    table = pd.DataFrame(
        {
            "id": np.repeat([f"s{k}" for k in range(len(lengths))], lengths),
            "word": rng.choice(["the", "cat", "sat", None], rows),
            "flag": rng.random(rows) < 0.5,
            "size": rng.normal(5.0, 2.0, rows),
        }
    )
    table.loc[rng.integers(rows, size=2), "size"] = np.nan
    return table, rng.choice(list(labels), rows)


@pytest.fixture
def tiny() -> Callable[[int, int], tuple[CrfLoss, np.ndarray]]:
    """The loss of sequences of 1 to 5 tokens with K labels, and parameters of a seed."""

    def make(K: int, seed: int) -> tuple[CrfLoss, np.ndarray]:
        labels = "uvwxyz"[:K]
        lengths = [5, 1, 2, 4, 3, 1, 2, 3, 2, 1] if K < 4 else [4, 1, 3, 2]
        table, y = _mixed(lengths, seed, labels)
        loss = build_crf(table, "id", y, list(labels))
        return loss, np.random.default_rng(seed + 100).normal(size=loss.size)

    return make


@pytest.fixture
def enumerate_all() -> Callable[[CrfLoss, np.ndarray], Enumerated]:
    return _enumerated


@pytest.fixture
def mixed_table() -> Callable[[list[int], int, str], tuple[pd.DataFrame, np.ndarray]]:
    return _mixed
