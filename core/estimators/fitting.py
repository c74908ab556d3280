"""Fitting an estimator without letting a warning of its solver fail the trial."""

from __future__ import annotations

import warnings
from typing import Any

_UNSETTLED = "The solver reached its limit of iterations before the last digits settled."


def fit_with_remarks(estimator: Any, X: Any, y: Any) -> tuple[str, ...]:
    """Fit in place; a solver that ran out of iterations still gives a model that can be scored.

    Args:
        estimator: unfitted, also a pipeline.
        X: features, dense or CSR, shape (rows, columns).
        y: targets, shape (rows,).

    Returns:
        Sentences for the result: one if the solver did not settle, otherwise none.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.fit(X, y)
    unsettled = [warning for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    for warning in caught:
        if warning not in unsettled:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return (_UNSETTLED,) if unsettled else ()
