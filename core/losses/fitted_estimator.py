"""Parameters of a loss as a fitted scikit-learn estimator that predicts the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.losses.linear.linear_loss import LinearLoss
from core.losses.registry import TableLoss


def as_estimator(
    loss: TableLoss,
    w: np.ndarray,
    *,
    C: float | None = None,
    classes: np.ndarray | None = None,
    iterations: int = 1,
) -> Any:
    """A Ridge or LogisticRegression with the fitted attributes set to parameters w, shape (n,).

    C, the one penalty if there is one, is the estimator's own parameter (alpha = σ² C, or
    C_sklearn = 1/C); None leaves scikit-learn's default there. ``classes`` are the labels to
    predict, in the order of the loss's; None for the loss's own. ``iterations`` is n_iter_.
    """
    coef, intercept = loss.coefficients(w)
    if isinstance(loss, LinearLoss):
        estimator = _make_ridge(loss, w, C)
        estimator.coef_, estimator.intercept_ = coef, float(intercept)
        estimator.n_iter_, estimator.solver_ = None, "cholesky"
    else:
        estimator = _make_logistic(loss, C)
        estimator.classes_ = np.asarray(loss.classes if classes is None else classes)
        estimator.coef_, estimator.intercept_ = coef, intercept
        estimator.n_iter_ = np.array([iterations], dtype=np.int32)
    estimator.n_features_in_ = loss.design.n_features
    return estimator


def _make_ridge(loss: LinearLoss, w: np.ndarray, C: float | None) -> Any:
    from sklearn.linear_model import Ridge

    alpha = 1.0 if C is None else loss.noise_variance(w) * C
    return Ridge(alpha=float(alpha), fit_intercept=loss.design.intercept)


def _make_logistic(loss: TableLoss, C: float | None) -> Any:
    from sklearn.linear_model import LogisticRegression

    inverse = 1.0 if C is None else 1.0 / C
    return LogisticRegression(C=float(inverse), fit_intercept=loss.design.intercept)
