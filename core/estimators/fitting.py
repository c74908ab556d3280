"""Fitting an estimator without letting a warning of its solver fail the trial."""

from __future__ import annotations

import warnings
from typing import Any

_UNSETTLED = "The solver reached its limit of iterations before the last digits settled."


def fit(estimator: Any, X: Any, y: Any) -> tuple[str, ...]:
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
    unsettled = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    for other in caught:
        if other not in unsettled:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return (_UNSETTLED,) if unsettled else ()
