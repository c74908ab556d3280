"""Estimators of libraries inside ones that take classes of any kind and predict in double."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.class_weight import compute_sample_weight


class CodedClassifier(ClassifierMixin, BaseEstimator):
    """The classes of the rows that it is fitted to are numbered for the estimator inside.

    Args:
        estimator: a classifier with probabilities.
        class_weight: "balanced" weighs rows by n / (K n_k), as scikit-learn does; None not.

    Attributes:
        classes_: the sorted labels of the rows.
        estimator_: the one inside, fitted.
    """

    def __init__(self, estimator: Any, class_weight: str | None = None) -> None:
        self.estimator = estimator
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any) -> CodedClassifier:
        """Fit the estimator inside to X (rows, columns), and two or more classes y (rows,)."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("All rows are of one class, and two are needed to tell them apart.")
        weight_argument = {}
        if self.class_weight is not None:
            weight_argument["sample_weight"] = compute_sample_weight(self.class_weight, codes)
        self.estimator_ = clone(self.estimator).fit(X, codes, **weight_argument)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        shares = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class DoubleRegressor(RegressorMixin, BaseEstimator):
    """A regressor's predictions in double, so that the way back to a target's unit stays exact."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> DoubleRegressor:
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.estimator_.predict(X), dtype=np.float64)
