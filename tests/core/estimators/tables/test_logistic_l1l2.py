"""Logistic regression with two penalties minimizes what it says, as peers do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.estimators.tables.l1l2_classifier import L1L2Classifier

SETTLED = {"tol": 0.0, "max_iter": 5000}


@parametrize_with_checks([L1L2Classifier()])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def rows(classes, columns=8, n=150):
    return make_classification(
        n,
        columns,
        n_informative=5,
        n_redundant=1,
        n_classes=classes,
        flip_y=0.1,
        random_state=classes,
    )


def objective(X, y, W, b, l1, l2):
    """Mean log loss and penalties, written anew with every class's vector."""
    Z = X @ W.T + b
    if Z.shape[1] == 1:
        Z = np.hstack([np.zeros_like(Z), Z])
    log_p = Z - np.logaddexp.reduce(Z, axis=1)[:, None]
    return -log_p[np.arange(len(y)), y].mean() + l1 * abs(W).sum() + l2 * (W**2).sum() / 2


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("l1", "l2"), [(0.02, 0.01), (0.05, 0.0), (0.003, 0.3), (0.0, 0.02)])
def test_it_agrees_with_saga_on_the_elastic_net(classes, l1, l2):
    X, y = rows(classes)
    ours = L1L2Classifier(l1, l2, **SETTLED).fit(X, y)
    # scikit-learn sums the loss: C Σ loss + (1 − r) ½ ‖w‖² + r ‖w‖₁.
    C = 1 / (len(y) * (l1 + l2))
    how = {"solver": "saga", "tol": 1e-12, "max_iter": 100_000, "random_state": 0}
    peer = LogisticRegression(C=C, l1_ratio=l1 / (l1 + l2), **how).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=2e-5)
    assert np.array_equal(ours.coef_ == 0, abs(peer.coef_) < 1e-9)
    own = objective(X, y, ours.coef_, ours.intercept_, l1, l2)
    assert ours.objective_ == pytest.approx(own, rel=1e-12)


def test_a_large_l1_leaves_the_class_shares():
    """Every weight is zero, and the intercepts, which are free, give the shares of the classes."""
    X, y = rows(3)
    model = L1L2Classifier(10.0, 10.0, **SETTLED).fit(X, y)
    assert not model.coef_.any()
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], shares, atol=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_give_the_same_model(classes):
    X, y = rows(classes)
    X[abs(X) < 0.7] = 0.0
    dense = L1L2Classifier(0.01, 0.01, **SETTLED).fit(X, y)
    thin = L1L2Classifier(0.01, 0.01, **SETTLED).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)
    assert np.array_equal(thin.predict(sparse.csr_matrix(X)), dense.predict(X))


def test_iterations_and_tolerance_end_it():
    X, y = rows(3)
    ends = [L1L2Classifier(1e-4, 1e-4, n, 0.0).fit(X, y) for n in (1, 5, 25)]
    assert [model.n_iter_ for model in ends] == [1, 5, 25]
    objectives = [model.objective_ for model in ends]
    assert objectives == sorted(objectives, reverse=True)
    path = [L1L2Classifier(1e-4, 1e-4, n, 0.0).fit(X, y).objective_ for n in range(1, 40)]
    gains = -np.diff(path) / np.array(path[1:])
    for tol in (1e-2, 1e-3, 1e-4):
        first = int(np.flatnonzero(gains <= tol)[0]) + 2
        assert L1L2Classifier(1e-4, 1e-4, 500, tol).fit(X, y).n_iter_ == first


@pytest.mark.parametrize("classes", [2, 3])
def test_the_plain_model_is_scikit_learns_and_says_the_same(classes):
    X, y = rows(classes)
    ours = L1L2Classifier().fit(X, np.array(["red", "green", "blue"])[y])
    plain = ours.as_plain()
    assert type(plain) is LogisticRegression
    assert np.array_equal(plain.predict(X), ours.predict(X))
    assert np.array_equal(plain.predict_proba(X), ours.predict_proba(X))


@pytest.mark.parametrize("wrong", [{"l1": -1.0}, {"l2": -1.0}, {"max_iter": 0}])
def test_senseless_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="at least"):
        L1L2Classifier(**wrong).fit(*rows(2))
