"""Fitting where an unconverged solver is a remark, not an error."""

from __future__ import annotations

import warnings
from typing import Any

_UNSETTLED = "The solver reached its limit of iterations before the last digits settled."


def fit_with_remarks(estimator: Any, X: Any, y: Any) -> tuple[str, ...]:
    """Fit in place; a sentence where the solver reached its limit of iterations."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.fit(X, y)
    unsettled = [warning for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    # What else was warned of goes on as if nobody had listened.
    for warning in caught:
        if warning not in unsettled:
            message, category = warning.message, warning.category
            warnings.warn_explicit(message, category, warning.filename, warning.lineno)
    return (_UNSETTLED,) if unsettled else ()
