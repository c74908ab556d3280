"""The losses of tables by name, the groups of their parameters, and fitted estimators of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.losses.linear.linear_loss import LinearLoss, build_linear
from core.losses.linear.logistic_loss import (
    LogisticLoss,
    MultinomialLoss,
    build_logistic,
    build_multinomial,
)

TableLoss = LinearLoss | LogisticLoss | MultinomialLoss

LOSSES: dict[str, Callable[..., TableLoss]] = {
    "linear": build_linear,
    "logistic": build_logistic,
    "multinomial": build_multinomial,
}


def build_loss(
    loss_name: str, X: Any, y: Any, fit_intercept: bool = True, weights: np.ndarray | None = None
) -> TableLoss:
    """The loss (a key of LOSSES) of a matrix, dense (m, p) or CSR, and a target, shape (m,).

    Constant columns leave the model; the intercepts, one a class, are unpenalized. A weight of 2 is
    the row twice. UnusableError where the target has the wrong number of classes.
    """
    return LOSSES[loss_name](X, y, fit_intercept, weights)


def parameter_groups(loss: TableLoss, group_of_output: np.ndarray | None = None) -> np.ndarray:
    """π: the group of every parameter of a loss, shape (n,), −1 for the intercepts.

    `group_of_output`: of every column of the original matrix, (n_features,); None for one group.
    """
    design = loss.design
    if group_of_output is None:
        group_of_output = np.zeros(design.n_features, dtype=np.intp)
    row = np.full(design.width, -1, dtype=np.intp)
    # Constant columns have left the model; their groups go with them.
    row[: design.column_count] = np.asarray(group_of_output, dtype=np.intp)[design.kept_columns]
    return np.tile(row, loss.K if isinstance(loss, MultinomialLoss) else 1)


def as_estimator(
    loss: TableLoss, w: np.ndarray, *, C: float | None = None, classes: np.ndarray | None = None
) -> Any:
    """A Ridge or LogisticRegression with the fitted attributes set to parameters w, shape (n,).

    C, the one penalty if there is one, is the estimator's own parameter (alpha = σ² C, or
    C_sklearn = 1/C); None leaves scikit-learn's default there. ``classes`` are the labels to
    predict, in the order of the loss's; None for the loss's own.
    """
    coef, intercept = loss.coefficients(w)
    if isinstance(loss, LinearLoss):
        estimator = _make_ridge(loss, w, C)
        estimator.coef_, estimator.intercept_ = coef, float(intercept)
        # As a Ridge has them that was fitted by a closed form.
        estimator.n_iter_, estimator.solver_ = None, "cholesky"
    else:
        estimator = _make_logistic(loss, C)
        estimator.classes_ = np.asarray(loss.classes if classes is None else classes)
        estimator.coef_, estimator.intercept_ = coef, intercept
        estimator.n_iter_ = np.array([1], dtype=np.int32)
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
