"""Probabilities, losses and their derivatives in the scores of rows, of two and more classes.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| Z | ``Z`` | (…, K) | scores of rows; one a row, of the second class, with two classes |
| y | ``codes`` | (…) | the classes, from 0 |
| s | ``counts`` | (…) | how many times a row counts |
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

# Of the rows that are left out: one number needs no more, and fewer say too little.
_ENOUGH_ROWS, _MIN_ROWS = 3000, 1000


def thinning(rows: int, wanted: int) -> int:
    """Every how many-th row is left out, of so many and where so many are wanted."""
    return max(1, -(-rows // min(max(wanted, _MIN_ROWS), _ENOUGH_ROWS)))


def class_probabilities(Z: np.ndarray) -> np.ndarray:
    """Of the classes, or of the second of two, from scores (…, K)."""
    if Z.shape[-1] == 1:
        return np.asarray(expit(Z))
    P = np.exp(Z - Z.max(axis=-1, keepdims=True))
    return np.asarray(P / P.sum(axis=-1, keepdims=True))


def class_gradients(Z: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The g of every row, shape (…, K), from scores of this shape and codes (…)."""
    P = class_probabilities(Z)
    truth = codes[..., None] == (1 if Z.shape[-1] == 1 else np.arange(Z.shape[-1]))
    return np.asarray(P - truth)


def score_variances(Z: np.ndarray) -> np.ndarray:
    """The S of every row, shape (…, K, K)."""
    P = class_probabilities(Z)
    return np.asarray(P[..., :, None] * (np.eye(P.shape[-1]) - P[..., None, :]))


def class_losses(Z: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """−log p of every row's class, shape (…)."""
    if Z.shape[-1] == 1:
        return np.logaddexp(0.0, (1.0 - 2.0 * codes) * Z[..., 0])
    true_scores = np.take_along_axis(Z, codes[..., None], axis=-1)[..., 0]
    return np.asarray(np.logaddexp.reduce(Z, axis=-1) - true_scores)


def score_spread(Z: np.ndarray, counts: np.ndarray) -> float:
    """The standard deviation over rows of scores (…, K), as often as each counts, (…)."""
    shares, Z = counts.ravel() / counts.sum(), Z.reshape(-1, Z.shape[-1])
    return math.sqrt(float((shares @ np.square(Z - shares @ Z)).mean()))
