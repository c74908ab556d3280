"""What the fitted members of a vote say of rows, without the checks between a pipeline's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from core.estimators.vote7.members import integer_power


def codes_of(member: Any, X: np.ndarray) -> np.ndarray:
    """The class of every row as the member's own `predict` gives it.

    Pieces of columns are the same numbers in the same order as scikit-learn's, so their scores are
    equal to the last bit. Kernel values are powers by squaring, a rounding away from its own.

    Args:
        member: a fitted classifier or pipeline of `core.estimators.vote7.members`.
        X: finite numbers, C-ordered, shape (n, p).

    Returns:
        Codes 0 … K − 1, shape (n,).
    """
    if not isinstance(member, Pipeline):
        return np.asarray(member.predict(X))
    steps = dict(member.steps)
    if "kernel" in steps:
        features = _kernel_sums(steps["kernel"], steps["scale"].transform(X))
    elif "bins" in steps:
        features = _pieces_of(steps["passed"], _bins_of(steps["bins"], X))
    else:
        features = _pieces_of(steps["pieces"], X)
    return np.asarray(steps["sum"].predict(features))


def _kernel_sums(kernel: Any, Z: np.ndarray) -> np.ndarray:
    """The outputs of a Nystroem with a polynomial kernel, shape (n, V)."""
    gram = Z @ kernel.components_.T
    gram *= kernel.gamma
    gram += kernel.coef0
    return np.asarray(integer_power(gram, kernel.degree) @ kernel.normalization_.T)


def _bins_of(binner: Any, X: np.ndarray) -> np.ndarray:
    """The number of the bin of every value, shape (n, p)."""
    bin_codes = np.empty(X.shape)
    for column, edges in enumerate(binner.bin_edges_):
        bin_codes[:, column] = np.searchsorted(edges[1:-1], X[:, column], side="right")
    return bin_codes


def _pieces_of(union: Any, X: np.ndarray) -> np.ndarray:
    """The outputs of a union of clipping scalers, side by side, shape (n, pieces × p)."""
    n, p = X.shape
    features = np.empty((n, len(union.transformer_list) * p))
    for index, (_, scaler) in enumerate(union.transformer_list):
        piece = features[:, index * p : (index + 1) * p]
        np.multiply(X, scaler.scale_, out=piece)
        piece += scaler.min_
        np.clip(piece, *scaler.feature_range, out=piece)
    return features
