"""Five folds where leave-one-out is too large: against scikit-learn's fits without each fold."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import steps_of, table
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from core.errors import UnusableError
from core.losses import build_loss, parameter_groups
from core.penalties import leave_one_out_loss
from core.penalties.cross_validated_loss import FOLDS, CrossValidatedLoss, _fold_of


def without_each_fold(X: np.ndarray, y: np.ndarray, codes: np.ndarray, C: float) -> float:
    """The sum of the log losses of the folds, fitted by scikit-learn without them."""
    fold_of, total = _fold_of(codes), 0.0
    for fold in range(FOLDS):
        rest, own = fold_of != fold, fold_of == fold
        model = LogisticRegression(C=1.0 / C, tol=1e-9, max_iter=5000).fit(X[rest], y[rest])
        total += log_loss(y[own], model.predict_proba(X[own]), normalize=False)
    return total


def test_every_fold_has_each_class_in_proportion():
    codes = np.random.default_rng(0).choice(3, size=203, p=[0.7, 0.2, 0.1])
    fold_of = _fold_of(codes)
    for code in range(3):
        counts = np.bincount(fold_of[codes == code], minlength=FOLDS)
        assert counts.max() - counts.min() <= 1
    assert np.bincount(fold_of).max() - np.bincount(fold_of).min() <= 1


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_the_value_is_that_of_fits_without_each_fold(name, matrix):
    X, y = table(name, rows=120, columns=6, seed=3)
    loss = build_loss(name, matrix(X), y)
    folds = CrossValidatedLoss(loss)
    for C in (20.0, 2.0):  # the second begins where the first one ended
        penalties = np.where(parameter_groups(loss) >= 0, C, 0.0)
        found = folds.leave_folds_out(loss.initial_weights(), penalties)
        # Rounds to a tenth of a nat a fold: less is no difference between models.
        assert abs(found.value - without_each_fold(X, y, loss.codes, C)) < 0.5


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_the_search_by_folds_ends_near_their_least_loss(name, monkeypatch):
    X, y = table(name, rows=150, columns=8, useless=4, seed=4)
    monkeypatch.setattr(leave_one_out_loss, "LARGEST", 3)
    loss = build_loss(name, X, y)
    last = list(steps_of("loo", loss, parameter_groups(loss), {}))[-1]

    def total(C: float) -> float:
        V = X.var(axis=0).sum() / C
        prior = 2 * np.log1p(max(np.log(V / 2.0), 0.0) ** 2)
        return without_each_fold(X, y, loss.codes, C) + prior

    scanned = [total(C) for C in np.exp(np.arange(-2.0, 6.0, 0.5))]
    assert total(float(last.C[0])) < min(scanned) + 0.5
    fitted = LogisticRegression(C=1.0 / float(last.C[0]), tol=1e-9, max_iter=5000).fit(X, y)
    coef, _ = loss.coefficients(last.w)
    assert np.allclose(coef, fitted.coef_, atol=2e-3)


def test_several_groups_are_refused_where_folds_would_be_needed(monkeypatch):
    X, y = table("logistic", rows=60, columns=6, seed=4)
    monkeypatch.setattr(leave_one_out_loss, "LARGEST", 3)
    loss = build_loss("logistic", X, y)
    with pytest.raises(UnusableError, match="with several groups"):
        next(steps_of("loo", loss, np.array([0, 0, 0, 1, 1, 1, -1]), {}))
