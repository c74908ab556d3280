"""The members of an average in named arrays, and their weighted mean.

An exported script holds this file's source, and the program itself predicts through it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np


def weighted_mean(
    arrays: Mapping[str, np.ndarray], predict_member: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """What the average says: Σ_t share_t × what member t says; of a single model, what it says.

    Args:
        arrays: "weights", the parameters of one model (n,) or of T members (T, n); for these
            "shares", shape (T,).
        predict_member: parameters (n,) -> probabilities.
    """
    if arrays["weights"].ndim == 1:
        return predict_member(arrays["weights"])
    pairs = zip(arrays["shares"].tolist(), arrays["weights"], strict=True)
    return np.sum([share * predict_member(weights) for share, weights in pairs], axis=0)
