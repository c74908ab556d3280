"""A regressor of a library that predicts in single precision, with predictions in double."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone


class DoubleRegressor(RegressorMixin, BaseEstimator):
    """What is calculated with predictions, as the way back to a target's unit, stays exact.

    Args:
        estimator: a regressor.

    Attributes:
        estimator_: the same, fitted.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> DoubleRegressor:
        """Fit the estimator inside to X (rows, columns) and y (rows,)."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What the estimator inside predicts, shape (rows,)."""
        return np.asarray(self.estimator_.predict(X), dtype=np.float64)
