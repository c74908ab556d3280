"""The corrected resampled t interval of Nadeau & Bengio (2003) for scores of cross-validation.

Training sets of folds overlap, so that s²/K is too small a variance. Nadeau & Bengio ("Inference
for the generalization error", Machine Learning 52, section 3) take (1/K + n_test/n_train) s², with
K − 1 degrees of freedom.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

LEVEL = 0.95


def corrected_interval(
    values: np.ndarray, train_share: float, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the mean of a fold's scores, or differences, (K,); NaN with fewer than two.

    Folds without a value (NaN) are left out; ``train_share`` is n_train / (n_train + n_test).
    """
    finite_values = values[np.isfinite(values)]
    if len(finite_values) < 2:
        return math.nan, math.nan
    error = corrected_error(finite_values, train_share)
    half_width = float(stats.t.ppf(0.5 + level / 2, len(finite_values) - 1)) * error
    return float(finite_values.mean()) - half_width, float(finite_values.mean()) + half_width


def corrected_error(values: np.ndarray, train_share: float) -> float:
    """The standard error of the mean of K folds' values, √((1/K + n_test/n_train) s²)."""
    test_ratio = (1.0 - train_share) / train_share
    return math.sqrt((1.0 / len(values) + test_ratio) * float(values.var(ddof=1)))
