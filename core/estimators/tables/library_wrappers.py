"""A classifier of a library that wants the classes as 0 … K − 1, for classes of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
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
        """Fit the estimator inside to X (rows, columns) and the numbered classes of y (rows,).

        Raises:
            ValueError: all rows are of one class.
        """
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
        """The probability of each class, shape (rows, K); the sum of a row is 1."""
        shares = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class, shape (rows,)."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
