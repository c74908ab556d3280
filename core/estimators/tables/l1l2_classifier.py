"""Logistic regression with an L1 and an L2 penalty as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from core.estimators.tables.two_penalties import minimize


class L1L2Classifier(ClassifierMixin, BaseEstimator):
    """Logistic regression for two or more classes, its four hyperparameters those of a paper.

    Minimizes mean log loss + ℓ1 Σ|w| + ½ ℓ2 Σ w²; the intercept is never penalized (Yogatama and
    Mann 2014, table 4). Ending after `max_iter` iterations, a hyperparameter too, gives no warning.

    Args:
        l1: penalty on the sum of the sizes of the weights; sets small ones to zero.
        l2: penalty on half the sum of their squares.
        max_iter: the most iterations.
        tol: the fit ends where an iteration lowers the objective by less than this share.

    Attributes:
        classes_: sorted labels, shape (K,).
        coef_: weights, shape (1, p) for two classes, otherwise (K, p).
        intercept_: shape (1,) or (K,).
        n_iter_: iterations that were made. objective_: the objective at the end.
        n_features_in_: p.
    """

    def __init__(
        self, l1: float = 1e-3, l2: float = 1e-3, max_iter: int = 100, tol: float = 1e-5
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any) -> L1L2Classifier:
        """Fit on rows X, dense or CSR (n, p), of two or more classes y (n,)."""
        if min(self.l1, self.l2, self.tol) < 0 or self.max_iter < 1:
            raise ValueError("l1, l2 and tol must be at least 0, max_iter at least 1")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("two or more classes are needed, and the rows are all of one class")
        solution = minimize(
            X, codes, len(self.classes_), self.l1, self.l2, int(self.max_iter), self.tol
        )
        self.coef_, self.intercept_ = solution.weights, solution.intercepts
        self.n_iter_, self.objective_ = solution.iterations, solution.objective
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        plain, X = self._plain_and_rows(X)
        return plain.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        plain, X = self._plain_and_rows(X)
        return plain.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        plain, X = self._plain_and_rows(X)
        return plain.predict_proba(X)

    def _plain_and_rows(self, X: Any) -> tuple[LogisticRegression, Any]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.as_plain(), X

    def as_plain(self) -> LogisticRegression:
        """The same fitted model in scikit-learn's own class, which needs nothing of Tunescope."""
        plain = LogisticRegression(max_iter=int(self.max_iter), tol=float(self.tol))
        plain.classes_, plain.n_features_in_ = self.classes_, self.n_features_in_
        plain.coef_, plain.intercept_ = self.coef_, self.intercept_
        plain.n_iter_ = np.array([self.n_iter_], dtype=np.int32)
        return plain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
