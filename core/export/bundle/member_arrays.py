"""The members of an average in named arrays, and their mean; carried into exported scripts."""

from collections.abc import Callable, Mapping

import numpy as np


def weighted_mean(
    arrays: Mapping[str, np.ndarray], predict_member: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Σ_t share_t × what member t predicts; what a single model predicts.

    The arrays are "weights", (n,) of one model or (T, n), and for these "shares", (T,).
    """
    if arrays["weights"].ndim == 1:
        return predict_member(arrays["weights"])
    pairs = zip(arrays["shares"].tolist(), arrays["weights"], strict=True)
    return np.sum([share * predict_member(weights) for share, weights in pairs], axis=0)
